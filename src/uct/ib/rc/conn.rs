//! `Conn`: the queue pair of an endpoint, its work requests under way, and how they end.
//!
//! Work requests complete in order. Only some ask for a completion (`UCX_RC_VERBS_TX_CQ_MODERATION`); each completion
//! stands for all before it. Each request under way counts in the queue of its endpoint and among all of the interface,
//! since after an error each of them has a completion of its own. Once three quarters of the latter are in use every
//! request asks for a completion, so that the rest always comes back.

use super::credits::Credits;
use super::iface::{Face, RcIface};
use crate::c::verbs::*;
use crate::sys::verbs::QueuePair;
use crate::ucs::{Result, Status};
use crate::ucs_diag;
use crate::uct::api::{Completion, Unpack};
use crate::uct::base::desc::OwnedDesc;
use crate::uct::base::iface::EpBox;
use crate::uct::base::pending::PendingGroup;
use crate::uct::ib::wire::{HEADER_LEN, Header};
use core::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

/// A message's header and the user's, without a gap.
#[inline(always)]
fn message_start(header: Header, word: u64) -> [u8; HEADER_LEN + size_of::<u64>()] {
    let mut start = [0; HEADER_LEN + size_of::<u64>()];
    start[..HEADER_LEN].copy_from_slice(&header.encode());
    start[HEADER_LEN..].copy_from_slice(&word.to_ne_bytes());
    start
}

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

/// What has to be done when a work request is complete.
pub enum Work {
    /// Give the copy back.
    Copied { _desc: OwnedDesc },
    /// Tell the user; the header's copy, if there is one, is given back.
    Zcopy {
        comp: Completion,
        _header: Option<OwnedDesc>,
    },
    /// Hand the bytes that were read to the user.
    Get {
        desc: OwnedDesc,
        unpack: Unpack,
        len: u32,
        comp: Completion,
    },
    /// Hand the word that was there to the user.
    Fetch {
        desc: OwnedDesc,
        result: *mut u64,
        comp: Completion,
    },
    /// Compare the owner's revocation epoch, read behind the user's data.
    Guard {
        desc: OwnedDesc,
        value: u64,
        comp: Completion,
    },
    /// All before it is done.
    Flush { comp: Completion },
}

