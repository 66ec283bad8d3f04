//! `TxQueue`: the bytes that a connection has to send, in order.
//!
//! Copied frames are in one buffer; zero-copy payloads are between them as blocks of the user's memory. `gather` lists
//! the next bytes for one `sendmsg`, `consumed` removes the bytes that the kernel took. No system call is made here.

use crate::sys::socket::{IoVec, block};
use crate::uct::api::Completion;
use std::collections::VecDeque;

/// Identifies the endpoint of an operation; compared, never dereferenced.
pub type Owner = *const core::ffi::c_void;

/// Payload in the user's memory.
struct InPlace {
    /// How many copied bytes go before it, counted from the beginning of the connection.
    after: u64,
    blocks: Vec<IoVec>,
    /// The first block not sent entirely, and how much of it is sent.
    at: usize,
    skip: usize,
    owner: Owner,
    comp: Completion,
    /// Holds the rest once the user took its memory back.
    kept: Vec<u8>,
}

#[derive(Default)]
pub struct TxQueue {
    bytes: Vec<u8>,
    /// Copied bytes sent, of those in `bytes` and of all.
    head: usize,
    copied_sent: u64,
    in_place: VecDeque<InPlace>,
    /// Bytes are encrypted before they are passed to the kernel.
    sealed: bool,
    /// That, or something waits in place: not all that is to be sent are copied bytes as they are.
    indirect: bool,
    /// All bytes ever queued and ever sent.
    queued: u64,
    sent: u64,
}

