//! Streams: bytes in order between two endpoints.
//!
//! `send`: sends. `recv`: receives. Bytes that no receive has taken are in the endpoint's `Inbox`, or still in the
//! sender's memory (`rndv`); the worker lists the endpoints whose inboxes the application has not polled yet.

pub mod recv;
pub mod rndv;
pub mod send;
mod short_queue;

use super::buffers::{Buffer, Buffers};
use super::ep::Ep;
use super::request::Request;
use super::unexpected;
use super::worker_core::{Core, Part};
use crate::uct::base::copy::copy_home;
use core::cell::{Cell, RefCell};
use core::ptr::NonNull;
use rndv::Remote;
use short_queue::ShortQueue;
use std::collections::{HashMap, VecDeque};

/// Bytes of one message, from `at` on.
struct Chunk {
    bytes: Buffer,
    at: usize,
    /// Set while the bytes are remote; then `bytes` is empty.
    remote: Option<Box<Remote>>,
}

impl Chunk {
    fn here(bytes: Buffer) -> Chunk {
        Chunk {
            bytes,
            at: 0,
            remote: None,
        }
    }

    /// The local bytes that are left.
    #[inline(always)]
    fn rest(&self) -> &[u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// The number of bytes that are left, local or remote.
    fn len(&self) -> usize {
        match &self.remote {
            None => self.rest().len(),
            Some(e) => e.total() - self.at,
        }
    }
}

/// The receiving side of an endpoint's stream.
///
/// While receives wait, the inbox holds less than one element of the first receive.
pub struct Inbox {
    /// Precedes all chunks; empty while a chunk is remote.
    short: ShortQueue,
    chunks: RefCell<VecDeque<Chunk>>,
    /// Bytes in all of them.
    available: Cell<usize>,
    /// Number of remote chunks.
    remote: Cell<usize>,
    /// Bytes were lost: later bytes are not received.
    broken: Cell<bool>,
    waiting: Waiting,
    /// Chunks the application has, by their pointer.
    lent: RefCell<HashMap<usize, Buffer>>,
    /// In the worker's list.
    listed: Cell<bool>,
}

/// Waiting receives. The oldest is stored separately, as mostly there is one.
#[derive(Default)]
struct Waiting {
    oldest: Cell<Option<NonNull<Request>>>,
    /// The others, in order; empty without an oldest.
    others: RefCell<VecDeque<NonNull<Request>>>,
}

impl Waiting {
    #[inline(always)]
    fn is_empty(&self) -> bool {
        self.oldest.get().is_none()
    }

    #[inline(always)]
    fn oldest(&self) -> Option<NonNull<Request>> {
        self.oldest.get()
    }

    #[inline(always)]
    fn push(&self, req: NonNull<Request>) {
        if self.is_empty() {
            self.oldest.set(Some(req));
        } else {
            self.others.borrow_mut().push_back(req);
        }
    }

    /// Takes the oldest off.
    #[inline(always)]
    fn pop(&self) {
        let mut others = self.others.borrow_mut();
        self.oldest.set(if others.is_empty() {
            None
        } else {
            others.pop_front()
        });
    }

    /// Takes one off, wherever it stands.
    fn remove(&self, req: NonNull<Request>) {
        if self.oldest.get() == Some(req) {
            self.pop();
        } else {
            self.others.borrow_mut().retain(|r| *r != req);
        }
    }
}

impl Inbox {
    #[allow(clippy::new_without_default)]
    pub fn new() -> Inbox {
        Inbox {
            short: ShortQueue::default(),
            chunks: RefCell::new(VecDeque::new()),
            available: Cell::new(0),
            remote: Cell::new(0),
            broken: Cell::new(false),
            waiting: Waiting::default(),
            lent: RefCell::new(HashMap::new()),
            listed: Cell::new(false),
        }
    }

