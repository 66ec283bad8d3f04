//! Endpoints: the way to one peer.
//!
//! An endpoint has one transport endpoint for messages and makes others when they pay. What cannot
//! be sent at once waits in one queue, in order; the transport calls when it has room. Peers name
//! an endpoint by its worker and its id; the first message that wants an answer is preceded by a
//! `Wireup` message with both.

mod end;
pub mod loopback;
mod outstanding;
mod send_queue;

pub use end::{End, Pin, transport_failed};
use outstanding::Outstanding;
pub use send_queue::{SendQueue, ShortRoute};

use super::after_fork;
use super::keepalive;
use super::mem::KeyCache;
use super::names;
use super::proto::plan::Thresholds;
use super::proto::{self, control, send};
use super::request::Request;
use super::rma::flush::{self, Landing};
use super::rma::target::{self, Read};
use super::stream;
use super::wireup::cm::Link;
use super::wireup::pairing::RemoteEp;
use super::wireup::{claims, describe, select};
use super::worker::{MAX_HEADERS, Worker};
use crate::c::*;
use crate::ucs::{Result, Status};
use crate::ucs_diag;
use crate::uct::base::iface::{IfaceBase, base_of};
use crate::uct::internal::Short;
use crate::uct::local::ProcessId;
use crate::wire::address::Address;
use crate::wire::header::{AmId, WireupHdr};
use core::cell::{Cell, OnceCell, RefCell, UnsafeCell};
use core::ffi::{CStr, c_void};
use core::ptr::NonNull;
use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

/// What `ucp_ep_create` was given besides the address.
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

/// Something an endpoint has to send. Two words, which are moved in registers.
pub enum Task {
    Request(NonNull<Request>),
    Control(Box<Control>),
    /// A peer's read of memory here.
    Serve(Box<Read>),
}

impl Task {
    /// Whether it stands for a request of the application here, not for one of the peer.
    pub fn is_of_application(&self) -> bool {
        matches!(self, Task::Request(_))
    }
}

/// A message of the library's own.
pub struct Control {
    pub id: AmId,
    pub bytes: Vec<u8>,
}

/// How a task went on.
pub enum Step {
    /// Off the queue.
    Done,
    /// More to send: others of the queue may go first.
    More,
}

/// The transport endpoint for messages and its limits.
#[derive(Clone, Copy)]
pub struct MessageLane {
    pub ep: uct_ep_h,
    pub iface: usize,
    /// Most payload bytes behind the eight of the header in one short message.
    pub max_short: usize,
    pub max_bcopy: usize,
    /// Most bytes of a message that is sent without a copy, and of its headers; 0 where that is not
    /// possible.
    pub max_zcopy: usize,
    pub max_zcopy_header: usize,
    pub thresholds: Thresholds,
    /// `None` when the transport has no short messages, or none that could hold a header.
    pub am_short: Option<Short>,
    pub am_bcopy: uct_ep_am_bcopy_func_t,
    pub am_zcopy: uct_ep_am_zcopy_func_t,
}

/// A transport endpoint on one of the worker's interfaces.
#[derive(Clone, Copy)]
pub struct TransportLane {
    pub ep: uct_ep_h,
    pub iface: usize,
}

/// Of an endpoint whose peer is not known.
const NO_LANE: MessageLane = MessageLane {
    ep: core::ptr::null_mut(),
    iface: 0,
    max_short: 0,
    max_bcopy: 0,
    max_zcopy: 0,
    max_zcopy_header: 0,
    thresholds: Thresholds::NONE,
    am_short: None,
    am_bcopy: None,
    am_zcopy: None,
};

/// The pending request an endpoint queues at its transport, with the way back to it.
#[repr(C)]
struct Waiter {
    base: uct_pending_req_t,
    ep: *const Ep,
}

