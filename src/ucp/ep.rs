//! Endpoints.
//!
//! An endpoint has one transport endpoint for messages and opens others when they are needed. Messages that cannot be
//! sent at once wait in its send queue, in order; the transport calls when it has room. Peers name an endpoint by the
//! uuid of its worker and its id; a `Wireup` message with both precedes the first message that needs a reply. `state` has
//! the life of an endpoint.

pub mod copy_wait;
mod dialect;
mod end;
mod fenced;
mod flushes;
pub mod keepalive;
mod keys;
mod lane_choice;
mod lanes;
pub mod loopback;
mod message_lane;
mod outstanding;
mod pack_buffer;
pub mod pairing;
mod parts;
mod rails;
mod send_queue;
mod short_queue;
mod state;
pub mod stream_inbox;
pub mod table;
mod transport_flush;

pub use end::{End, EpRef, Pin};
use fenced::Fenced;
pub use lanes::{Capability, Lane, LaneIdx, Lanes, OpenedLane};
pub use message_lane::{MessageLane, NO_LANE};
use outstanding::Outstanding;
pub use pack_buffer::PackBuffer;
pub use parts::{DevicePart, Part, Rest};
use rails::Rails;
pub use rails::{OpenedRail, OpenedRails, WantedRails, WeightedLane};
pub use send_queue::{SendQueue, ShortRoute};
pub use state::{Connection, ConnectionEvent, Handle, HandleEvent, MadeBy};
use stream_inbox::Inbox;
pub use transport_flush::{TransportFlush, is_flushed};

use super::after_fork;
use super::claims;
use super::cm_connection::CmConnection;
use super::counters::Sent;
use super::op::Op;
use super::request::Req;
use super::rkey::KeyCache;
use super::staging::DeviceTransfers;
use super::worker_core::{Core, MAX_HEADERS, WorkerRef};
use crate::c::*;
use crate::ucs::{Result, Status};
use crate::uct::internal::base_of;
use crate::uct::local::ProcessId;
use crate::wire::Writer;
use crate::wire::address::Address;
use crate::wire::header::{AmId, Header, SequencedHdr, WireupHdr};
use crate::wire::id::{EpId, EpName, RequestId, RequestName};
use crate::wire::upstream::Process;
use core::cell::{Cell, OnceCell, RefCell, UnsafeCell};
use core::ffi::c_void;
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::rc::Rc;

/// The parameters of `ucp_ep_create` other than the address.
#[derive(Clone, Copy)]
pub struct EpParams {
    pub err_mode: ucp_err_handling_mode_t,
    pub err_cb: ucp_err_handler_cb_t,
    pub err_arg: *mut c_void,
    pub user_data: *mut c_void,
    pub flags: u32,
}

impl Default for EpParams {
    fn default() -> EpParams {
        EpParams {
            err_mode: UCP_ERR_HANDLING_MODE_NONE,
            err_cb: None,
            err_arg: core::ptr::null_mut(),
            user_data: core::ptr::null_mut(),
            flags: 0,
        }
    }
}

/// An element of the send queue. Two words, which are passed in registers.
pub enum Task {
    Request(Req),
    Control(Box<Control>),
    /// A control message that only upstream's dialect has.
    Upstream(Box<UpstreamControl>),
    /// A get by the peer.
    Serve(Box<PeerGet>),
}

/// A get by the peer.
pub struct PeerGet {
    pub region: u64,
    pub address: u64,
    pub length: usize,
    pub request: RequestId,
    /// The connection that it came by, if it is upstream's.
    pub connection: u64,
    /// What is still to be sent, once the first fragment was.
    pub rest: Option<Rest>,
}

/// What the send queue does with a get by the peer. Implemented where accesses by the peer live.
pub trait Serve {
    /// Sends the next fragments.
    fn serve(&mut self, ep: &Ep) -> Result<TaskStep>;

    /// The reply that aborts it.
    fn abort_message(&self) -> Task;
}

impl Task {
    /// Whether it belongs to a request of this application; otherwise it is a reply to the peer.
    pub fn is_of_application(&self) -> bool {
        matches!(self, Task::Request(_))
    }

    /// A control message.
    pub fn control<H: Header>(id: AmId, header: &H, rest: &[u8]) -> Task {
        let mut bytes = SmallVec::from_elem(0, H::LEN + rest.len());
        let mut w = Writer::new(&mut bytes);
        header.encode(&mut w);
        w.bytes(rest);
        Task::Control(Box::new(Control { id, bytes }))
    }

