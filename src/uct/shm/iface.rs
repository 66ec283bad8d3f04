//! The interface of posix and sysv: attributes, address, progress, events, failures of peers.

use super::config;
use super::copy::{FIRST_LINE, copy_first_line};
use super::ep::ShmEp;
use super::inbox::Inbox;
use super::outbox::{Alarm, Peer, attached};
use super::ring::{LINE, Message, Polled, Shape};
use super::segment::{Attached, Source};
use super::wire::{KEY_LEN, SegmentKey, SegmentKind};
use crate::c::*;
use crate::ucs::config::{Config, Ternary, var};
use crate::ucs::{Failure, Result, Status};
use crate::uct::api::{
    AtomicOp, AtomicWord, Completion, Iface, OldValue, Pack, Posted, Remote, Unpack, WaitingRequest,
};
use crate::uct::base::am::Keep;
use crate::uct::base::copy::Payload;
use crate::uct::base::iface::{EpBox, EpLink, IfaceBox};
use crate::uct::base::iov::Iov;
use crate::uct::base::load_store;
use crate::uct::base::node;
use crate::uct::base::params::{EpParams, GivenAddress, IfaceParams};
use crate::uct::base::pending::{PendingGroup, PendingQueue};
use crate::uct::base::worker::WorkerHandle;
use core::cell::{Cell, RefCell, UnsafeCell};
use core::ffi::c_int;
use std::collections::{BTreeMap, HashMap};
use std::os::fd::RawFd;
use std::rc::{Rc, Weak};
use std::sync::Arc;

/// Bytes of a slot that a short message may not use: upstream's limit for the same slot size.
const SLOT_OVERHEAD: u32 = 28;
/// Most entries of a short gather list.
pub const MAX_SHORT_IOV: usize = 16;
/// Latency of a message in seconds: of the order of a cache-line transfer between cores.
const LATENCY: f64 = 80e-9;

pub struct ShmIface {
    kind: SegmentKind,
    /// The segment that was last looked up.
    recent: RefCell<Option<Arc<Attached>>>,
    pub inbox: Inbox,
    pub alarm: Arc<Alarm>,
    pub pending: PendingQueue,
    pub max_short: usize,
    /// The longest short message of UCP's: what a slot has room for.
    pub longest_short: usize,
    pub max_bcopy: usize,
    max_poll: u64,
    bandwidth: f64,
    overhead: f64,
    peers: RefCell<HashMap<SegmentKey, Weak<Peer>>>,
    sweep_at: Cell<usize>,
    /// By their numbers.
    endpoints: RefCell<BTreeMap<u64, EpLink<ShmIface>>>,
    last_serial: Cell<u64>,
    /// A copy of a short message while it is handled.
    scratch: UnsafeCell<[u64; FIRST_LINE / 8]>,
    /// Rounds of progress since the alarm was raised.
    last_rounds: Cell<u32>,
    /// Conditions for which `progress` has to do more than polling: `BUSY` and so on.
    attention: Cell<u32>,
}

type Face = IfaceBox<ShmIface>;

/// Where a message stands.
#[derive(Clone, Copy)]
enum Place {
    Slot,
    Arena { can_keep: bool },
}

/// Segments that the arena of a wide lane holds: what a process sends while its receiver does not run, with more processes than
/// processors. Measured: an MPI_Allreduce of 256 KiB by 4 processes on 2 processors took 77 us with 16, 57 with 32, and 52 with these.
pub const CELLS: u32 = 64;

/// The offset in a cache line at which messages of an arena begin, so that the payload behind a header of `am_align_offset` bytes begins
/// with a line.
fn lead_of(params: &IfaceParams) -> u32 {
    let lead = params.am_align_offset.wrapping_neg() % LINE;
    if lead.is_multiple_of(size_of::<u64>()) {
        lead as u32
    } else {
        0
    }
}

