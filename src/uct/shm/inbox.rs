//! `Inbox`: the receiving side of an interface: its segment, its lanes, and how they are polled.
//!
//! Lanes with traffic (hot lanes) are polled in each round. When there are many, idle ones become cold: their senders
//! are asked to ring the doorbell, and one of them is polled in each round, so that nothing depends on the doorbell.
//! Before the owner sleeps it asks every sender to ring, and polls all lanes again: either it sees a message, or the sender sees
//! the request and wakes it. A barrier on the senders orders the two the first time, fences of the senders the next times: whoever
//! has slept once mostly does again, and the barrier interrupts the senders' processors.

use super::growth::extend_by;
use super::layout::{Bells, LaneState, Layout, Phase};
use super::ring::{Polled, Receiver, Shape};
use super::segment::{Segment, Source};
use super::wake::Wake;
use crate::sys::eventfd::EventFd;
use crate::sys::{membarrier, pidfd, process};
use crate::ucs::config::Ternary;
use crate::ucs::sync::{Ordering, fence};
use crate::ucs::{Failure, Result, Status};
use crate::{ucs_debug, ucs_warn};
use core::cell::{Cell, OnceCell};
use core::ptr::NonNull;
use std::sync::Arc;

/// The first lanes are always hot.
const ALWAYS_HOT: usize = 8;
/// Rounds without a message after which a lane cools down.
const IDLE_ROUNDS: u32 = 2048;
/// Of one in so many lanes a message may be kept at a time.
const KEEPING_SHARE: u32 = 4;

/// Of so many lanes behind the one whose message is handled the next one is prefetched.
const LANES_AHEAD: usize = 3;

pub struct Inbox {
    segment: Arc<Segment>,
    layout: Layout,
    bells: Bells,
    batch: f64,
    /// Lanes of which a message is kept.
    keeping: Cell<u32>,
    inlets: Box<[Inlet]>,
    /// The only hot lane, if there is one.
    only: Cell<Option<NonNull<Inlet>>>,
    hot: LaneList,
    /// The place in `hot` where the next round begins.
    hot_next: Cell<usize>,
    cold: LaneList,
    cold_next: Cell<usize>,
    /// The doorbell's value at the last `look`.
    bell_seen: Cell<u32>,
    armed: Cell<bool>,
    barriers: bool,
    wake: Arc<Wake>,
}

/// Indices of lanes, in any order, of which the first `len` count.
struct LaneList {
    lanes: Box<[Cell<u16>]>,
    len: Cell<usize>,
}

impl LaneList {
    fn new(room: usize) -> LaneList {
        LaneList {
            lanes: (0..room).map(|_| Cell::new(0)).collect(),
            len: Cell::new(0),
        }
    }

    #[inline]
    fn all(&self) -> &[Cell<u16>] {
        self.lanes.get(..self.len.get()).unwrap_or(&[])
    }

    #[inline]
    fn len(&self) -> usize {
        self.len.get()
    }

    /// Adds a lane, which learns its place.
    fn push(&self, lane: u16, inlets: &[Inlet]) {
        let place = self.len.get();
        self.set(place, lane, inlets);
        self.len.set(place + 1);
    }

    /// Removes the lane at a place, which the last one takes.
    fn take(&self, place: usize, inlets: &[Inlet]) {
        let Some(last) = self.all().last().map(Cell::get) else {
            return;
        };
        self.set(place, last, inlets);
        self.len.set(self.len.get() - 1);
    }

    fn set(&self, place: usize, lane: u16, inlets: &[Inlet]) {
        if let (Some(entry), Some(inlet)) = (self.lanes.get(place), inlets.get(lane as usize)) {
            entry.set(lane);
            inlet.place.set(place);
        }
    }
}

/// An idle poll touches its first cache line only.
#[repr(C, align(64))]
#[derive(Default)]
struct Inlet {
    idle: Cell<u32>,
    is_cold: Cell<bool>,
    closing: Cell<bool>,
    complained: Cell<bool>,
    receiver: OnceCell<Receiver>,
    /// The generation of the sender whose message is handled; `None` outside handlers.
    generation: Cell<Option<u32>>,
    /// Where it is among the hot lanes, or the cold ones.
    place: Cell<usize>,
}

