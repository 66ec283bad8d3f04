//! Servers: listeners, and the connection requests of clients.
#![forbid(unsafe_code)]

use super::cm::{Client, Event, Half, Inbox, attach, cm};
use super::greeting::Greeting;
use super::upstream;
use crate::c::*;
use crate::sys::lock::Mutex;
use crate::ucp::claims;
use crate::ucp::cm_connection::CmConnection;
use crate::ucp::config::TABLE;
use crate::ucp::ep::{Ep, EpParams, EpRef};
use crate::ucp::worker_core::{Core, WorkerRef};
use crate::ucs::config::var;
use crate::ucs::{Result, Status};
use crate::uct::cm::{Listener, Manager, Request, RequestId, Visitor};
use crate::wire::upstream::private::Private;
use crate::{ucs_debug, ucs_diag, ucs_error};
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;

/// A connection request of a client: the object of `ucp_conn_request_h`.
///
/// It may be accepted on another worker than the listener's: then the connection belongs to the listener's manager, and
/// events of the endpoint go to the inbox of its own worker.
pub struct ConnRequest {
    listening: WorkerRef,
    manager: usize,
    id: RequestId,
    /// The device of this side.
    device: String,
    from: Introduction,
    pub client: SocketAddr,
}

/// What a client has told of itself.
enum Introduction {
    Ours(Greeting),
    /// A client of upstream's, which came by this address.
    Upstream(Private, IpAddr),
}

impl ConnRequest {
    fn manager(&self) -> Result<&dyn Manager> {
        cm(&self.listening)?.manager(self.manager)
    }

    pub fn client_id(&self) -> u64 {
        match &self.from {
            Introduction::Ours(greeting) => greeting.client_id,
            Introduction::Upstream(private, _) => private.client_id,
        }
    }

    fn err_mode(&self) -> ucp_err_handling_mode_t {
        match &self.from {
            Introduction::Ours(greeting) => greeting.err_mode,
            Introduction::Upstream(private, _) => private.err_mode.into(),
        }
    }
}

/// Accepts a client: the endpoint to it, which handles errors as the client's does.
pub fn accept(worker: &Core, request: ConnRequest, params: EpParams) -> Result<EpRef> {
    let cm = cm(worker)?;
    let params = EpParams {
        err_mode: request.err_mode(),
        ..params
    };
    let ep = Ep::unconnected(worker, params);
    ep.set_wireup_sent();
    let (client, private) = match &request.from {
        Introduction::Ours(greeting) => {
            ep.pair_with(greeting.ep_name());
            let client = Client::Ours(greeting.address.clone());
            (client, answer(worker, &ep, &request, greeting))
        }
        Introduction::Upstream(private, local) => {
            let from = request.client.ip();
            let answer = upstream::accept(worker, &ep, private, from, *local);
            (Client::Upstream, answer)
        }
    };
    let owner = Arc::new(Half {
        inbox: Arc::clone(&cm.inbox),
        ep: ep.id.get(),
        manager: request.manager,
        client: Mutex::new(Some(client)),
        takes_upstream: true,
    });
    let made = private
        .inspect_err(|_| {
            if let Err(e) = reject(&request) {
                ucs_debug!("turning down a client that went: {e}");
            }
        })
        .and_then(|private| request.manager()?.accept(request.id, owner, &private))
        .map(|endpoint| {
            let mut made = CmConnection::new(endpoint, request.client, None, request.manager, None);
            made.device = request.device;
            made
        });
    attach(ep, made)
}

/// The private data for a client.
fn answer(worker: &Core, ep: &Ep, request: &ConnRequest, client: &Greeting) -> Result<Vec<u8>> {
    let manager = request.manager()?;
    if manager.of_devices().is_none() {
        let ticket = claims::ticket(worker, client.address.uuid);
        return Greeting::of(worker, ep, (0, ticket), &request.device, None);
    }
    let device = &request.device;
    let greeting = Greeting::of_device(worker, ep, 0, device, manager.max_private());
    greeting.ok_or_else(|| {
        ucs_error!(
            "the client at {} came by {device}, which UCX_TLS and UCX_NET_DEVICES leave out here",
            request.client
        );
        Status::UNREACHABLE
    })
}

/// Turns a client down.
pub fn reject(request: &ConnRequest) -> Result<()> {
    request.manager()?.reject(request.id)
}

/// The application's function for clients.
#[derive(Clone)]
pub enum Arrival {
    /// It gets a request, and accepts or rejects it.
    Request(Rc<dyn Fn(ConnRequest)>),
    /// It gets an endpoint.
    Endpoint(Rc<dyn Fn(EpRef)>),
}

/// A listener: the object of `ucp_listener_h`.
pub struct UcpListener {
    worker: WorkerRef,
    /// One for each manager that can listen at the address.
    listeners: Vec<Box<dyn Listener>>,
}

/// Shows clients of a listener to the inbox.
struct Door {
    inbox: Arc<Inbox>,
    listener: usize,
    manager: usize,
    takes_upstream: bool,
}

impl Visitor for Door {
    fn request(&self, request: Request<'_>) {
        let incoming = IncomingRequest {
            manager: self.manager,
            id: request.id,
            device: request.device.to_owned(),
            private: request.remote.private.to_vec(),
            upstream: request.remote.is_upstream.then(|| request.server.ip()),
            client: request.client,
        };
        self.inbox.put(Event::Asked {
            listener: self.listener,
            incoming,
        });
    }

    fn takes_upstream(&self) -> bool {
        self.takes_upstream
    }
}