pub struct Ep {
    worker: *const Worker,
    pub id: Cell<u64>,
    /// Its place in the list of `after_fork`.
    pub registered: Cell<u32>,
    /// The peer's worker; 0 while it is not known.
    pub remote_uuid: Cell<u64>,
    /// The remote endpoint, once it is known.
    remote_ep: Cell<Option<RemoteEp>>,
    /// Which of the endpoints between two workers it is: both sides count them.
    pub serial: Cell<u32>,
    address: OnceCell<Rc<Address>>,
    lane: OnceCell<MessageLane>,
    /// The connection it was made by, of endpoints between client and server.
    pub link: RefCell<Option<Link>>,
    /// A second transport endpoint for bulk data (cma), made when first wanted.
    bulk: Cell<Option<TransportLane>>,
    /// It was tried to make one.
    no_bulk: Cell<bool>,
    /// Keys of the peer's memory that RTS messages came with.
    pub keys: RefCell<KeyCache>,
    /// Something was posted whose effect at the peer only a fence tells.
    pub unfenced: Cell<bool>,
    /// The worker was fenced while accesses by messages were under way: until a flush finds none,
    /// those that follow go by messages too.
    pub fenced: Cell<bool>,
    /// The name the application gave it.
    pub given_name: OnceCell<String>,
    /// Something was written by the transport that only its flush to the peer ends.
    pub wrote: Cell<bool>,
    /// The peer went while something was under way that cannot have been done.
    lost: Cell<bool>,
    /// The peer has closed its side.
    pub peer_closed: Cell<bool>,
    /// An access of the peer was refused since its last fence.
    pub refused: Cell<Option<Status>>,
    pub params: Cell<EpParams>,
    pub stream: stream::Inbox,
    /// What waits to be sent, and whether anything does.
    pub send_queue: SendQueue,
    waiter: UnsafeCell<Waiter>,
    /// Answers in the queue, as the transport knows of them.
    reported_replies: Cell<usize>,
    /// The transport is not connected, and its peer is given a limited time for that.
    unanswered: Cell<bool>,
    /// Calls into this endpoint that are under way; it is freed when the last returns.
    pins: Cell<u32>,
    doomed: Cell<bool>,
    /// The application closed it: it is told nothing any more.
    given_up: Cell<bool>,
    /// Flushed and closed, alive only for what the peer has still to answer.
    retired: Cell<bool>,
    /// Doomed, alive only for the last words in its queue.
    farewell: Cell<bool>,
    /// It is at its end while the peer's worker lives on, which is still told what waits for it.
    answers: Cell<bool>,
    wireup_sent: Cell<bool>,
    /// Made by a wire-up message, not yet taken by the application.
    pub implicit: Cell<bool>,
    /// Made for replies over a return path; the application never gets it.
    pub reply_only: Cell<bool>,
    /// The remote endpoint asked for error handling, so the application is expected to ask for it too.
    pub peer_handles_errors: Cell<bool>,
    /// An active-message handler got it as reply endpoint.
    pub exposed: Cell<bool>,
    /// Messages in the user's buffers that the transport has.
    in_place: Cell<usize>,
    /// Requests that wait for something of the peer.
    pub outstanding: Outstanding,
    /// Flushes that wait for those.
    flushes: RefCell<VecDeque<NonNull<Request>>>,
    /// Flushes of the transport that are under way.
    landings: RefCell<BTreeSet<NonNull<Landing>>>,
}

impl Ep {
    /// Makes an endpoint to the owner of `address`. `UNREACHABLE` when no transport reaches it.
    pub fn create(worker: &Worker, address: Address, params: EpParams) -> Result<NonNull<Ep>> {
        Ep::made(worker, params, |ep| ep.connect(address))
    }

    /// The same to a peer that waits for answers. It may have left since: `CONNECTION_RESET`.
    pub fn create_back(worker: &Worker, address: Rc<Address>) -> Result<NonNull<Ep>> {
        Ep::made(worker, EpParams::default(), |ep| ep.connect_back(address))
    }

    fn made(
        worker: &Worker,
        params: EpParams,
        connect: impl FnOnce(&Ep) -> Result<()>,
    ) -> Result<NonNull<Ep>> {
        let at = Ep::unconnected(worker, params);
        // SAFETY: just made.
        let ep = unsafe { at.as_ref() };
        match connect(ep) {
            Ok(()) => Ok(at),
            Err(e) => {
                // SAFETY: nobody else has it.
                unsafe { Ep::destroy(at.as_ptr(), e, End::Flushed) };
                Err(e)
            }
        }
    }

