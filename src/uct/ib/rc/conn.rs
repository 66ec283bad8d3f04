//! `Conn`: the queue pair of an endpoint, its work requests under way, and how they end.
//!
//! Work requests complete in order. Only some ask for a completion (`UCX_RC_VERBS_TX_CQ_MODERATION`); each completion
//! stands for all before it. Each request under way counts in the queue of its endpoint and among all of the interface,
//! since after an error each of them has a completion of its own. Once three quarters of the latter are in use every
//! request asks for a completion, so that the rest always comes back.

use super::chain::{Chain, Slot};
use super::credits::Credits;
use super::iface::{Face, NEXT_ID, NUMBER_SHIFT, RcIface, UNNUMBERED};
use super::work::{Done, Work, Works};
use crate::c::ucs_status_t;
use crate::c::verbs::*;
use crate::sys::verbs::{QueuePair, refusal};
use crate::ucs::{Result, Status};
use crate::ucs_diag;
use crate::uct::api::Completion;
use crate::uct::base::iface::{EpBox, EpLink};
use crate::uct::base::pending::PendingGroup;
use crate::uct::ib::ops;
use crate::uct::ib::wire::Header;
use core::cell::Cell;
use std::rc::Rc;

/// What an endpoint's queue pair can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Not connected yet.
    New,
    Connected,
    /// The user has ended all transfers.
    Cancelled,
    Failed(Status),
}

/// Whether a work request has to have a completion of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// When enough went without.
    Sometimes,
    Always,
}

/// How many requests may ask for nothing before one asks for a completion, and the place in the queue.
#[derive(Clone, Copy)]
pub struct Depth {
    pub queue: u16,
    pub moderation: u16,
}

/// Taken from the room of a connection where something has to be looked at first: more than any queue has.
const BLOCKED: i32 = 1 << 20;

pub struct Conn {
    pub pair: QueuePair,
    state: Cell<State>,
    pub credits: Credits,
    pub pending: Rc<PendingGroup>,
    /// The sequence number of our first packet.
    pub psn: u32,
    /// Which connection of the interface it is, as a work request names it.
    tag: u64,
    depth: Depth,
    /// How many requests may still be posted: none where something else has to be looked at first.
    room: Cell<i32>,
    /// The id of the last request that was posted, or that may join the chain, and of the last that is complete.
    posted: Cell<u64>,
    retired: Cell<u64>,
    /// Requests since the last that asked for a completion.
    silent: Cell<u16>,
    /// The next request waits for reads and atomics before it.
    fenced: Cell<bool>,
    /// The last read or atomic.
    last_read: Cell<u64>,
    works: Works,
    /// The interface's, on behalf of an endpoint of a peer.
    pub is_passive: bool,
    /// Null before the endpoint has its address and when it is going.
    ep: Cell<Option<EpLink<RcIface>>>,
}

impl Conn {
    pub fn new(
        pair: QueuePair,
        (psn, tag): (u32, u64),
        depth: Depth,
        credits: Credits,
        is_passive: bool,
    ) -> Conn {
        Conn {
            is_passive,
            pair,
            state: Cell::new(State::New),
            credits,
            pending: PendingGroup::new(),
            psn,
            tag,
            depth,
            room: Cell::new(i32::from(depth.queue) - BLOCKED),
            posted: Cell::new(tag),
            retired: Cell::new(tag),
            silent: Cell::new(0),
            fenced: Cell::new(false),
            last_read: Cell::new(tag),
            works: Works::default(),
            ep: Cell::new(None),
        }
    }

    /// The endpoint has its address, or is going.
    pub fn attach(&self, ep: &EpBox<RcIface>) {
        self.ep.set(Some(ep.link()));
    }

    #[inline(always)]
    pub fn state(&self) -> State {
        self.state.get()
    }

    pub fn set_state(&self, state: State) {
        self.state.set(state);
        self.set_room();
    }