    /// A control message of upstream's.
    pub fn upstream<H: Header>(id: u8, header: &H, rest: &[u8]) -> Task {
        Task::Upstream(Box::new(UpstreamControl::new(id, header, rest)))
    }
}

/// A control message.
pub struct Control {
    pub id: AmId,
    /// Most are a header, which needs no memory of its own.
    pub bytes: SmallVec<[u8; 48]>,
}

/// A control message in upstream's format.
pub struct UpstreamControl {
    pub id: u8,
    pub bytes: Vec<u8>,
    /// How often it is still to be sent.
    pub times: Cell<u64>,
}

impl UpstreamControl {
    pub fn new<H: Header>(id: u8, header: &H, rest: &[u8]) -> UpstreamControl {
        let mut bytes = vec![0; H::LEN + rest.len()];
        let mut w = Writer::new(&mut bytes);
        header.encode(&mut w);
        w.bytes(rest);
        UpstreamControl {
            id,
            bytes,
            times: Cell::new(1),
        }
    }

    /// Sends it, as often as it is to be sent and there is room.
    pub fn send(&self, ep: &Ep) -> Result<()> {
        while let Some(left) = self.times.get().checked_sub(1) {
            ep.lane().control_as(self.id, &self.bytes)?;
            self.times.set(left);
        }
        Ok(())
    }
}

/// The result of one step of a task.
pub enum TaskStep {
    /// Removed from the queue.
    Done,
    /// Not complete: other tasks may go first.
    More,
}

/// The pending request of an endpoint at its transport, with a pointer back to the endpoint.
#[repr(C)]
struct PendingSend {
    base: uct_pending_req_t,
    ep: Option<EpRef>,
}

pub struct Ep {
    worker: WorkerRef,
    pub id: Cell<u64>,
    /// Its index in the list of `after_fork`.
    pub registered: Cell<u32>,
    /// The peer's worker; 0 while it is not known.
    pub remote_uuid: Cell<u64>,
    /// The remote endpoint, once it is known.
    remote_ep: Cell<Option<EpName>>,
    /// What a process of upstream's calls the remote endpoint, once it has told.
    upstream_id: Cell<Option<u64>>,
    /// Accesses of such a process that are to be confirmed then.
    unconfirmed: Cell<u64>,
    /// Its number among the endpoints between two workers; see `Pairing`.
    pub serial: Cell<u32>,
    address: OnceCell<Rc<Address>>,
    /// What the application has given later of the peer of an endpoint that a message made: first the entries of `address`.
    whole_address: OnceCell<Rc<Address>>,
    lane: OnceCell<MessageLane>,
    lanes: Lanes,
    rails: Rails,
    /// The connection of the connection manager, for endpoints between client and server.
    pub cm_connection: RefCell<Option<Box<CmConnection>>>,
    /// Made for the first message with a key of the peer's memory.
    keys: OnceCell<Box<RefCell<KeyCache>>>,
    /// An operation was posted whose completion at the peer only a fence confirms.
    pub unfenced: Cell<bool>,
    /// The worker was fenced while accesses by messages were in flight: until a flush finds none, later accesses use
    /// messages too.
    pub fenced: Fenced,
    /// The name that the application gave it.
    pub given_name: OnceCell<String>,
    /// The transport has performed a put that only its remote flush completes.
    pub wrote: Cell<bool>,
    /// The peer is gone, and an operation cannot have been completed. Known before the connection fails: a transport
    /// flush that fails tells it first.
    lost: Cell<bool>,
    /// The peer has closed its endpoint. Not part of `connection`: this side may still send, and close later.
    pub peer_closed: Cell<bool>,
    /// An access of the peer was refused since its last fence.
    pub refused: Cell<Option<Status>>,
    pub params: Cell<EpParams>,
    pub stream: Inbox,
    /// Queued tasks, and the short-send route.
    pub send_queue: SendQueue,
    pending_send: UnsafeCell<PendingSend>,
    /// The number of queued replies that was last reported to the transport.
    reported_replies: Cell<usize>,
    /// The transport wanted no more of them when it was asked last.
    has_full_replies: Cell<bool>,
    connection: Cell<Connection>,
    /// The peer is a process of upstream UCX: messages are in its format.
    upstream: Cell<bool>,
    /// Its transport takes puts.
    upstream_puts: Cell<bool>,
    /// What its addresses have told.
    upstream_process: RefCell<Option<Rc<Process>>>,
    /// Its message lane sends numbered messages by any of several paths (`failover`).
    failover: Cell<bool>,
    handle: Cell<Handle>,
    made_by: Cell<MadeBy>,
    /// Number of calls into this endpoint; a destroyed endpoint is freed when the last returns.
    pins: Cell<u32>,
    /// The peer knows this endpoint, or will before the next message. Not part of `connection`: most endpoints never
    /// need it.
    wireup_sent: Cell<bool>,
    /// The remote endpoint asked for error handling, so the application is expected to ask for it too.
    pub peer_handles_errors: Cell<bool>,
    /// Number of zero-copy messages that the transport reads from user buffers.
    in_place: Cell<usize>,
    /// Made for the first message from or to memory of a device.
    device_transfers: OnceCell<Box<DeviceTransfers>>,
    /// Requests that wait for a reply of the peer.
    pub outstanding: Outstanding,
    /// Flushes that wait for outstanding requests.
    flushes: RefCell<VecDeque<Req>>,
    /// What it has sent.
    pub sent: Sent,
    /// Transport flushes in progress.
    transport_flushes: RefCell<Vec<Rc<TransportFlush>>>,
}

