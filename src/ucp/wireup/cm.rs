//! Connections between clients and servers: endpoints that are made by socket address.
//!
//! A connection of UCT's manager carries the worker addresses and endpoint ids of both sides as private data; then
//! messages use whatever transport reaches the peer, and the connection stays open to detect the end. The manager calls
//! from the async thread and puts events into an inbox, which the worker's progress empties.
#![forbid(unsafe_code)]

use super::closing::Closing;
use super::greeting::{ASKS_TWICE, Greeting, limit_to_device};
use super::{listener, second, upstream};
use crate::c::*;
use crate::sys::lock::Mutex;
use crate::ucp::claims::{self, Proven};
use crate::ucp::cm_connection::CmConnection;
use crate::ucp::config::TABLE;
use crate::ucp::ep::{End, Ep, EpParams, EpRef, Pin};
use crate::ucp::op::Op;
use crate::ucp::request::{Param, Req, Request, must_be_immediate};
use crate::ucp::timer::{Timer, WorkerCall, limit};
use crate::ucp::wireup::accepted::{self, Accepted};
use crate::ucp::wireup::select;
use crate::ucp::wireup::unproven::{self, Claim, Origin};
use crate::ucp::worker_core::Core;
use crate::ucs::async_ctx::Mode;
use crate::ucs::config::{Config, Table, var};
use crate::ucs::{Result, Status};
use crate::uct::api::Component;
use crate::uct::base::worker::AsyncWorker;
use crate::uct::cm::{Manager, Owner, Remote};
use crate::uct::registry::COMPONENTS;
use crate::wire::Reader;
use crate::wire::address::Address;
use crate::{ucs_debug, ucs_diag, ucs_error};
use core::ffi::c_uint;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// An event of the manager, to be handled by the worker.
pub(super) enum Event {
    Asked {
        listener: usize,
        incoming: listener::IncomingRequest,
    },
    Resolved {
        ep: u64,
        manager: usize,
        device: String,
        outcome: Result<()>,
    },
    Connected {
        ep: u64,
        manager: usize,
        answer: Result<Answer>,
    },
    /// A server has not answered to the first manager in time.
    Unanswered {
        ep: u64,
        manager: usize,
    },
    /// The client knows the server's endpoint, so the server may send data.
    Finished {
        ep: u64,
        address: Address,
        ticket: u64,
    },
    /// The same of a client of upstream's.
    FinishedUpstream {
        ep: u64,
    },
    /// A server's client has connected to one of the worker's interfaces.
    Dialled {
        ep: u64,
    },
    Gone {
        ep: u64,
        status: Status,
    },
    /// A server did not reply in time, or its client did not connect.
    Late {
        ep: u64,
    },
    /// The time for earlier messages of a peer whose connection has ended is over; so many more polls follow.
    Silent {
        ep: u64,
        looks: u32,
    },
}

/// A server's answer.
pub(super) struct Answer {
    private: Vec<u8>,
    is_upstream: bool,
}

/// Who a server's client is.
pub(super) enum Client {
    /// Nothing is sent before the client has finished, since shared memory is faster than the connection that carries the
    /// addresses.
    Ours(Address),
    Upstream,
}

/// The connection and the transport may end in any order. A peer that closes sends a close message after its last
/// message, and the transport reports the death of a peer; without either, the endpoint fails after this time.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);
/// And after so many polls of the transport, in case the application did not progress meanwhile.
const CLOSE_POLLS: u32 = 64;

/// Events of the async thread for the worker.
pub(super) struct Inbox {
    events: Mutex<VecDeque<Event>>,
    call: WorkerCall,
}

impl Inbox {
    pub fn put(&self, event: Event) {
        let mut events = self.events.lock();
        events.push_back(event);
        if events.len() > 1 {
            return;
        }
        drop(events);
        self.call();
    }

    /// The worker's next progress empties the inbox.
    fn call(&self) {
        self.call.request(1);
    }
}