    /// Bytes that no receive has taken.
    pub fn len(&self) -> usize {
        self.available.get()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends bytes.
    fn push(&self, bytes: &[u8], buffers: &Buffers) {
        if !self.push_short(bytes) {
            self.push_chunk(buffers.copy(bytes));
        }
    }

    /// Appends the bytes of a short message, if there is no chunk.
    fn push_short(&self, bytes: &[u8]) -> bool {
        let available = self.available.get();
        let kept = available == self.short.len() && self.short.push(bytes);
        if kept {
            self.available.set(available + bytes.len());
        }
        kept
    }

    /// As `push_short`, for up to `SMALL` bytes, if no memory has to be allocated.
    #[inline(always)]
    fn push_small(&self, bytes: &[u8]) -> bool {
        let (available, count) = (self.available.get(), bytes.len());
        if available != self.short.len() || !self.short.has_room(count) {
            return false;
        }
        self.short.push_small(bytes);
        self.available.set(available + count);
        true
    }

    fn push_chunk(&self, bytes: Buffer) {
        self.available.set(self.available.get() + bytes.len());
        self.chunks.borrow_mut().push_back(Chunk::here(bytes));
    }

    /// Makes the messages that go before all chunks chunks as well.
    fn spill_inline(&self) {
        let messages: Vec<_> = core::iter::from_fn(|| self.short.take_message()).collect();
        let mut chunks = self.chunks.borrow_mut();
        for message in messages.into_iter().rev() {
            chunks.push_front(Chunk::here(message.into()));
        }
    }

    /// Removes the first message, if it is in the short queue and has exactly `count` bytes, at most `SMALL`.
    ///
    /// # Safety
    /// `to` must be writable for `count` bytes.
    #[inline(always)]
    unsafe fn take_small(&self, count: usize, to: *mut u8) -> bool {
        // SAFETY: by the caller's promise.
        let taken = unsafe { self.short.take_small(count, to) };
        if taken {
            self.available.set(self.available.get() - count);
        }
        taken
    }

    /// Removes the first `count` bytes, if they are contiguous.
    ///
    /// # Safety
    /// `to` must be writable for `count` bytes.
    unsafe fn take_plain(&self, count: usize, to: *mut u8) -> bool {
        if self.short.len() > 0 {
            // SAFETY: by the caller's promise.
            let taken = unsafe { self.short.take(count, to) };
            if taken {
                self.available.set(self.available.get() - count);
            }
            return taken;
        }
        let mut chunks = self.chunks.borrow_mut();
        let Some(front) = chunks.front_mut() else {
            return false;
        };
        let rest = front.rest();
        if rest.len() < count {
            return false;
        }
        // SAFETY: `count` bytes are there, and room for them by the caller's promise.
        unsafe { copy_home(rest.as_ptr(), to, count) };
        if rest.len() == count {
            // Emptied in place: a move by wide loads after narrow stores would stall.
            front.bytes.give_back();
            debug_assert!(front.remote.is_none());
            core::mem::forget(chunks.pop_front());
        } else {
            front.at += count;
        }
        self.available.set(self.available.get() - count);
        true
    }

    /// Removes `count` bytes from the front, fewer if a chunk is remote; `sink` gets them in parts. Returns their
    /// number.
    fn take(&self, count: usize, mut sink: impl FnMut(&[u8])) -> usize {
        let early = self.short.take_vec(count);
        if !early.is_empty() {
            sink(&early);
        }
        let mut left = count - early.len();
        while left > 0 {
            // Off the queue: a sink may be the user's function.
            let Some(mut front) = self.take_front_here() else {
                break;
            };
            let n = front.rest().len().min(left);
            sink(&front.rest()[..n]);
            front.at += n;
            left -= n;
            if !front.rest().is_empty() {
                self.chunks.borrow_mut().push_front(front);
            }
        }
        let taken = count - left;
        self.available.set(self.available.get() - taken);
        taken
    }

    /// Removes the rest of the first message, if it is local.
    fn take_front_here(&self) -> Option<Chunk> {
        if let Some(message) = self.short.take_message() {
            return Some(Chunk::here(message.into()));
        }
        let mut chunks = self.chunks.borrow_mut();
        chunks.pop_front_if(|chunk| chunk.remote.is_none())
    }

    /// Whether there are bytes that can be received at once.
    fn has_something(&self) -> bool {
        self.available.get() > 0
            && (self.remote.get() == 0 || !rndv::is_requested(self.chunks.borrow().front()))
    }
}

/// The endpoints of a worker whose streams have something new.
pub struct StreamState {
    ready: RefCell<VecDeque<u64>>,
    /// Number of stale ids.
    gone: Cell<usize>,
    /// Endpoints whose remote chunks the next progress copies.
    to_fetch: rndv::ToFetch,
}

impl Core {
    #[inline(always)]
    pub fn stream(&self) -> &StreamState {
        StreamState::of(self)
    }
}

impl StreamState {
    #[allow(clippy::new_without_default)]
    pub fn new() -> StreamState {
        StreamState {
            ready: RefCell::new(VecDeque::new()),
            gone: Cell::new(0),
            to_fetch: rndv::ToFetch::default(),
        }
    }