/// The configured sizes. A slot has a line more than FIFO_ELEM_SIZE says: a message of UCP's of 100 to 176 bytes takes 105 ns with its
/// third line there, and 160 with lines of the arena, if the receiver waits for it. `INVALID_PARAM` if they are unusable.
fn shape_of(config: &Config, params: &IfaceParams) -> core::result::Result<(Shape, u32), Failure> {
    let (slots, slot) = (
        config.uint(var!(config::MM, "FIFO_SIZE")),
        config.uint(var!(config::MM, "FIFO_ELEM_SIZE")),
    );
    let segment = u32::try_from(config.memunits(var!(config::MM, "SEG_SIZE"))).unwrap_or(u32::MAX);
    let shape = Shape {
        slots,
        slot: slot
            .checked_next_multiple_of(LINE as u32)
            .and_then(|slot| slot.checked_add(LINE as u32))
            .unwrap_or(u32::MAX),
        segment,
        cells: CELLS,
        lead: lead_of(params),
    };
    if !shape.is_sane() || slot <= SLOT_OVERHEAD + 8 {
        let cause = format!(
            "FIFO_SIZE {slots} must be a power of two up to {}, FIFO_ELEM_SIZE \
             {slot} between {} and {}, SEG_SIZE {segment} between 1 and {}",
            Shape::MAX_SLOTS,
            SLOT_OVERHEAD + 9,
            Shape::MAX_SLOT - LINE as u32,
            Shape::MAX_SEGMENT
        );
        return Err(Failure::new(Status::INVALID_PARAM, cause));
    }
    Ok((shape, slot - SLOT_OVERHEAD))
}

impl ShmIface {
    pub fn open(
        transport: &'static str,
        source: &Source,
        worker: &WorkerHandle,
        device: &str,
        params: IfaceParams,
        config: &Config,
    ) -> core::result::Result<uct_iface_h, Failure> {
        let (shape, max_short) = shape_of(config, &params)?;
        let batch = config.double(var!(config::MM, "FIFO_RELEASE_FACTOR"));
        if !(0.0..=1.0).contains(&batch) {
            let cause = format!("FIFO_RELEASE_FACTOR {batch} must be between 0 and 1");
            return Err(Failure::new(Status::INVALID_PARAM, cause));
        }
        let huge = match config.ternary(var!(config::MM, "FIFO_HUGETLB")) {
            Ternary::No | Ternary::Auto => Ternary::No,
            other => other,
        };
        let inbox = Inbox::open(source, shape, batch, huge)?;
        let alarm = Arc::new(Alarm::new(Arc::clone(inbox.wake())));
        let bandwidth = config.bandwidth(var!(config::MM, "BW"));
        let tl = ShmIface {
            kind: source.kind,
            recent: RefCell::new(None),
            inbox,
            alarm,
            pending: PendingQueue::new(),
            max_short: max_short as usize,
            longest_short: shape.inline_max(),
            max_bcopy: shape.segment as usize,
            max_poll: config
                .ulong(var!(config::MM, "FIFO_MAX_POLL"))
                .clamp(1, MOST_POLLED) as u64,
            bandwidth: if bandwidth > 0.0 {
                bandwidth
            } else {
                BANDWIDTH
            },
            overhead: config
                .key_time(var!(config::MM, "SEND_OVERHEAD", "am_short"))
                .max(0.0),
            peers: RefCell::new(HashMap::new()),
            sweep_at: Cell::new(LEAST_SWEPT),
            endpoints: RefCell::new(BTreeMap::new()),
            last_serial: Cell::new(0),
            scratch: UnsafeCell::new([0; FIRST_LINE / 8]),
            last_rounds: Cell::new(0),
            attention: Cell::new(0),
        };
        Ok(IfaceBox::open(transport, device, worker, params, tl))
    }

    /// The peer of `key`, attached once.
    pub fn peer(&self, key: SegmentKey) -> Result<Rc<Peer>> {
        if let Some(peer) = self.peers.borrow().get(&key).and_then(Weak::upgrade)
            && peer.failure().is_none()
        {
            return Ok(peer);
        }
        let peer = Rc::new(Peer::attach(key)?);
        self.recent.take();
        let mut peers = self.peers.borrow_mut();
        // Dead peers are removed when the table has twice as many as after the last removal.
        if peers.len() >= self.sweep_at.get() {
            peers.retain(|_, peer| peer.strong_count() > 0);
            self.sweep_at.set(2 * peers.len() + LEAST_SWEPT);
        }
        peers.insert(key, Rc::downgrade(&peer));
        Ok(peer)
    }