/// Empties the inbox, on the worker's thread.
extern "C" fn progress(worker: &Core) -> c_uint {
    let Some(cm) = worker.wireup().cm.get() else {
        return 0;
    };
    cm.inbox.call.take();
    // Events that come meanwhile wait for the next progress: some are queued for it.
    let count = cm.inbox.events.lock().len();
    for _ in 0..count {
        let event = cm.inbox.events.lock().pop_front();
        let Some(event) = event else { break };
        handle(worker, event);
    }
    if !cm.inbox.events.lock().is_empty() {
        cm.inbox.call();
    }
    count as u32
}

/// The connection managers of a worker, made when first needed.
pub struct Cm {
    /// In the order in which a client tries them. They are dropped before the worker that they work on.
    managers: Vec<Box<dyn Manager>>,
    /// What the managers take for the worker.
    for_managers: AsyncWorker,
    pub accepted: Accepted,
    pub closing: Closing,
    pub(super) inbox: Arc<Inbox>,
}

impl Cm {
    fn open(worker: &Core) -> Result<Cm> {
        let mut cm = Cm {
            managers: Vec::new(),
            for_managers: AsyncWorker::new(Mode::ThreadMutex),
            accepted: Accepted::default(),
            closing: Closing::default(),
            inbox: Arc::new(Inbox {
                events: Mutex::new(VecDeque::new()),
                call: WorkerCall::new(worker, progress),
            }),
        };
        for (component, table) in chosen(&worker.context().config)? {
            let config = worker.context().config.others().read(table)?;
            match component.cm_open(&cm.for_managers, &config) {
                Ok(manager) if is_for(worker, &*manager) => cm.managers.push(manager),
                Ok(_) => {}
                Err(e @ (Status::NO_DEVICE | Status::UNSUPPORTED)) => {
                    ucs_debug!("no connections by {}: {e}", component.name());
                }
                Err(e) => return Err(e),
            }
        }
        if cm.managers.is_empty() {
            ucs_error!(
                "no connection manager of UCX_SOCKADDR_TLS_PRIORITY={} can be used by the transports of UCX_TLS",
                worker
                    .context()
                    .config
                    .list(var!(TABLE, "SOCKADDR_TLS_PRIORITY"))
                    .join(",")
            );
            return Err(Status::UNSUPPORTED);
        }
        accepted::listen(worker);
        Ok(cm)
    }

    /// A client that an endpoint waits for has connected.
    pub fn client_connected(&self, ep: u64) {
        self.inbox.put(Event::Dialled { ep });
    }

    /// Starts the timeout for a reply of an endpoint's peer; `None` without limit.
    fn deadline(&self, worker: &Core, ep: u64) -> Result<Option<Timer>> {
        let Some(limit) = limit(worker.context().config.time(var!(TABLE, "WIREUP_TIMEOUT"))) else {
            return Ok(None);
        };
        let inbox = Arc::clone(&self.inbox);
        Timer::start(limit, move || inbox.put(Event::Late { ep })).map(Some)
    }

    /// Starts the time that the other side of a closed endpoint has to disconnect.
    fn closing_deadline(&self, ep: u64) -> Result<Timer> {
        let inbox = Arc::clone(&self.inbox);
        Timer::start(CLOSE_TIMEOUT, move || inbox.put(Event::Late { ep }))
    }

    pub(super) fn manager(&self, number: usize) -> Result<&dyn Manager> {
        let manager = self.managers.get(number).map(Box::as_ref);
        manager.ok_or(Status::UNSUPPORTED)
    }

    /// In the order in which a client tries them.
    pub(super) fn managers(&self) -> &[Box<dyn Manager>] {
        &self.managers
    }
}

