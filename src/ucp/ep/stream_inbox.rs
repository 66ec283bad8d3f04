//! `Inbox`: the bytes of an endpoint's stream that no receive has taken, and the receives that wait for bytes.

use super::short_queue::ShortQueue;
use crate::ucp::buffers::{Buffer, Buffers};
use crate::ucp::request::Req;
use crate::ucp::rts::Rts;
use crate::ucp::worker_core::{Core, InPlace, WorkerRef};
use crate::ucs::deque::pop_front_if;
use crate::uct::base::copy::copy;
use core::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::ops::Deref;

/// Where the bytes of a chunk are that has not been copied.
#[derive(Clone)]
pub enum Remote {
    /// In the sender's memory, mapped here.
    Mapped(Rts),
    /// Requested: `total` bytes, identified by a number of the worker.
    Requested { total: usize, number: u64 },
}

impl Remote {
    pub fn total(&self) -> usize {
        match self {
            Remote::Mapped(message) => message.total,
            Remote::Requested { total, .. } => *total,
        }
    }
}

/// Whether the bytes of a chunk were requested.
pub fn is_requested(chunk: Option<&Chunk>) -> bool {
    let remote = chunk.and_then(|c| c.remote.as_deref());
    matches!(remote, Some(Remote::Requested { .. }))
}

/// Bytes of a message that stays where its transport has it until this is dropped.
pub struct KeptMessage {
    worker: WorkerRef,
    at: InPlace,
}

impl KeptMessage {
    /// Keeps `message`, which is being handled, for `bytes` of it. `None` if its transport does not.
    pub fn keep(worker: &Core, message: &[u8], bytes: &[u8]) -> Option<KeptMessage> {
        Some(KeptMessage {
            worker: worker.to_ref(),
            at: worker.keep_message(message, bytes)?,
        })
    }
}

impl Drop for KeptMessage {
    fn drop(&mut self) {
        self.worker.release_message(&self.at);
    }
}

/// Received bytes: a copy, or the message itself.
pub enum ChunkBytes {
    Copied(Buffer),
    InPlace(KeptMessage),
}

impl Deref for ChunkBytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            ChunkBytes::Copied(buffer) => buffer,
            ChunkBytes::InPlace(message) => message.at.bytes(),
        }
    }
}

/// Bytes of one message, from `at` on.
pub struct Chunk {
    pub bytes: ChunkBytes,
    pub at: usize,
    /// Set while the bytes are remote; then `bytes` is empty.
    pub remote: Option<Box<Remote>>,
}

impl Chunk {
    pub fn here(bytes: Buffer) -> Chunk {
        Chunk::of(ChunkBytes::Copied(bytes))
    }

    fn of(bytes: ChunkBytes) -> Chunk {
        Chunk {
            bytes,
            at: 0,
            remote: None,
        }
    }

