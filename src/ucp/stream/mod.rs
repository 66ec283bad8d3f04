//! Streams: bytes in order between two endpoints.
//!
//! `send` gives bytes to the engine, `recv` takes what comes. What came and was not taken stands in
//! the endpoint's `Inbox`; the worker lists the endpoints whose inbox the application does not know
//! of yet.

pub mod recv;
pub mod send;

use super::buffers::Buffer;
use super::ep::Ep;
use super::request::Request;
use super::unexpected;
use super::worker::Worker;
use core::cell::{Cell, RefCell};
use core::ptr::NonNull;
use std::collections::{HashMap, VecDeque};

/// Bytes of one message, from `at` on.
struct Chunk {
    bytes: Buffer,
    at: usize,
}

impl Chunk {
    fn rest(&self) -> &[u8] {
        &self.bytes[self.at..]
    }
}

/// The receiving side of an endpoint's stream.
///
/// While receives wait, what stands here is less than one element of the first of them.
pub struct Inbox {
    chunks: RefCell<VecDeque<Chunk>>,
    /// Bytes in all chunks.
    available: Cell<usize>,
    /// Receives that wait, the oldest first.
    waiting: RefCell<VecDeque<NonNull<Request>>>,
    /// Chunks the application has, by their pointer.
    lent: RefCell<HashMap<usize, Buffer>>,
    /// In the worker's list.
    listed: Cell<bool>,
}

impl Inbox {
    #[allow(clippy::new_without_default)]
    pub fn new() -> Inbox {
        Inbox {
            chunks: RefCell::new(VecDeque::new()),
            available: Cell::new(0),
            waiting: RefCell::new(VecDeque::new()),
            lent: RefCell::new(HashMap::new()),
            listed: Cell::new(false),
        }
    }

    /// Bytes that nobody took.
    pub fn len(&self) -> usize {
        self.available.get()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends bytes.
    fn push(&self, bytes: Buffer) {
        self.available.set(self.available.get() + bytes.len());
        self.chunks.borrow_mut().push_back(Chunk { bytes, at: 0 });
    }

    /// Takes `count` bytes, which must be here, off the front; `sink` gets them in parts.
    fn take(&self, count: usize, mut sink: impl FnMut(&[u8])) {
        self.available.set(self.available.get() - count);
        let mut left = count;
        while left > 0 {
            // Off the queue: a sink may be the user's function.
            let Some(mut front) = self.chunks.borrow_mut().pop_front() else {
                return;
            };
            let n = front.rest().len().min(left);
            sink(&front.rest()[..n]);
            front.at += n;
            left -= n;
            if !front.rest().is_empty() {
                self.chunks.borrow_mut().push_front(front);
            }
        }
    }
}

/// The endpoints of a worker whose streams have something new.
pub struct StreamState {
    ready: RefCell<VecDeque<u64>>,
}

impl StreamState {
    #[allow(clippy::new_without_default)]
    pub fn new() -> StreamState {
        StreamState {
            ready: RefCell::new(VecDeque::new()),
        }
    }

    /// Bytes stand in an endpoint's inbox: lists it, once the application has it.
    pub fn list(&self, ep: &Ep) {
        let wanted = ep.stream.available.get() > 0 && !ep.hidden.get() && !ep.is_given_up();
        if wanted && !ep.stream.listed.replace(true) {
            self.ready.borrow_mut().push_back(ep.id.get());
        }
    }

    /// An endpoint's inbox is empty, or the endpoint goes.
    pub fn forget(&self, ep: &Ep) {
        if ep.stream.listed.replace(false) {
            let mut ready = self.ready.borrow_mut();
            // Most often it is the one that was listed last.
            if ready.back() == Some(&ep.id.get()) {
                ready.pop_back();
            } else {
                ready.retain(|id| *id != ep.id.get());
            }
        }
    }

    /// The id of the next listed endpoint, off the list.
    pub fn next(&self, worker: &Worker) -> Option<u64> {
        if self.ready.borrow().is_empty() {
            unexpected::wanting(worker);
        }
        self.ready.borrow_mut().pop_front()
    }
}

/// An endpoint is listed again only when more comes.
pub fn polled(ep: &Ep) {
    ep.stream.listed.set(false);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inbox_gives_back_its_bytes_in_any_portions() {
        let all: Vec<u8> = (0..=255).collect();
        for portion in 1..40 {
            let inbox = Inbox::new();
            for part in all.chunks(7) {
                inbox.push(part.to_vec().into());
            }
            let mut got = Vec::new();
            while inbox.available.get() > 0 {
                let n = portion.min(inbox.available.get());
                inbox.take(n, |part| got.extend_from_slice(part));
            }
            assert_eq!(got, all);
            assert!(inbox.chunks.borrow().is_empty());
        }
    }
}