/// Whether the worker can send messages by the devices that connections of this manager are between. Processes of
/// upstream's do not understand what is said there, so it has no part where they are expected.
fn is_for(worker: &Core, manager: &dyn Manager) -> bool {
    let Some(is_device) = manager.of_devices() else {
        return true;
    };
    let resources = &worker.context().resources;
    let mut names = worker
        .ifaces
        .iter()
        .map(|i| &resources[i.resource].device.name);
    !worker.context().expects_upstream() && names.any(|name| is_device(name))
}

/// A component with a connection manager, and the variables of that.
type WithManager = (&'static dyn Component, &'static Table);

/// The components of `UCX_SOCKADDR_TLS_PRIORITY` that have a connection manager, in that order.
fn chosen(config: &Config) -> Result<Vec<WithManager>> {
    let all = COMPONENTS.iter().map(|handle| handle.component);
    let all: Vec<WithManager> = all
        .filter_map(|component| Some((component, component.cm_config()?)))
        .filter(|(component, _)| component.is_available())
        .collect();
    let wanted = config.list(var!(TABLE, "SOCKADDR_TLS_PRIORITY"));
    let mut chosen: Vec<WithManager> = Vec::new();
    for name in wanted {
        for of in &all {
            let is_new = chosen.iter().all(|(c, _)| c.name() != of.0.name());
            if is_new && (name == "*" || name == of.0.name()) {
                chosen.push(*of);
            }
        }
    }
    if chosen.is_empty() {
        let names: Vec<_> = all.iter().map(|(component, _)| component.name()).collect();
        ucs_error!(
            "UCX_SOCKADDR_TLS_PRIORITY={} names no connection manager that is here: use {} or *",
            wanted.join(","),
            names.join(", ")
        );
        return Err(Status::UNSUPPORTED);
    }
    Ok(chosen)
}

pub(super) fn cm(worker: &Core) -> Result<&Cm> {
    if let Some(cm) = worker.wireup().cm.get() {
        return Ok(cm);
    }
    let made = Cm::open(worker)?;
    Ok(worker.wireup().cm.get_or_init(|| made))
}

/// Whose connection it is: an endpoint, by id, since it may go before its events.
pub(super) struct Half {
    pub inbox: Arc<Inbox>,
    pub ep: u64,
    pub manager: usize,
    /// At a server, its client, until that has finished.
    pub client: Mutex<Option<Client>>,
    /// Processes of upstream's are welcome.
    pub takes_upstream: bool,
}

impl Owner for Half {
    fn pack(&self, _device: &str, _out: &mut [u8]) -> Result<usize> {
        // Private data are given with connect and accept.
        Err(Status::UNSUPPORTED)
    }

    fn takes_upstream(&self) -> bool {
        self.takes_upstream
    }

    fn resolved(&self, device: &str, outcome: Result<()>) -> Result<()> {
        self.inbox.put(Event::Resolved {
            ep: self.ep,
            manager: self.manager,
            device: device.to_owned(),
            outcome,
        });
        Ok(())
    }

    fn connected(&self, answer: Result<Remote<'_>>) {
        self.inbox.put(Event::Connected {
            ep: self.ep,
            manager: self.manager,
            answer: answer.map(|r| Answer {
                private: r.private.to_vec(),
                is_upstream: r.is_upstream,
            }),
        });
    }

    fn notified(&self, outcome: Result<&[u8]>) {
        let ep = self.ep;
        let event = match (outcome, self.client.lock().take()) {
            (Ok(_), Some(Client::Upstream)) => Event::FinishedUpstream { ep },
            (Ok(private), Some(Client::Ours(address))) => Event::Finished {
                ep,
                address,
                ticket: Reader::new(private).u64().unwrap_or(0),
            },
            (Ok(_), None) => return,
            (Err(status), _) => Event::Gone { ep, status },
        };
        self.inbox.put(event);
    }

    fn disconnected(&self) {
        self.inbox.put(Event::Gone {
            ep: self.ep,
            status: Status::CONNECTION_RESET,
        });
    }
}

