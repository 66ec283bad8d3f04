//! The receiving half of a lane.

use super::{ASKED, FENCES, HEADER, Lane, Shape, WORD};
use crate::ucs::sync::Ordering;
use crate::uct::shm::arena::KeptRange;
use crate::uct::shm::growth::Extend;
use crate::uct::shm::head::Head;
use crate::uct::shm::prefetch::prefetch;
use core::cell::{Cell, OnceCell};

/// The receiving half. What an idle poll reads comes first.
#[repr(C)]
pub struct Receiver {
    /// Number of the next message, its slot, and the number at which the position is published.
    next: Cell<u64>,
    slot: Cell<*mut u8>,
    tell_at: Cell<u64>,
    lane: Lane,
    arena_at: Cell<usize>,
    arena_done: Cell<u64>,
    arena_told: Cell<u64>,
    /// The memory of the arena is reserved up to here, and further by `extend`.
    reach: Cell<usize>,
    extend: OnceCell<Extend>,
    /// More bytes than this are told at once.
    arena_slack: Cell<u64>,
    kept: Cell<KeptRange>,
    /// Messages after which the position is published.
    batch: u64,
}

/// One message, as far as it was checked: `len` fits the place it stands in.
#[derive(Clone, Copy, Debug)]
pub struct Message {
    pub id: u8,
    pub len: usize,
    /// In shared memory: the sender may still write there.
    pub data: *mut u8,
}

/// The result of a poll.
#[derive(Clone, Copy, Debug)]
pub enum Polled {
    /// In its slot, a word at least.
    InSlot(Message),
    /// In the arena, or less than a word; whether `keep` would leave it there.
    Elsewhere(Message, bool),
    /// A header that no correct sender writes; it was skipped.
    Bad,
}

/// How many slots behind the present one are prefetched.
const AHEAD: usize = 4;

/// A longer message is a piece of one that is copied as it comes; whether the bytes of a shorter one are read is its handler's matter.
const PIECE: usize = 8 << 10;

/// Most lines of a piece that its receiver prefetches: the processor's own prefetcher brings those behind them.
const NEAR: usize = 8;

impl Receiver {
    /// `batch` is the share of slots after which the receiver publishes its position.
    ///
    /// # Safety
    /// `base` must be a lane whose sender started at its first state, mapped as long as the receiver
    /// is used, of which this is the only receiver; `shape` must be sane and our own.
    pub unsafe fn new(base: *mut u8, shape: Shape, batch: f64) -> Receiver {
        let share = (f64::from(shape.slots) * batch) as u64;
        let lane = Lane::new(base, shape);
        let receiver = Receiver {
            lane,
            next: Cell::new(0),
            slot: Cell::new(base),
            tell_at: Cell::new(0),
            arena_at: Cell::new(0),
            arena_done: Cell::new(0),
            arena_told: Cell::new(0),
            reach: Cell::new(lane.arena.len()),
            extend: OnceCell::new(),
            arena_slack: Cell::new(0),
            kept: Cell::new(KeptRange::NONE),
            batch: share.clamp(1, u64::from(shape.slots)),
        };
        receiver.restart();
        receiver
    }

    /// Only the memory of the first part of the arena is reserved so far; `extend` does it where a message stands further on.
    pub fn begin_short(&self, extend: Extend) {
        if self.extend.set(extend).is_ok() {
            self.reach.set(self.lane.shape.first_reach());
        }
    }

    /// The lane has a new sender, which began at its first state.
    pub fn restart(&self) {
        self.stand_at(1);
        self.arena_at.set(0);
        self.arena_done.set(0);
        self.arena_told.set(0);
        self.set_kept(KeptRange::NONE);
    }

    /// The next message has this number, and the sender knows.
    fn stand_at(&self, number: u64) {
        self.next.set(number);
        self.slot.set(self.lane.slot(number));
        self.tell_at.set(number + self.batch);
    }