impl Inbox {
    /// Makes the segment, with lanes of `shape`; `batch`: see `Receiver::new`.
    pub fn open(
        source: &Source,
        shape: Shape,
        batch: f64,
        huge: Ternary,
    ) -> core::result::Result<Inbox, Failure> {
        let layout = Layout::new(shape);
        let wake = EventFd::new().map_err(|e| Failure::of("eventfd", &e))?;
        let segment = Segment::make_waking(source, layout.bytes(), huge, wake)?;
        segment.reserve(0, layout.head_bytes())?;
        let pid = process::pid();
        let start = pidfd::own_start_time().ok_or(Status::IO_ERROR)?;
        let barriers = membarrier::available();
        let facts = layout.facts(pid, start, barriers);
        // SAFETY: the head of the segment is larger than the facts, fresh, page aligned, and no one
        // else knows it yet.
        unsafe { segment.base().cast::<super::layout::Facts>().write(facts) };
        // SAFETY: the segment lives as long as the inbox.
        let bells = unsafe { Bells::new(segment.base()) };
        let lanes = layout.lanes() as usize;
        let segment = Arc::new(segment);
        Ok(Inbox {
            wake: Arc::new(Wake::new(Arc::clone(&segment), bells)),
            segment,
            layout,
            bells,
            batch,
            keeping: Cell::new(0),
            inlets: (0..lanes).map(|_| Inlet::default()).collect(),
            only: Cell::new(None),
            hot: LaneList::new(lanes),
            hot_next: Cell::new(0),
            cold: LaneList::new(lanes),
            cold_next: Cell::new(0),
            bell_seen: Cell::new(0),
            armed: Cell::new(false),
            barriers,
        })
    }

    pub fn key(&self) -> super::wire::SegmentKey {
        self.segment.key()
    }

    /// How the armed owner is woken.
    pub fn wake(&self) -> &Arc<Wake> {
        &self.wake
    }

    /// Whether `look` has to be called before `poll`.
    #[inline]
    pub fn bell_rang(&self) -> bool {
        // Relaxed: what it stands for is read with Acquire in `look`.
        self.bells.doorbell().load(Ordering::Relaxed) != self.bell_seen.get()
    }

    /// Passes up to `max` messages of one lane to `each`, which returns whether it takes more of them. Returns
    /// their number. A message is valid until `each` returns. Not to be called from `each`.
    ///
    /// One message of a lane that was silent is a round, and so are those of one lane: whoever waits gets to look at them before
    /// others come. MPICH counts the messages of a phase (`MPI_Win_post`) and compares for equality, so one of the next
    /// phase, which a third process has sent meanwhile, would hang it if it came in the same round.
    #[inline(always)]
    pub fn poll(&self, max: u64, mut each: impl FnMut(Polled) -> bool) -> u32 {
        let Some(inlet) = self.only.get() else {
            return self.poll_any(max, each);
        };
        // SAFETY: one of `inlets`, which stay where they are as long as the inbox.
        let inlet = unsafe { inlet.as_ref() };
        if inlet.idle.get() == 0 {
            let n = inlet.drain(max, &mut each);
            if n > 0 {
                return n;
            }
        } else if inlet.drain(1, &mut each) > 0 {
            inlet.idle.set(0);
            return 1;
        }
        if inlet.note_silence(1) {
            self.chores();
        }
        0
    }

    /// As `poll`, with any number of lanes. A worker that only sends has none, and returns before it saves registers.
    #[inline(never)]
    fn poll_any(&self, max: u64, each: impl FnMut(Polled) -> bool) -> u32 {
        if self.hot.len() + self.cold.len() == 0 {
            return 0;
        }
        self.poll_all(max, each)
    }

    #[inline(never)]
    fn poll_all(&self, max: u64, mut each: impl FnMut(Polled) -> bool) -> u32 {
        let mut chores = false;
        let ready = self.next_ready(&mut chores);
        let taken = ready.map_or(0, |inlet| {
            let taken = inlet.drain(inlet.allowance(max), &mut each);
            inlet.idle.set(0);
            taken
        });
        if self.cold.len() > 0 {
            self.poll_cold();
        }
        if chores {
            self.chores();
        }
        taken
    }