/// A client's endpoint to the server at `to`.
pub fn connect(
    worker: &Core,
    to: SocketAddr,
    from: Option<SocketAddr>,
    params: EpParams,
) -> Result<EpRef> {
    let count = cm(worker)?.managers.len();
    let ep = Ep::unconnected(worker, params);
    ep.set_wireup_sent();
    let made = dial_first(worker, ep.id.get(), to, from, 0..count);
    attach(ep, made)
}

/// Begins a client's connection by the first of these managers that can.
pub(super) fn dial_first(
    worker: &Core,
    ep: u64,
    to: SocketAddr,
    from: Option<SocketAddr>,
    managers: core::ops::Range<usize>,
) -> Result<CmConnection> {
    let mut failure = Status::UNREACHABLE;
    for number in managers {
        match dial(worker, ep, to, from, number) {
            Ok(connection) => return Ok(connection),
            Err(e) => failure = e,
        }
    }
    Err(failure)
}

fn dial(
    worker: &Core,
    ep: u64,
    to: SocketAddr,
    from: Option<SocketAddr>,
    number: usize,
) -> Result<CmConnection> {
    let cm = cm(worker)?;
    let owner = Arc::new(Half {
        inbox: Arc::clone(&cm.inbox),
        ep,
        manager: number,
        client: Mutex::new(None),
        takes_upstream: worker.context().takes_upstream(),
    });
    let endpoint = cm.manager(number)?.connect(to, from, owner)?;
    let deadline = cm.deadline(worker, ep)?;
    let mut made = CmConnection::new(endpoint, to, from, number, deadline);
    made.patience = second::watch(&cm.managers, &cm.inbox, ep, number)?;
    Ok(made)
}

/// Whether the client's endpoint still tries this manager.
fn is_tried(ep: &Ep, manager: usize) -> bool {
    let connection = ep.cm_connection.borrow();
    let connection = connection.as_ref();
    connection.is_some_and(|c| c.attempt(manager).is_some())
}

/// A client's attempt has failed. Where no server is reached by this manager, the next one has its turn.
fn attempt_failed(worker: &Core, ep: &Ep, manager: usize, status: Status) {
    let Some(status) = second::failed(ep, manager, status) else {
        return;
    };
    let tried = ep.cm_connection.borrow().as_ref().map(|connection| {
        let c = connection;
        (c.remote, c.from, c.manager, c.is_second)
    });
    let count = worker.wireup().cm.get().map_or(0, |cm| cm.managers.len());
    let (remote, from, next) = match (tried, status) {
        (Some((remote, from, manager, _)), Status::UNREACHABLE) => (remote, from, manager + 1),
        // The server has got the first attempt, whose failure it does not know of: this manager asks again.
        (Some((remote, from, manager, true)), Status::BUSY) => (remote, from, manager),
        _ => return ep.fail(status),
    };
    if next >= count {
        // Over TCP the manager has said why.
        let last = cm(worker).and_then(|cm| cm.manager(manager));
        if last.is_ok_and(|last| last.of_devices().is_some()) {
            ucs_error!(
                "no server is reached at {remote} by an RDMA device: is the address one of a device, does somebody \
                 listen there, do UCX_TLS and UCX_NET_DEVICES allow the device? Without \
                 UCX_SOCKADDR_TLS_PRIORITY tcp is tried too"
            );
        }
        return ep.fail(status);
    }
    ucs_debug!("the server at {remote} is not reached, connection manager {next} is tried");
    match dial_first(worker, ep.id.get(), remote, from, next..count) {
        Ok(connection) => drop(ep.cm_connection.replace(Some(Box::new(connection)))),
        Err(e) => ep.fail(e),
    }
}