    /// Passes messages to `each`, at most `max` and at least one. Returns their number. The bytes of a message stay
    /// valid until `each` returns. `each` must not poll; it returns whether it takes more.
    #[inline(always)]
    pub fn poll(&self, max: u64, mut each: impl FnMut(Polled) -> bool) -> u64 {
        let (mut count, mut max) = (0, max);
        loop {
            let slot = self.slot.get();
            let number = self.next.get();
            // Acquire: pairs with the Release in Sender::publish. The header is read this once.
            let head = Head(self.lane.word64(slot).load(Ordering::Acquire));
            if !head.is(number) {
                return count;
            }
            // While the handler runs, a message some places behind it is prefetched: one that is written just now would be taken
            // from its sender.
            prefetch(slot.wrapping_add(AHEAD * self.lane.slot_size), 1);
            self.next.set(number + 1);
            self.slot.set(self.lane.slot_after(slot));
            let data = slot.wrapping_add(HEADER);
            let rest = head.rest_in_slot();
            if rest <= self.lane.rest_max {
                let message = Message {
                    id: head.id_in_slot(),
                    len: WORD + rest as usize,
                    data,
                };
                if !each(Polled::InSlot(message)) {
                    max = count + 1;
                }
            } else {
                let message = self.elsewhere(head, data);
                if head.len() > PIECE {
                    self.prefetch_piece();
                }
                if !each(message) {
                    max = count + 1;
                }
                if self.arena_untold() > self.arena_slack.get() {
                    self.tell_in_time();
                }
            }
            if self.next.get() >= self.tell_at.get() {
                self.tell();
            }
            count += 1;
            if count == max {
                return count;
            }
        }
    }

    /// While a piece is copied, the first lines of the next one are prefetched, if it has come. Mostly it stands behind.
    #[inline]
    fn prefetch_piece(&self) {
        if self.is_ready() {
            let at = self.lane.bytes.wrapping_add(self.arena_at.get());
            prefetch(at, NEAR);
        }
    }

    /// The message of a header whose bytes are in the arena, or in the slot at `data` and less than a word; or of an
    /// invalid header.
    #[inline]
    fn elsewhere(&self, head: Head, data: *mut u8) -> Polled {
        let len = head.len();
        if !head.in_arena() && len < WORD {
            let id = head.id();
            return Polled::Elsewhere(Message { id, len, data }, false);
        }
        let arena = self.lane.arena;
        // Relaxed: published with the header. Read this once.
        let at = self
            .lane
            .arena_at(data.wrapping_sub(HEADER))
            .load(Ordering::Relaxed) as usize;
        if !head.in_arena() || len > self.lane.shape.segment as usize {
            return Polled::Bad;
        }
        if !arena.holds_below(self.reach.get(), at, len) && !self.extend_to(at, len) {
            return Polled::Bad;
        }
        let used = arena.used(at, len, head.is_apart());
        let skip = arena.skipped(self.arena_at.get(), at);
        self.arena_at.set(at + used);
        self.arena_done
            .set(self.arena_done.get() + (skip + used) as u64);
        let message = Message {
            id: head.id(),
            len,
            data: self.lane.bytes.wrapping_add(at),
        };
        Polled::Elsewhere(message, self.kept.get() == KeptRange::NONE)
    }

    /// Whether a message stands in the arena, whose memory is reserved up to its end: as far as its sender did, unless that sent without
    /// memory.
    #[cold]
    fn extend_to(&self, at: usize, len: usize) -> bool {
        let (arena, reach) = (self.lane.arena, self.reach.get());
        if !arena.holds(at, len) {
            return false;
        }
        let mut more = reach;
        while more < at + len {
            more = arena.next_reach(more);
        }
        let extended = self.extend.get().is_some_and(|extend| extend(reach, more));
        if extended {
            self.reach.set(more);
        }
        extended
    }

    /// The message of `len` bytes at `address`, which `each` has just got, stays where it is: the sender goes around it
    /// until it is released. Returns whether it does: one message of a lane can.
    pub fn keep(&self, address: usize, len: usize) -> bool {
        let at = address.wrapping_sub(self.lane.bytes.addr());
        let fits = self.kept.get() == KeptRange::NONE && self.lane.arena.holds(at, len);
        if fits {
            self.set_kept(KeptRange::of(at, len));
        }
        fits
    }