    /// The next hot lane with a message. Sets `chores` if one without a message has to become cold. An idle poll is little else.
    #[inline]
    fn next_ready(&self, chores: &mut bool) -> Option<&Inlet> {
        let hot = self.hot.all();
        // From where the last round ended, so that every lane has its turn.
        let start = self.hot_next.get().min(hot.len());
        (start..hot.len()).chain(0..start).find_map(|place| {
            let inlet = self.inlets.get(hot.get(place)?.get() as usize)?;
            if inlet.is_ready() {
                self.hot_next.set(place + 1);
                self.prefetch_from(hot.get(place + 1..).unwrap_or(&[]));
                return Some(inlet);
            }
            *chores |= inlet.note_silence(hot.len());
            None
        })
    }

    /// While a message is handled, the places of the next ones come from their senders' caches: each lane is a stream of its own, of
    /// which the processor sees one line at a time.
    #[inline]
    fn prefetch_from(&self, lanes: &[Cell<u16>]) {
        for lane in lanes.iter().take(LANES_AHEAD) {
            let inlet = self.inlets.get(lane.get() as usize);
            if let Some(receiver) = inlet.and_then(|inlet| inlet.receiver.get()) {
                receiver.prefetch_head();
            }
        }
    }

    /// Looks at the lanes that rang: new senders, senders that leave, cold lanes with messages.
    #[cold]
    pub fn look(&self) {
        // SeqCst: pairs with the senders' increments; messages sent before them are seen below.
        self.bell_seen
            .set(self.bells.doorbell().load(Ordering::SeqCst));
        for lane in self.bells.take_rung() {
            let Some(inlet) = self.inlets.get(lane as usize) else {
                continue;
            };
            // Acquire: pairs with the Release in Peer::open and Peer::drop.
            let state = LaneState(self.bells.lane(lane).load(Ordering::Acquire));
            let leaving = match state.phase() {
                Some(Phase::Ready) => false,
                Some(Phase::Closing) => true,
                _ => continue,
            };
            if inlet.generation.get() != Some(state.generation()) && !self.admit(lane, state) {
                // It does not ring again.
                self.bells.mark(lane);
                continue;
            }
            if leaving {
                inlet.closing.set(true);
            }
            if inlet.is_ready() {
                inlet.idle.set(0);
            }
            self.warm_up(lane as u16, inlet);
        }
        self.note_only();
    }

    /// Updates `only` after a change of the hot lanes.
    fn note_only(&self) {
        let lane = self.hot.all().first().map_or(0, Cell::get);
        let alone = self.hot.len() == 1 && self.cold.len() == 0;
        let inlet = self.inlets.get(lane as usize).filter(|_| alone);
        self.only.set(inlet.map(NonNull::from));
    }

    /// Starts to poll a lane; false when it cannot be.
    fn admit(&self, lane: u32, state: LaneState) -> bool {
        let Some(inlet) = self.inlets.get(lane as usize) else {
            return false;
        };
        if inlet.keeps() {
            // No correct sender's: the lane of a kept message is not free.
            return false;
        }
        let polled = inlet.generation.get().is_some();
        let Some((at, shape)) = self.layout.lane(lane) else {
            return false;
        };
        // The sender reserved it; one that did not must not hurt us.
        let first = shape.bytes_to(shape.first_reach());
        if let Err(e) = self.segment.reserve(at, first) {
            ucs_debug!("a sender's ring cannot be reserved: {e}");
            return false;
        }
        let base = self.segment.base().wrapping_add(at);
        // SAFETY: the lane lies in our own segment, reserved; its sender declared it ready in its
        // first state. Each lane has this one receiver.
        let fresh = || unsafe { Receiver::new(base, shape, self.batch) };
        let begun = || {
            let (receiver, segment) = (fresh(), Arc::clone(&self.segment));
            let reserve = move |at, len| segment.try_reserve(at, len).map(|()| true);
            receiver.begin_short(extend_by(at, shape, reserve));
            receiver
        };
        inlet.receiver.get_or_init(begun).restart();
        inlet.generation.set(Some(state.generation()));
        inlet.closing.set(false);
        inlet.complained.set(false);
        inlet.idle.set(0);
        if !polled {
            inlet.is_cold.set(false);
            self.hot.push(lane as u16, &self.inlets);
        }
        true
    }