    /// Makes an endpoint whose peer is not known yet: what is posted waits for `connect`.
    pub fn unconnected(worker: &Worker, params: EpParams) -> NonNull<Ep> {
        let ep = Box::new(Ep {
            worker,
            id: Cell::new(0),
            registered: Cell::new(0),
            remote_uuid: Cell::new(0),
            remote_ep: Cell::new(None),
            serial: Cell::new(0),
            address: OnceCell::new(),
            lane: OnceCell::new(),
            link: RefCell::new(None),
            bulk: Cell::new(None),
            no_bulk: Cell::new(false),
            keys: RefCell::new(KeyCache::default()),
            unfenced: Cell::new(false),
            fenced: Cell::new(false),
            given_name: OnceCell::new(),
            wrote: Cell::new(false),
            lost: Cell::new(false),
            peer_closed: Cell::new(false),
            refused: Cell::new(None),
            params: Cell::new(params),
            stream: stream::Inbox::new(),
            send_queue: SendQueue::new(worker.is_shared()),
            waiter: UnsafeCell::new(Waiter {
                base: uct_pending_req_t {
                    func: Some(has_room),
                    r#priv: [0; UCT_PENDING_REQ_PRIV_LEN],
                },
                ep: core::ptr::null(),
            }),
            reported_replies: Cell::new(0),
            unanswered: Cell::new(false),
            pins: Cell::new(0),
            doomed: Cell::new(false),
            given_up: Cell::new(false),
            retired: Cell::new(false),
            farewell: Cell::new(false),
            answers: Cell::new(false),
            wireup_sent: Cell::new(false),
            implicit: Cell::new(false),
            reply_only: Cell::new(false),
            peer_handles_errors: Cell::new(false),
            exposed: Cell::new(false),
            in_place: Cell::new(0),
            outstanding: Outstanding::default(),
            flushes: RefCell::new(VecDeque::new()),
            landings: RefCell::new(BTreeSet::new()),
        });
        let at = NonNull::from(Box::leak(ep));
        // SAFETY: just made; it does not move any more.
        unsafe {
            let ep = at.as_ref();
            (*ep.waiter.get()).ep = ep;
            ep.id.set(worker.eps.borrow_mut().insert(at.as_ptr()));
            after_fork::register_ep(ep);
        }
        at
    }

    /// The peer is known: chooses the transport, and sends what waited.
    pub fn connect(&self, address: Address) -> Result<()> {
        let address = select::shared(self.worker(), address);
        let lane = select::message_lane(self.worker(), &address)
            .inspect_err(|_| select::explain(self.worker(), &address))?;
        self.connected(lane, address)
    }

    /// The same for a peer that was there a moment ago. It may have left since: `CONNECTION_RESET`.
    pub fn connect_back(&self, address: Rc<Address>) -> Result<()> {
        let worker = self.worker();
        let lane = select::message_lane(worker, &address).map_err(|e| {
            if !select::has_left(worker, &address) {
                select::explain(worker, &address);
                return e;
            }
            ucs_diag!("worker {:#x} left before it was connected to", address.uuid);
            Status::CONNECTION_RESET
        })?;
        self.connected(lane, address)
    }

    fn connected(&self, lane: MessageLane, address: Rc<Address>) -> Result<()> {
        self.remote_uuid.set(address.uuid);
        if self.lane.set(lane).is_err() || self.address.set(address).is_err() {
            return Err(Status::ALREADY_EXISTS);
        }
        self.find_by(lane.ep);
        if let Some(send) = lane.am_short {
            self.send_queue
                .set_short_route(ShortRoute { send, ep: lane.ep }, lane.max_short);
        }
        if let Some(address) = self.address.get() {
            describe::log_config(self, address);
        }
        proto::table::describe(self);
        // A transport with connections of its own has room when that to the peer stands.
        let waits = self.wait_for_room();
        if self.is_watched() {
            self.unanswered.set(waits);
            keepalive::watch(self, waits);
        }
        self.send_queued();
        Ok(())
    }