/// The private data of a client whose way to the server is known.
fn introduction(worker: &Core, ep: &Ep, connection: &CmConnection) -> Result<Vec<u8>> {
    let manager = cm(worker)?.manager(connection.manager)?;
    let device = &connection.device;
    let params = ep.params.get();
    let sends_id = params.flags & UCP_EP_PARAMS_FLAGS_SEND_CLIENT_ID != 0;
    let id = if sends_id { worker.params.client_id } else { 0 };
    if manager.of_devices().is_some() {
        let greeting = Greeting::of_device(worker, ep, id, device, manager.max_private());
        return greeting.ok_or_else(|| {
            ucs_debug!(
                "the way to {} is by {device}, which UCX_TLS and UCX_NET_DEVICES leave out",
                connection.remote
            );
            Status::UNREACHABLE
        });
    }
    let local = connection.local();
    let for_upstream = local.and_then(|at| upstream::offer(worker, ep, at.ip()));
    let ticket = if connection.is_second { ASKS_TWICE } else { 0 };
    Greeting::of(worker, ep, (id, ticket), device, for_upstream.as_ref())
}

/// Gives a new endpoint its connection, or destroys it.
pub fn attach(ep: EpRef, made: Result<CmConnection>) -> Result<EpRef> {
    match made {
        Ok(connection) => {
            *ep.cm_connection.borrow_mut() = Some(Box::new(connection));
            Ok(ep)
        }
        Err(e) => {
            ep.destroy(e, End::Flushed);
            Err(e)
        }
    }
}

