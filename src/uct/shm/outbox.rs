//! `Peer`: the sending side towards one interface of a process: its segment, our lane in it, and the state of the
//! process. All endpoints of an interface to the same peer share one.

use super::growth::extend_by;
use super::layout::{Bells, Facts, LaneState, Layout, Phase};
use super::ring::{self, Sender, Shape};
use super::segment::Attached;
use super::wake::Wake;
use super::wire::SegmentKey;
use crate::sys::{cpu, membarrier, pidfd, process};
use crate::ucs::sync::AtomicBool;
use crate::ucs::sync::{Ordering, fence};
use crate::ucs::{Result, Status};
use crate::ucs_diag;
use crate::uct::base::death_watch::{self, Watch};
use core::cell::{Cell, OnceCell, RefCell};
use std::sync::Arc;

/// State shared by the death watch and the interface's thread.
pub struct Alarm {
    /// Some peer of the interface has ended.
    raised: AtomicBool,
    /// Of the interface.
    wake: Arc<Wake>,
}

impl Alarm {
    /// An alarm that rings the bell of our own interface and wakes it.
    pub fn new(wake: Arc<Wake>) -> Alarm {
        Alarm {
            raised: AtomicBool::new(false),
            wake,
        }
    }

    #[inline]
    pub fn is_raised(&self) -> bool {
        // Relaxed: `take` reads again with Acquire.
        self.raised.load(Ordering::Relaxed)
    }

    pub fn take(&self) -> bool {
        // Acquire: pairs with the Release in `raise`; the peers' marks are seen.
        self.raised.swap(false, Ordering::Acquire)
    }

    pub fn raise(&self) {
        // Release: pairs with the Acquire in `take`.
        self.raised.store(true, Ordering::Release);
        // SeqCst: pairs with Inbox::look; a thread that sees the doorbell sees the alarm.
        self.wake.bells().doorbell().fetch_add(1, Ordering::SeqCst);
        // SeqCst: an owner that arms after this reads the doorbell before it sleeps.
        fence(Ordering::SeqCst);
        self.wake.wake_owner();
    }
}

pub struct Peer {
    attached: Arc<Attached>,
    facts: Facts,
    layout: Layout,
    /// How many the layout has.
    lanes: u32,
    bells: Bells,
    /// Our lane and its state word while it is ours.
    lane: Cell<Option<(u32, LaneState)>>,
    sender: OnceCell<Sender>,
    nowhere: Sender,
    ended: Arc<AtomicBool>,
    watch: RefCell<Option<Watch>>,
    failure: Cell<Option<Status>>,
    /// Sends that found no room; without a watch, every so many of them check whether the process lives.
    refused: Cell<u32>,
}

/// Lanes that are looked at to know how many senders there are: with more of them none uses more than the first part of its arena.
const COUNTED: u32 = 32;

/// Bytes of an arena that its sender uses before it writes the same lines again. A line that the receiver still has in its cache takes
/// twice as long to write as one that it has not: all senders together write twice as much as that cache holds.
fn lap_of(bells: &Bells, lanes: u32) -> usize {
    let is_used = |lane: &u32| {
        let state = LaneState(bells.lane(*lane).load(Ordering::Relaxed));
        matches!(state.phase(), Some(Phase::Taken | Phase::Ready))
    };
    let senders = (0..lanes.min(COUNTED)).filter(is_used).count();
    2 * cpu::own_cache_bytes() / senders.max(1)
}

/// A power of two: a check costs some microseconds, so many refusals some hundred.
const REFUSALS_A_LOOK: u32 = 1 << 16;

impl Peer {
    /// Attaches the peer's segment and takes a lane of it. `UNREACHABLE` when there is no such segment, `NO_MEMORY`
    /// when the lane cannot be reserved. Also succeeds without a free lane: then every send tries to take one.
    pub fn attach(key: SegmentKey) -> Result<Peer> {
        let attached = Attached::get(key)?;
        let (facts, layout) = facts_of(&attached)?;
        // SAFETY: the layout was checked against the mapping, which this peer keeps.
        let bells = unsafe { Bells::new(attached.base()) };
        let peer = Peer {
            attached,
            facts,
            layout,
            lanes: layout.lanes(),
            bells,
            lane: Cell::new(None),
            sender: OnceCell::new(),
            nowhere: Sender::nowhere(),
            ended: Arc::new(AtomicBool::new(false)),
            watch: RefCell::new(None),
            failure: Cell::new(None),
            refused: Cell::new(0),
        };
        match peer.claim() {
            Ok(()) | Err(Status::NO_RESOURCE) => Ok(peer),
            Err(e) => Err(e),
        }
    }