impl UcpListener {
    pub fn open(worker: &Core, at: SocketAddr, arrival: Arrival) -> Result<Box<UcpListener>> {
        let cm = cm(worker)?;
        let mut made = Box::new(UcpListener {
            worker: worker.to_ref(),
            listeners: Vec::new(),
        });
        let listener = core::ptr::from_ref(made.as_ref()) as usize;
        let backlog = worker
            .context()
            .config
            .ulong(var!(TABLE, "LISTENER_BACKLOG"));
        let backlog = i32::try_from(backlog).ok();
        let listen = |manager: usize, at: SocketAddr| {
            let door = Door {
                inbox: Arc::clone(&cm.inbox),
                listener,
                manager,
                takes_upstream: worker.context().takes_upstream(),
            };
            cm.manager(manager)?.listen(at, backlog, Arc::new(door))
        };
        made.listeners = listen_by_all(cm.managers().len(), at, listen)?;
        worker
            .wireup()
            .listeners
            .borrow_mut()
            .insert(listener, arrival);
        Ok(made)
    }

    pub fn worker(&self) -> &Core {
        &self.worker
    }

    /// Its address, with the port that the kernel chose.
    pub fn address(&self) -> Result<SocketAddr> {
        let first = self.listeners.first();
        first
            .map(|listener| listener.address())
            .ok_or(Status::NOT_CONNECTED)
    }
}

impl Drop for UcpListener {
    fn drop(&mut self) {
        let me = core::ptr::from_ref(self) as usize;
        self.worker().wireup().listeners.borrow_mut().remove(&me);
    }
}

/// How many ports that the kernel chooses are tried, until one is free at every manager.
const PORT_ATTEMPTS: usize = 16;

/// Listens at one address by each of so many managers. Those that cannot have it are left out, unless somebody else
/// listens there: clients would come to another process.
fn listen_by_all(
    count: usize,
    at: SocketAddr,
    listen: impl Fn(usize, SocketAddr) -> Result<Box<dyn Listener>>,
) -> Result<Vec<Box<dyn Listener>>> {
    let mut failure = Status::UNSUPPORTED;
    for _ in 0..PORT_ATTEMPTS {
        let mut listeners: Vec<Box<dyn Listener>> = Vec::new();
        let mut is_taken = false;
        // The last one takes any address of this machine, so that the port is of all.
        for manager in (0..count).rev() {
            let port = listeners.first().map_or(at.port(), |l| l.address().port());
            let mut at = at;
            at.set_port(port);
            match listen(manager, at) {
                Ok(listener) => listeners.push(listener),
                Err(e) => {
                    ucs_debug!("connection manager {manager} does not listen at {at}: {e}");
                    is_taken |= e == Status::BUSY;
                    failure = e;
                }
            }
        }
        match (is_taken, listeners.is_empty()) {
            (false, false) => return Ok(listeners),
            (true, false) if at.port() == 0 => {}
            (true, _) => return Err(Status::BUSY),
            (false, true) => return Err(failure),
        }
    }
    Err(failure)
}

/// A connection request of a client.
pub(super) struct IncomingRequest {
    pub manager: usize,
    pub id: RequestId,
    /// The device that it came by.
    pub device: String,
    pub private: Vec<u8>,
    /// It is a client of upstream's, which came by this address.
    pub upstream: Option<IpAddr>,
    pub client: SocketAddr,
}

/// A connection request came to a listener.
pub(super) fn asked(worker: &Core, listener: usize, incoming: IncomingRequest) {
    let Some(arrival) = worker.wireup().listeners.borrow().get(&listener).cloned() else {
        turn_down(worker, &incoming, Status::NOT_CONNECTED);
        return;
    };
    let from = match incoming.upstream {
        None => cm(worker)
            .and_then(|cm| cm.manager(incoming.manager))
            .and_then(|manager| Greeting::by(manager, &incoming.private))
            .map(Introduction::Ours),
        Some(local) => upstream::read(worker, &incoming.private)
            .map(|private| Introduction::Upstream(private, local)),
    };
    let from = match from {
        Ok(from) => from,
        Err(e) => return turn_down(worker, &incoming, e),
    };
    if let Introduction::Ours(greeting) = &from
        && has_asked(worker, &incoming, greeting)
    {
        return;
    }
    let client = incoming.client;
    let request = ConnRequest {
        listening: worker.to_ref(),
        manager: incoming.manager,
        id: incoming.id,
        device: incoming.device,
        from,
        client,
    };
    match arrival {
        Arrival::Request(call) => call(request),
        Arrival::Endpoint(call) => match accept(worker, request, EpParams::default()) {
            Ok(ep) => call(ep),
            Err(e) => ucs_diag!("a client from {client} cannot be accepted: {e}"),
        },
    }
}

/// Whether a client has asked by another manager before; then it is turned away here.
fn has_asked(worker: &Core, incoming: &IncomingRequest, greeting: &Greeting) -> bool {
    let number = incoming.manager;
    let Ok(manager) = cm(worker).and_then(|cm| cm.manager(number)) else {
        return false;
    };
    let of_devices = manager.of_devices().is_some();
    let has = worker.wireup().asked.before(greeting, number, of_devices);
    if has && let Err(e) = manager.turn_away(incoming.id) {
        ucs_debug!("turning away a client that went: {e}");
    }
    has
}

/// Rejects a client without showing it to the application.
fn turn_down(worker: &Core, incoming: &IncomingRequest, why: Status) {
    ucs_diag!("a client from {} is turned down: {why}", incoming.client);
    if let Ok(manager) = cm(worker).and_then(|cm| cm.manager(incoming.manager))
        && let Err(e) = manager.reject(incoming.id)
    {
        ucs_debug!("turning down a client that went: {e}");
    }
}