fn handle(worker: &Core, event: Event) {
    match event {
        Event::Asked { listener, incoming } => listener::asked(worker, listener, incoming),
        Event::Resolved {
            ep,
            manager,
            device,
            outcome,
        } => {
            let ep = worker.ep(ep).filter(|ep| is_tried(ep, manager));
            let Some(ep) = ep else { return };
            if let Some(connection) = ep.cm_connection.borrow_mut().as_mut()
                && let Some(attempt) = connection.attempt_mut(manager)
            {
                attempt.device = device;
            }
            let told = outcome.and_then(|()| {
                let connection = ep.cm_connection.borrow();
                let attempt = connection.as_ref().and_then(|c| c.attempt(manager));
                let attempt = attempt.ok_or(Status::NOT_CONNECTED)?;
                let private = introduction(worker, ep, attempt)?;
                attempt.endpoint.connect(&private)
            });
            if let Err(e) = told {
                attempt_failed(worker, ep, manager, e);
            }
        }
        Event::Connected {
            ep,
            manager,
            answer,
        } => {
            let ep = worker.ep(ep).filter(|ep| is_tried(ep, manager));
            let Some(ep) = ep else { return };
            let answer = match answer {
                Ok(answer) => answer,
                Err(e) => return attempt_failed(worker, ep, manager, e),
            };
            second::taken(ep, manager);
            if let Some(connection) = ep.cm_connection.borrow_mut().as_mut() {
                connection.deadline = None;
            }
            let done = if answer.is_upstream {
                upstream_accepted(worker, ep, &answer.private)
            } else {
                accepted_by(worker, ep, manager, &answer.private)
            };
            if let Err(e) = done {
                ep.fail(e);
            }
        }
        Event::Unanswered { ep, manager } => {
            if let Some(ep) = worker.ep(ep) {
                second::begin(worker, ep, manager);
            }
        }
        Event::FinishedUpstream { ep } => {
            let Some(ep) = worker.ep(ep) else { return };
            if let Err(e) = upstream::notified(worker, ep) {
                ep.fail(e);
            }
        }
        Event::Finished {
            ep,
            address,
            ticket,
        } => {
            let Some(ep) = worker.ep(ep) else { return };
            let claim = Claim {
                ep: ep.id.get(),
                origin: Origin::Client,
                address,
                ticket,
            };
            client_known(worker, ep, connect_claimed(worker, ep, claim));
        }
        Event::Dialled { ep: id } => {
            let cm = worker.wireup().cm.get();
            let address = cm.and_then(|cm| cm.accepted.forget(worker, id));
            let (Some(ep), Some(address)) = (worker.ep(id), address) else {
                return;
            };
            if let Some(connection) = ep.cm_connection.borrow_mut().as_mut() {
                connection.deadline = None;
            }
            let proven = Proven {
                address,
                is_unanswered: false,
                confirmed: None,
            };
            client_known(worker, ep, accepted::connect(worker, ep, proven));
        }
        Event::Late { ep } => {
            if ends_close(worker, ep) {
                return;
            }
            let Some(ep) = worker.ep(ep) else { return };
            let late = match ep.cm_connection.borrow_mut().as_mut() {
                Some(connection) => connection.deadline.take().map(|_| connection.remote),
                None => None,
            };
            let Some(peer) = late else { return };
            let cm = worker.wireup().cm.get();
            if ep.is_upstream() {
                ucs_error!(
                    "the process of upstream UCX at {peer} does not finish the set-up of its connection; \
                     UCX_WIREUP_TIMEOUT sets how long to wait"
                );
            } else if worker.wireup().unproven.waits(ep.id.get()) {
                ucs_error!(
                    "the process of the peer at {peer} does not answer; is it stopped? UCX_WIREUP_TIMEOUT sets how \
                     long to wait"
                );
            } else if cm.is_some_and(|cm| cm.accepted.waits(ep.id.get())) {
                ucs_error!(
                    "the client at {peer} did not connect to an interface of this worker in time; \
                     UCX_WIREUP_TIMEOUT sets how long to wait"
                );
            } else {
                ucs_error!(
                    "the server at {peer} did not accept in time; UCX_WIREUP_TIMEOUT sets how long to wait"
                );
            }
            ep.fail(Status::ENDPOINT_TIMEOUT);
        }
        Event::Gone { ep, status } => {
            if ends_close(worker, ep) {
                return;
            }
            let Some(ep) = worker.ep(ep) else { return };
            let cm = worker.wireup().cm.get();
            // A process of upstream's sends no close message: it closes its lanes when both sides have disconnected.
            if ep.is_upstream() {
                disconnect(ep);
            }
            // A client that has finished may have sent messages that this worker has not polled.
            let introduced =
                ep.is_connected() || cm.is_some_and(|cm| cm.accepted.waits(ep.id.get()));
            connection_over(worker, ep, status, introduced);
        }
        Event::Silent { ep, looks } => {
            let Some(ep) = worker.ep(ep) else { return };
            let gone = match ep.cm_connection.borrow_mut().as_mut() {
                Some(connection) => {
                    connection.deadline = None;
                    connection.gone
                }
                None => None,
            };
            match (gone, looks.checked_sub(1), worker.wireup().cm.get()) {
                (Some(_), Some(looks), Some(cm)) => {
                    let ep = ep.id.get();
                    cm.inbox.put(Event::Silent { ep, looks });
                }
                (Some(status), ..) => {
                    let _pin = Pin::new(ep);
                    ep.fail(status);
                    disconnect(ep);
                }
                (None, ..) => {}
            }
        }
    }
}

/// Whether a close has waited for this event of an endpoint's connection, and has ended with it.
pub(super) fn ends_close(worker: &Core, ep: u64) -> bool {
    let cm = worker.wireup().cm.get();
    cm.is_some_and(|cm| cm.closing.on_disconnected(ep))
}

/// A client's server has accepted.
fn accepted_by(worker: &Core, ep: &Ep, manager: usize, private: &[u8]) -> Result<()> {
    upstream::unlink(worker, ep.id.get(), false);
    let greeting = Greeting::by(cm(worker)?.manager(manager)?, private)?;
    let server = greeting.address.uuid;
    ep.pair_with(greeting.ep_name());
    if let Some(connection) = ep.cm_connection.borrow().as_ref() {
        let ticket = claims::ticket(worker, server).to_le_bytes();
        connection.endpoint.notify(&ticket)?;
    }
    let claim = Claim {
        ep: ep.id.get(),
        origin: Origin::Server,
        address: greeting.address,
        ticket: greeting.ticket,
    };
    connect_claimed(worker, ep, claim)
}