    /// The message at `address` is not needed any more. Returns whether it was kept.
    pub fn release(&self, address: usize) -> bool {
        let at = address.wrapping_sub(self.lane.bytes.addr());
        let kept = self.kept.get();
        let found = kept != KeptRange::NONE && kept.starts_at(at);
        if found {
            self.set_kept(KeptRange::NONE);
        }
        found
    }

    /// Whether a message of the lane is kept.
    pub fn keeps(&self) -> bool {
        self.kept.get() != KeptRange::NONE
    }

    fn set_kept(&self, range: KeptRange) {
        self.kept.set(range);
        // A short arena with a message in its middle has room for one more: its sender has to know before the receiver waits for it.
        let slack = if range == KeptRange::NONE {
            self.lane.arena.stride() as u64
        } else {
            0
        };
        self.arena_slack.set(slack);
        // Release: pairs with the Acquire in Sender::refresh_arena; what was kept has been read.
        self.lane.kept().store(range.to_word(), Ordering::Release);
    }

    /// Bytes of the arena with which the receiver is done and the sender does not know.
    #[inline]
    fn arena_untold(&self) -> u64 {
        self.arena_done.get() - self.arena_told.get()
    }

    /// As `tell`, unless this is called again for a message in the arena that waits already: a sender without room would look for each
    /// message. Streams of 1 KiB messages, of which one in a round is kept: 110 ns each, and 154 so (2026-11-29, Intel Xeon).
    #[cold]
    #[inline(never)]
    fn tell_in_time(&self) {
        let next = self.next_head();
        let follows = next.is(self.next.get()) && next.in_arena();
        if !follows || self.arena_untold() > self.lane.arena.stride() as u64 {
            self.tell();
        }
    }

    /// Publishes the receiver's position to the sender.
    #[cold]
    #[inline(never)]
    fn tell(&self) {
        // Release: pairs with the Acquire in Sender::refresh_*; our reads come before.
        self.lane
            .done()
            .store(self.next.get() - 1, Ordering::Release);
        self.tell_at.set(self.next.get() + self.batch);
        self.lane
            .arena_done()
            .store(self.arena_done.get(), Ordering::Release);
        self.arena_told.set(self.arena_done.get());
    }

    /// Whether a message waits.
    #[inline]
    pub fn is_ready(&self) -> bool {
        self.next_head().is(self.next.get())
    }

    /// Brings what `is_ready` reads.
    #[inline]
    pub fn prefetch_head(&self) {
        prefetch(self.slot.get(), 1);
    }

    /// What stands where the next message will.
    #[inline]
    fn next_head(&self) -> Head {
        // Relaxed: only a hint; `poll` reads the header again with Acquire.
        Head(self.lane.word64(self.slot.get()).load(Ordering::Relaxed))
    }

    /// Requests the doorbell for the next message, without which the receiver sees it later.
    pub fn ask(&self) {
        // Relaxed: a sender that has not seen it is polled all the same.
        self.lane.attention().fetch_or(ASKED, Ordering::Relaxed);
    }

    /// Requests the doorbell for the next message, after which the receiver may sleep, and with `fences` one behind each
    /// message. The caller issues a fence and then polls the lane once more. Returns whether that does: else the sender had not
    /// been asked for fences, and a barrier takes their place this time.
    pub fn ask_to_sleep(&self, fences: bool) -> bool {
        let word = if fences { ASKED | FENCES } else { ASKED };
        // SeqCst: pairs with Sender::must_tell and Sender::take_question.
        self.lane.attention().swap(word, Ordering::SeqCst) & FENCES != 0
    }
}

#[cfg(test)]
impl Receiver {
    pub fn start_at(&self, number: u64) {
        self.stand_at(number);
    }

    pub fn next_number(&self) -> u64 {
        self.next.get()
    }
}
