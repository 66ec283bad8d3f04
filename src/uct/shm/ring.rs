//! A lane: a single-producer single-consumer ring in shared memory.
//!
//! Slots of fixed size carry a header word and short payloads, so that a small message costs one
//! cache line; longer payloads stand in the lane's arena (`arena`), and the slot says where. The header
//! word is stored last and holds the message's number, so that it says by itself whether it was
//! written in this lap. The receiver tells in batches how far it has read; the
//! sender looks only when its last knowledge is used up. No instruction is locked and no line is
//! shared beyond what the data needs. A sender that dies in the middle of a message blocks nobody.
//!
//! Neither side believes the other: a header is read once, and what it says is checked against the
//! lane's shape, which the receiver chose and the sender has checked.

use super::arena::{Arena, KeptRange};
use super::copy::FIRST_LINE;
use super::growth::{Extend, Growth, Lap};
use super::head::Head;
use super::prefetch::prefetch_to_write;
use crate::ucs::sync::{AtomicU32, AtomicU64, Ordering, compiler_fence, fence, word32, word64};
use crate::uct::base::copy::copy;
use core::cell::Cell;

mod receiver;

pub use receiver::{Message, Polled, Receiver};

/// Bytes of a header word at the start of each slot.
pub const HEADER: usize = size_of::<u64>();
/// The first word of most messages.
pub const WORD: usize = size_of::<u64>();
/// Unit of slots and of the arena.
pub const LINE: usize = 64;
/// Control words in front of the slots.
const CONTROL: usize = 256;
const ATTENTION_AT: usize = 128;
/// In the word for attention: the receiver wants the doorbell to be rung for the next message.
const ASKED: u32 = 1;
/// In the same word: the receiver sleeps often, and relies on a fence behind each message. The sender takes it back when it
/// stops to fence.
const FENCES: u32 = 2;
/// Messages without a question in between after which a sender stops to fence: they cost together about what the barrier does
/// that the receiver issues before it sleeps again.
pub const UNASKED: u32 = 128;

/// Most lines of the arena behind a message that its sender takes from the receiver's cache beforehand. They come while it does other
/// things: a processor's queue of stores is too short for those of two messages and what is done between them.
const OWNED: usize = 16;

/// The sizes of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// A power of two.
    pub slots: u32,
    /// Bytes of a slot, a multiple of `LINE`.
    pub slot: u32,
    /// Most bytes of one message in the arena.
    pub segment: u32,
    /// How many messages of the largest size the arena holds; at least `MIN_CELLS`.
    pub cells: u32,
    /// How many bytes behind the start of a line each message in the arena begins, so that the payload behind its header begins with a
    /// line: copies between lines of the same alignment are a third faster. Whole words, less than `LINE`.
    pub lead: u32,
}

impl Shape {
    /// While the receiver has not told that it is done with a message of the largest size, and with the tail of the arena skipped, the
    /// largest message must still fit.
    pub const MIN_CELLS: u32 = 4;
    pub const MAX_SLOTS: u32 = 1 << 16;
    pub const MAX_SLOT: u32 = 4096;
    pub const MAX_SEGMENT: u32 = 1 << 20;
    pub const MAX_CELLS: u32 = 64;

    /// Whether both sides can work with these sizes.
    pub fn is_sane(self) -> bool {
        self.slots.is_power_of_two()
            && (2..=Shape::MAX_SLOTS).contains(&self.slots)
            && (LINE as u32..=Shape::MAX_SLOT).contains(&self.slot)
            && self.slot.is_multiple_of(LINE as u32)
            && (1..=Shape::MAX_SEGMENT).contains(&self.segment)
            && (Shape::MIN_CELLS..=Shape::MAX_CELLS).contains(&self.cells)
            && self.lead < LINE as u32
            && self.lead.is_multiple_of(WORD as u32)
    }

    /// Most payload bytes in a slot.
    #[inline]
    pub fn inline_max(self) -> usize {
        self.slot as usize - HEADER
    }

    pub fn arena(self) -> Arena {
        Arena::new(self.segment as usize, self.cells as usize)
    }

    fn arena_at(self) -> usize {
        self.slots_end() + self.lead as usize
    }

    fn slots_end(self) -> usize {
        CONTROL + self.slots as usize * self.slot as usize
    }

    /// Bytes of the lane, whole pairs of lines: processors fetch those.
    pub fn bytes(self) -> usize {
        self.bytes_to(self.arena().len()).next_multiple_of(2 * LINE)
    }

    /// Bytes up to the place `reach` of the arena.
    pub fn bytes_to(self, reach: usize) -> usize {
        self.arena_at() + reach
    }