// Applications have thousands of endpoints: what few of them need is made when it is needed.
const _: () = assert!(size_of::<Ep>() <= 1416);

impl Ep {
    /// Makes an endpoint of the application whose peer is not known yet: posted operations wait for `connect`.
    pub fn unconnected(worker: &Core, params: EpParams) -> EpRef {
        Ep::make(worker, params, MadeBy::Application, Handle::Held)
    }

    /// As `unconnected`, unknown to the application.
    pub fn hidden(worker: &Core, made_by: MadeBy) -> EpRef {
        Ep::make(worker, EpParams::default(), made_by, Handle::Hidden)
    }

    fn make(worker: &Core, params: EpParams, made_by: MadeBy, handle: Handle) -> EpRef {
        let ep = Box::new(Ep {
            worker: worker.to_ref(),
            id: Cell::new(0),
            registered: Cell::new(0),
            remote_uuid: Cell::new(0),
            remote_ep: Cell::new(None),
            upstream_id: Cell::new(None),
            unconfirmed: Cell::new(0),
            serial: Cell::new(0),
            address: OnceCell::new(),
            whole_address: OnceCell::new(),
            lane: OnceCell::new(),
            lanes: Lanes::default(),
            rails: Rails::default(),
            cm_connection: RefCell::new(None),
            keys: OnceCell::new(),
            unfenced: Cell::new(false),
            fenced: Fenced::new(worker),
            given_name: OnceCell::new(),
            wrote: Cell::new(false),
            lost: Cell::new(false),
            peer_closed: Cell::new(false),
            refused: Cell::new(None),
            params: Cell::new(params),
            stream: Inbox::new(),
            send_queue: SendQueue::new(|feature| !worker.takes_general_paths(feature)),
            pending_send: UnsafeCell::new(PendingSend {
                base: uct_pending_req_t {
                    func: Some(has_room),
                    r#priv: [0; UCT_PENDING_REQ_PRIV_LEN],
                },
                ep: None,
            }),
            reported_replies: Cell::new(0),
            has_full_replies: Cell::new(false),
            connection: Cell::new(Connection::Unconnected),
            upstream: Cell::new(false),
            upstream_puts: Cell::new(false),
            upstream_process: RefCell::new(None),
            failover: Cell::new(false),
            handle: Cell::new(handle),
            made_by: Cell::new(made_by),
            pins: Cell::new(0),
            wireup_sent: Cell::new(false),
            peer_handles_errors: Cell::new(false),
            in_place: Cell::new(0),
            device_transfers: OnceCell::new(),
            outstanding: Outstanding::default(),
            flushes: RefCell::new(VecDeque::new()),
            sent: Sent::default(),
            transport_flushes: RefCell::new(Vec::new()),
        });
        let ep = Box::leak(ep).to_ref();
        // SAFETY: just made: no transport has it.
        unsafe { (*ep.pending_send.get()).ep = Some(ep) };
        ep.id.set(worker.endpoints().eps.borrow_mut().insert(ep));
        let place = after_fork::register_ep(ep.as_ptr() as usize, Ep::CALLS);
        ep.registered.set(place);
        ep
    }

