//! `RdmaManager`: one connection manager, with its channel of events, and what its listeners and connections share.

use super::config::Settings;
use super::conn::Conn;
use super::endpoint::RdmaEndpoint;
use super::listener::{ListenerCore, RdmaListener};
use super::wire::{MAX_PRIVATE, Message};
use crate::sys::lock::Mutex;
use crate::sys::verbs::{self, CmChannel, CmEvent, CmPath, Device, PairNumber, PairNumbers};
use crate::ucs::async_ctx::{AsyncContext, Blocked};
use crate::ucs::config::Config;
use crate::ucs::{Events, Result, Status, log};
use crate::uct::base::worker::WorkerHandle;
use crate::uct::cm::requests::Requests;
use crate::uct::cm::{Endpoint, Listener, Manager, Owner, RequestId, Visitor, next_id};
use crate::uct::ib::port::Port;
use crate::uct::ib::subnets::Subnets;
use crate::uct::ib::wire::DeviceAddr;
use crate::{ucs_debug, ucs_diag, ucs_error, ucs_warn};
use std::collections::{HashMap, HashSet};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

/// Events taken before others get their turn.
const EVENTS_A_TURN: usize = 32;

/// What peers do that no peer should; each is logged once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Oddity {
    Garbage,
    Events,
}

/// Whose events have a key.
#[derive(Clone)]
pub(super) enum Receiver {
    Listener(Arc<ListenerCore>),
    Conn(Arc<Conn>),
}

pub(super) struct Shared {
    pub ctx: AsyncContext,
    pub settings: Settings,
    pub channel: Arc<CmChannel>,
    said: Mutex<HashSet<Oddity>>,
    receivers: Mutex<HashMap<usize, Receiver>>,
    pub requests: Requests<Conn>,
    /// By name.
    devices: Mutex<HashMap<String, Opened>>,
    /// The own addresses of ports, by device and number.
    ports: Mutex<HashMap<(String, u8), DeviceAddr>>,
    /// Devices whose removal was logged, until one of that name is opened.
    removed: Mutex<HashSet<String>>,
}

/// A device of connections, and what their numbers come from.
type Opened = (Arc<Device>, Arc<PairNumbers>);

pub struct RdmaManager {
    shared: Arc<Shared>,
}

impl RdmaManager {
    /// A manager that works on the worker's async context.
    pub fn open(worker: &WorkerHandle, config: &Config) -> Result<RdmaManager> {
        let Some(ctx) = worker.async_context() else {
            ucs_error!("a connection manager needs the worker's async context");
            return Err(Status::INVALID_PARAM);
        };
        let settings = Settings::read(config)?;
        let channel = CmChannel::open().map_err(|e| {
            ucs_diag!(
                "rdmacm is not used: {e}; it needs librdmacm1 and the kernel's module rdma_ucm"
            );
            Status::NO_DEVICE
        })?;
        let shared = Arc::new(Shared {
            ctx,
            settings,
            channel,
            said: Mutex::default(),
            receivers: Mutex::default(),
            requests: Requests::default(),
            devices: Mutex::default(),
            ports: Mutex::default(),
            removed: Mutex::default(),
        });
        let takes = Arc::clone(&shared);
        shared.ctx.add_fd(
            shared.channel.raw_fd(),
            Events::READ,
            Box::new(move |_, _| takes.take()),
        )?;
        Ok(RdmaManager { shared })
    }
}

impl Manager for RdmaManager {
    fn block(&self) -> Blocked<'_> {
        self.shared.ctx.block()
    }

    fn of_devices(&self) -> Option<fn(&str) -> bool> {
        Some(|name| {
            name.split_once(':')
                .is_some_and(|(name, _)| verbs::is_device(name))
        })
    }

    fn max_private(&self) -> usize {
        MAX_PRIVATE
    }

    fn listen(
        &self,
        at: SocketAddr,
        backlog: Option<i32>,
        visitor: Arc<dyn Visitor>,
    ) -> Result<Box<dyn Listener>> {
        let _blocked = self.block();
        let listener = RdmaListener::open(&self.shared, at, backlog, visitor)?;
        Ok(Box::new(listener))
    }

    fn connect(
        &self,
        to: SocketAddr,
        from: Option<SocketAddr>,
        owner: Arc<dyn Owner>,
    ) -> Result<Box<dyn Endpoint>> {
        let _blocked = self.block();
        let conn = Conn::client(&self.shared, to, from, owner)?;
        Ok(Box::new(RdmaEndpoint { conn }))
    }

    fn accept(
        &self,
        request: RequestId,
        owner: Arc<dyn Owner>,
        private: &[u8],
    ) -> Result<Box<dyn Endpoint>> {
        let _blocked = self.block();
        let conn = self.shared.requests.take(request)?;
        conn.accept(owner, private).inspect_err(|_| conn.close())?;
        Ok(Box::new(RdmaEndpoint { conn }))
    }

    fn reject(&self, request: RequestId) -> Result<()> {
        let _blocked = self.block();
        self.shared.requests.take(request)?.reject(Message::Refused)
    }

    fn turn_away(&self, request: RequestId) -> Result<()> {
        let _blocked = self.block();
        self.shared
            .requests
            .take(request)?
            .reject(Message::Elsewhere)
    }
}