    /// The lane, once there is one.
    #[inline]
    pub fn sender(&self) -> Option<&Sender> {
        self.sender.get()
    }

    /// The lane, or a sender without one.
    pub fn sender_or_nowhere(&self) -> &Sender {
        self.sender.get().unwrap_or(&self.nowhere)
    }

    /// Most bytes of a message in a slot and in the arena that all lanes of the peer take.
    pub fn longest_by_any_lane(&self) -> (usize, usize) {
        let inline = self.layout.shapes().map(Shape::inline_max).min();
        let segment = self.layout.shapes().map(|shape| shape.segment).min();
        (inline.unwrap_or(0), segment.unwrap_or(0) as usize)
    }

    pub fn pid(&self) -> u32 {
        self.facts.pid
    }

    /// Takes a free lane. `NO_RESOURCE` when all are in use.
    #[cold]
    pub fn claim(&self) -> Result<()> {
        if self.sender.get().is_some() {
            return Ok(());
        }
        if let Some(failure) = self.failure.get() {
            return Err(failure);
        }
        let pid = process::pid();
        for lane in 0..self.lanes {
            // Acquire: pairs with the Release in Inbox::free; its reads of the lane are over.
            let seen = LaneState(self.bells.lane(lane).load(Ordering::Acquire));
            if seen.phase() != Some(Phase::Free) {
                continue;
            }
            let taken = LaneState::new(Phase::Taken, seen.generation(), pid);
            let won = self.bells.lane(lane).compare_exchange(
                seen.0,
                taken.0,
                Ordering::Acquire,
                Ordering::Relaxed,
            );
            if won.is_ok() {
                return self.open(lane, taken);
            }
        }
        self.retire_dead();
        ucs_diag!(
            "process {} has no free ring: {} senders use its interface",
            self.facts.pid,
            self.lanes
        );
        Err(Status::NO_RESOURCE)
    }

    fn open(&self, lane: u32, taken: LaneState) -> Result<()> {
        let (at, shape) = self.layout.lane(lane).ok_or(Status::NO_RESOURCE)?;
        let is_short = match self.reserve(at, shape) {
            Ok(is_short) => is_short,
            Err(e) => {
                let free = LaneState::new(Phase::Free, taken.generation(), 0);
                // Release: as in Inbox::free.
                self.bells.lane(lane).store(free.0, Ordering::Release);
                return Err(e);
            }
        };
        let base = self.attached.base().wrapping_add(at);
        let always_fences = self.facts.barriers == 0 || !membarrier::register();
        // SAFETY: the lane lies in the mapping (checked layout) and is reserved; taking it made it
        // ours alone.
        let sender = unsafe {
            ring::reset(base, shape);
            Sender::new(base, shape, always_fences)
        };
        if is_short {
            let attached = Arc::clone(&self.attached);
            let extend = extend_by(at, shape, move |at, len| attached.try_reserve(at, len));
            let (bells, lanes, attached) = (self.bells, self.lanes, Arc::clone(&self.attached));
            let lap = move || {
                // The bells stand in its mapping.
                let _ = &attached;
                lap_of(&bells, lanes)
            };
            sender.begin_short(extend, Box::new(lap));
        }
        let ready = taken.to(Phase::Ready);
        // Release: pairs with the Acquire in Inbox::look; the lane is in its first state.
        self.bells.lane(lane).store(ready.0, Ordering::Release);
        self.lane.set(Some((lane, ready)));
        if self.sender.set(sender).is_err() {
            return Err(Status::BUSY);
        }
        Ok(())
    }

    /// Reserves the memory of a lane; where more can be reserved later, only that of its slots and the first part of its arena. Returns
    /// whether it did only that.
    fn reserve(&self, at: usize, shape: Shape) -> Result<bool> {
        let len = shape.bytes_to(shape.first_reach());
        let reserved = self.attached.try_reserve(at, len);
        if reserved.map_err(|e| self.attached.out_of_memory(len, &e))? {
            return Ok(true);
        }
        self.attached.reserve(at, shape.bytes())?;
        Ok(false)
    }

