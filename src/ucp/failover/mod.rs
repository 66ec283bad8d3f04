//! Endpoints in mode FAILOVER: no message is lost or comes twice when a link is lost.
//!
//! To the engine such an endpoint has one lane, on an interface of `uct::overlay`, that sends messages and nothing else:
//! data go by messages too. What is sent gets a number and is kept (`window`) until the peer acknowledges it; the
//! `sender` sends it by one of several paths, which are transport endpoints. The receiver (`inbound`) handles the numbers in
//! order and drops what it has. When a path fails, or no acknowledgement comes in time (`patience`), the sender goes on by
//! another path, from the oldest message on that is not acknowledged. A path delivers in order, so no number is ever left
//! out, and the receiver keeps nothing.
//!
//! A sender has a second path from the start. Its first message on a path, `Join`, proves to the receiver that the path's
//! interface is the sender's: so the peer, which connects to no other interfaces (`claims`), has two paths as well.
#![forbid(unsafe_code)]

pub mod inbound;
mod patience;
mod sender;
mod window;

use super::config::TABLE;
use super::ep::{Ep, MessageLane};
use super::tag;
use super::timer::{Timer, WorkerCall, limit};
use super::wireup::select;
use super::worker_core::{Core, FloorState, OpenIface};
use crate::c::*;
use crate::sys::clock::monotonic_ns;
use crate::ucs::config::{Config, var};
use crate::ucs::{Result, Status};
use crate::uct::base::params::IfaceParams;
use crate::uct::overlay::{Overlay, Path};
use crate::wire::address::{Address, AddressEntry};
use crate::wire::header::{Header, SequencedHdr};
use crate::wire::id::EpName;
use crate::{ucs_diag, ucs_error};
use core::cell::{Cell, OnceCell, RefCell};
use core::ffi::c_uint;
use inbound::Inbound;
use sender::Sender;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// Handles a message of one of the engine's kinds. `None` if it is malformed.
pub type Deliver = fn(&Core, u8, &[u8]) -> Option<()>;

/// What a worker keeps for such endpoints, its own and those of peers.
pub struct FailoverState {
    deliver: Deliver,
    /// How often a path that has failed is opened again.
    retries: u32,
    /// How long a path may be connecting.
    patience: Option<Duration>,
    overlay: OnceCell<Overlay>,
    shared: OnceCell<Rc<Shared>>,
    inbound: Inbound,
    clock: Cell<Option<Clock>>,
}

/// Nanoseconds.
pub type Clock = fn() -> u64;

/// Acknowledgements are due, and senders are to be looked at.
const ACKS: u32 = 1;
const LOOK: u32 = 2;

/// Between two looks while senders wait for acknowledgements.
const TICK: Duration = Duration::from_millis(50);

/// What senders share with the state.
pub struct Shared {
    call: Arc<WorkerCall>,
    timer: RefCell<Option<Timer>>,
    clock: Option<Clock>,
    /// By the ids of their endpoints, which may be gone.
    senders: RefCell<BTreeMap<u64, Rc<Sender>>>,
    made: Cell<u64>,
    /// The open paths of senders and receivers, and those that have failed.
    open: RefCell<BTreeSet<uct_ep_h>>,
    failed: RefCell<Vec<uct_ep_h>>,
    /// Paths that are not used any more. They end in `look`, where no transport is under way with them.
    discarded: RefCell<Vec<Rc<Path>>>,
}

impl Shared {
    fn now(&self) -> u64 {
        self.clock.map_or_else(monotonic_ns, |clock| clock())
    }

    fn next_sender(&self) -> u64 {
        self.made.replace(self.made.get() + 1)
    }

    /// The next progress looks at the senders.
    fn look_soon(&self) {
        self.call.request(LOOK);
    }

    /// Senders are looked at from time to time.
    fn start_ticks(&self) {
        let mut timer = self.timer.borrow_mut();
        if timer.is_some() || self.clock.is_some() {
            return;
        }
        let call = Arc::clone(&self.call);
        match Timer::start(TICK, move || call.request(LOOK)) {
            Ok(started) => *timer = Some(started),
            Err(e) => {
                ucs_error!("a link that is lost without a word is not noticed: no timer: {e}")
            }
        }
    }

    fn add(&self, path: Path) -> Rc<Path> {
        self.open.borrow_mut().insert(path.handle());
        Rc::new(path)
    }

    fn discard(&self, path: Rc<Path>) {
        self.discarded.borrow_mut().push(path);
        self.look_soon();
    }

    /// Ends the discarded paths.
    fn end_discarded(&self) {
        for path in self.discarded.take() {
            self.open.borrow_mut().remove(&path.handle());
        }
    }
}

impl FailoverState {
    pub fn new(config: &Config, deliver: Deliver) -> FailoverState {
        FailoverState {
            deliver,
            retries: config.uint(var!(TABLE, "RECOVERY_RETRIES")),
            patience: limit(config.time(var!(TABLE, "WIREUP_TIMEOUT"))),
            overlay: OnceCell::new(),
            shared: OnceCell::new(),
            inbound: Inbound::default(),
            clock: Cell::new(None),
        }
    }

    /// For a program with a time of its own, before there are endpoints: it calls `tick` from time to time.
    pub fn set_clock(&self, clock: Clock) {
        self.clock.set(Some(clock));
    }

    /// Has the next progress look at the senders, if any waits. Returns whether one does.
    pub fn tick(&self) -> bool {
        let Some(shared) = self.shared.get() else {
            return false;
        };
        let waits = self.is_waiting(shared);
        if waits {
            shared.look_soon();
        }
        waits
    }