    /// For messages from and to memory of devices.
    pub fn device_transfers(&self) -> &DeviceTransfers {
        self.device_transfers.get_or_init(Box::default)
    }

    /// Its transport is chosen and the peer's address known: sends the queue.
    pub fn connected(&self, lane: MessageLane, address: Rc<Address>) -> Result<()> {
        self.usable()?;
        self.remote_uuid.set(address.uuid);
        if self.lane.set(lane).is_err() || self.address.set(address).is_err() {
            return Err(Status::ALREADY_EXISTS);
        }
        self.add_lane(OpenedLane {
            ep: lane.ep,
            iface: lane.iface,
            entry: lane.entry,
        });
        if let Some(send) = lane.am_short {
            self.send_queue
                .set_short_route(ShortRoute { send, ep: lane.ep }, lane.max_short);
        }
        let hooks = self.hooks();
        (hooks.on_connected)(self);
        self.advance(ConnectionEvent::Connect);
        // A connection-oriented transport has room once its connection is established.
        let waits = self.wait_for_room();
        if !waits {
            self.advance(ConnectionEvent::Ready);
        }
        if self.is_watched() {
            (hooks.watch)(self, waits);
        }
        self.send_queued();
        Ok(())
    }

    /// Whether the peer's death has to be detected, and can be.
    pub fn is_watched(&self) -> bool {
        self.handles_errors() && self.is_connected() && self.is_usable()
    }

    /// Makes the transports check whether the peer lives. They report its death from progress.
    pub fn check_transports(&self) {
        for lane in self.lanes() {
            let iface = &self.worker().ifaces[lane.iface];
            if iface.attr.cap.flags & UCT_IFACE_FLAG_EP_CHECK == 0 && !self.uses_failover() {
                continue;
            }
            // SAFETY: a live transport endpoint.
            unsafe {
                if let Some(check) = (*(*lane.ep).iface).ops.ep_check {
                    check(lane.ep, 0, core::ptr::null_mut());
                }
            }
        }
    }

    /// The peer's address, if connected.
    pub fn address(&self) -> Option<&Address> {
        self.address.get().map(Rc::as_ref)
    }

    /// The same, to be kept.
    pub fn shared_address(&self) -> Option<&Rc<Address>> {
        self.address.get()
    }

    /// The status of its connection of the connection manager, if that has ended.
    pub fn connection_gone(&self) -> Option<Status> {
        self.cm_connection.borrow().as_ref()?.gone
    }

    /// Whether the peer is known.
    pub fn is_connected(&self) -> bool {
        self.lane.get().is_some()
    }

    /// The connection manager exchanged addresses and ids, so no wire-up message is sent.
    pub fn set_wireup_sent(&self) {
        self.wireup_sent.set(true);
    }

    /// Before it is connected: its messages go by the paths of `failover`.
    pub fn set_failover(&self, on: bool) {
        self.failover.set(on);
    }

    pub fn uses_failover(&self) -> bool {
        self.failover.get()
    }

    /// The remote endpoint, if it is known.
    pub fn remote_name(&self) -> Option<EpName> {
        self.remote_ep.get()
    }

    pub fn is_paired_with(&self, remote_ep: EpName) -> bool {
        self.remote_ep.get() == Some(remote_ep)
    }

    /// The remote endpoint is known.
    pub fn pair_with(&self, remote_ep: EpName) {
        self.remote_ep.set(Some(remote_ep));
        self.worker()
            .endpoints()
            .pairing
            .pair(remote_ep, self.id.get());
    }

    #[inline]
    pub fn worker(&self) -> &Core {
        &self.worker
    }

    /// The process of this host that the peer is, if it is one: proven, or on the application's word.
    pub fn peer_process(&self) -> Option<ProcessId> {
        claims::owner(self.worker(), self.address.get()?).map(|o| o.id)
    }

    /// Most bytes of a user's header in an active message to this peer.
    pub fn max_am_header(&self) -> usize {
        match self.lane.get() {
            // The header of a numbered message is one of those that are allowed for.
            Some(lane) if self.uses_failover() => {
                let max_bcopy = lane.max_bcopy + SequencedHdr::LEN;
                max_bcopy.saturating_sub(MAX_HEADERS)
            }
            Some(lane) => lane.max_bcopy.saturating_sub(MAX_HEADERS),
            None => self.worker().max_am_header(),
        }
    }