struct Entry {
    /// The number of the work request.
    number: u16,
    work: Work,
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

pub struct Conn {
    pub pair: QueuePair,
    pub state: Cell<State>,
    pub credits: Credits,
    pub pending: Rc<PendingGroup>,
    /// The sequence number of our first packet.
    pub psn: u32,
    /// Which connection of the interface it is, as a work request names it.
    tag: u64,
    depth: Depth,
    /// The last request that was posted, and the last that is complete. They count on and wrap.
    posted: Cell<u16>,
    retired: Cell<u16>,
    /// Requests since the last that asked for a completion.
    silent: Cell<u16>,
    /// Of the requests that were allowed, those that may still be posted, and the id of the last; `posted` and `silent`
    /// do not count the others yet.
    allowed: Cell<u16>,
    unused: Cell<u16>,
    last_id: Cell<u64>,
    /// The next request waits for reads and atomics before it.
    fenced: Cell<bool>,
    /// The last read or atomic.
    last_read: Cell<u16>,
    entries: RefCell<VecDeque<Entry>>,
    /// The interface's, on behalf of an endpoint of a peer.
    pub is_passive: bool,
    /// Null before the endpoint has its address and when it is going.
    ep: Cell<*const EpBox<RcIface>>,
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
            posted: Cell::new(0),
            retired: Cell::new(0),
            silent: Cell::new(0),
            allowed: Cell::new(0),
            unused: Cell::new(0),
            last_id: Cell::new(0),
            fenced: Cell::new(false),
            last_read: Cell::new(0),
            entries: RefCell::new(VecDeque::new()),
            ep: Cell::new(core::ptr::null()),
        }
    }

    /// The endpoint has its address, or is going.
    pub fn attach(&self, ep: *const EpBox<RcIface>) {
        self.ep.set(ep);
    }

    /// Requests that were allowed and are not counted.
    #[inline]
    fn used(&self) -> u16 {
        self.allowed.get() - self.unused.get()
    }

    /// Requests under way.
    #[inline]
    pub fn under_way(&self) -> u16 {
        let counted = self.posted.get().wrapping_sub(self.retired.get());
        counted.wrapping_add(self.used())
    }

    /// Whether the last request that was posted has a completion of its own.
    #[inline]
    fn is_last_signalled(&self) -> bool {
        self.silent.get() == 0 && self.used() == 0
    }

    /// Allows requests for which nothing has to be looked at: they ask for no completion, have room in the queue and
    /// nothing to say of credits, and wait for nothing. All are counted.
    #[inline]
    fn allow(&self) {
        let silent = (self.depth.moderation - 1).saturating_sub(self.silent.get());
        let room = self.depth.queue.saturating_sub(self.under_way());
        // Until the numbers wrap.
        let numbers = u16::MAX - self.posted.get();
        let credits = self.credits.quiet().min(u32::from(u16::MAX)) as u16;
        let count = silent.min(room).min(numbers).min(credits);
        let last = self.posted.get() + count;
        self.last_id.set(self.tag | u64::from(last) << 1);
        self.allowed.set(count);
        self.unused.set(count);
    }

    /// Counts what was posted of the allowed requests; the others are allowed no more.
    #[inline]
    pub fn settle(&self) {
        if self.allowed.get() != 0 {
            let used = self.used();
            self.posted.set(self.posted.get().wrapping_add(used));
            self.silent.set(self.silent.get() + used);
            self.allowed.set(0);
            self.unused.set(0);
        }
    }

    /// Whether the next request is an allowed one.
    #[inline(always)]
    fn has_allowed(&self, face: &Face) -> bool {
        self.unused.get() != 0 && face.sends_left.get() > face.sends_reserve
    }

    /// The id of the next request, which is an allowed one. It has to be posted.
    #[inline(always)]
    fn next_allowed(&self, face: &Face) -> u64 {
        let left = self.unused.get() - 1;
        self.unused.set(left);
        face.sends_left.set(face.sends_left.get() - 1);
        self.last_id.get() - u64::from(left) * 2
    }

    /// Counts a request: its id and flags. It has to be posted.
    #[inline]
    fn count(&self, face: &Face, signal: Signal) -> (u64, u32) {
        self.settle();
        let number = self.posted.get().wrapping_add(1);
        let silent = self.silent.get() + 1;
        let signalled = signal == Signal::Always
            || silent >= self.depth.moderation
            || face.sends_left.get() <= face.sends_reserve;
        self.posted.set(number);
        self.silent.set(if signalled { 0 } else { silent });
        face.sends_left.set(face.sends_left.get() - 1);
        let fence = if self.fenced.take() {
            IBV_SEND_FENCE
        } else {
            0
        };
        let flags = if signalled { IBV_SEND_SIGNALED } else { 0 };
        (self.tag | u64::from(number) << 1, fence | flags)
    }

    /// A short request that is not an allowed one: as `count`, and allows others.
    #[inline(never)]
    fn count_short(&self, face: &Face) -> Result<(u64, u32)> {
        self.ready(face)?;
        let counted = self.count(face, Signal::Sometimes);
        self.allow();
        Ok(counted)
    }

    /// A message that is not an allowed one: as `count_short`, and what it has to say.
    #[inline(never)]
    fn count_message(&self, face: &Face) -> Result<((u64, u32), u8)> {
        self.ready_for_message(face)?;
        let says = self.credits.take();
        Ok((self.count_short(face)?, says))
    }

    /// Takes the count of the last request back, which was refused.
    #[cold]
    fn uncount(&self, face: &Face, e: &std::io::Error) -> Status {
        self.settle();
        self.posted.set(self.posted.get().wrapping_sub(1));
        // The next one asks for a completion and waits for what is before it, since this may have done so.
        self.silent.set(self.depth.moderation);
        self.fenced.set(true);
        face.sends_left.set(face.sends_left.get() + 1);
        self.refused(e)
    }

    /// Sends a message.
    ///
    /// # Safety
    /// `payload` must be readable for `len` bytes, for which there must be room in a slot of the chain.
    #[inline(always)]
    pub unsafe fn send_short(
        &self,
        face: &Face,
        id: u8,
        header: u64,
        payload: *const u8,
        len: usize,
    ) -> Result<()> {
        if self.has_allowed(face)
            && let Some(mut slot) = face.chain.next_waiting(self.tag)
        {
            self.credits.take_quiet();
            let request = (self.next_allowed(face), 0);
            let start = message_start(Header { id, credits: 0 }, header);
            // SAFETY: the owner's, who has no other reference to it.
            let slot = unsafe { slot.as_mut() };
            // SAFETY: by the caller's promise.
            unsafe { slot.send(request, start, payload, len) };
            face.chain.wait();
            return Ok(());
        }
        // SAFETY: by the caller's promise.
        unsafe { self.send_other(face, id, header, payload, len) }
    }

    /// As `send_short`, whether other requests wait or not.
    ///
    /// # Safety
    /// As there.
    #[inline(never)]
    unsafe fn send_other(
        &self,
        face: &Face,
        id: u8,
        header: u64,
        payload: *const u8,
        len: usize,
    ) -> Result<()> {
        let (request, credits) = if self.has_allowed(face) {
            self.credits.take_quiet();
            ((self.next_allowed(face), 0), 0)
        } else {
            self.count_message(face)?
        };
        let mut slot = face.chain.next(self.tag);
        let start = message_start(Header { id, credits }, header);
        // SAFETY: the owner's, who has no other reference to it.
        let slot = unsafe { slot.as_mut() };
        // SAFETY: by the caller's promise.
        unsafe { slot.send(request, start, payload, len) };
        let submitted = face.chain.submit(self.tag, &self.pair);
        submitted.map_err(|e| self.uncount(face, &e))
    }

    /// Writes to the peer's memory.
    ///
    /// # Safety
    /// `src` must be readable for `len` bytes, for which there must be room in a slot of the chain.
    #[inline(always)]
    pub unsafe fn write_short(
        &self,
        face: &Face,
        (src, len): (*const u8, usize),
        remote: (u64, u32),
    ) -> Result<()> {
        if self.has_allowed(face)
            && let Some(mut slot) = face.chain.next_waiting(self.tag)
        {
            let request = (self.next_allowed(face), 0);
            // SAFETY: the owner's, who has no other reference to it.
            let slot = unsafe { slot.as_mut() };
            // SAFETY: by the caller's promise.
            unsafe { slot.write(request, (src, len), remote) };
            face.chain.wait();
            return Ok(());
        }
        // SAFETY: by the caller's promise.
        unsafe { self.write_other(face, (src, len), remote) }
    }

    /// As `write_short`, whether other requests wait or not.
    ///
    /// # Safety
    /// As there.
    #[inline(never)]
    unsafe fn write_other(
        &self,
        face: &Face,
        (src, len): (*const u8, usize),
        remote: (u64, u32),
    ) -> Result<()> {
        let request = if self.has_allowed(face) {
            (self.next_allowed(face), 0)
        } else {
            self.count_short(face)?
        };
        let mut slot = face.chain.next(self.tag);
        // SAFETY: the owner's, who has no other reference to it.
        let slot = unsafe { slot.as_mut() };
        // SAFETY: by the caller's promise.
        unsafe { slot.write(request, (src, len), remote) };
        let submitted = face.chain.submit(self.tag, &self.pair);
        submitted.map_err(|e| self.uncount(face, &e))
    }

    /// `Ok` when a request can be posted. `NO_RESOURCE`: later; else the endpoint's failure.
    #[inline]
    pub fn ready(&self, face: &Face) -> Result<()> {
        if self.state.get() != State::Connected {
            return Err(self.why_not());
        }
        if self.under_way() >= self.depth.queue || face.sends_left.get() <= 0 {
            return Err(Status::NO_RESOURCE);
        }
        Ok(())
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

    #[cold]
    fn why_not(&self) -> Status {
        match self.state.get() {
            State::New | State::Connected => Status::NO_RESOURCE,
            State::Cancelled => Status::CANCELED,
            State::Failed(status) => status,
        }
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
        face.chain.flush();
        let (id, flags) = self.count(face, signal);
        request.wr_id = id;
        request.send_flags |= flags;
        // SAFETY: by the caller's promise.
        if let Err(e) = unsafe { self.pair.post(request) } {
            return Err(self.uncount(face, &e));
        }
        if let Some(work) = work {
            let number = self.posted.get();
            self.entries.borrow_mut().push_back(Entry { number, work });
        }
        Ok(())
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

    /// What is posted from now on is done after all that was posted before. Only reads and atomics may be overtaken.
    pub fn fence(&self) {
        self.settle();
        let reads = self.last_read.get().wrapping_sub(self.retired.get());
        if reads != 0 && reads <= self.under_way() {
            self.fenced.set(true);
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
            self.settle();
            let number = self.posted.get();
            let work = Work::Flush { comp };
            self.entries.borrow_mut().push_back(Entry { number, work });
        }
        Ok(())
    }

    /// A write of no bytes, which the peer's adapter acknowledges.
    fn post_marker(&self, face: &Face, comp: Completion) -> Result<()> {
        let mut request = crate::uct::ib::ops::write(&mut [], 0, 0, IBV_SEND_INLINE);
        let work = (!comp.is_none()).then_some(Work::Flush { comp });
        // SAFETY: the request names no memory.
        unsafe { self.post(face, &mut request, Signal::Always, work) }
    }

    /// Ends all transfers on the user's behalf. `false`: nothing was under way; else `comp` hears when all has ended.
    pub fn cancel(&self, face: &Face, comp: Completion) -> Result<bool> {
        if self.state.get() == State::Connected {
            self.settle();
            face.chain.flush();
            self.state.set(State::Cancelled);
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
        if self.state.get() == State::New {
            self.state.set(State::Cancelled);
            self.pending.suspend();
        }
        if self.under_way() == 0 || matches!(self.state.get(), State::Failed(_)) {
            return Ok(false);
        }
        self.mark(face, comp)?;
        Ok(true)
    }

    /// Counts requests off, up to `number`; `false` for a completion of a queue pair that was there before.
    #[inline]
    pub fn retire(&self, face: &Face, number: u16) -> bool {
        let count = number.wrapping_sub(self.retired.get());
        if count == 0 || count > self.under_way() {
            return false;
        }
        self.retired.set(number);
        face.sends_left
            .set(face.sends_left.get() + i32::from(count));
        true
    }

    /// What has to be done next when the requests up to `number` are complete, and whether there may be more.
    #[inline]
    pub fn next_until(&self, number: u16) -> Option<(Work, bool)> {
        let mut entries = self.entries.borrow_mut();
        let first = entries.front()?;
        // The entries are at most one queue long: half of the numbers are before, half behind.
        let behind = number.wrapping_sub(first.number) as i16;
        if behind < 0 {
            return None;
        }
        let work = entries.pop_front()?.work;
        Some((work, !entries.is_empty()))
    }

    /// A request has completed with an error; the queue pair has stopped.
    #[cold]
    pub fn complete_failed(self: &Rc<Conn>, face: &Face, number: u16, status: u32) {
        if self.retire(face, number) {
            match self.state.get() {
                State::Cancelled => self.finish_all(Status::CANCELED),
                State::Failed(_) => {}
                State::New | State::Connected => {
                    ucs_diag!(
                        "rc_verbs: queue pair {}: {}",
                        self.pair.number(),
                        face.domain.device.status_text(status)
                    );
                    self.fail(meaning(status));
                }
            }
        }
    }

    /// The endpoint can be used no more: ends what is under way and tells the user.
    #[cold]
    pub fn fail(self: &Rc<Conn>, status: Status) {
        if matches!(self.state.get(), State::Failed(_)) {
            return;
        }
        self.settle();
        self.state.set(State::Failed(status));
        if let Err(e) = self.pair.stop() {
            ucs_diag!(
                "rc_verbs: queue pair {}: it cannot be stopped: {e}",
                self.pair.number()
            );
        }
        self.finish_all(status);
        // SAFETY: null once the endpoint is going, which the user may have done in a callback right now.
        if let Some(ep) = unsafe { self.ep.get().as_ref() } {
            if ep.face().base.params.err_handler.is_some() {
                // Requests wait for the purge of a user who is told; others are served, so that their sends answer the error.
                self.pending.suspend();
            }
            ep.fail(status);
        }
    }

    fn finish_all(&self, status: Status) {
        loop {
            let next = self.entries.borrow_mut().pop_front();
            match next {
                Some(entry) => finish(entry.work, Err(status)),
                None => return,
            }
        }
    }

    /// The endpoint goes; the queue pair is destroyed with the last reference.
    pub fn close(&self, face: &Face) {
        self.ep.set(core::ptr::null());
        self.pending.close();
        self.settle();
        face.chain.leave(self.tag);
        self.state.set(State::Cancelled);
        if let Err(e) = self.pair.stop() {
            ucs_diag!(
                "rc_verbs: queue pair {}: it cannot be stopped: {e}",
                self.pair.number()
            );
        }
        self.retire(face, self.posted.get());
        self.finish_all(Status::CANCELED);
    }
}

/// What a completion's error means to the user.
fn meaning(status: u32) -> Status {
    match status {
        IBV_WC_RETRY_EXC_ERR | IBV_WC_RNR_RETRY_EXC_ERR => Status::ENDPOINT_TIMEOUT,
        IBV_WC_REM_ACCESS_ERR
        | IBV_WC_REM_INV_REQ_ERR
        | IBV_WC_REM_OP_ERR
        | IBV_WC_WR_FLUSH_ERR => Status::CONNECTION_RESET,
        _ => Status::IO_ERROR,
    }
}

/// Ends one operation. The user is called: no borrow is held.
#[inline]
pub fn finish(work: Work, result: Result<()>) {
    match work {
        Work::Copied { .. } => {}
        Work::Zcopy { comp, _header } => {
            drop(_header);
            comp.complete(result);
        }
        Work::Get {
            desc,
            unpack,
            len,
            comp,
        } => {
            if result.is_ok() {
                // SAFETY: the device has written `len` bytes there.
                unsafe { unpack.unpack_from(desc.payload(), len as usize) };
            }
            drop(desc);
            comp.complete(result);
        }
        Work::Fetch {
            desc,
            result: to,
            comp,
        } => {
            if result.is_ok() {
                // SAFETY: the device has written eight bytes, aligned; the user's place is writable.
                unsafe { to.write_unaligned(desc.payload().cast::<u64>().read()) };
            }
            drop(desc);
            comp.complete(result);
        }
        Work::Guard { desc, value, comp } => {
            // SAFETY: the device has written eight bytes, aligned.
            let is_current = |()| unsafe { desc.payload().cast::<u64>().read() } == value;
            let result = match result.map(is_current) {
                Ok(true) => Ok(()),
                Ok(false) => Err(Status::CANCELED),
                Err(e) => Err(e),
            };
            drop(desc);
            comp.complete(result);
        }
        Work::Flush { comp } => comp.complete(result),
    }
}