    /// Whether messages of a remote endpoint may still come, by whatever path.
    pub fn receives_from(&self, sender: EpName) -> bool {
        self.inbound.receives_from(sender)
    }

    fn is_waiting(&self, shared: &Shared) -> bool {
        let senders = shared.senders.borrow();
        !shared.failed.borrow().is_empty()
            || self.inbound.has_due()
            || senders.values().any(|sender| sender.is_waiting())
    }

    fn shared(&self, worker: &Core) -> &Rc<Shared> {
        self.shared.get_or_init(|| {
            Rc::new(Shared {
                call: Arc::new(WorkerCall::new(worker, serve)),
                timer: RefCell::new(None),
                clock: self.clock.get(),
                senders: RefCell::default(),
                made: Cell::new(0),
                open: RefCell::default(),
                failed: RefCell::default(),
                discarded: RefCell::default(),
            })
        })
    }

    /// The interface of the lanes. Its endpoints fail as those of the others do.
    fn overlay(&self, worker: &Core) -> Result<&Overlay> {
        if let Some(overlay) = self.overlay.get() {
            return Ok(overlay);
        }
        let carrying = worker.ifaces.iter().filter(|i| select::carries_messages(i));
        let least = |iface: &OpenIface| iface.attr.cap.am.max_bcopy;
        let least = carrying.map(least).min().ok_or(Status::UNREACHABLE)?;
        let any = worker.ifaces.first().ok_or(Status::UNREACHABLE)?;
        let params = IfaceParams {
            ..any.internal().base.params
        };
        let max_bcopy = least.saturating_sub(SequencedHdr::LEN);
        let opened = Overlay::open(worker.uct(), params, max_bcopy);
        Ok(self.overlay.get_or_init(|| opened))
    }

    /// Ends everything: the endpoints are destroyed. What was accepted goes out if the transports take it now.
    pub fn close(&mut self) {
        if let Some(shared) = self.shared.take() {
            shared.timer.take();
            for sender in shared.senders.take().into_values() {
                sender.close();
            }
            self.inbound.close(&shared);
            shared.end_discarded();
        }
        drop(self.overlay.take());
    }
}

impl Core {
    pub fn failover(&self) -> &FailoverState {
        FailoverState::of(self)
    }
}

/// The message lane of an endpoint to the owner of `address`.
pub fn message_lane(ep: &Ep, address: &Rc<Address>) -> Result<MessageLane> {
    let worker = ep.worker();
    let state = worker.failover();
    let overlay = state.overlay(worker)?;
    let sender = Sender::new(worker, ep, Address::clone(address))?;
    let first = sender.connect(worker).ok_or(Status::UNREACHABLE)?;
    let (uct, endpoint) = overlay.connect(Rc::<Sender>::clone(&sender))?;
    sender.attach(endpoint);
    let lane = (uct, overlay.am_bcopy(), overlay.max_bcopy());
    Ok(select::overlay_lane(worker, address, first, lane))
}

/// The remote endpoint of an endpoint that its message made is known: so are the interfaces that it has proven.
pub fn paired(ep: &Ep) {
    if let Some(remote) = ep.remote_name() {
        learn(ep, &ep.worker().failover().inbound.proven(remote));
    }
}

/// These interfaces are the peer's: proven, or on the application's word.
pub fn learn(ep: &Ep, entries: &[AddressEntry]) {
    if let Some(shared) = ep.worker().failover().shared.get()
        && let Some(sender) = sender_of(shared, ep.id.get())
    {
        sender.learn(entries);
    }
}

fn sender_of(shared: &Shared, ep: u64) -> Option<Rc<Sender>> {
    shared.senders.borrow().get(&ep).cloned()
}

/// A transport endpoint has failed. Returns whether it is a path.
pub fn on_transport_failure(worker: &Core, ep: uct_ep_h, status: Status) -> bool {
    let Some(shared) = worker.failover().shared.get() else {
        return false;
    };
    let is_path = shared.open.borrow().contains(&ep);
    if is_path {
        ucs_diag!("a path of an endpoint with failover is lost: {status}");
        shared.failed.borrow_mut().push(ep);
        shared.look_soon();
    }
    is_path
}

/// An endpoint has failed: the remote endpoint, whose numbered messages come here, would wait for replies.
pub fn on_failure(ep: &Ep) {
    if let Some(shared) = ep.worker().failover().shared.get()
        && let Some(remote) = ep.remote_name()
    {
        ep.worker().failover().inbound.refuse(shared, remote);
    }
}

/// Does what is due, within progress.
extern "C" fn serve(worker: &Core) -> c_uint {
    let state = worker.failover();
    let Some(shared) = state.shared.get() else {
        return 0;
    };
    let due = shared.call.take();
    let mut count = state.inbound.acknowledge();
    if due & LOOK != 0 {
        let failed = shared.failed.take();
        count += failed.len() as u32;
        state.inbound.on_lost_paths(shared, &failed);
        let pairing = &worker.endpoints().pairing;
        let is_known = |uuid| !pairing.is_unauthenticated(uuid);
        state.inbound.forget_lost(shared, is_known);
        let mut senders: Vec<Rc<Sender>> = shared.senders.borrow().values().cloned().collect();
        senders.sort_by_key(|sender| sender.number);
        for sender in senders {
            sender.look(worker, &failed);
        }
        shared.end_discarded();
        if !state.is_waiting(shared) && !state.inbound.has_lost() {
            shared.timer.take();
        }
    }
    // Last, as it calls the user.
    for sender in state.inbound.take_gone() {
        tag::recv::end_messages(worker, sender);
    }
    count
}