    /// The endpoint's name, for logs and queries.
    pub fn name(&self) -> String {
        self.given_name.get().cloned().unwrap_or_else(|| {
            format!(
                "ep{:#x}->{:x}",
                self.id.get() as u32,
                self.remote_uuid.get()
            )
        })
    }

    /// The name that peers have of it.
    pub fn name_for_peers(&self) -> EpName {
        EpName {
            uuid: self.worker().uuid,
            id: EpId(self.id.get()),
        }
    }

    /// The name that peers have of a request of this endpoint.
    pub fn name_request(&self, req: Req) -> RequestName {
        RequestName {
            ep: self.name_for_peers(),
            id: req.id(),
        }
    }

    /// Whether the application asked for error handling.
    pub fn handles_errors(&self) -> bool {
        self.params.get().err_mode != UCP_ERR_HANDLING_MODE_NONE
    }

    /// Whether it may end while requests are outstanding, whose buffers the application then owns at once.
    pub fn may_revoke(&self) -> bool {
        self.handles_errors() || self.peer_handles_errors.get()
    }

    /// The status of a failed endpoint, as an error.
    #[inline]
    pub fn usable(&self) -> Result<()> {
        match self.connection.get().failure() {
            None => Ok(()),
            Some(e) => Err(self.failed_with(e)),
        }
    }

    #[inline]
    pub fn is_usable(&self) -> bool {
        self.connection.get().failure().is_none()
    }

    /// In a forked child, logs that the endpoint belongs to the parent.
    #[cold]
    fn failed_with(&self, status: Status) -> Status {
        self.worker().check_process().err().unwrap_or(status)
    }

    /// Whether a message may be sent now without overtaking a queued one.
    #[inline]
    pub fn is_clear(&self) -> bool {
        self.send_queue.is_clear() && self.is_usable()
    }

    /// Whether the peer knows this endpoint, or a wire-up message precedes whatever is sent next.
    #[inline]
    pub fn is_wireup_sent(&self) -> bool {
        self.wireup_sent.get()
    }

    /// Sends the wire-up message, before the first message that needs a reply.
    pub fn send_wireup(&self) {
        if !self.wireup_sent.replace(true) {
            self.post(self.wireup_task());
        }
    }

    fn wireup_task(&self) -> Task {
        if self.is_upstream() {
            return self.upstream_request();
        }
        let w = self.worker();
        let err_mode = match self.uses_failover() {
            true => UCP_ERR_HANDLING_MODE_FAILOVER,
            false => self.params.get().err_mode.min(UCP_ERR_HANDLING_MODE_PEER),
        };
        let header = WireupHdr {
            ep: self.name_for_peers(),
            serial: self.serial.get(),
            err_mode: err_mode as u8,
            ticket: claims::ticket(w, self.remote_uuid.get()),
        };
        // The peer replies by the kind of transport that it is sent to by: where a connection ends, both sides are told.
        let by_network = (self.address()).is_some_and(|peer| !claims::has_local(w, peer));
        Task::control(AmId::Wireup, &header, &w.address(by_network).pack())
    }

    /// Pairs the endpoint with itself: it receives its own messages.
    pub fn pair_with_itself(&self) {
        self.wireup_sent.set(true);
        self.pair_with(self.name_for_peers());
    }

    /// Sends a task, or appends it to the queue. On a failed endpoint the task fails.
    pub fn post(&self, task: Task) {
        let is_reply = !task.is_of_application() && self.may_send();
        if let (false, Err(e)) = (is_reply, self.usable()) {
            self.fail_task(&task, e);
            return;
        }
        if !self.send_queue.is_clear() {
            if let Task::Request(req) = &task {
                Op::on_queued(self, *req);
            }
            self.send_queue.push_back(task);
            self.send_queued();
        } else if self.defers() {
            self.send_queue.push_back(task);
            self.report_replies();
        } else {
            self.send_from(Some(task));
        }
    }

    /// Sends the queue, unless the transport will call for it.
    fn send_queued(&self) {
        if self.send_queue.is_blocked() || self.defers() {
            self.report_replies();
        } else {
            self.send_from(None);
        }
    }