    /// The next progress does more than to poll.
    #[inline(always)]
    fn attend(&self, why: u32) {
        self.attention.set(self.attention.get() | why);
    }

    /// Queues a request that waits for room.
    pub fn wait_for_room(&self, group: &Rc<PendingGroup>, request: WaitingRequest) {
        self.pending.add(group, request);
        self.attend(PENDING);
    }

    /// There is more to a progress than polling. Whether it may poll.
    #[cold]
    #[inline(never)]
    fn may_poll(face: &Face) -> bool {
        if face.attention.get() & BUSY != 0 {
            return false;
        }
        face.attention.set(face.attention.get() & !ARMED);
        face.inbox.disarm();
        true
    }

    /// Calls `run`, which calls the user, and handles no message meanwhile.
    fn alone(face: &Face, run: impl FnOnce() -> u32) -> u32 {
        face.attend(BUSY);
        let count = run();
        face.attention.set(face.attention.get() & !BUSY);
        count
    }

    /// The bell rang: a sender, or the alarm.
    #[cold]
    #[inline(never)]
    fn look(face: &Face) {
        face.inbox.look();
        if face.alarm.is_raised() {
            face.attend(ALARM);
        }
    }

    /// The rest of progress after the poll.
    #[cold]
    #[inline(never)]
    fn after_poll(face: &Face) -> u32 {
        let mut count = 0;
        if face.attention.get() & ALARM != 0 {
            count += ShmIface::alone(face, || ShmIface::on_alarm(face));
            if !face.alarm.is_raised() {
                face.attention.set(face.attention.get() & !ALARM);
            }
        }
        if face.attention.get() & PENDING != 0 {
            count += ShmIface::serve(face);
        }
        count
    }

    /// Calls pending requests.
    fn serve(face: &Face) -> u32 {
        let count = ShmIface::alone(face, || face.pending.dispatch());
        let waits = if face.pending.is_empty() { 0 } else { PENDING };
        let others = face.attention.get() & !PENDING;
        face.attention.set(others | waits);
        count
    }

    /// Hands one message to its handler; whether that takes more.
    #[inline(always)]
    fn deliver(face: &Face, polled: Polled) -> bool {
        match polled {
            // Passed by parts: a struct that is passed as a whole is written to memory for each message.
            Polled::InSlot(Message { id, len, data }) => {
                ShmIface::deliver_word(face, id, data, len).unwrap_or_else(|| {
                    ShmIface::deliver_bytes(face, id, data, len, Place::Slot);
                    true
                })
            }
            Polled::Elsewhere(Message { id, len, data }, can_keep) => {
                ShmIface::deliver_elsewhere(face, id, data, len, can_keep)
                    && !face.base.internal.recv_paused.take()
            }
            Polled::Bad => true,
        }
    }

    /// Passes a message of at least a word to a short handler, if there is one. Returns whether it wants more.
    #[inline(always)]
    fn deliver_word(face: &Face, id: u8, data: *const u8, len: usize) -> Option<bool> {
        let rest_len = len - size_of::<u64>();
        let (handler, arg) = face.base.am.short(id, rest_len)?;
        // A hostile sender can still write there: the word is read once, the rest is only copied.
        // SAFETY: the handler with its argument, as set; `len` bytes of slot or arena, as the ring checked.
        unsafe {
            let word = data.cast::<u64>().read_unaligned();
            let rest = Payload::new(data.add(size_of::<u64>()), rest_len);
            Some(handler(arg, word, rest))
        }
    }

    #[inline(never)]
    fn deliver_elsewhere(face: &Face, id: u8, data: *mut u8, len: usize, can_keep: bool) -> bool {
        if len >= size_of::<u64>()
            && let Some(more) = ShmIface::deliver_word(face, id, data, len)
        {
            return more;
        }
        ShmIface::deliver_bytes(face, id, data, len, Place::Arena { can_keep });
        true
    }