impl TxQueue {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.head == self.bytes.len() && self.in_place.is_empty()
    }

    /// Copied bytes that wait.
    #[inline]
    pub fn waiting(&self) -> usize {
        self.bytes.len() - self.head
    }

    /// Payloads in place that wait.
    #[inline]
    pub fn in_place(&self) -> usize {
        self.in_place.len()
    }

    /// Bytes ever queued: compare with `sent` later.
    #[inline]
    pub fn queued(&self) -> u64 {
        self.queued
    }

    /// Bytes the kernel took.
    #[inline]
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Bytes that the kernel has still to take.
    #[inline]
    pub fn unsent(&self) -> usize {
        (self.queued - self.sent) as usize
    }

    /// Whether the queue has no memory of its own for copied bytes.
    #[inline]
    pub fn lacks_buffer(&self) -> bool {
        self.bytes.capacity() == 0
    }

    /// The buffer, to append whole frames to; `give_back` must follow. Meanwhile nothing may be
    /// sent.
    #[inline]
    pub fn take(&mut self) -> Vec<u8> {
        core::mem::take(&mut self.bytes)
    }

    /// Returns the buffer with `added` bytes more.
    #[inline]
    pub fn give_back(&mut self, mut bytes: Vec<u8>, added: usize) {
        // Frames queued by a callback that ran meanwhile follow.
        bytes.append(&mut self.bytes);
        self.bytes = bytes;
        self.queued += added as u64;
    }

    /// Appends whole frames.
    pub fn push(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let before = self.bytes.len();
        write(&mut self.bytes);
        self.queued += (self.bytes.len() - before) as u64;
    }

    /// Queues payload that stays in the user's memory until sent; then `comp` completes.
    pub fn push_in_place(&mut self, blocks: Vec<IoVec>, owner: Owner, comp: Completion) {
        let len: usize = blocks.iter().map(|b| b.iov_len).sum();
        self.queued += len as u64;
        self.indirect = true;
        self.in_place.push_back(InPlace {
            after: self.copied_sent + self.waiting() as u64,
            blocks,
            at: 0,
            skip: 0,
            owner,
            comp,
            kept: Vec::new(),
        });
    }

    /// The copied bytes, when nothing else waits.
    #[inline]
    pub fn plain(&self) -> Option<&[u8]> {
        self.in_place
            .is_empty()
            .then(|| self.bytes.get(self.head..).unwrap_or(&[]))
    }

    /// As above, if the kernel gets the bytes unencrypted.
    #[inline]
    pub fn direct(&self) -> Option<&[u8]> {
        (!self.indirect).then(|| self.bytes.get(self.head..).unwrap_or(&[]))
    }

    /// Sets whether bytes are encrypted before they are passed to the kernel.
    pub fn set_sealed(&mut self, sealed: bool) {
        self.sealed = sealed;
        self.note_route();
    }

    pub fn is_sealed(&self) -> bool {
        self.sealed
    }

    /// Decides anew whether bytes go to the kernel as they are.
    fn note_route(&mut self) {
        self.indirect = self.sealed || !self.in_place.is_empty();
    }

    /// Lists the next bytes, at most `most`. Returns the number of blocks filled in `out`.
    pub fn gather(&self, out: &mut [IoVec], most: usize) -> usize {
        let mut n = 0;
        let mut left = most;
        let mut copied = self.head;
        let mut put = |p: *const u8, len: usize| {
            let len = len.min(left);
            if len > 0 && n < out.len() {
                out[n] = block(p, len);
                n += 1;
                left -= len;
            }
            n < out.len() && left > 0
        };
        for item in &self.in_place {
            let until = self.head + (item.after - self.copied_sent) as usize;
            if !put(self.bytes[copied..until].as_ptr(), until - copied) {
                return n;
            }
            copied = until;
            for (i, b) in item.blocks.iter().enumerate().skip(item.at) {
                let skip = if i == item.at { item.skip } else { 0 };
                let p = b.iov_base.cast::<u8>().wrapping_add(skip);
                if !put(p, b.iov_len - skip) {
                    return n;
                }
            }
        }
        put(self.bytes[copied..].as_ptr(), self.bytes.len() - copied);
        n
    }

    /// Removes `n` sent bytes; calls `done` for each payload that is sent completely, with whether it was queued last.
    pub fn consumed(&mut self, mut n: usize, mut done: impl FnMut(Owner, Completion, bool)) {
        self.sent += n as u64;
        loop {
            let before = match self.in_place.front() {
                Some(item) => (item.after - self.copied_sent) as usize,
                None => self.waiting(),
            };
            let take = n.min(before);
            self.head += take;
            self.copied_sent += take as u64;
            n -= take;
            let Some(item) = self.in_place.front_mut() else {
                break;
            };
            if take < before || !item.advance(&mut n) {
                break;
            }
            let (owner, comp) = (item.owner, item.comp);
            self.in_place.pop_front();
            self.note_route();
            done(owner, comp, self.in_place.is_empty());
        }
        if self.head == self.bytes.len() {
            self.bytes.clear();
            self.head = 0;
        } else if self.head > self.bytes.len() / 2 && self.head > COMPACT {
            self.bytes.drain(..self.head);
            self.head = 0;
        }
    }

    /// Removes `n` copied bytes that the deferred flush has sent, when nothing else waited.
    #[cold]
    pub fn sent_by_other(&mut self, n: usize) {
        self.consumed(n, |_, _, _| ());
    }

    /// Copies all that waits, so that nothing waits in place; `done` as in `consumed`.
    pub fn keep(&mut self, mut done: impl FnMut(Owner, Completion, bool)) {
        if self.in_place.is_empty() {
            return;
        }
        let mut all = Vec::with_capacity(self.unsent());
        let mut copied = self.head;
        while let Some(mut item) = self.in_place.pop_front() {
            let until = self.head + (item.after - self.copied_sent) as usize;
            all.extend_from_slice(&self.bytes[copied..until]);
            copied = until;
            item.copy();
            all.append(&mut item.kept);
            done(item.owner, item.comp, self.in_place.is_empty());
        }
        self.note_route();
        all.extend_from_slice(&self.bytes[copied..]);
        self.bytes.clear();
        self.bytes.append(&mut all);
        self.head = 0;
    }

    /// Copies the zero-copy payloads of `owner` (null: all), so that its memory is free; calls `each` for their
    /// completions, which are not called again.
    pub fn detach(&mut self, owner: Owner, mut each: impl FnMut(Completion)) {
        for item in &mut self.in_place {
            if owner.is_null() || item.owner == owner {
                item.copy();
                each(core::mem::replace(&mut item.comp, Completion::NONE));
                item.owner = core::ptr::null();
            }
        }
    }

    /// Drops everything; calls `each` for all completions.
    pub fn clear(&mut self, mut each: impl FnMut(Owner, Completion)) {
        for item in self.in_place.drain(..) {
            each(item.owner, item.comp);
        }
        *self = TxQueue::default();
    }
}

/// Sent bytes in front of the buffer that are worth moving the rest for.
const COMPACT: usize = 32 << 10;