    /// The part of the arena that is used at first: that of the shortest one.
    pub fn first_reach(self) -> usize {
        self.arena().stride() * Shape::MIN_CELLS as usize
    }
}

/// Address and sizes of a lane.
#[derive(Clone, Copy)]
struct Lane {
    base: *mut u8,
    shape: Shape,
    mask: u64,
    /// Start and end of the slots.
    slots: *mut u8,
    slots_end: *mut u8,
    slot_size: usize,
    /// Most bytes after the first word of a message in its slot.
    rest_max: u32,
    /// Start and places of the arena.
    bytes: *mut u8,
    arena: Arena,
}

impl Lane {
    fn new(base: *mut u8, shape: Shape) -> Lane {
        Lane {
            base,
            shape,
            mask: u64::from(shape.slots) - 1,
            slots: base.wrapping_add(CONTROL),
            slots_end: base.wrapping_add(shape.slots_end()),
            slot_size: shape.slot as usize,
            rest_max: shape.slot.saturating_sub((HEADER + WORD) as u32),
            bytes: base.wrapping_add(shape.arena_at()),
            arena: shape.arena(),
        }
    }

    /// Slot of message `number`.
    #[inline]
    fn slot(&self, number: u64) -> *mut u8 {
        let at = (number & self.mask) as usize * self.slot_size;
        self.slots.wrapping_add(at)
    }

    /// The slot of the message after the one in `slot`.
    #[inline(always)]
    fn slot_after(&self, slot: *mut u8) -> *mut u8 {
        let next = slot.wrapping_add(self.slot_size);
        if next == self.slots_end {
            self.slots
        } else {
            next
        }
    }

    #[inline]
    fn word64(&self, at: *mut u8) -> &AtomicU64 {
        // SAFETY: `at` is a place of this lane, 8-aligned, mapped as long as the lane is used
        // (promise of Sender::new and Receiver::new), and only accessed as an atomic.
        unsafe { word64(at) }
    }

    /// How many messages the receiver has done with.
    #[inline]
    fn done(&self) -> &AtomicU64 {
        self.word64(self.base)
    }

    /// How many arena bytes the receiver has done with, skipped ones included.
    #[inline]
    fn arena_done(&self) -> &AtomicU64 {
        self.word64(self.base.wrapping_add(8))
    }

    /// The bytes of the arena that the receiver keeps (`KeptRange`).
    #[inline]
    fn kept(&self) -> &AtomicU64 {
        self.word64(self.base.wrapping_add(16))
    }

    /// Where the message in `slot` stands in the arena.
    #[inline]
    fn arena_at(&self, slot: *mut u8) -> &AtomicU64 {
        self.word64(slot.wrapping_add(HEADER))
    }

    #[inline]
    fn attention(&self) -> &AtomicU32 {
        // SAFETY: as in `word64`.
        unsafe { word32(self.base.wrapping_add(ATTENTION_AT)) }
    }
}

/// Puts a lane into its first state.
///
/// # Safety
/// `base` must be `shape.bytes()` of mapped memory, aligned to lines, that no other thread uses as a
/// lane at the moment.
pub unsafe fn reset(base: *mut u8, shape: Shape) {
    let lane = Lane::new(base, shape);
    // Relaxed: whoever hands the lane over publishes it with Release.
    lane.done().store(0, Ordering::Relaxed);
    lane.arena_done().store(0, Ordering::Relaxed);
    lane.kept()
        .store(KeptRange::NONE.to_word(), Ordering::Relaxed);
    lane.attention().store(ASKED, Ordering::Relaxed);
    for number in 0..u64::from(shape.slots) {
        lane.word64(lane.slot(number)).store(0, Ordering::Relaxed);
    }
}

/// The sending half. Its numbers start at 1, so that a zeroed slot holds no message.
pub struct Sender {
    lane: Lane,
    /// Number of the next message, its slot, and the first that may not be written yet.
    next: Cell<u64>,
    slot: Cell<*mut u8>,
    limit: Cell<u64>,
    /// The same for messages that are sent without further tests: 0 if each needs a fence.
    limit_plain: Cell<u64>,
    /// Place of the next arena payload, bytes used in all, and bytes that may be used.
    arena_at: Cell<usize>,
    arena_used: Cell<u64>,
    arena_limit: Cell<u64>,
    growth: Growth,
    /// There was no room since the limit last moved: the receiver lags.
    lagged: Cell<bool>,
    /// Messages in the arena have room behind them: the receiver waits for each.
    apart: Cell<bool>,
    /// Bytes of the arena that the receiver keeps, as far as we know.
    kept: Cell<KeptRange>,
    /// The receiver's barrier does not reach this process: each message needs a fence.
    always_fences: bool,
    /// Each message needs a fence at the moment.
    fences: Cell<bool>,
    /// Messages with a fence since the last question.
    unasked: Cell<u32>,
    stopped: Cell<bool>,
}