    /// Whether somebody is to be told of the peer's end, and it can be looked for.
    pub fn is_watched(&self) -> bool {
        self.handles_errors() && self.is_connected() && self.send_queue.failure().is_none()
    }

    /// Makes the transports look whether the peer lives. What they find they tell from progress.
    pub fn check_transports(&self) {
        for lane in self.lanes() {
            let iface = &self.worker().ifaces[lane.iface];
            if iface.attr.cap.flags & UCT_IFACE_FLAG_EP_CHECK == 0 {
                continue;
            }
            // SAFETY: a live transport endpoint of that interface.
            unsafe {
                if let Some(check) = (*iface.handle).ops.ep_check {
                    check(lane.ep, 0, core::ptr::null_mut());
                }
            }
        }
    }

    /// Where the peer is, of an endpoint that is connected.
    pub fn address(&self) -> Option<&Address> {
        self.address.get().map(Rc::as_ref)
    }

    /// Whether the peer is known.
    pub fn is_connected(&self) -> bool {
        self.lane.get().is_some()
    }

    /// The transport endpoint for messages; of an unconnected endpoint, one that does nothing.
    #[inline]
    pub fn lane(&self) -> &MessageLane {
        self.lane.get().unwrap_or(&NO_LANE)
    }

    /// The interface that carries its messages; `None` of an unconnected endpoint.
    pub fn carrier(&self) -> Option<&IfaceBase> {
        let iface = self.worker().ifaces.get(self.lane.get()?.iface)?;
        // SAFETY: an open interface of ours, which goes with the worker.
        Some(unsafe { base_of(iface.handle) })
    }

    /// The connection manager exchanged addresses and ids, so no wire-up message is sent.
    pub fn set_wireup_sent(&self) {
        self.wireup_sent.set(true);
    }

    /// The remote endpoint is known.
    pub fn pair_with(&self, remote_ep: RemoteEp) {
        self.remote_ep.set(Some(remote_ep));
        self.worker().pairing.pair(remote_ep, self.id.get());
    }

    #[inline]
    pub fn worker(&self) -> &Worker {
        // SAFETY: a worker outlives its endpoints.
        unsafe { &*self.worker }
    }

    /// `transport/device` of the message lane.
    pub fn transport_name(&self) -> String {
        match self.lane.get() {
            Some(lane) => self.name_of(lane.iface),
            None => "nothing yet".to_owned(),
        }
    }

    /// `transport/device` of one of the worker's interfaces.
    pub fn name_of(&self, iface: usize) -> String {
        let w = self.worker();
        let r = &w.context().resources[w.ifaces[iface].resource];
        format!("{}/{}", r.transport.name(), r.device.name)
    }

    /// The transport endpoint for bulk data, made when first asked for; `None` when there is none.
    pub fn bulk(&self) -> Option<TransportLane> {
        if let Some(address) = self.address.get()
            && self.bulk.get().is_none()
            && !self.no_bulk.replace(true)
        {
            self.bulk.set(select::bulk_lane(self.worker(), address));
            if let Some(lane) = self.bulk.get() {
                self.find_by(lane.ep);
            }
        }
        self.bulk.get()
    }

    /// A failure of this transport endpoint is this endpoint's.
    fn find_by(&self, lane: uct_ep_h) {
        self.worker().by_lane.borrow_mut().insert(lane, self);
    }

    /// The message lane, where its transport writes into the peer's memory by keys (tcp).
    pub fn writing_lane(&self) -> Option<TransportLane> {
        let lane = self.lane.get()?;
        let attr = &self.worker().ifaces[lane.iface].attr;
        (attr.cap.flags & UCT_IFACE_FLAG_PUT_ZCOPY != 0).then_some(TransportLane {
            ep: lane.ep,
            iface: lane.iface,
        })
    }