    /// Whether its queue waits until another endpoint of the worker to itself has sent.
    fn defers(&self) -> bool {
        self.is_loopback() && self.worker().endpoints().loopback.defers(self.id.get())
    }

    /// Sends a task that stands in front of an empty queue, and what is queued meanwhile.
    fn send_from(&self, mut first: Option<Task>) {
        let _pin = Pin::new(self);
        while self.pump(first.take()).is_err() && !self.wait_for_room() {}
        self.report_replies();
        self.send_deferred();
    }

    /// Has `send` send one message past the queue, where nothing holds it back; else returns `None`. On a loopback endpoint
    /// its receiver runs within the call, and what that posts is sent behind it.
    #[inline]
    pub fn send_past_queue<R>(&self, send: impl FnOnce() -> R) -> Option<R> {
        if !self.is_clear() {
            return None;
        }
        if !self.is_loopback() {
            return Some(send());
        }
        let loopback = &self.worker().endpoints().loopback;
        if loopback.is_busy() {
            return None;
        }
        let _pin = Pin::new(self);
        self.send_queue.set_blocked(true);
        let sent = loopback.deliver(send);
        self.send_queue.set_blocked(false);
        if self.has_queue() {
            self.send_queued();
        } else {
            self.on_queue_empty();
            self.send_deferred();
        }
        Some(sent)
    }

    /// Whether the worker is at both ends, and nothing holds back what a message would tell.
    #[inline]
    pub fn tells_itself(&self) -> bool {
        self.is_loopback() && self.is_clear() && !self.worker().endpoints().loopback.is_busy()
    }

    /// Has the worker at both ends of a loopback endpoint handle what a message would tell, without one. Returns false where the
    /// message has to wait for another, or goes to another worker.
    #[inline]
    pub fn tell_itself(&self, handle: impl FnOnce(&Core)) -> bool {
        let worker = self.worker();
        if !self.tells_itself() {
            return false;
        }
        // The endpoint may end in it.
        worker.endpoints().loopback.deliver(|| handle(worker));
        loopback::Loopback::release(worker);
        true
    }

    /// Reports the number of queued replies to the transport, which may stop receiving from a peer that does not read
    /// them.
    fn report_replies(&self) {
        let count = self.send_queue.replies();
        let before = self.reported_replies.replace(count);
        if count != before && self.is_connected() {
            self.report_more_replies(count as isize - before as isize);
        }
    }

    /// Returns whether the transport wants no more requests to be answered.
    fn report_more_replies(&self, change: isize) -> bool {
        let ep = self.lane().ep;
        // SAFETY: a live transport endpoint of ours.
        let is_full = unsafe { (base_of((*ep).iface).internal.ops.replies_queued)(ep, change) };
        self.has_full_replies.set(is_full);
        is_full
    }

    /// Whether so many replies wait that a request of the peer has to wait before it is handled.
    pub fn has_full_replies(&self) -> bool {
        self.has_full_replies.get() && self.is_connected() && self.report_more_replies(0)
    }

    /// Sends the queues of other loopback endpoints that were deferred while this one was sending.
    fn send_deferred(&self) {
        if self.is_loopback() {
            loopback::Loopback::release(self.worker());
        }
    }

    /// Whether the peer is its own worker, which receives within the send.
    #[inline]
    pub fn is_loopback(&self) -> bool {
        self.remote_uuid.get() == self.worker().uuid
    }

    /// Sends the queue, with a task in front of it. `NO_RESOURCE` when the transport has no room.
    fn pump(&self, first: Option<Task>) -> Result<()> {
        // Until the last task is done or back in the queue, tasks that are posted meanwhile stay behind.
        self.send_queue.set_blocked(true);
        let result = self.send_tasks(first);
        self.send_queue.set_blocked(false);
        if result == Ok(true) {
            self.on_queue_empty();
        }
        result.map(drop)
    }