impl InPlace {
    /// Takes up to `n` bytes off; whether nothing is left.
    fn advance(&mut self, n: &mut usize) -> bool {
        while let Some(b) = self.blocks.get(self.at) {
            let left = b.iov_len - self.skip;
            if *n < left {
                self.skip += *n;
                *n = 0;
                return false;
            }
            *n -= left;
            self.at += 1;
            self.skip = 0;
        }
        true
    }

    fn copy(&mut self) {
        let mut kept = Vec::new();
        for (i, b) in self.blocks.iter().enumerate().skip(self.at) {
            let skip = if i == self.at { self.skip } else { 0 };
            let p = b.iov_base.cast::<u8>().wrapping_add(skip);
            // SAFETY: the user keeps the payload readable until its completion, which has not been
            // called; `skip` is within the block.
            kept.extend_from_slice(unsafe { core::slice::from_raw_parts(p, b.iov_len - skip) });
        }
        self.kept = kept;
        self.blocks = vec![block(self.kept.as_ptr(), self.kept.len())];
        self.at = 0;
        self.skip = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends at most `max` of the bytes that `gather` lists.
    fn send(q: &mut TxQueue, max: usize, room: usize, out: &mut Vec<u8>) -> usize {
        let mut blocks = vec![block(core::ptr::null(), 0); room];
        let n = q.gather(&mut blocks, max);
        let mut taken = 0;
        for b in &blocks[..n] {
            let len = b.iov_len.min(max - taken);
            // SAFETY: blocks of the queue under test are alive.
            out.extend_from_slice(unsafe {
                core::slice::from_raw_parts(b.iov_base.cast::<u8>(), len)
            });
            taken += len;
        }
        let mut finished = 0;
        q.consumed(taken, |_, _, _| finished += 1);
        finished
    }

    /// Any mix of copied and in-place parts, sent in any parts, arrives as one stream.
    #[test]
    fn the_stream_is_what_was_queued() {
        let mut seed = 1u64;
        let mut below = |n: u64| {
            seed = seed
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (seed >> 33) % n
        };
        for _ in 0..(if cfg!(miri) { 3 } else { 300 }) {
            let memory: Vec<u8> = (0..4096).map(|i| (i * 7 % 251) as u8).collect();
            let (mut q, mut want, mut got) = (TxQueue::default(), Vec::new(), Vec::new());
            let (mut placed, mut finished, mut kept_last) = (0, 0, true);
            for step in 0..40u8 {
                match below(4) {
                    3 => q.keep(|_, _, last| {
                        finished += 1;
                        kept_last = last;
                    }),
                    0 => {
                        let n = below(50) as usize;
                        q.push(|b| b.resize(b.len() + n, step));
                        want.resize(want.len() + n, step);
                    }
                    1 => {
                        let mut blocks = Vec::new();
                        for _ in 0..=below(3) {
                            let (at, n) = (below(2000) as usize, below(500) as usize);
                            blocks.push(block(memory[at..].as_ptr(), n));
                            want.extend_from_slice(&memory[at..at + n]);
                        }
                        q.push_in_place(blocks, core::ptr::null(), Completion::NONE);
                        placed += 1;
                    }
                    _ => {
                        finished +=
                            send(&mut q, below(700) as usize, 1 + below(6) as usize, &mut got)
                    }
                }
                assert!(kept_last);
                assert_eq!(q.queued(), want.len() as u64);
                assert_eq!(q.sent(), got.len() as u64);
                assert_eq!(q.direct(), q.plain());
            }
            if below(2) == 0 {
                q.detach(core::ptr::null(), |_| ());
            }
            while !q.is_empty() {
                finished += send(&mut q, 100_000, 3, &mut got);
            }
            assert_eq!((got, finished), (want, placed));
            assert_eq!(q.waiting(), 0);
        }
    }

    #[test]
    fn a_detached_payload_no_longer_needs_its_memory() {
        let mut q = TxQueue::default();
        let mut memory = [7u8; 100];
        let owner = memory.as_ptr().cast();
        q.push_in_place(vec![block(memory.as_ptr(), 100)], owner, Completion::NONE);
        let mut got = Vec::new();
        send(&mut q, 30, 1, &mut got);
        let mut completed = 0;
        q.detach(owner, |_| completed += 1);
        q.detach(owner, |_| completed += 1);
        memory.fill(0);
        send(&mut q, 100, 1, &mut got);
        assert_eq!((completed, got), (1, vec![7u8; 100]));
        assert!(q.is_empty());
    }
}