    /// The same as bytes in one place.
    #[inline(never)]
    fn deliver_bytes(face: &Face, id: u8, data: *mut u8, len: usize, place: Place) {
        if len > FIRST_LINE
            && let Some((handler, arg)) = face.base.am.keeping(id)
        {
            // What could have been sent short is not to be kept, as with upstream.
            let keep = match place {
                _ if len <= face.max_short => Keep::No,
                Place::Arena { can_keep: true } if face.inbox.can_keep() => Keep::InPlace,
                _ => Keep::Copy,
            };
            // SAFETY: the handler with its argument, as set; `len` bytes of slot or arena, as the ring checked.
            unsafe { handler(arg, core::slice::from_raw_parts(data, len), keep) };
        } else if len <= FIRST_LINE {
            let scratch = face.scratch.get().cast::<u8>();
            // SAFETY: a message of this length stands in a slot, or in the arena with as much room;
            // the scratch is used here only, and not again before the handler has returned (`BUSY`).
            unsafe { copy_first_line(data, scratch, len) };
            // SAFETY: `len` bytes were just copied there.
            unsafe { face.base.am.invoke(id, scratch, len, 0) };
        } else {
            // The handler reads where the message stands: a copy would have all its lines travel, also those that the handler does
            // not read. A hostile sender can still write there, so handlers read what they check once.
            // SAFETY: `len` bytes of slot or arena, as the ring checked; without DESC the handler
            // must not keep them.
            unsafe { face.base.am.invoke(id, data, len, 0) };
        }
    }

    /// Reports the end of peers, after one more poll: messages that they sent before may have come since this round's.
    /// Until a poll finds nothing, the next round continues.
    fn on_alarm(face: &Face) -> u32 {
        if !face.alarm.take() {
            return 0;
        }
        let failed = ShmIface::failed(face);
        face.inbox.look();
        let came = face
            .inbox
            .poll(face.max_poll, |polled| ShmIface::deliver(face, polled));
        let rounds = face.last_rounds.get();
        if came > 0 && rounds < LAST_ROUNDS {
            face.last_rounds.set(rounds + 1);
            face.alarm.raise();
            return came;
        }
        face.last_rounds.set(0);
        came + ShmIface::report(face, failed)
    }

    /// The endpoints whose peer has ended or closed, by number.
    fn failed(face: &Face) -> Vec<u64> {
        let all = face.endpoints.borrow();
        let failed = all.iter().filter(|(_, ep)| ShmIface::has_failed(**ep));
        failed.map(|(serial, _)| *serial).collect()
    }

    fn has_failed(ep: EpLink<ShmIface>) -> bool {
        !ep.is_failed() && ep.peer_failure().is_some()
    }

    #[cold]
    fn report(face: &Face, failed: Vec<u64>) -> u32 {
        let mut count = 0;
        for serial in failed {
            // An error handler of another may have destroyed it.
            let ep = face.endpoints.borrow().get(&serial).copied();
            let Some(ep) = ep.filter(|ep| ShmIface::has_failed(*ep)) else {
                continue;
            };
            // Nothing of it is touched after `fail`, which may destroy it.
            if let Some(status) = ep.peer_failure() {
                ep.end_sends(status, face.base.params.err_handler.is_some());
                ep.fail(status);
            }
            count += 1;
        }
        count
    }
}

/// Minimum size of the table for a removal of dead peers.
const LEAST_SWEPT: usize = 16;

/// `progress` is running: a handler must not get a second message meanwhile.
const BUSY: u32 = 1;
/// The interface was armed.
const ARMED: u32 = 2;
/// There are pending requests.
const PENDING: u32 = 4;
/// The alarm was raised.
const ALARM: u32 = 8;

/// Most rounds of progress before an end is reported: enough to empty a full lane of a dead sender, and bounded if others
/// go on sending.
const LAST_ROUNDS: u32 = 1024;
/// No round handles more messages of a lane.
const MOST_POLLED: usize = 4096;
/// Default bandwidth in bytes a second.
const BANDWIDTH: f64 = 15360.0 * 1024.0 * 1024.0;