/// A client's server is upstream's, and has accepted.
fn upstream_accepted(worker: &Core, ep: &Ep, private: &[u8]) -> Result<()> {
    let server = match ep.cm_connection.borrow().as_ref() {
        Some(connection) => {
            connection.endpoint.notify(&[])?;
            connection.remote.ip()
        }
        None => return Err(Status::NOT_CONNECTED),
    };
    upstream::answered(worker, ep, server, private)
}

/// The other side has disconnected, and so does this one: the close of the other side waits for that.
pub fn disconnect(ep: &Ep) {
    if let Some(connection) = ep.cm_connection.borrow().as_ref()
        && let Err(e) = connection.endpoint.disconnect()
    {
        ucs_debug!("disconnecting from {}: {e}", connection.remote);
    }
}

/// The set-up of an endpoint is over.
pub fn settled(ep: &Ep) {
    if let Some(connection) = ep.cm_connection.borrow_mut().as_mut()
        && connection.gone.is_none()
    {
        connection.deadline = None;
    }
}

/// Connects an endpoint to the other side of its connection, by the proven part of the address. Also returns `Ok` if it
/// has to wait for a client's connection or a process's reply.
fn connect_claimed(worker: &Core, ep: &Ep, mut claim: Claim) -> Result<()> {
    if let Some(connection) = ep.cm_connection.borrow().as_ref() {
        limit_to_device(worker, &connection.device, &mut claim.address);
    }
    let proven = claims::proven(worker, claim.address.clone(), claim.ticket);
    let is_unanswered = proven.is_unanswered;
    if claim.origin == Origin::Client {
        accepted::connect(worker, ep, proven)?;
    } else if is_unanswered && !select::reaches_any(worker, &proven.address) {
        limit_wait(worker, ep)?;
    } else {
        ep.connect_back(Rc::new(proven.address))?;
    }
    if is_unanswered && !ep.is_connected() {
        unproven::wait(worker, claim);
    }
    Ok(())
}

/// The result of connecting to a client that has finished.
fn client_known(worker: &Core, ep: &Ep, outcome: Result<()>) {
    // A client that is gone already cannot be reached, but its messages may have come.
    if let Err(e) = outcome {
        connection_over(worker, ep, e, true);
    }
}

/// Asks the process of the other side again.
pub fn retry(worker: &Core, ep: &Ep, claim: Claim) {
    if let Some(cm) = worker.wireup().cm.get() {
        cm.accepted.forget(worker, claim.ep);
    }
    let is_client = claim.origin == Origin::Client;
    match connect_claimed(worker, ep, claim) {
        Ok(()) if ep.is_connected() => {
            if let Some(connection) = ep.cm_connection.borrow_mut().as_mut() {
                connection.deadline = None;
            }
        }
        outcome if is_client => client_known(worker, ep, outcome),
        Ok(()) => {}
        Err(e) => ep.fail(e),
    }
}

/// Limits the time that an endpoint waits for its peer.
pub fn limit_wait(worker: &Core, ep: &Ep) -> Result<()> {
    let Some(cm) = worker.wireup().cm.get() else {
        return Err(Status::NOT_CONNECTED);
    };
    let mut connection = ep.cm_connection.borrow_mut();
    let Some(connection) = connection.as_mut() else {
        return Ok(());
    };
    if connection.deadline.is_none() {
        connection.deadline = cm.deadline(worker, ep.id.get())?;
    }
    Ok(())
}

/// All operations before a close are complete. Returns whether it waits for the other side: until that has disconnected as
/// well, or, if it is upstream's, has acknowledged what was sent to it. Upstream's handles no more messages once it hears of
/// the end of its connection.
pub fn awaits_disconnect(ep: &Ep, close: Req) -> bool {
    if !has_other_side(ep) {
        return false;
    }
    if let Some(cm) = ep.worker().wireup().cm.get() {
        close.with_op(|op| *op = Op::Disconnect);
        cm.closing.begin(ep.id.get(), close);
    }
    true
}

