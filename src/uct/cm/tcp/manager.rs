//! `TcpManager`: one connection manager, with the state that its listeners and connections share.
//!
//! It has the clients that wait for a reply, by id, and the accepted sockets of unauthenticated peers. Unauthenticated
//! peers have a deadline and a limit, so that flooding a port costs bounded memory; while there are some, a timer runs.
#![forbid(unsafe_code)]

use super::config::Settings;
use super::conn::Conn;
use super::endpoint::TcpEndpoint;
use super::listener::{ListenerCore, TcpListener};
use super::wire::Why;
use crate::sys::lock::Mutex;
use crate::sys::{clock, net};
use crate::ucs::async_ctx::{AsyncContext, Blocked, HandlerId};
use crate::ucs::config::Config;
use crate::ucs::sync::{AtomicU32, Ordering};
use crate::ucs::{Result, Status, log};
use crate::uct::base::worker::WorkerHandle;
use crate::uct::cm::requests::Requests;
use crate::uct::cm::{Endpoint, Listener, Manager, Owner, RequestId, Visitor};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

/// How long an accepted socket may take to present itself.
const UNAUTH_TIMEOUT_NS: u64 = 5_000_000_000;
/// Most unauthenticated peers of a manager; the one that waits longest makes room.
const UNAUTH_PEERS_MAX: usize = 256;
/// Period of the deadline timer.
const TICK: Duration = Duration::from_millis(250);

/// Writes the bytes of the transport's address of a device: its own address, subnet prefix length,
/// and whether it is the loopback interface.
pub type EncodeDevice = fn(IpAddr, u8, bool) -> Vec<u8>;

/// Violations of unauthenticated peers; each is logged once.
#[derive(Clone, Copy, Debug)]
pub(super) enum Oddity {
    Silent,
    Cut,
    Garbage,
    Upstream,
    Version,
    TooLong,
    Secret,
    Flood,
    Descriptors,
}

pub(super) struct Shared {
    pub ctx: AsyncContext,
    pub settings: Settings,
    encode: EncodeDevice,
    said: AtomicU32,
    pub requests: Requests<Conn>,
    /// In the order of arrival.
    unauth_peers: Mutex<BTreeMap<usize, UnauthPeer>>,
    /// Listeners that stopped accepting for want of descriptors.
    paused: Mutex<Vec<Arc<ListenerCore>>>,
    timer: Mutex<Option<HandlerId>>,
}

struct UnauthPeer {
    conn: Arc<Conn>,
    deadline_ns: u64,
}

/// Which interface an address belongs to.
pub(super) struct Local {
    pub name: String,
    pub prefix: u8,
    pub loopback: bool,
}

pub struct TcpManager {
    shared: Arc<Shared>,
}

impl TcpManager {
    /// A manager that works on the worker's async context.
    pub fn open(
        worker: &WorkerHandle,
        config: &Config,
        encode: EncodeDevice,
    ) -> Result<TcpManager> {
        let Some(ctx) = worker.async_context() else {
            crate::ucs_error!("a connection manager needs the worker's async context");
            return Err(Status::INVALID_PARAM);
        };
        Ok(TcpManager {
            shared: Arc::new(Shared {
                ctx,
                settings: Settings::read(config)?,
                encode,
                said: AtomicU32::new(0),
                requests: Requests::default(),
                unauth_peers: Mutex::default(),
                paused: Mutex::default(),
                timer: Mutex::default(),
            }),
        })
    }
}

impl Manager for TcpManager {
    fn block(&self) -> Blocked<'_> {
        self.shared.ctx.block()
    }

    fn max_private(&self) -> usize {
        self.shared.settings.max_private
    }

    fn listen(
        &self,
        at: SocketAddr,
        backlog: Option<i32>,
        visitor: Arc<dyn Visitor>,
    ) -> Result<Box<dyn Listener>> {
        let _blocked = self.block();
        let listener = TcpListener::open(&self.shared, at, backlog, visitor)?;
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
        Ok(Box::new(TcpEndpoint { conn }))
    }

    fn accept(
        &self,
        request: RequestId,
        owner: Arc<dyn Owner>,
        private: &[u8],
    ) -> Result<Box<dyn Endpoint>> {
        let _blocked = self.block();
        let conn = self.shared.requests.take(request)?;
        conn.accept(owner, private)?;
        Ok(Box::new(TcpEndpoint { conn }))
    }

    fn reject(&self, request: RequestId) -> Result<()> {
        let _blocked = self.block();
        self.shared.requests.take(request)?.reject(Why::Declined)
    }

    fn turn_away(&self, request: RequestId) -> Result<()> {
        let _blocked = self.block();
        self.shared.requests.take(request)?.reject(Why::Elsewhere)
    }
}