    /// Polls one cold lane, in turn.
    #[cold]
    fn poll_cold(&self) {
        let at = self.cold_next.get() % self.cold.len();
        self.cold_next.set(at + 1);
        let lane = self.cold.all().get(at).map_or(0, Cell::get);
        if let Some(inlet) = self.inlets.get(lane as usize)
            && (inlet.closing.get() || inlet.is_ready())
        {
            inlet.idle.set(0);
            self.warm_up(lane, inlet);
            self.note_only();
        }
    }

    /// Moves a cold lane that is not idle any more to the hot ones.
    fn warm_up(&self, lane: u16, inlet: &Inlet) {
        let is_warm = inlet.closing.get() || inlet.idle.get() == 0;
        if is_warm && inlet.is_cold.replace(false) {
            self.cold.take(inlet.place.get(), &self.inlets);
            self.hot.push(lane, &self.inlets);
        }
    }

    /// Frees drained lanes whose sender has left, and cools idle ones down.
    #[cold]
    fn chores(&self) {
        self.tidy();
        self.note_only();
    }

    fn tidy(&self) {
        let mut at = 0;
        while let Some(lane) = self.hot.all().get(at).map(Cell::get) {
            let Some(inlet) = self.inlets.get(lane as usize) else {
                return;
            };
            let ready = inlet.is_ready();
            if inlet.can_be_freed() && !ready {
                self.hot.take(at, &self.inlets);
                self.free(lane, inlet);
            } else if inlet.idle.get() > IDLE_ROUNDS && !ready && self.hot.len() > ALWAYS_HOT {
                self.hot.take(at, &self.inlets);
                inlet.is_cold.set(true);
                self.cold.push(lane, &self.inlets);
                if let Some(receiver) = inlet.receiver.get() {
                    receiver.ask();
                }
            } else {
                at += 1;
            }
        }
    }

    fn free(&self, lane: u16, inlet: &Inlet) {
        let generation = inlet.generation.take().unwrap_or(0);
        inlet.closing.set(false);
        let free = LaneState::new(Phase::Free, generation.wrapping_add(1), 0);
        // Release: pairs with the Acquire in Peer::claim; we read nothing of the lane any more.
        self.bells
            .lane(u32::from(lane))
            .store(free.0, Ordering::Release);
    }

    /// Whether `keep` works for a message in an arena. A lane of which a message is kept stays taken when its sender
    /// has left, so that most lanes have to be free of kept messages.
    #[inline]
    pub fn can_keep(&self) -> bool {
        self.keeping.get() < self.layout.lanes().div_ceil(KEEPING_SHARE)
    }

    /// The message at `address`, which is being handled, stays there until it is released. Returns whether it does.
    #[cold]
    pub fn keep(&self, address: usize, len: usize) -> bool {
        let keep = |receiver: &Receiver| receiver.keep(address, len);
        let kept = self.can_keep() && self.receiver_of(address).is_some_and(keep);
        self.keeping.set(self.keeping.get() + u32::from(kept));
        kept
    }

    /// The kept message at `address` is not needed any more.
    #[cold]
    pub fn release(&self, address: usize) {
        let release = |receiver: &Receiver| receiver.release(address);
        let released = self.receiver_of(address).is_some_and(release);
        self.keeping.set(self.keeping.get() - u32::from(released));
    }

    /// The receiver of the lane that has the byte at `address`.
    fn receiver_of(&self, address: usize) -> Option<&Receiver> {
        let at = address.checked_sub(self.segment.base().addr())?;
        let lane = self.layout.lane_of(at)?;
        self.inlets.get(lane as usize)?.receiver.get()
    }

    /// Makes the event descriptor, which is not readable, so at the next message. `BUSY` when one waits already.
    pub fn arm(&self, busy: impl FnOnce() -> bool) -> Result<()> {
        self.bells.set_armed();
        let polled = || {
            let all = self.hot.all().iter().chain(self.cold.all());
            all.filter_map(|lane| self.inlets.get(lane.get() as usize)?.receiver.get())
        };
        let ask = |all: bool, receiver: &Receiver| receiver.ask_to_sleep(self.barriers) && all;
        let all_fence = polled().fold(true, ask);
        // Pairs with Sender::must_tell and Bells::ring: from here on a sender sees the question, or we its message.
        fence(Ordering::SeqCst);
        if !all_fence && self.barriers && !membarrier::barrier() {
            ucs_debug!("membarrier failed: a wake-up may be late");
            polled().for_each(|receiver| {
                receiver.ask_to_sleep(false);
            });
        }
        if polled().any(Receiver::is_ready) || self.bell_rang() || busy() {
            self.bells.set_awake();
            return Err(Status::BUSY);
        }
        self.armed.set(true);
        Ok(())
    }