/// There is no room in the ring at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

impl Sender {
    /// # Safety
    /// `base` must be a lane in its first state, mapped as long as the sender is used, of which this
    /// is the only sender; `shape` must be sane and the lane's.
    pub unsafe fn new(base: *mut u8, shape: Shape, always_fences: bool) -> Sender {
        let lane = Lane::new(base, shape);
        let sender = Sender {
            lane,
            next: Cell::new(1),
            slot: Cell::new(lane.slot(1)),
            limit: Cell::new(0),
            limit_plain: Cell::new(0),
            arena_at: Cell::new(0),
            arena_used: Cell::new(0),
            arena_limit: Cell::new(lane.arena.len() as u64),
            growth: Growth::none(shape),
            lagged: Cell::new(false),
            apart: Cell::new(true),
            kept: Cell::new(KeptRange::NONE),
            always_fences,
            fences: Cell::new(always_fences),
            unasked: Cell::new(0),
            stopped: Cell::new(false),
        };
        sender.set_limit(1 + u64::from(shape.slots));
        sender
    }

    /// A sender that has no lane, and so never room.
    pub fn nowhere() -> Sender {
        const LEAST: Shape = Shape {
            slots: 2,
            slot: LINE as u32,
            segment: 1,
            cells: Shape::MIN_CELLS,
            lead: 0,
        };
        // SAFETY: no place of the lane is looked at while there is no room in it, and a stopped sender asks nobody.
        let sender = unsafe { Sender::new(core::ptr::null_mut(), LEAST, false) };
        sender.stop();
        sender
    }

    /// Only the first part of the arena has its memory so far.
    pub fn begin_short(&self, extend: Extend, lap: Lap) {
        self.growth.begin_short(self.lane.shape, extend, lap);
    }

    /// From now on the lane is always full.
    pub fn stop(&self) {
        self.stopped.set(true);
        self.set_limit(self.next.get());
    }

    fn set_limit(&self, limit: u64) {
        self.limit.set(limit);
        self.limit_plain
            .set(if self.fences.get() { 0 } else { limit });
    }