    fn set_room(&self) {
        let is_free = self.state() == State::Connected && !self.fenced.get();
        let blocked = if is_free { 0 } else { BLOCKED };
        let room = i32::from(self.depth.queue) - i32::from(self.under_way());
        self.room.set(room - blocked);
    }

    /// The requests of this connection, as their ids name it.
    #[inline(always)]
    pub fn tag(&self) -> u64 {
        self.tag
    }

    /// Requests under way, and those that may join the chain.
    #[inline]
    pub fn under_way(&self) -> u16 {
        number_between(self.retired.get(), self.posted.get())
    }

    /// Whether the last request that was posted has a completion of its own.
    #[inline]
    fn is_last_signalled(&self) -> bool {
        self.silent.get() == 0
    }

    /// Counts up to `most` requests ahead, as many as slots at most, for which nothing has to be looked at: they ask for no
    /// completion, have room in the queue and nothing to say of credits, and wait for nothing.
    #[inline(always)]
    pub fn count_ahead(&self, face: &Face, most: usize) -> usize {
        let silent = i32::from(self.depth.moderation) - 1 - i32::from(self.silent.get());
        let all = face.sends_left.get() - face.sends_reserve;
        let quiet = self.credits.quiet().min(most as u32) as i32;
        let count = silent.min(self.room.get()).min(all).min(quiet).max(0);
        self.count_silent(face, count);
        count as usize
    }

    /// Counts requests that ask for nothing; fewer than none: they did not come.
    #[inline(always)]
    fn count_silent(&self, face: &Face, count: i32) {
        let ids = (count as u64).wrapping_mul(NEXT_ID);
        self.posted.set(self.posted.get().wrapping_add(ids));
        self.silent
            .set(self.silent.get().wrapping_add(count as u16));
        self.room.set(self.room.get() - count);
        face.sends_left.set(face.sends_left.get() - count);
    }

    /// So many that were counted ahead did not come.
    pub fn give_back(&self, face: &Face, count: usize) {
        self.count_silent(face, -(count as i32));
    }

    /// Counts one request. Its id.
    #[inline(always)]
    fn count_one(&self, face: &Face, silent: u16) -> u64 {
        let id = self.posted.get().wrapping_add(NEXT_ID);
        self.posted.set(id);
        self.silent.set(silent);
        self.room.set(self.room.get() - 1);
        face.sends_left.set(face.sends_left.get() - 1);
        id
    }

    /// Counts a request, while the chain is closed: its id and flags. It has to be posted.
    #[inline(always)]
    fn count(&self, face: &Face, signal: Signal) -> (u64, u32) {
        let silent = self.silent.get() + 1;
        let signalled = signal == Signal::Always
            || silent >= self.depth.moderation
            || face.sends_left.get() <= face.sends_reserve;
        let id = self.count_one(face, if signalled { 0 } else { silent });
        let flags = if signalled { IBV_SEND_SIGNALED } else { 0 };
        (id, self.take_fence() | flags)
    }

    /// The flag of a request that waits for reads and atomics before it.
    #[inline(always)]
    fn take_fence(&self) -> u32 {
        if !self.fenced.get() {
            return 0;
        }
        self.set_fenced(false);
        IBV_SEND_FENCE
    }

    #[cold]
    fn set_fenced(&self, fenced: bool) {
        self.fenced.set(fenced);
        self.set_room();
    }

    /// Takes the count of the last request back, which was refused.
    #[cold]
    fn uncount(&self, face: &Face, e: &std::io::Error) -> Status {
        self.posted.set(self.posted.get().wrapping_sub(NEXT_ID));
        // The next one asks for a completion and waits for what is before it, since this may have done so.
        self.silent.set(self.depth.moderation);
        self.set_fenced(true);
        face.sends_left.set(face.sends_left.get() + 1);
        self.refused(e)
    }