    /// Whether a sender has sent something, or calls; `None` without senders.
    pub fn has_message(&self) -> Option<bool> {
        if self.hot.len() == 0 {
            return None;
        }
        Some(self.bell_rang() || self.hot_receivers().any(Receiver::is_ready))
    }

    fn hot_receivers(&self) -> impl Iterator<Item = &Receiver> {
        let hot = self.hot.all().iter();
        hot.filter_map(|lane| self.inlets.get(lane.get() as usize)?.receiver.get())
    }

    /// The owner is awake: senders need not wake it.
    #[inline]
    pub fn disarm(&self) {
        if self.armed.get() {
            self.armed.set(false);
            self.bells.set_awake();
        }
    }

    /// No sender will be heard any more.
    pub fn close(&self) {
        // Relaxed: senders only need to see it some time.
        self.bells.closed().store(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
impl Inbox {
    pub fn hot_lanes(&self) -> usize {
        self.hot.len()
    }

    pub fn base(&self) -> *mut u8 {
        self.segment.base()
    }

    /// The address range of a lane.
    pub fn lane_range(&self, lane: u32) -> (usize, usize) {
        let (at, shape) = self.layout.lane(lane).unwrap();
        (at, at + shape.bytes())
    }

    /// Memory of a segment of a file that is there.
    pub fn reserved_bytes(&self) -> usize {
        let file = self.segment.export().file.as_ref().unwrap();
        let file = std::fs::File::from(file.try_clone().unwrap());
        std::os::unix::fs::MetadataExt::blocks(&file.metadata().unwrap()) as usize * 512
    }

    /// The number of the next message of a lane.
    pub fn next_number(&self, lane: usize) -> u64 {
        let receiver = self.inlets[lane].receiver.get();
        receiver.map_or(1, |receiver| receiver.next_number())
    }

    /// Makes the segment attachable again after it was damaged.
    pub fn rewrite_facts(&self) {
        let facts = self.layout.facts(
            process::pid(),
            pidfd::start_time(process::pid()).unwrap(),
            true,
        );
        // SAFETY: as in `open`.
        unsafe {
            self.segment
                .base()
                .cast::<super::layout::Facts>()
                .write(facts)
        };
        for lane in 0..self.layout.lanes() {
            self.bells.lane(lane).store(0, Ordering::Relaxed);
        }
    }
}

impl Inlet {
    /// Passes up to `max` messages to `each`. Returns their number.
    #[inline(always)]
    fn drain(&self, max: u64, each: &mut impl FnMut(Polled) -> bool) -> u32 {
        let Some(receiver) = self.receiver.get() else {
            return 0;
        };
        receiver.poll(max, |polled| match polled {
            Polled::Bad => {
                self.complain();
                true
            }
            good => each(good),
        }) as u32
    }

    /// Whether a message waits.
    #[inline]
    fn is_ready(&self) -> bool {
        self.receiver.get().is_some_and(Receiver::is_ready)
    }

    /// How many messages the next round takes: one after silence.
    #[inline(always)]
    fn allowance(&self, max: u64) -> u64 {
        if self.idle.get() > 0 { 1 } else { max }
    }

    /// Whether one of its messages is kept.
    fn keeps(&self) -> bool {
        self.receiver.get().is_some_and(Receiver::keeps)
    }

    /// Whether its sender has left and none of its messages is kept.
    fn can_be_freed(&self) -> bool {
        self.closing.get() && !self.keeps()
    }

    /// Records that the lane had no message. Returns whether it has to become cold.
    #[inline]
    fn note_silence(&self, hot: usize) -> bool {
        let idle = self.idle.get().saturating_add(1);
        self.idle.set(idle);
        self.can_be_freed() || (idle > IDLE_ROUNDS && hot > ALWAYS_HOT)
    }

    #[cold]
    #[inline(never)]
    fn complain(&self) {
        if !self.complained.replace(true) {
            ucs_warn!(
                "a message with a wrong length was dropped: its sender has damaged shared memory"
            );
        }
    }
}