    /// The transport endpoints that it has.
    pub fn lanes(&self) -> impl Iterator<Item = TransportLane> {
        let message = self.lane.get().map(|l| TransportLane {
            ep: l.ep,
            iface: l.iface,
        });
        message.into_iter().chain(self.bulk.get())
    }

    /// Whether a transport's endpoint is this one's.
    pub fn has_lane(&self, lane: uct_ep_h) -> bool {
        self.lanes().any(|l| l.ep == lane)
    }

    /// Whether messages go to a peer on this host, by memory that both share.
    pub fn is_same_host(&self) -> bool {
        let w = self.worker();
        self.lane.get().is_some_and(|lane| {
            let device = &w.context().resources[w.ifaces[lane.iface].resource].device;
            device.kind == UCT_DEVICE_TYPE_SHM
        })
    }

    /// The process of this host that the peer is, if it is one: proven, or on the application's word.
    pub fn peer_process(&self) -> Option<ProcessId> {
        claims::owner(self.worker(), self.address.get()?).map(|o| o.id)
    }

    /// Transport and device of each lane.
    pub fn lane_names(&self) -> Vec<(&'static CStr, &'static CStr)> {
        let w = self.worker();
        let bulk = self.bulk.get().map(|lane| lane.iface);
        [self.lane.get().map(|l| l.iface), bulk]
            .into_iter()
            .flatten()
            .map(|i| {
                let r = &w.context().resources[w.ifaces[i].resource];
                (
                    names::intern(r.transport.name()),
                    names::intern(&r.device.name),
                )
            })
            .collect()
    }