    /// The local bytes that are left.
    #[inline(always)]
    pub fn rest(&self) -> &[u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// The number of bytes that are left, local or remote.
    pub fn left(&self) -> usize {
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
    pub short: ShortQueue,
    pub chunks: RefCell<VecDeque<Chunk>>,
    /// Bytes in all of them.
    pub available: Cell<usize>,
    /// Number of remote chunks.
    pub remote: Cell<usize>,
    /// Bytes were lost: later bytes are not received.
    pub broken: Cell<bool>,
    pub waiting: Waiting,
    /// Chunks the application has, by their pointer.
    pub lent: RefCell<LentChunks>,
    /// In the worker's list.
    pub listed: Cell<bool>,
}

/// Chunks the application has, by their addresses. The last one is stored separately, as mostly there is one.
#[derive(Default)]
pub struct LentChunks {
    last: Option<(usize, ChunkBytes)>,
    others: HashMap<usize, ChunkBytes>,
}

impl LentChunks {
    #[inline]
    pub fn insert(&mut self, at: usize, bytes: ChunkBytes) {
        if let Some((at, bytes)) = self.last.replace((at, bytes)) {
            self.others.insert(at, bytes);
        }
    }

    /// Frees the chunk at an address. Returns false if there is none.
    #[inline]
    pub fn remove(&mut self, at: usize) -> bool {
        if self.last.as_ref().is_some_and(|(last, _)| *last == at) {
            self.last = None;
            return true;
        }
        self.others.remove(&at).is_some()
    }
}

/// Waiting receives. The oldest is stored separately, as mostly there is one.
#[derive(Default)]
pub struct Waiting {
    pub oldest: Cell<Option<Req>>,
    /// The others, in order; empty without an oldest.
    others: RefCell<VecDeque<Req>>,
}

impl Waiting {
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.oldest.get().is_none()
    }

    #[inline(always)]
    pub fn oldest(&self) -> Option<Req> {
        self.oldest.get()
    }

    #[inline(always)]
    pub fn push(&self, req: Req) {
        if self.is_empty() {
            self.oldest.set(Some(req));
        } else {
            self.others.borrow_mut().push_back(req);
        }
    }

    /// Takes the oldest off.
    #[inline(always)]
    pub fn pop(&self) {
        let mut others = self.others.borrow_mut();
        self.oldest.set(if others.is_empty() {
            None
        } else {
            others.pop_front()
        });
    }

    /// Takes one off, wherever it stands.
    pub fn remove(&self, req: Req) {
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
            lent: RefCell::default(),
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
    pub fn push(&self, bytes: &[u8], buffers: &Buffers) {
        if !self.push_short(bytes) {
            self.push_chunk(ChunkBytes::Copied(buffers.copy(bytes)));
        }
    }

    /// Appends the bytes of a short message, if there is no chunk.
    pub fn push_short(&self, bytes: &[u8]) -> bool {
        let available = self.available.get();
        let kept = available == self.short.len() && self.short.push(bytes);
        if kept {
            self.available.set(available + bytes.len());
        }
        kept
    }

    /// As `push_short`, for up to `SMALL` bytes, if no memory has to be allocated.
    #[inline(always)]
    pub fn push_small(&self, bytes: &[u8]) -> bool {
        let (available, count) = (self.available.get(), bytes.len());
        if available != self.short.len() || !self.short.has_room(count) {
            return false;
        }
        self.short.push_small(bytes);
        self.available.set(available + count);
        true
    }

    pub fn push_chunk(&self, bytes: ChunkBytes) {
        self.available.set(self.available.get() + bytes.len());
        self.chunks.borrow_mut().push_back(Chunk::of(bytes));
    }

    /// Makes the messages that go before all chunks chunks as well.
    pub fn spill_inline(&self) {
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
    pub unsafe fn take_small(&self, count: usize, to: *mut u8) -> bool {
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
    pub unsafe fn take_plain(&self, count: usize, to: *mut u8) -> bool {
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
        unsafe { copy(rest.as_ptr(), to, count) };
        if rest.len() == count {
            debug_assert!(front.remote.is_none());
            if let ChunkBytes::Copied(buffer) = &mut front.bytes {
                // Emptied in place: a move by wide loads after narrow stores would stall.
                buffer.give_back();
                core::mem::forget(chunks.pop_front());
            } else {
                chunks.pop_front();
            }
        } else {
            front.at += count;
        }
        self.available.set(self.available.get() - count);
        true
    }

    /// Removes `count` bytes from the front, fewer if a chunk is remote; `sink` gets them in parts. Returns their
    /// number.
    pub fn take(&self, count: usize, mut sink: impl FnMut(&[u8])) -> usize {
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
    pub fn take_front_here(&self) -> Option<Chunk> {
        if let Some(message) = self.short.take_message() {
            return Some(Chunk::here(message.into()));
        }
        let mut chunks = self.chunks.borrow_mut();
        pop_front_if(&mut chunks, |chunk| chunk.remote.is_none())
    }

    /// As `take_front_here`, where a short message is copied to one of `buffers`.
    pub fn take_front_to(&self, buffers: &Buffers) -> Option<Chunk> {
        let copy = |message: &[u8]| Chunk::here(buffers.copy(message));
        self.short
            .take_message_with(copy)
            .or_else(|| self.take_front_here())
    }

    /// Whether there are bytes that can be received at once.
    pub fn has_something(&self) -> bool {
        self.available.get() > 0
            && (self.remote.get() == 0 || !is_requested(self.chunks.borrow().front()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lent_chunks_come_back_in_any_order() {
        let mut lent = LentChunks::default();
        for order in [[1, 2, 3], [3, 2, 1], [2, 3, 1]] {
            for at in 1..=3 {
                lent.insert(at, ChunkBytes::Copied(vec![0; 4].into()));
            }
            for at in order {
                assert!(lent.remove(at) && !lent.remove(at));
            }
            assert!(lent.last.is_none() && lent.others.is_empty());
        }
    }

    #[test]
    fn the_copy_of_a_short_message_comes_from_the_pool() {
        let (inbox, buffers) = (Inbox::new(), Buffers::new(&[64]));
        let mut places = Vec::new();
        for n in 1..=3u8 {
            inbox.push(&[n; 8], &buffers);
            let chunk = inbox.take_front_to(&buffers).unwrap();
            assert_eq!(chunk.rest(), [n; 8]);
            places.push(chunk.rest().as_ptr());
        }
        assert!(places.iter().all(|at| *at == places[0]));
        assert!(inbox.take_front_to(&buffers).is_none());
    }

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