    /// Whether a message can be sent now, by the receiver's latest position.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.has_slot() && self.arena_room().is_some()
    }

    #[inline]
    fn has_slot(&self) -> bool {
        self.next.get() != self.limit.get() || self.refresh_slots()
    }

    #[cold]
    fn refresh_slots(&self) -> bool {
        if self.stopped.get() {
            return false;
        }
        // Acquire: pairs with the Release in Receiver::release; the receiver has read the slots.
        let done = self.lane.done().load(Ordering::Acquire);
        let sent = self.next.get() - 1;
        // A receiver that claims to have read messages that were not sent, or moves its position back, is ignored:
        // overwriting its slots hurts only itself, but numbers must stay in order.
        if done > sent || done + u64::from(self.lane.shape.slots) < self.limit.get() - 1 {
            return false;
        }
        self.set_limit(done + u64::from(self.lane.shape.slots) + 1);
        let found = self.next.get() != self.limit.get();
        let lagged = self.lagged.replace(!found);
        if found {
            self.apart.set(!lagged);
        }
        found
    }

    /// The place for a message of any size in the arena, and the bytes that are skipped before it.
    #[inline]
    fn arena_room(&self) -> Option<(usize, usize)> {
        self.known_arena_room().or_else(|| {
            self.refresh_arena();
            self.known_arena_room().or_else(|| self.extend_arena())
        })
    }

    #[inline(always)]
    fn known_arena_room(&self) -> Option<(usize, usize)> {
        let arena = self.lane.arena;
        let (at, skip) = arena.place(self.kept.get(), self.arena_at.get(), self.growth.reach())?;
        let needed = self.arena_used.get() + (skip + arena.stride()) as u64;
        (needed <= self.arena_limit.get()).then_some((at, skip))
    }

    #[cold]
    fn refresh_arena(&self) {
        // Acquire: pairs with the Release in Receiver::tell; the receiver has read the bytes.
        let done = self.lane.arena_done().load(Ordering::Acquire);
        let limit = done.saturating_add(self.lane.arena.len() as u64);
        if done > self.arena_used.get() || limit < self.arena_limit.get() {
            return;
        }
        // Acquire: pairs with the Release in Receiver::set_kept. After `done`: the receiver stores what it keeps before
        // it says that it is done with it.
        let kept = self.lane.kept().load(Ordering::Acquire);
        self.kept.set(self.lane.arena.kept_of_word(kept));
        self.arena_limit.set(limit);
    }

    /// The same where more of the arena is used.
    #[cold]
    fn extend_arena(&self) -> Option<(usize, usize)> {
        let used = self.arena_used.get();
        self.lagged.set(true);
        if self.stopped.get() || !self.growth.lagged(self.lane.shape, used) {
            return None;
        }
        self.known_arena_room()
    }

    /// Sends a message that `fill` writes at a place of `inline_max` bytes, 8-aligned; `len` bytes
    /// of it are sent.
    #[inline(always)]
    pub fn send_inline(&self, id: u8, len: usize, fill: impl FnOnce(*mut u8)) -> Result<(), Full> {
        if !self.has_slot() {
            return Err(Full);
        }
        self.write(id, len, fill);
        Ok(())
    }

    /// Whether a message can be sent by `send_plain`, by the cached position of the receiver.
    #[inline(always)]
    pub fn is_plain(&self) -> bool {
        self.next.get() < self.limit_plain.get()
    }

    /// As `send_inline` and `must_tell`, where `is_plain`.
    #[inline(always)]
    pub fn send_plain(&self, id: u8, len: usize, fill: impl FnOnce(*mut u8)) -> bool {
        debug_assert!(self.is_plain());
        self.write(id, len, fill);
        self.is_asked()
    }

    /// Whether a message of this length goes into its slot. Else it goes into the arena: it is longer than the slot, or needs more
    /// lines than one while the receiver lags, whose processor reads ahead what stands one behind the other. Tags of 128 bytes: 37 ns
    /// each, and 56 in slots (2026-11-29, Intel Xeon). An arena of short messages may have no room for those of a slot.
    #[inline(always)]
    fn is_for_slot(&self, len: usize) -> bool {
        let shape = self.lane.shape;
        let behind_others = !self.apart.get() && shape.segment >= shape.slot;
        len <= FIRST_LINE || len <= shape.inline_max() && !behind_others
    }

    /// Writes a message that a slot has room for. The call of `fill` stands here once: with one for each place the latency of tags of 64
    /// bytes was a fifth longer.
    #[inline(always)]
    fn write(&self, id: u8, len: usize, fill: impl FnOnce(*mut u8)) {
        let room = if self.is_for_slot(len) {
            None
        } else {
            self.arena_room()
        };
        fill(match room {
            Some((at, _)) => self.lane.bytes.wrapping_add(at),
            None => self.slot.get().wrapping_add(HEADER),
        });
        match room {
            Some(room) => self.publish_arena(id, len, room),
            None => self.publish_slot(id, len),
        }
    }

    /// Publishes the message that was written in the slot.
    #[inline(always)]
    fn publish_slot(&self, id: u8, len: usize) {
        debug_assert!(len <= self.lane.shape.inline_max());
        self.publish(self.slot.get(), Head::new(self.next.get(), id, len));
        if len > FIRST_LINE {
            self.prefetch_slot(HEADER + len);
        }
    }

    /// Sends a message that `pack` writes to a buffer of `segment` bytes; it returns the length. A message that fits
    /// into a slot is copied there: its line in the arena stays in our cache.
    #[inline(always)]
    pub fn send_packed(&self, id: u8, pack: impl FnOnce(*mut u8) -> usize) -> Result<Packed, Full> {
        if !self.has_slot() {
            return Err(Full);
        }
        let (at, skip) = self.arena_room().ok_or(Full)?;
        let place = self.lane.bytes.wrapping_add(at);
        let len = pack(place);
        if len > self.lane.shape.segment as usize {
            return Ok(Packed::TooLong(len));
        }
        if self.is_for_slot(len) {
            let payload = self.slot.get().wrapping_add(HEADER);
            // SAFETY: `len` bytes at the place were just packed; the slot has room for them; arena
            // and slots do not overlap.
            unsafe { copy(place, payload, len) };
            self.publish_slot(id, len);
        } else {
            self.publish_arena(id, len, (at, skip));
        }
        Ok(Packed::Sent(len))
    }

    /// Publishes the message that was written at the place of the arena, behind what is skipped.
    #[inline(always)]
    fn publish_arena(&self, id: u8, len: usize, (at, skip): (usize, usize)) {
        let slot = self.slot.get();
        let apart = self.apart.get();
        let used = self.lane.arena.used(at, len, apart);
        let begins_lap = at < self.arena_at.replace(at + used);
        self.arena_used
            .set(self.arena_used.get() + (skip + used) as u64);
        // Relaxed: published with the header.
        self.lane.arena_at(slot).store(at as u64, Ordering::Relaxed);
        let head = Head::new(self.next.get(), id, len);
        self.publish(slot, head.elsewhere(apart));
        self.prefetch_slot(LINE);
        // What is written next begins there, mostly.
        let next = self.lane.bytes.wrapping_add(at + used);
        prefetch_to_write(next, len.div_ceil(LINE).min(OWNED));
        if begins_lap {
            self.growth.begin_lap(self.lane.shape);
        }
    }

    #[inline]
    fn publish(&self, slot: *mut u8, head: Head) {
        // Release: pairs with the Acquire in Receiver::poll; payload before header.
        self.lane.word64(slot).store(head.0, Ordering::Release);
        self.next.set(self.next.get() + 1);
        self.slot.set(self.lane.slot_after(slot));
    }

    /// Prefetches the first `len` bytes of the slot behind the next one for writing: the receiver has their lines since the last lap. The
    /// next one it polls, if it waits. Synchronous messages of 128 bytes: 77 ns each, 139 without. Not for messages of one
    /// line: a receiver that keeps up sees each by itself then, active messages of 8 bytes 49 ns, not 34 (2026-11-29, Intel Xeon).
    #[inline(always)]
    fn prefetch_slot(&self, len: usize) {
        let behind = self.slot.get().wrapping_add(self.lane.slot_size);
        prefetch_to_write(behind, len.div_ceil(LINE));
    }

    /// Most bytes of a message.
    pub fn longest(&self) -> usize {
        self.lane.shape.segment as usize
    }

    /// Whether the receiver may have requested the doorbell for the message just sent: `take_question` tells.
    #[inline]
    pub fn must_tell(&self) -> bool {
        match self.fences.get() {
            true => self.is_asked_behind_fence(),
            false => self.is_asked(),
        }
    }

    /// As `must_tell`, where messages need no fence: the receiver's barrier stands for both.
    #[inline(always)]
    fn is_asked(&self) -> bool {
        compiler_fence(Ordering::SeqCst);
        self.lane.attention().load(Ordering::Relaxed) != 0
    }

    #[inline(never)]
    fn is_asked_behind_fence(&self) -> bool {
        // SeqCst: pairs with the fence in Inbox::arm; either we see the question or the receiver sees the message.
        fence(Ordering::SeqCst);
        let unasked = self.unasked.get() + 1;
        self.unasked.set(unasked);
        self.lane.attention().load(Ordering::Relaxed) & ASKED != 0 || unasked >= UNASKED
    }

    /// Takes the question back before it is answered; whether there is one. Also finds out whether each message needs a fence
    /// from now on.
    #[cold]
    pub fn take_question(&self) -> bool {
        let wakes_seldom = self.unasked.take() >= UNASKED && !self.always_fences;
        let taken = if wakes_seldom { ASKED | FENCES } else { ASKED };
        // SeqCst: ordered before the doorbell that follows; a later question is not lost, since the receiver polls the lane
        // after it. The message comes before: a receiver that asks after this sees it, one that has asked is answered.
        let word = self.lane.attention().fetch_and(!taken, Ordering::SeqCst);
        self.set_fences(self.always_fences || word & !taken & FENCES != 0);
        word & ASKED != 0
    }

    fn set_fences(&self, fences: bool) {
        self.fences.set(fences);
        self.set_limit(self.limit.get());
    }
}

/// The result of `send_packed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packed {
    Sent(usize),
    /// More than the segment: not sent; the callback broke its promise.
    TooLong(usize),
}

#[cfg(test)]
impl Sender {
    /// Whether each message has a fence.
    pub fn fences(&self) -> bool {
        self.fences.get()
    }

    /// As after so many messages with a fence since the last question.
    #[cfg(loom)]
    pub fn note_unasked(&self, count: u32) {
        self.unasked.set(count);
    }

    /// As a sender that has not looked since the receiver asked for fences.
    #[cfg(loom)]
    pub fn forget_fences(&self) {
        self.set_fences(false);
    }

    /// As after `number` messages that were all read.
    pub fn start_at(&self, number: u64) {
        self.next.set(number);
        self.slot.set(self.lane.slot(number));
        self.set_limit(number + u64::from(self.lane.shape.slots));
        self.lane.done().store(number - 1, Ordering::Relaxed);
    }
}