impl Iface for ShmIface {
    type Ep = ShmEp;
    const FETCHES_AT_ONCE: bool = true;

    fn query(face: &Face, attr: &mut uct_iface_attr) {
        attr.cap.flags = UCT_IFACE_FLAG_CONNECT_TO_IFACE
            | UCT_IFACE_FLAG_AM_SHORT
            | UCT_IFACE_FLAG_AM_BCOPY
            | UCT_IFACE_FLAG_PENDING
            | UCT_IFACE_FLAG_CB_SYNC
            | UCT_IFACE_FLAG_EP_CHECK
            | UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE;
        attr.cap.event_flags =
            UCT_IFACE_FLAG_EVENT_SEND_COMP | UCT_IFACE_FLAG_EVENT_RECV | UCT_IFACE_FLAG_EVENT_FD;
        load_store::describe(attr);
        attr.cap.am.max_short = face.max_short;
        attr.cap.am.max_bcopy = face.max_bcopy;
        attr.cap.am.max_iov = MAX_SHORT_IOV;
        attr.iface_addr_len = KEY_LEN;
        attr.device_addr_len = node::LEN;
        attr.latency = ucs_linear_func_t { c: LATENCY, m: 0.0 };
        attr.bandwidth.dedicated = face.bandwidth;
        attr.overhead = face.overhead;
    }

    #[inline(always)]
    fn progress(face: &Face) -> u32 {
        if face.attention.get() != 0 && !ShmIface::may_poll(face) {
            return 0;
        }
        face.attend(BUSY);
        if face.inbox.bell_rang() {
            ShmIface::look(face);
        }
        let count = face
            .inbox
            .poll(face.max_poll, |polled| ShmIface::deliver(face, polled));
        face.attention.set(face.attention.get() & !BUSY);
        if face.attention.get() != 0 {
            return count + ShmIface::after_poll(face);
        }
        count
    }

    fn progress_sends(face: &Face) -> u32 {
        if face.attention.get() & BUSY != 0 {
            return 0;
        }
        let mut count = ShmIface::serve(face);
        if face.alarm.take() {
            count += ShmIface::alone(face, || ShmIface::report(face, ShmIface::failed(face)));
        }
        count
    }

    fn device_address(_face: &Face) -> Result<Vec<u8>> {
        Ok(node::packed().to_vec())
    }

    fn iface_address(face: &Face) -> Result<Vec<u8>> {
        Ok(face.inbox.key().encode().to_vec())
    }

    fn is_reachable(
        face: &Face,
        device: Option<GivenAddress<'_>>,
        iface: Option<GivenAddress<'_>>,
    ) -> bool {
        if device.is_some_and(|device| !device.bytes().is_some_and(node::is_ours)) {
            return false;
        }
        let Some(iface) = iface else {
            return true;
        };
        match iface.bytes().map(|bytes| SegmentKey::decode(&bytes)) {
            Some(Ok(key)) if face.serves(key) => {
                let found = attached(key).ok();
                let reachable = found.is_some();
                // An endpoint to it is likely next.
                face.recent.replace(found);
                reachable
            }
            _ => false,
        }
    }

    fn ep_create(face: &Face, params: &EpParams) -> Result<ShmEp> {
        ShmEp::create(face, params)
    }

    fn ep_created(ep: &EpBox<Self>) {
        let serial = ep.face().last_serial.get() + 1;
        ep.face().last_serial.set(serial);
        ep.tl.serial.set(serial);
        ep.face().endpoints.borrow_mut().insert(serial, ep.link());
    }

    fn ep_closing(ep: &EpBox<Self>) {
        ep.close();
        ep.face().endpoints.borrow_mut().remove(&ep.tl.serial.get());
    }

    fn closing(face: &Face) {
        face.inbox.close();
    }

    #[inline(always)]
    fn am_short(ep: &EpBox<Self>, id: u8, header: u64, payload: Payload<'_>) -> Result<()> {
        ShmEp::am_short(ep, id, header, payload)
    }

    fn am_short_iov(ep: &EpBox<Self>, id: u8, iov: Iov<'_>) -> Result<()> {
        ShmEp::am_short_iov(ep, id, iov)
    }