impl Drop for TcpManager {
    fn drop(&mut self) {
        let _blocked = self.shared.ctx.block();
        for conn in self.shared.requests.take_all() {
            conn.close();
        }
        let unauth_peers = core::mem::take(&mut *self.shared.unauth_peers.lock());
        for unauth_peer in unauth_peers.into_values() {
            unauth_peer.conn.close();
        }
        self.shared.paused.lock().clear();
        self.shared.rest();
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

    /// Logs what an unauthenticated peer did, the first time.
    pub fn odd(&self, oddity: Oddity, text: core::fmt::Arguments<'_>) {
        if self.first(oddity) {
            self.log(format_args!("{text} (not logged again)"));
        }
    }

    /// Logs that a client runs upstream's library, the first time: the user has to change that.
    pub fn upstream_client(&self, client: SocketAddr) {
        if self.first(Oddity::Upstream) {
            crate::ucs_error!(
                "the client at {client} runs upstream UCX: start both sides with the same library, or this one without \
                 UCX_UPSTREAM_PEERS=n and UCX_TCP_AUTH_FILE (not logged again)"
            );
        }
    }

    /// Whether an unauthenticated peer does this for the first time.
    pub fn first(&self, oddity: Oddity) -> bool {
        let bit = 1 << oddity as u32;
        // Relaxed: it guards nothing else.
        self.said.fetch_or(bit, Ordering::Relaxed) & bit == 0
    }

    /// The transport's address of the device by which `peer` is reached from `local`.
    pub fn device_of(&self, peer: IpAddr, local: &Local) -> Vec<u8> {
        (self.encode)(peer.to_canonical(), local.prefix, local.loopback)
    }

    /// The interface that has `ip`, or whose subnet has.
    pub fn local_of(&self, ip: IpAddr) -> Local {
        let ip = ip.to_canonical();
        let all = net::addresses().unwrap_or_default();
        let exact = all.iter().find(|a| a.ip == ip);
        let found = exact.or_else(|| all.iter().find(|a| same_subnet(a.ip, ip, a.prefix)));
        found.map_or_else(
            || Local {
                name: String::new(),
                prefix: 0,
                loopback: ip.is_loopback(),
            },
            |a| Local {
                name: a.name.clone(),
                prefix: a.prefix,
                loopback: a.loopback,
            },
        )
    }

    /// Watches over an accepted socket until it has presented itself.
    pub fn add_unauth_peer(self: &Arc<Shared>, conn: &Arc<Conn>) {
        let oldest = {
            let mut unauth_peers = self.unauth_peers.lock();
            let oldest = (unauth_peers.len() >= UNAUTH_PEERS_MAX).then(|| unauth_peers.pop_first());
            let unauth_peer = UnauthPeer {
                conn: Arc::clone(conn),
                deadline_ns: clock::monotonic_ns().saturating_add(UNAUTH_TIMEOUT_NS),
            };
            unauth_peers.insert(conn.id, unauth_peer);
            oldest.flatten()
        };
        if let Some((_, oldest)) = oldest {
            self.odd(
                Oddity::Flood,
                format_args!(
                    "more than {UNAUTH_PEERS_MAX} connections that say nothing: the oldest are dropped"
                ),
            );
            oldest.conn.close();
        }
        self.tick_on();
    }

    pub fn drop_unauth_peer(&self, id: usize) {
        let gone = self.unauth_peers.lock().remove(&id);
        drop(gone);
    }

    /// Drops the unauthenticated peer that waits longest; whether there was one.
    pub fn drop_oldest_unauth_peer(&self) -> bool {
        let oldest = self.unauth_peers.lock().pop_first();
        oldest.inspect(|(_, s)| s.conn.close()).is_some()
    }

    /// Drops the unauthenticated peers of a listener that goes.
    pub fn drop_unauth_peers_of(&self, listener: &Arc<ListenerCore>) {
        let theirs: Vec<UnauthPeer> = {
            let mut unauth_peers = self.unauth_peers.lock();
            let ids: Vec<usize> = unauth_peers
                .iter()
                .filter(|(_, s)| s.conn.is_of(listener))
                .map(|(id, _)| *id)
                .collect();
            ids.iter()
                .filter_map(|id| unauth_peers.remove(id))
                .collect()
        };
        for unauth_peer in theirs {
            unauth_peer.conn.close();
        }
        self.paused.lock().retain(|l| !Arc::ptr_eq(l, listener));
    }

    /// Lets a listener accept again after a while.
    pub fn pause(self: &Arc<Shared>, listener: &Arc<ListenerCore>) {
        self.paused.lock().push(Arc::clone(listener));
        self.tick_on();
    }

    fn tick_on(self: &Arc<Shared>) {
        let mut timer = self.timer.lock();
        if timer.is_none() {
            let shared = Arc::clone(self);
            match self
                .ctx
                .add_timer(TICK, Box::new(move |_, _| shared.tick()))
            {
                Ok(id) => *timer = Some(id),
                Err(e) => self.log(format_args!("no timer for silent connections: {e}")),
            }
        }
    }

    fn tick(self: &Arc<Shared>) {
        let now = clock::monotonic_ns();
        let late: Vec<UnauthPeer> = {
            let mut unauth_peers = self.unauth_peers.lock();
            let ids: Vec<usize> = unauth_peers
                .iter()
                .take_while(|(_, s)| s.deadline_ns <= now)
                .map(|(id, _)| *id)
                .collect();
            ids.iter()
                .filter_map(|id| unauth_peers.remove(id))
                .collect()
        };
        for unauth_peer in late {
            unauth_peer.conn.expire();
        }
        let paused = core::mem::take(&mut *self.paused.lock());
        for listener in paused {
            listener.resume();
        }
        if self.unauth_peers.lock().is_empty() && self.paused.lock().is_empty() {
            self.rest();
        }
    }

    fn rest(&self) {
        if let Some(id) = self.timer.lock().take() {
            // A timer that is gone already is what is wanted.
            let _ = self.ctx.remove(id, false);
        }
    }
}

/// Whether the leading `prefix` bits are the same.
fn same_subnet(a: IpAddr, b: IpAddr, prefix: u8) -> bool {
    let prefix = u32::from(prefix);
    match (a, b) {
        (IpAddr::V4(a), IpAddr::V4(b)) => {
            prefix > 0 && (a.to_bits() ^ b.to_bits()).leading_zeros() >= prefix
        }
        (IpAddr::V6(a), IpAddr::V6(b)) => {
            prefix > 0 && (a.to_bits() ^ b.to_bits()).leading_zeros() >= prefix
        }
        _ => false,
    }
}