    /// Returns lanes of dead processes to the owner, which drains and frees them.
    fn retire_dead(&self) {
        for lane in 0..self.lanes {
            let word = self.bells.lane(lane);
            let seen = LaneState(word.load(Ordering::Acquire));
            let next = match seen.phase() {
                // Never seen by the owner, and in no known state: nothing to drain.
                Some(Phase::Taken) => LaneState::new(Phase::Free, seen.generation(), 0),
                Some(Phase::Ready) => seen.to(Phase::Closing),
                _ => continue,
            };
            if pidfd::start_time(seen.pid()).is_none() {
                // Acquire, Relaxed: only the word itself passes.
                let _ = word.compare_exchange(seen.0, next.0, Ordering::Acquire, Ordering::Relaxed);
                self.bells.call(lane);
            }
        }
    }

    /// Rings the owner's doorbell if it asked for that; wakes it if it sleeps.
    #[cold]
    pub fn ring_bell(&self, sender: &Sender) {
        if sender.take_question()
            && let Some((lane, _)) = self.lane.get()
            && self.bells.ring(lane)
        {
            self.attached.wake_owner();
        }
    }

    /// Whether the peer closed its interface.
    pub fn is_closed(&self) -> bool {
        // Relaxed: nothing else is read with it.
        self.bells.closed().load(Ordering::Relaxed) != 0
    }

    /// Has `alarm` raised when the process ends.
    pub fn watch(&self, alarm: &Arc<Alarm>) -> Result<()> {
        if self.watch.borrow().is_some() {
            return Ok(());
        }
        let (ended, alarm) = (Arc::clone(&self.ended), Arc::clone(alarm));
        let on_death = Box::new(move || {
            // Relaxed: published by the Release in `raise`.
            ended.store(true, Ordering::Relaxed);
            alarm.raise();
        });
        let watch = death_watch::watch(self.facts.pid, self.facts.start_time, on_death)?;
        *self.watch.borrow_mut() = Some(watch);
        Ok(())
    }

    /// Looks whether the process lives.
    pub fn is_alive(&self) -> bool {
        !self.has_ended() && pidfd::alive(self.facts.pid, self.facts.start_time)
    }

    /// Whether the death watch has reported the end.
    pub fn has_ended(&self) -> bool {
        // Relaxed: read after Alarm::take.
        self.ended.load(Ordering::Relaxed)
    }

    /// A send found no room. Returns whether the process is known to be dead.
    pub fn note_refusal(&self) -> bool {
        let count = self.refused.get().wrapping_add(1);
        self.refused.set(count);
        count.is_multiple_of(REFUSALS_A_LOOK) && self.watch.borrow().is_none() && !self.is_alive()
    }

    /// Records the end of the process that was detected elsewhere.
    pub fn mark_ended(&self) {
        // Relaxed: published by Alarm::raise, or read by this thread.
        self.ended.store(true, Ordering::Relaxed);
    }

    /// From now on every send returns `status`; the first status is kept.
    pub fn fail(&self, status: Status) {
        if self.failure.get().is_none() {
            self.failure.set(Some(status));
        }
        if let Some(sender) = self.sender.get() {
            sender.stop();
        }
    }

    #[inline]
    pub fn failure(&self) -> Option<Status> {
        self.failure.get()
    }
}

/// Copies the facts of a segment out and checks them.
fn facts_of(attached: &Attached) -> Result<(Facts, Layout)> {
    if attached.len() < size_of::<Facts>() {
        return Err(Status::UNREACHABLE);
    }
    // SAFETY: the mapping is large enough and page aligned; any bytes are a value of `Facts`; a
    // volatile copy, because its owner may write there.
    let facts = unsafe { attached.base().cast::<Facts>().read_volatile() };
    let layout = facts.check(attached.len())?;
    if facts.pid != attached.pid() {
        return Err(Status::UNREACHABLE);
    }
    Ok((facts, layout))
}

/// Attaches the segment of `key`.
pub fn attached(key: SegmentKey) -> Result<Arc<Attached>> {
    let attached = Attached::get(key)?;
    facts_of(&attached)?;
    Ok(attached)
}

impl Drop for Peer {
    fn drop(&mut self) {
        if let Some((lane, ready)) = self.lane.take() {
            let closing = ready.to(Phase::Closing);
            // Release: pairs with the Acquire in Inbox::look; our messages come before.
            let _ = self.bells.lane(lane).compare_exchange(
                ready.0,
                closing.0,
                Ordering::Release,
                Ordering::Relaxed,
            );
            self.bells.call(lane);
        }
    }
}