    #[inline(always)]
    fn am_bcopy(ep: &EpBox<Self>, id: u8, pack: Pack, _flags: u32) -> Result<usize> {
        ShmEp::am_bcopy(ep, id, pack)
    }

    #[inline]
    fn put_short(ep: &EpBox<Self>, from: Payload<'_>, remote: Remote) -> Result<()> {
        ShmEp::put_short(ep, from, remote)
    }

    #[inline]
    fn put_bcopy(ep: &EpBox<Self>, pack: Pack, remote: Remote) -> Result<usize> {
        ShmEp::put_bcopy(ep, pack, remote)
    }

    #[inline]
    fn get_bcopy(
        ep: &EpBox<Self>,
        unpack: Unpack,
        len: usize,
        remote: Remote,
        _comp: Completion,
    ) -> Result<Posted> {
        ShmEp::get_bcopy(ep, unpack, len, remote)
    }

    #[inline]
    fn atomic_post<W: AtomicWord>(
        ep: &EpBox<Self>,
        op: AtomicOp,
        value: W,
        remote: Remote,
    ) -> Result<()> {
        let at = ShmEp::word::<W>(ep, remote)?;
        // SAFETY: mapped and aligned, as located.
        unsafe { W::fetch(at, op, value) };
        Ok(())
    }

    #[inline(always)]
    fn atomic_fetch<W: AtomicWord>(
        ep: &EpBox<Self>,
        op: AtomicOp,
        value: W,
        old: OldValue<W>,
        remote: Remote,
        _comp: Completion,
    ) -> Result<Posted> {
        let at = ShmEp::word::<W>(ep, remote)?;
        // SAFETY: mapped and aligned, as located.
        old.put(unsafe { W::fetch(at, op, value) });
        Ok(Posted::Done)
    }

    #[inline]
    fn atomic_cswap<W: AtomicWord>(
        ep: &EpBox<Self>,
        compare: W,
        swap: W,
        old: OldValue<W>,
        remote: Remote,
        _comp: Completion,
    ) -> Result<Posted> {
        let at = ShmEp::word::<W>(ep, remote)?;
        // SAFETY: mapped and aligned, as located.
        old.put(unsafe { W::cswap(at, compare, swap) });
        Ok(Posted::Done)
    }

    fn pending_add(ep: &EpBox<Self>, req: WaitingRequest, _flags: u32) -> Result<()> {
        ShmEp::pending_add(ep, req)
    }

    fn pending_purge(ep: &EpBox<Self>, each: &mut dyn FnMut(WaitingRequest)) {
        ep.pending.purge(each);
    }

    fn flush(ep: &EpBox<Self>, flags: u32, _comp: Completion) -> Result<Posted> {
        ShmEp::flush(ep, flags)
    }

    fn check(ep: &EpBox<Self>, _flags: u32, _comp: Completion) -> Result<Posted> {
        ShmEp::check(ep)
    }

    fn iface_flush(_face: &Face, _flags: u32, _comp: Completion) -> Result<Posted> {
        crate::ucs::sync::fence(crate::ucs::sync::Ordering::SeqCst);
        Ok(Posted::Done)
    }

    fn event_fd(face: &Face) -> Result<RawFd> {
        Ok(face.inbox.wake().event()?.raw())
    }

    fn event_arm(face: &Face, events: c_int) -> Result<()> {
        face.inbox.wake().event()?.clear();
        face.arm_cleared(events)
    }
}

impl ShmIface {
    /// As `event_arm`, of a descriptor that is not readable.
    pub fn arm_cleared(&self, events: c_int) -> Result<()> {
        let events = events as u32;
        if events & UCT_EVENT_SEND_COMP != 0 && !self.pending.is_empty() {
            return Err(Status::BUSY);
        }
        self.inbox.arm(|| self.alarm.is_raised())?;
        self.attend(ARMED);
        Ok(())
    }

    /// Whether a peer's segment is of the kind that this transport attaches.
    pub fn serves(&self, key: SegmentKey) -> bool {
        key.kind == self.kind
    }
}