    /// Most bytes of a user's header in an active message to this peer.
    pub fn max_am_header(&self) -> usize {
        match self.lane.get() {
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

    /// Seconds a message of `size` bytes is estimated to take.
    pub fn estimate(&self, size: usize) -> f64 {
        if !self.is_connected() {
            return f64::INFINITY;
        }
        let w = self.worker();
        let attr = &w.ifaces[self.lane().iface].attr;
        select::duration(attr, w.context().processes_here(), size as f64)
    }

    /// Whether the application asked for error handling.
    pub fn handles_errors(&self) -> bool {
        self.params.get().err_mode != UCP_ERR_HANDLING_MODE_NONE
    }

    /// Whether it may end with requests under way whose buffers the application has again at once.
    pub fn may_revoke(&self) -> bool {
        self.handles_errors() || self.peer_handles_errors.get()
    }

    /// Why nothing can be sent any more.
    #[inline]
    pub fn usable(&self) -> Result<()> {
        match self.send_queue.failure() {
            None => Ok(()),
            Some(e) => Err(self.failed_with(e)),
        }
    }

    #[inline]
    pub fn is_usable(&self) -> bool {
        self.send_queue.failure().is_none()
    }

    /// Says so when it is that of a parent process.
    #[cold]
    fn failed_with(&self, status: Status) -> Status {
        self.worker().check_process().err().unwrap_or(status)
    }

    /// Whether a message may go out now without overtaking one that waits.
    #[inline]
    pub fn is_clear(&self) -> bool {
        self.send_queue.is_clear()
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
        let w = self.worker();
        let header = WireupHdr {
            uuid: w.uuid,
            ep: self.id.get(),
            serial: self.serial.get(),
            handles_errors: self.handles_errors().into(),
            ticket: claims::ticket(w, self.remote_uuid.get()),
        };
        control::task(AmId::Wireup, &header, &w.address(false).pack())
    }

    /// Pairs the endpoint with itself: it receives its own messages.
    pub fn pair_with_itself(&self) {
        self.wireup_sent.set(true);
        self.pair_with((self.remote_uuid.get(), self.id.get()));
    }

    /// Sends a task, or queues it behind what waits. On a failed endpoint it ends here.
    pub fn post(&self, task: Task) {
        let answer = !task.is_of_application() && self.may_send();
        if let (false, Err(e)) = (answer, self.usable()) {
            self.fail_task(&task, e);
            return;
        }
        self.send_queue.push_back(task);
        self.send_queued();
    }

    /// Sends what waits, unless the transport is going to call for it.
    fn send_queued(&self) {
        if self.send_queue.is_blocked()
            || self.is_loopback() && self.worker().loopback.defers(self.id.get())
        {
            self.report_replies();
            return;
        }
        let _pin = Pin::new(self);
        while self.pump().is_err() && !self.wait_for_room() {}
        self.report_replies();
        self.send_deferred();
    }

    /// Tells the transport how many answers wait: it may stop receiving from a peer that does not read them.
    fn report_replies(&self) {
        let count = self.send_queue.replies();
        let before = self.reported_replies.replace(count);
        if count != before && self.is_connected() {
            let ep = self.lane().ep;
            // SAFETY: a live transport endpoint of ours.
            unsafe {
                (base_of((*ep).iface).internal.answers_queued)(ep, count as isize - before as isize)
            };
        }
    }

    /// Sends what endpoints to this worker itself had to keep while this one, another, was sending.
    fn send_deferred(&self) {
        if self.is_loopback() {
            loopback::Loopback::release(self.worker());
        }
    }

    /// Whether its peer is its own worker, which receives within the send.
    #[inline]
    pub fn is_loopback(&self) -> bool {
        self.remote_uuid.get() == self.worker().uuid
    }

    /// Sends what can be sent. `NO_RESOURCE` when the transport has no room.
    fn pump(&self) -> Result<()> {
        while self.may_send() {
            let Some(mut task) = self.send_queue.pop_front() else {
                self.emptied();
                return Ok(());
            };
            // While a task is off the queue, whatever is posted meanwhile must stay behind it.
            self.send_queue.set_blocked(true);
            let result = if self.is_loopback() {
                self.worker().loopback.deliver(|| self.step(&mut task))
            } else {
                self.step(&mut task)
            };
            self.send_queue.set_blocked(false);
            match result {
                Ok(Step::Done) => {}
                Ok(Step::More) => self.send_queue.push_back(task),
                Err(Status::NO_RESOURCE) => {
                    self.send_queue.push_front(task);
                    return Err(Status::NO_RESOURCE);
                }
                Err(e) => self.fail_task(&task, e),
            }
        }
        Ok(())
    }

    fn step(&self, task: &mut Task) -> Result<Step> {
        match task {
            Task::Control(control) => {
                send::control_bcopy(self, control.id, &control.bytes)?;
                Ok(Step::Done)
            }
            Task::Request(req) => {
                // SAFETY: a queued request is alive.
                send::step(self, unsafe { req.as_ref() })
            }
            Task::Serve(read) => target::serve(self, read),
        }
    }

    /// Asks the transport to call when there is room; `false` when there is room already.
    fn wait_for_room(&self) -> bool {
        // SAFETY: a live transport endpoint; the waiter lives as long as this endpoint, which
        // purges it before it goes.
        let code = unsafe {
            match (*(*self.lane().ep).iface).ops.ep_pending_add {
                Some(add) => add(self.lane().ep, self.waiter.get().cast(), 0),
                None => UCS_ERR_BUSY,
            }
        };
        let waits = code == UCS_OK;
        self.send_queue.set_blocked(waits);
        if waits {
            self.worker().wakeup.work_came();
        }
        waits
    }

    /// Whether the queue is to be sent: the endpoint is alive, or has words left to say.
    fn may_send(&self) -> bool {
        self.send_queue.failure().is_none() || self.farewell.get() || self.answers.get()
    }

    /// Everything is out: whoever was alive only for that goes.
    #[inline]
    fn emptied(&self) {
        if self.farewell.get() {
            self.leave();
        } else {
            self.go_if_answered();
        }
    }

    /// A flush of the transport is under way.
    pub fn keep_landing(&self, landing: NonNull<Landing>) {
        self.landings.borrow_mut().insert(landing);
    }

    /// The transport is done with a flush.
    pub fn forget_landing(&self, landing: NonNull<Landing>) {
        self.landings.borrow_mut().remove(&landing);
    }

    /// Whether writes were handed to the transport, which has not said that they are done.
    fn has_unconfirmed_writes(&self) -> bool {
        let landings = self.landings.borrow();
        // SAFETY: a landing is alive until the transport is done with it.
        let mut landings = landings.iter().map(|l| unsafe { l.as_ref() });
        self.wrote.get() || self.unfenced.get() || landings.any(Landing::confirms_writes)
    }

    /// Takes the request of a flush that the transport still works on.
    fn recall_landing(&self) -> Option<NonNull<Request>> {
        let all = self.landings.borrow();
        // SAFETY: a landing is alive until the transport is done with it.
        all.iter().find_map(|l| unsafe { l.as_ref() }.recall())
    }

    /// Whether a flush waits for answers or for the transport.
    pub fn has_flushes(&self) -> bool {
        let landings = self.landings.borrow();
        // SAFETY: as above.
        let mut landing = landings.iter().map(|l| unsafe { l.as_ref() });
        !self.flushes.borrow().is_empty() || landing.any(|l| l.is_awaited())
    }

    /// A request waits for the peer: it ends with the endpoint.
    pub fn wait_for_peer(&self, req: &Request) {
        self.outstanding.add(req.as_ptr());
    }

    /// The peer answered, which ends a request; flushes that waited for the last answer end after it.
    pub fn answer(&self, req: &Request, result: Result<()>) {
        let _pin = Pin::new(self);
        self.disown(req.as_ptr());
        req.complete(result);
        self.recheck_flushes();
    }

    /// A request does not wait for the peer any more.
    pub fn disown(&self, req: NonNull<Request>) {
        self.outstanding.remove(req);
    }

    /// Something was answered: flushes may end, and so may an endpoint that is closed.
    #[inline]
    pub fn recheck_flushes(&self) {
        if self.flushes.borrow().is_empty() && !self.retired.get() {
            return;
        }
        // None of them ends while something is owed.
        if !self.owes_no_flush() {
            return;
        }
        let _pin = Pin::new(self);
        // A close that is posted in the callback of one waits for the others.
        let mut ended = true;
        while core::mem::take(&mut ended) {
            let count = self.flushes.borrow().len();
            for _ in 0..count {
                // One at a time: each may end in a callback that closes this endpoint.
                let next = self.flushes.borrow_mut().pop_front();
                let Some(req) = next else { break };
                // SAFETY: a waiting flush is alive.
                ended |= flush::settled(self, unsafe { req.as_ref() });
            }
        }
        self.go_if_answered();
    }

    /// Whether something waits to be sent.
    pub fn has_queue(&self) -> bool {
        self.send_queue.has_queue()
    }

    /// Whether the peer has answered everything.
    pub fn owes_nothing(&self) -> bool {
        self.outstanding.is_empty()
    }

    /// Whether the peer has answered every access to its memory.
    fn owes_no_memory(&self) -> bool {
        !self.outstanding.has_accesses()
    }

    /// Whether the peer has answered everything that a flush waits for.
    pub fn owes_no_flush(&self) -> bool {
        !self.outstanding.holds_flushes()
    }

    /// Whether accesses by messages are under way: what is posted directly now overtakes them.
    pub fn has_accesses_under_way(&self) -> bool {
        self.unfenced.get() || self.has_queue() || !self.owes_no_memory()
    }

    /// A flush ends when the peer has answered everything.
    pub fn when_settled(&self, req: &Request) {
        let mut all = self.flushes.borrow_mut();
        // A close, of which there is one, is the last.
        // SAFETY: a waiting flush is alive.
        let close_waits = all
            .back()
            .is_some_and(|r| flush::is_close(unsafe { r.as_ref() }));
        let place = all.len() - usize::from(close_waits);
        all.insert(place, req.as_ptr());
    }
}

/// The transport has room again.
unsafe extern "C" fn has_room(req: *mut uct_pending_req_t) -> ucs_status_t {
    // SAFETY: the waiter of a live endpoint, off the transport's queue.
    let ep = unsafe { &*(*req.cast::<Waiter>()).ep };
    let _pin = Pin::new(ep);
    if ep.unanswered.replace(false) {
        keepalive::answered(ep.worker(), ep.id.get());
    }
    let code = match ep.pump() {
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