impl Drop for RdmaManager {
    fn drop(&mut self) {
        let _blocked = self.shared.ctx.block();
        // It was registered by `open`.
        let _ = self.shared.ctx.remove(self.shared.channel.raw_fd(), false);
        for conn in self.shared.requests.take_all() {
            conn.close();
        }
    }
}

impl Shared {
    /// Logs a network failure at the configured level.
    pub fn log(&self, text: core::fmt::Arguments<'_>) {
        let level = self.settings.failure_level;
        if log::enabled(level) {
            log::write(level, file!(), line!(), text);
        }
    }

    /// Logs what a peer did, the first time.
    pub fn odd(&self, oddity: Oddity, text: core::fmt::Arguments<'_>) {
        if self.said.lock().insert(oddity) {
            self.log(format_args!("{text} (not logged again)"));
        }
    }

    pub fn add(&self, key: usize, receiver: Receiver) {
        self.receivers.lock().insert(key, receiver);
    }

    pub fn forget(&self, key: usize) {
        let gone = self.receivers.lock().remove(&key);
        drop(gone);
    }

    fn take(&self) {
        for _ in 0..EVENTS_A_TURN {
            match self.channel.take(next_id) {
                Ok(Some(event)) => self.on_event(event),
                Ok(None) => return,
                Err(e) => {
                    self.odd(
                        Oddity::Events,
                        format_args!("an event of rdmacm is lost: {e}"),
                    );
                    return;
                }
            }
        }
    }

    fn on_event(&self, event: CmEvent) {
        let text = self.channel.text(event.kind);
        ucs_debug!("rdmacm: {text} ({}) for {}", event.status, event.key);
        let receiver = self.receivers.lock().get(&event.key).cloned();
        match receiver {
            Some(Receiver::Listener(listener)) => listener.on_event(event),
            Some(Receiver::Conn(conn)) => conn.on_event(&event),
            None => {}
        }
    }

    fn device(&self, name: &str) -> io::Result<Opened> {
        let mut devices = self.devices.lock();
        if let Some(opened) = devices.get(name) {
            return Ok(opened.clone());
        }
        let device = Device::open(name)?;
        let opened = (Arc::clone(&device), PairNumbers::of(&device)?);
        devices.insert(name.to_owned(), opened.clone());
        self.removed.lock().remove(name);
        Ok(opened)
    }

    /// The kernel removes a device: each of its listeners and connections says so.
    pub fn device_removed(&self, name: &str) {
        let opened = self.devices.lock().remove(name);
        self.ports.lock().retain(|(device, _), _| device != name);
        if self.removed.lock().insert(name.to_owned()) {
            ucs_warn!(
                "the RDMA device {name} was removed: rdmacm closes its connections, and no longer listens at \
                 its addresses; programs that need it have to be started again when it is back"
            );
        }
        drop(opened);
    }

    /// A number for a connection by this device.
    pub fn number(&self, device: &str) -> Result<PairNumber> {
        let reserved = self
            .device(device)
            .and_then(|(_, numbers)| numbers.reserve());
        reserved.map_err(|e| {
            ucs_error!("{device} has no queue pair for a connection: {e}");
            Status::from_io(&e)
        })
    }

    /// The address of a peer's port, as the transports have it. Its packets are of the kind that the own port's are.
    pub fn address_of(&self, path: &CmPath) -> Vec<u8> {
        match self.port(&path.device, path.port) {
            Ok(own) => DeviceAddr {
                gid: path.gid,
                lid: path.lid,
                ..own
            }
            .encode()
            .to_vec(),
            Err(e) => {
                ucs_debug!("{}:{}: {e}", path.device, path.port);
                Vec::new()
            }
        }
    }

    fn port(&self, device: &str, number: u8) -> core::result::Result<DeviceAddr, String> {
        let key = (device.to_owned(), number);
        if let Some(known) = self.ports.lock().get(&key) {
            return Ok(*known);
        }
        let (opened, _) = self.device(device).map_err(|e| e.to_string())?;
        let address = Port::look(&opened, device, number, (None, None), &Subnets::ALL)?.address;
        self.ports.lock().insert(key, address);
        Ok(address)
    }
}