/// An endpoint is about to be closed by force. Returns the request that waits for a process of upstream's to acknowledge what
/// was sent to it.
pub fn awaits_acknowledgement(ep: &Ep, param: &Param) -> Option<Req> {
    let may_wait = ep.is_upstream() && ep.is_usable() && must_be_immediate(param).is_ok();
    if !may_wait || !has_other_side(ep) {
        return None;
    }
    let cm = ep.worker().wireup().cm.get()?;
    // Without memory for it nobody waits.
    let close = Request::create(ep.worker(), param, Op::Disconnect).ok()?;
    cm.closing.begin(ep.id.get(), close);
    Some(close)
}

/// Whether a close may wait for the other side of the endpoint's connection.
fn has_other_side(ep: &Ep) -> bool {
    let stands = |connection: &CmConnection| connection.gone.is_none();
    let connections = &ep.worker().wireup().upstream;
    ep.cm_connection.borrow().as_deref().is_some_and(stands)
        && (!ep.is_upstream() || connections.has_lane(ep.id.get()))
}

/// An endpoint ends: closes its connection.
pub fn unlink(ep: &Ep) {
    let worker = ep.worker();
    let id = ep.id.get();
    let cm = worker.wireup().cm.get();
    if let Some(cm) = cm {
        cm.accepted.forget(worker, id);
    }
    let is_asked = upstream::unlink(worker, id, cm.is_some_and(|cm| cm.closing.waits(id)));
    if ep.cm_connection.borrow().is_none() {
        return;
    }
    let (Some(connection), Some(cm)) = (ep.cm_connection.take(), cm) else {
        return;
    };
    let is_upstream = ep.is_upstream();
    cm.closing.on_destroyed(id, connection, |connection| {
        if !is_upstream {
            connection.endpoint.disconnect()?;
        } else if !is_asked {
            return Err(Status::NOT_CONNECTED);
        }
        connection.deadline = Some(cm.closing_deadline(id)?);
        Ok(())
    });
}

/// The connection of an endpoint has ended. The transport may still deliver earlier messages of the peer, if it was
/// `introduced`.
fn connection_over(worker: &Core, ep: &Ep, status: Status, introduced: bool) {
    let close_received = ep
        .cm_connection
        .borrow()
        .as_ref()
        .is_some_and(|l| l.close_received);
    let _pin = Pin::new(ep);
    if close_received {
        ep.on_peer_closed(status);
    } else if awaits_close(worker, ep, status, introduced) {
        return;
    } else {
        ep.fail(status);
    }
    disconnect(ep);
}

fn awaits_close(worker: &Core, ep: &Ep, status: Status, introduced: bool) -> bool {
    let mut connection = ep.cm_connection.borrow_mut();
    let (Some(connection), Some(cm)) = (connection.as_mut(), worker.wireup().cm.get()) else {
        return false;
    };
    if connection.gone.is_some() {
        connection.gone = Some(status);
        return true;
    }
    if !introduced {
        return false;
    }
    let (inbox, id) = (Arc::clone(&cm.inbox), ep.id.get());
    let silent = move || {
        inbox.put(Event::Silent {
            ep: id,
            looks: CLOSE_POLLS,
        });
    };
    match Timer::start(CLOSE_TIMEOUT, silent) {
        Ok(timer) => {
            connection.deadline = Some(timer);
            connection.gone = Some(status);
            true
        }
        Err(e) => {
            ucs_diag!("an endpoint ends without waiting for its peer's last messages: {e}");
            false
        }
    }
}

/// The peer has sent its close message. Returns the status of its connection, if it has ended.
pub fn on_close_message(ep: &Ep) -> Option<Status> {
    let mut connection = ep.cm_connection.borrow_mut();
    let connection = connection.as_mut()?;
    connection.close_received = true;
    connection.gone
}