    /// Sends a message: `word` if `HAS_WORD`, and `len` bytes of `payload`.
    ///
    /// # Safety
    /// `payload` must be readable for `len` bytes, for which there must be room in a slot of the chain.
    #[inline(always)]
    pub unsafe fn send_short<const HAS_WORD: bool>(
        self: &Rc<Conn>,
        face: &Face,
        id: u8,
        word: u64,
        payload: *const u8,
        len: usize,
    ) -> Result<()> {
        if !face.chain.is_open(self) {
            // SAFETY: by the caller's promise.
            return unsafe { self.send_other::<HAS_WORD>(face, id, word, payload, len) };
        }
        // SAFETY: by the caller's promise.
        unsafe { self.send_joining::<HAS_WORD>(face, id, word, payload, len) };
        Ok(())
    }

    /// As `send_short`, of a message that joins others: the chain is open for it.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    pub unsafe fn send_joining<const HAS_WORD: bool>(
        &self,
        face: &Face,
        id: u8,
        word: u64,
        payload: *const u8,
        len: usize,
    ) {
        self.credits.take_quiet();
        let header = Header { id, credits: 0 };
        let place = face.chain.join();
        // SAFETY: by the caller's promise; the slot is not used.
        unsafe { place.slot.send::<HAS_WORD>((header, word), payload, len) };
        Chain::joined(face, place);
    }

    /// As `send_joining`, of a message of `len` bytes that was packed in its slot.
    #[inline(always)]
    pub fn join_packed(&self, face: &Face, id: u8, len: usize) {
        self.credits.take_quiet();
        let place = face.chain.join();
        // SAFETY: the slot is not used.
        unsafe { (place.slot).send_packed(Header { id, credits: 0 }, len) };
        Chain::joined(face, place);
    }

    /// The id of a request of which `has_single` says that it is posted at once, and that asks for nothing, which is counted
    /// then. `None`: something has to be looked at.
    #[inline(always)]
    fn count_single(&self, face: &Face) -> Option<u64> {
        let silent = self.silent.get() + 1;
        if self.room.get() <= 0
            || face.sends_left.get() <= face.sends_reserve
            || silent >= self.depth.moderation
        {
            return None;
        }
        face.chain.take_single();
        Some(self.count_one(face, silent))
    }

    /// Posts the request of `count_single`, which is made.
    #[inline(always)]
    fn post_single(&self, face: &Face) -> Result<()> {
        // SAFETY: nobody has a reference to the slot.
        let request = unsafe { face.chain.single_request() };
        // SAFETY: inline data of the slot.
        match unsafe { self.pair.try_post(request) } {
            Ok(()) => Ok(()),
            Err(code) => Err(self.refused_single(face, code)),
        }
    }

    #[cold]
    #[inline(never)]
    fn refused_single(&self, face: &Face, code: i32) -> Status {
        self.uncount(face, &refusal(code))
    }

    /// As `send_short`, of a message that does not join others.
    ///
    /// # Safety
    /// As there.
    #[inline(never)]
    unsafe fn send_other<const HAS_WORD: bool>(
        self: &Rc<Conn>,
        face: &Face,
        id: u8,
        word: u64,
        payload: *const u8,
        len: usize,
    ) -> Result<()> {
        if face.chain.has_single(self.tag)
            && self.credits.is_quiet()
            && let Some(request) = self.count_single(face)
        {
            self.credits.take_quiet();
            let header = Header { id, credits: 0 };
            let slot = face.chain.single();
            // SAFETY: by the caller's promise; the slot is not used.
            unsafe { slot.send::<HAS_WORD>((header, word), payload, len) };
            // SAFETY: as above.
            unsafe { slot.name(request, 0) };
            return self.post_single(face);
        }
        // SAFETY: by the caller's promise.
        unsafe { self.send_counted::<HAS_WORD>(face, id, word, payload, len) }
    }

    /// As `send_other`, where something has to be looked at.
    ///
    /// # Safety
    /// As there.
    #[inline(never)]
    unsafe fn send_counted<const HAS_WORD: bool>(
        self: &Rc<Conn>,
        face: &Face,
        id: u8,
        word: u64,
        payload: *const u8,
        len: usize,
    ) -> Result<()> {
        if let Some(registration) = face.chain.start(face, self) {
            // SAFETY: by the caller's promise.
            unsafe { self.send_joining::<HAS_WORD>(face, id, word, payload, len) };
            registration.wake();
            return Ok(());
        }
        face.chain.close(face);
        self.ready_for_message(face)?;
        let credits = self.credits.take();
        let header = Header { id, credits };
        // SAFETY: by the caller's promise; the slot is not used.
        self.short(face, |slot| unsafe {
            slot.send::<HAS_WORD>((header, word), payload, len);
        })
    }

    /// Makes a short request, which is counted, and posts it or lets it wait.
    #[inline(always)]
    fn short(self: &Rc<Conn>, face: &Face, make: impl FnOnce(Slot)) -> Result<()> {
        let (id, flags) = self.count(face, Signal::Sometimes);
        let place = face.chain.place(self.tag, &self.pair);
        make(place.slot);
        // SAFETY: the owner's; it does not wait.
        unsafe { place.slot.name(id, flags) };
        let submitted = face.chain.submit(face, place, self);
        submitted.map_err(|e| self.uncount(face, &e))
    }

    /// Writes to the peer's memory.
    ///
    /// # Safety
    /// `src` must be readable for `len` bytes, for which there must be room in a slot of the chain.
    #[inline(always)]
    pub unsafe fn write_short(
        self: &Rc<Conn>,
        face: &Face,
        (src, len): (*const u8, usize),
        remote: (u64, u32),
    ) -> Result<()> {
        if !face.chain.is_open(self) {
            // SAFETY: by the caller's promise.
            return unsafe { self.write_other(face, (src, len), remote) };
        }
        // SAFETY: by the caller's promise.
        unsafe { Conn::write_joining(face, (src, len), remote) };
        Ok(())
    }

    /// As `write_short`, of a request that joins others: the chain is open for it.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    unsafe fn write_joining(face: &Face, (src, len): (*const u8, usize), remote: (u64, u32)) {
        let place = face.chain.join();
        // SAFETY: by the caller's promise; the slot is not used.
        unsafe { place.slot.write((src, len), remote) };
        Chain::joined(face, place);
    }

    /// As `write_short`, of a request that does not join others.
    ///
    /// # Safety
    /// As there.
    #[inline(never)]
    unsafe fn write_other(
        self: &Rc<Conn>,
        face: &Face,
        (src, len): (*const u8, usize),
        remote: (u64, u32),
    ) -> Result<()> {
        if face.chain.has_single(self.tag)
            && let Some(request) = self.count_single(face)
        {
            let slot = face.chain.single();
            // SAFETY: by the caller's promise; the slot is not used.
            unsafe { slot.write((src, len), remote) };
            // SAFETY: as above.
            unsafe { slot.name(request, 0) };
            return self.post_single(face);
        }
        // SAFETY: by the caller's promise.
        unsafe { self.write_counted(face, (src, len), remote) }
    }

    /// As `write_other`, where something has to be looked at.
    ///
    /// # Safety
    /// As there.
    #[inline(never)]
    unsafe fn write_counted(
        self: &Rc<Conn>,
        face: &Face,
        (src, len): (*const u8, usize),
        remote: (u64, u32),
    ) -> Result<()> {
        if let Some(registration) = face.chain.start(face, self) {
            // SAFETY: by the caller's promise.
            unsafe { Conn::write_joining(face, (src, len), remote) };
            registration.wake();
            return Ok(());
        }
        face.chain.close(face);
        self.ready(face)?;
        // SAFETY: by the caller's promise; the slot is not used.
        self.short(face, |slot| unsafe {
            slot.write((src, len), remote);
        })
    }

    /// `Ok` when a request can be posted. `NO_RESOURCE`: later; else the endpoint's failure.
    #[inline]
    pub fn ready(&self, face: &Face) -> Result<()> {
        if self.room.get() <= 0 || face.sends_left.get() <= 0 {
            return self.ready_after_all(face);
        }
        Ok(())
    }

    /// As `ready`, where something has to be looked at.
    #[cold]
    fn ready_after_all(&self, face: &Face) -> Result<()> {
        match self.state() {
            State::Connected => {}
            State::New => return Err(Status::NO_RESOURCE),
            State::Cancelled => return Err(Status::CANCELED),
            State::Failed(status) => return Err(status),
        }
        if self.under_way() >= self.depth.queue || face.sends_left.get() <= 0 {
            return Err(Status::NO_RESOURCE);
        }
        Ok(())
    }

    /// Whether a request may be posted by `post_now`.
    #[inline(always)]
    pub fn is_free(&self, face: &Face) -> bool {
        self.room.get() > 0 && face.sends_left.get() > 0 && !face.chain.has_waiting()
    }

    /// Posts a request that asks for a completion, and notes what has to be done then. Its number. An error has to be told to
    /// `refused_now`.
    ///
    /// # Safety
    /// As `post`; the endpoint has to be free.
    #[inline(always)]
    pub unsafe fn post_now(
        &self,
        face: &Face,
        request: &mut ibv_send_wr,
        work: Work,
    ) -> core::result::Result<(), i32> {
        let id = self.count_one(face, 0);
        request.wr_id = id;
        self.works.add(work, id);
        // SAFETY: by the caller's promise.
        unsafe { self.pair.try_post(request) }
    }

    /// The request that was just posted is refused.
    #[cold]
    #[inline(never)]
    pub fn refused_now(&self, face: &Face, code: i32) -> ucs_status_t {
        self.works.take_back(&face.works);
        self.uncount(face, &refusal(code)).code()
    }

    /// As `ready`, for two requests.
    pub fn ready_for_two(&self, face: &Face) -> Result<()> {
        self.ready(face)?;
        if self.under_way() + 1 >= self.depth.queue {
            return Err(Status::NO_RESOURCE);
        }
        Ok(())
    }

    /// As `ready`, for a message.
    #[inline]
    pub fn ready_for_message(&self, face: &Face) -> Result<()> {
        self.ready(face)?;
        if !self.credits.any() {
            return Err(Status::NO_RESOURCE);
        }
        Ok(())
    }

    /// Posts a request and notes what has to be done when it is complete.
    ///
    /// # Safety
    /// As `QueuePair::post`; what the request names is part of `work`, or the user's until its completion is told.
    // Inlined, since most requests have no work: then neither the call nor the argument costs anything.
    #[inline(always)]
    pub unsafe fn post(
        &self,
        face: &Face,
        request: &mut ibv_send_wr,
        signal: Signal,
        work: Option<Work>,
    ) -> Result<()> {
        face.chain.flush(face);
        let (id, flags) = self.count(face, signal);
        request.wr_id = id;
        request.send_flags |= flags;
        let has_work = work.is_some();
        // Before the call, over which it had to be kept otherwise.
        if let Some(work) = work {
            self.works.add(work, id);
        }
        // SAFETY: by the caller's promise.
        if let Err(e) = unsafe { self.pair.post(request) } {
            if has_work {
                self.works.take_back(&face.works);
            }
            return Err(self.uncount(face, &e));
        }
        Ok(())
    }

    /// Sends bytes, which are copied.
    pub fn post_inline(&self, face: &Face, bytes: &[u8], signal: Signal) -> Result<()> {
        let mut list = [ops::entry(bytes.as_ptr(), bytes.len(), 0)];
        let mut request = ops::send(&mut list, IBV_SEND_INLINE);
        // SAFETY: inline data, which is readable during the call.
        unsafe { self.post(face, &mut request, signal, None) }
    }

    #[cold]
    fn refused(&self, e: &std::io::Error) -> Status {
        ucs_diag!(
            "rc_verbs: queue pair {}: a work request is refused: {e}",
            self.pair.number()
        );
        Status::IO_ERROR
    }

    /// The request that was just posted reads.
    #[inline]
    pub fn note_read(&self) {
        self.last_read.set(self.posted.get());
    }

    /// The request that is posted next reads.
    #[inline(always)]
    pub fn note_next_read(&self) {
        self.last_read.set(self.posted.get().wrapping_add(NEXT_ID));
    }

    /// What is posted from now on is done after all that was posted before. Only reads and atomics may be overtaken.
    pub fn fence(&self, face: &Face) {
        face.chain.close(face);
        let reads = number_between(self.retired.get(), self.last_read.get());
        if reads != 0 && reads <= self.under_way() {
            self.set_fenced(true);
        }
    }

    /// Lets `comp` hear when all that was posted is done. `Ok(false)`: it is done, and `comp` hears nothing.
    pub fn flush(&self, face: &Face, comp: Completion) -> Result<bool> {
        if self.under_way() == 0 {
            return Ok(false);
        }
        self.mark(face, comp)?;
        Ok(true)
    }

    /// As `flush`, but asks the peer in any case.
    pub fn probe(&self, face: &Face, comp: Completion) -> Result<()> {
        if self.under_way() == 0 {
            self.ready(face)?;
            return self.post_marker(face, comp);
        }
        self.mark(face, comp)
    }

    fn mark(&self, face: &Face, comp: Completion) -> Result<()> {
        if !self.is_last_signalled() {
            self.ready(face)?;
            return self.post_marker(face, comp);
        }
        if !comp.is_none() {
            self.works.add(face.works.tell(comp), self.posted.get());
        }
        Ok(())
    }

    /// A write of no bytes, which the peer's adapter acknowledges.
    fn post_marker(&self, face: &Face, comp: Completion) -> Result<()> {
        let mut request = crate::uct::ib::ops::write(&mut [], 0, 0, IBV_SEND_INLINE);
        let work = (!comp.is_none()).then(|| face.works.tell(comp));
        // SAFETY: the request names no memory.
        unsafe { self.post(face, &mut request, Signal::Always, work) }
    }

    /// Ends all transfers on the user's behalf. `false`: nothing was under way; else `comp` hears when all has ended.
    pub fn cancel(&self, face: &Face, comp: Completion) -> Result<bool> {
        if self.state() == State::Connected {
            face.chain.flush(face);
            self.set_state(State::Cancelled);
            self.pending.suspend();
            if let Err(e) = self.pair.stop() {
                ucs_diag!(
                    "rc_verbs: queue pair {}: it cannot be stopped: {e}",
                    self.pair.number()
                );
                return Err(e.into());
            }
            if self.under_way() > 0 {
                // In a queue pair that was stopped it completes at once, with an error, behind all others. The queue has
                // a place for it beyond `depth`.
                self.post_marker(face, comp)?;
                return Ok(true);
            }
        }
        if self.state() == State::New {
            self.set_state(State::Cancelled);
            self.pending.suspend();
        }
        if self.under_way() == 0 || matches!(self.state(), State::Failed(_)) {
            return Ok(false);
        }
        self.mark(face, comp)?;
        Ok(true)
    }

    /// Counts requests off, up to that of this id; `false` if that is not under way.
    #[inline(always)]
    pub fn retire(&self, face: &Face, id: u64) -> bool {
        let count = number_between(self.retired.get(), id);
        if count.wrapping_sub(1) >= self.under_way() {
            return false;
        }
        self.count_off(face, id);
        true
    }

    #[inline(always)]
    fn count_off(&self, face: &Face, id: u64) {
        let count = i32::from(number_between(self.retired.get(), id));
        self.retired.set(id);
        self.room.set(self.room.get() + count);
        face.sends_left.set(face.sends_left.get() + count);
    }

    /// What has to be done as the request of this id is complete, if it is the first that has work, and has one thing. Those up
    /// to it are counted off then.
    #[inline(always)]
    pub fn complete(&self, face: &Face, id: u64) -> Option<Done> {
        let done = self.works.take(id)?;
        // It is under way: its work was in the list.
        self.count_off(face, id);
        Some(done)
    }

    /// Whether something has to be done as the requests up to that of this id are complete.
    #[inline(always)]
    pub fn has_work(&self, id: u64) -> bool {
        self.works.has_complete(id)
    }

    /// What has to be done next.
    pub fn next_work(&self) -> Option<Done> {
        self.works.pop()
    }

    /// A request has completed with an error; the queue pair has stopped.
    #[cold]
    pub fn complete_failed(self: &Rc<Conn>, face: &Face, id: u64, status: u32) {
        let id = if id & UNNUMBERED == 0 {
            id
        } else {
            // Each request behind one that has failed has a completion of its own.
            self.retired.get().wrapping_add(NEXT_ID)
        };
        if self.retire(face, id) {
            match self.state() {
                State::Cancelled => self.finish_all(face, Status::CANCELED),
                State::Failed(_) => {}
                State::New | State::Connected => {
                    ucs_diag!(
                        "rc_verbs: queue pair {}: {}",
                        self.pair.number(),
                        face.domain.device.status_text(status)
                    );
                    self.fail(face, meaning(status));
                }
            }
        }
    }

    /// The endpoint can be used no more: ends what is under way and tells the user.
    #[cold]
    pub fn fail(self: &Rc<Conn>, face: &Face, status: Status) {
        if matches!(self.state(), State::Failed(_)) {
            return;
        }
        face.chain.flush(face);
        self.set_state(State::Failed(status));
        if let Err(e) = self.pair.stop() {
            ucs_diag!(
                "rc_verbs: queue pair {}: it cannot be stopped: {e}",
                self.pair.number()
            );
        }
        self.finish_all(face, status);
        // `None` once the endpoint is going, which the user may have done in a callback right now.
        if let Some(ep) = self.ep.get() {
            if ep.face().base.params.err_handler.is_some() {
                // Requests wait for the purge of a user who is told; others are served, so that their sends answer the error.
                self.pending.suspend();
            }
            ep.fail(status);
        }
    }

    fn finish_all(&self, face: &Face, status: Status) {
        while let Some(work) = self.next_work() {
            work.fail(&face.works, status);
        }
    }

    /// The endpoint goes; the queue pair is destroyed with the last reference.
    pub fn close(&self, face: &Face) {
        self.ep.set(None);
        self.pending.close();
        face.chain.leave(face, self.tag);
        self.set_state(State::Cancelled);
        if let Err(e) = self.pair.stop() {
            ucs_diag!(
                "rc_verbs: queue pair {}: it cannot be stopped: {e}",
                self.pair.number()
            );
        }
        self.retire(face, self.posted.get());
        self.finish_all(face, Status::CANCELED);
    }
}

/// How many requests of a connection come behind that of the first id, up to that of the other. They count on and wrap.
#[inline(always)]
fn number_between(first: u64, last: u64) -> u16 {
    (last.wrapping_sub(first) >> NUMBER_SHIFT) as u16
}

/// What a completion's error means to the user.
fn meaning(status: u32) -> Status {
    match status {
        IBV_WC_RETRY_EXC_ERR | IBV_WC_RNR_RETRY_EXC_ERR | IBV_WC_REM_ABORT_ERR => {
            Status::ENDPOINT_TIMEOUT
        }
        IBV_WC_REM_ACCESS_ERR
        | IBV_WC_REM_INV_REQ_ERR
        | IBV_WC_REM_OP_ERR
        | IBV_WC_WR_FLUSH_ERR => Status::CONNECTION_RESET,
        _ => Status::IO_ERROR,
    }
}