    /// Whether something waits for the next progress.
    pub fn wants_progress(&self) -> bool {
        !self.to_fetch.is_empty()
    }

    /// Bytes stand in an endpoint's inbox: lists it, once the application has it.
    #[inline(always)]
    pub fn list(&self, ep: &Ep) {
        if !ep.stream.listed.get() {
            self.list_newly(ep);
        }
    }

    #[inline(never)]
    fn list_newly(&self, ep: &Ep) {
        if ep.stream.has_something() && ep.has_callbacks() {
            ep.stream.listed.set(true);
            self.ready.borrow_mut().push_back(ep.id.get());
        }
    }

    /// Forgets an endpoint. Its id stays in the list until half of the ids are stale.
    pub fn forget(&self, ep: &Ep) {
        if !ep.stream.listed.replace(false) {
            return;
        }
        let mut ready = self.ready.borrow_mut();
        self.gone.set(self.gone.get() + 1);
        if self.gone.get() > ready.len() / 2 {
            let worker = ep.worker();
            ready.retain(|id| worker.ep(*id).is_some_and(|ep| ep.stream.listed.get()));
            self.gone.set(0);
        }
    }

    /// Removes and returns the next listed endpoint; it is listed again when more bytes come. Skips endpoints whose
    /// bytes were taken meanwhile.
    pub fn next<'a>(&self, worker: &'a Core) -> Option<&'a Ep> {
        loop {
            let Some(id) = self.ready.borrow_mut().pop_front() else {
                unexpected::resume_if_paused(worker);
                return None;
            };
            match worker.ep(id) {
                Some(ep) if ep.stream.listed.replace(false) => {
                    if ep.stream.has_something() {
                        return Some(ep);
                    }
                }
                _ => self.gone.set(self.gone.get() - 1),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inbox_gives_back_its_bytes_in_any_portions() {
        let all: Vec<u8> = (0..=255).collect();
        for portion in 1..40 {
            let (inbox, buffers) = (Inbox::new(), Buffers::new(&[64]));
            for part in all.chunks(7) {
                inbox.push(part, &buffers);
            }
            let mut got = Vec::new();
            while inbox.available.get() > 0 {
                let n = portion.min(inbox.available.get());
                let mut plain = vec![0; n];
                // SAFETY: so many bytes.
                if unsafe { inbox.take_plain(n, plain.as_mut_ptr()) } {
                    got.extend_from_slice(&plain);
                } else {
                    assert_eq!(inbox.take(n, |part| got.extend_from_slice(part)), n);
                }
            }
            assert_eq!(got, all);
            assert!(inbox.chunks.borrow().is_empty());
        }
    }
}