    /// Sends a task and those that are queued. Returns whether all were sent, `NO_RESOURCE` if the transport has no room.
    fn send_tasks(&self, mut first: Option<Task>) -> Result<bool> {
        while self.may_send() && !self.send_queue.is_stopped() {
            let Some(mut task) = first.take().or_else(|| self.send_queue.pop_front()) else {
                return Ok(true);
            };
            let result = if self.is_loopback() {
                self.worker()
                    .endpoints()
                    .loopback
                    .deliver(|| self.step(&mut task))
            } else {
                self.step(&mut task)
            };
            match result {
                Ok(TaskStep::Done) => {}
                Ok(TaskStep::More) => self.send_queue.push_back(task),
                Err(Status::NO_RESOURCE) => {
                    self.send_queue.push_front(task);
                    if self.send_queue.is_stopped() {
                        return Ok(false);
                    }
                    self.worker().counters.retries.add(1);
                    return Err(Status::NO_RESOURCE);
                }
                Err(e) => {
                    self.cut_off(&task);
                    self.fail_task(&task, e);
                }
            }
        }
        if let Some(task) = first {
            self.send_queue.push_front(task);
        }
        Ok(false)
    }

    /// The rest of a task will not come: tells the peer, if that knows of it. Where the endpoint failed, it hears of that.
    #[cold]
    fn cut_off(&self, task: &Task) {
        if let Task::Request(req) = task
            && self.is_usable()
            && let Some(message) = Op::abort_message(self.worker().uuid, *req)
        {
            self.send_queue.push_back(message);
        }
    }

    fn step(&self, task: &mut Task) -> Result<TaskStep> {
        match task {
            Task::Control(control) if self.is_upstream() => self.translate(control),
            Task::Control(control) => {
                self.lane().control(control.id, &control.bytes)?;
                Ok(TaskStep::Done)
            }
            Task::Upstream(control) => {
                control.send(self)?;
                Ok(TaskStep::Done)
            }
            Task::Request(req) => Op::step(self, *req),
            Task::Serve(get) => get.serve(self),
        }
    }

    /// Registers for a call when the transport has room. Returns false when it has room already.
    fn wait_for_room(&self) -> bool {
        // SAFETY: a live transport endpoint; the pending_send lives as long as this endpoint, which
        // purges it before it goes.
        let code = unsafe {
            match (*(*self.lane().ep).iface).ops.ep_pending_add {
                Some(add) => add(self.lane().ep, self.pending_send.get().cast(), 0),
                None => UCS_ERR_BUSY,
            }
        };
        let waits = code == UCS_OK;
        self.send_queue.set_blocked(waits);
        if waits {
            self.worker().counters.waits_for_room.add(1);
            self.worker().wakeup.work_came();
        }
        waits
    }

    /// Whether the queue may be sent: the endpoint has not failed, or still sends replies or its close message.
    fn may_send(&self) -> bool {
        self.connection.get().may_send()
    }

    /// The queue is empty: an endpoint that was alive only for that ends.
    #[inline]
    fn on_queue_empty(&self) {
        if matches!(self.connection.get(), Connection::Draining(_)) {
            self.finish_draining();
        } else {
            self.destroy_if_idle();
        }
    }

    /// What its queued tasks wait for, if there are any.
    pub fn queue_waits_for(&self) -> Option<&'static str> {
        let why = match self.connection.get() {
            _ if !self.has_queue() => return None,
            Connection::Unconnected => "the address of the peer",
            Connection::Connecting => "the transport to connect",
            _ if self.send_queue.is_held() => "accesses before a fence",
            _ if self.send_queue.is_copying() => "a device that copies what is next",
            _ if self.send_queue.is_blocked() => "room in the transport",
            _ => return None,
        };
        Some(why)
    }

    /// How it stands with the peer and with the application, for people.
    pub fn state_text(&self) -> String {
        format!("{}, {}", self.connection.get(), self.handle.get())
    }

    /// Whether tasks are queued.
    pub fn has_queue(&self) -> bool {
        self.send_queue.has_queue()
    }
}

/// Pending callback: the transport has room again.
unsafe extern "C" fn has_room(req: *mut uct_pending_req_t) -> ucs_status_t {
    // SAFETY: the pending_send of a live endpoint, off the transport's queue.
    let Some(ep) = (unsafe { (*req.cast::<PendingSend>()).ep }) else {
        return UCS_OK;
    };
    let _pin = Pin::new(&ep);
    if ep.connection.get() == Connection::Connecting {
        ep.advance(ConnectionEvent::Ready);
        (ep.hooks().on_ready)(&ep);
    }
    let code = match ep.pump(None) {
        Err(e) if ep.may_send() => {
            ep.send_queue.set_blocked(true);
            e.code()
        }
        _ => {
            ep.send_queue.set_blocked(false);
            UCS_OK
        }
    };
    ep.report_replies();
    ep.send_deferred();
    code
}
