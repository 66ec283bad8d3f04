//! `ShortQueue`: short stream messages that came before a receive, in one small buffer, each after its length. Message
//! boundaries matter only to `ucp_stream_recv_data_nb`, which, as upstream's, never returns bytes of two messages.

use crate::uct::base::copy::{SMALL, copy, copy_small};
use core::cell::Cell;
use core::ptr::{NonNull, null_mut};

/// A longer message gets a buffer of its own, which can be lent to the application without a copy.
const MESSAGE_MAX: usize = 256;
/// Bytes of the buffer, which is allocated at first use.
const CAPACITY: usize = 2 << 10;
/// Bytes of the length in front of a message.
const LENGTH_LEN: usize = size_of::<u16>();

/// `from..to` of the buffer holds the messages: each has a length and as many bytes, at least one. Both indices are at
/// most `CAPACITY`.
pub struct ShortQueue {
    /// Null before the first use, else of `CAPACITY` bytes.
    buffer: Cell<*mut u8>,
    from: Cell<usize>,
    to: Cell<usize>,
    /// Bytes of all messages, without their lengths.
    len: Cell<usize>,
}

impl Default for ShortQueue {
    fn default() -> ShortQueue {
        ShortQueue {
            buffer: Cell::new(null_mut()),
            // Full until the buffer is allocated.
            from: Cell::new(CAPACITY),
            to: Cell::new(CAPACITY),
            len: Cell::new(0),
        }
    }
}

impl Drop for ShortQueue {
    fn drop(&mut self) {
        if let Some(buffer) = NonNull::new(self.buffer.get()) {
            // SAFETY: made as such in `make_room`; nobody uses it any more.
            drop(unsafe { Box::from_raw(buffer.cast::<[u8; CAPACITY]>().as_ptr()) });
        }
    }
}

impl ShortQueue {
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len.get()
    }

    /// Whether a message of `len` bytes, at least 1 and at most `MESSAGE_MAX`, fits behind the others.
    #[inline(always)]
    pub fn has_room(&self, len: usize) -> bool {
        self.to.get() + LENGTH_LEN + len <= CAPACITY
    }

    /// Appends a message of 1 to `SMALL` bytes, for which the queue `has_room`.
    #[inline(always)]
    pub fn push_small(&self, message: &[u8]) {
        debug_assert!(self.has_room(message.len()) && (1..=SMALL).contains(&message.len()));
        let at = self.append(message.len());
        // SAFETY: as many bytes are there.
        unsafe { copy_small(message.as_ptr(), at, message.len()) };
    }

    /// Appends a message. Returns false when it is too long, or the queue is full.
    pub fn push(&self, message: &[u8]) -> bool {
        let len = message.len();
        if len == 0 || len > MESSAGE_MAX || !(self.has_room(len) || self.make_room(len)) {
            return len == 0;
        }
        let at = self.append(len);
        // SAFETY: as many bytes are there.
        unsafe { copy(message.as_ptr(), at, len) };
        true
    }

    /// Appends a message of `len` bytes, for which there is room. Returns where its bytes are to be written.
    #[inline(always)]
    fn append(&self, len: usize) -> *mut u8 {
        let to = self.to.get();
        // SAFETY: inside the buffer, as there is room.
        let at = unsafe { self.buffer.get().add(to) };
        // SAFETY: as above.
        unsafe { at.cast::<u16>().write_unaligned(len as u16) };
        self.to.set(to + LENGTH_LEN + len);
        self.len.set(self.len.get() + len);
        at.wrapping_add(LENGTH_LEN)
    }

    /// Allocates the buffer, or moves its messages to the start. Returns whether `len` bytes fit then.
    #[cold]
    fn make_room(&self, len: usize) -> bool {
        let (from, to) = (self.from.get(), self.to.get());
        if self.buffer.get().is_null() {
            self.buffer
                .set(Box::into_raw(Box::new([0u8; CAPACITY])).cast::<u8>());
        } else if from < CAPACITY / 2 {
            return false;
        } else {
            let buffer = self.buffer.get();
            // SAFETY: both are inside the buffer.
            unsafe { core::ptr::copy(buffer.add(from), buffer, to - from) };
        }
        self.from.set(0);
        self.to.set(to - from);
        self.has_room(len)
    }

    /// Address and length of the first message. The queue must not be empty.
    #[inline(always)]
    fn front(&self) -> (*mut u8, usize) {
        debug_assert!(self.len.get() > 0);
        let at = self.buffer.get().wrapping_add(self.from.get());
        // SAFETY: a message begins with its length.
        let len = unsafe { at.cast::<u16>().read_unaligned() };
        (at.wrapping_add(LENGTH_LEN), len.into())
    }

    /// Removes the first message, of `len` bytes.
    #[inline(always)]
    fn pop_front(&self, len: usize) {
        self.len.set(self.len.get() - len);
        self.from.set(self.from.get() + LENGTH_LEN + len);
        if self.len.get() == 0 {
            self.from.set(0);
            self.to.set(0);
        }
    }

    /// Removes the first message and copies it to `to`, if it is exactly `count` bytes, at most `SMALL`.
    ///
    /// # Safety
    /// `to` must be writable for `count` bytes.
    #[inline(always)]
    pub unsafe fn take_small(&self, count: usize, to: *mut u8) -> bool {
        if self.len.get() == 0 {
            return false;
        }
        let (at, len) = self.front();
        if len != count || len > SMALL {
            return false;
        }
        // SAFETY: as many bytes are there, and room for them by the caller's promise.
        unsafe { copy_small(at, to, count) };
        self.pop_front(count);
        true
    }

    /// Removes the first `count` bytes and copies them to `to`. Returns false when there are fewer.
    ///
    /// # Safety
    /// `to` must be writable for `count` bytes.
    pub unsafe fn take(&self, count: usize, to: *mut u8) -> bool {
        let available = self.len.get() >= count;
        if available {
            // SAFETY: by the caller's promise.
            unsafe { self.take_parts(count, to) };
        }
        available
    }

    /// # Safety
    /// So many bytes must be here; `to` must be writable for `count` bytes.
    unsafe fn take_parts(&self, count: usize, to: *mut u8) {
        let mut taken = 0;
        while taken < count {
            let (at, len) = self.front();
            let part = len.min(count - taken);
            // SAFETY: the message has as many, and there is room for them.
            unsafe { copy(at, to.add(taken), part) };
            taken += part;
            if part == len {
                self.pop_front(len);
            } else {
                // The rest of the message gets a length of its own, over bytes that were taken.
                // SAFETY: inside the message and its length.
                unsafe {
                    at.add(part)
                        .sub(LENGTH_LEN)
                        .cast::<u16>()
                        .write_unaligned((len - part) as u16)
                };
                self.from.set(self.from.get() + part);
                self.len.set(self.len.get() - part);
            }
        }
    }

    /// Removes the first bytes, at most `count`.
    pub fn take_vec(&self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count.min(self.len.get())];
        // SAFETY: as long as it says.
        unsafe { self.take(bytes.len(), bytes.as_mut_ptr()) };
        bytes
    }

    /// Removes the rest of the first message.
    pub fn take_message(&self) -> Option<Vec<u8>> {
        self.take_message_with(<[u8]>::to_vec)
    }

    /// Removes the rest of the first message, of which `copy` makes a copy.
    pub fn take_message_with<R>(&self, copy: impl FnOnce(&[u8]) -> R) -> Option<R> {
        if self.len.get() == 0 {
            return None;
        }
        let (at, len) = self.front();
        // SAFETY: the bytes of a message, which stay while they are copied.
        let copied = copy(unsafe { core::slice::from_raw_parts(at, len) });
        self.pop_front(len);
        Some(copied)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_leave_in_order_while_there_is_room() {
        let queue = ShortQueue::default();
        assert!(!queue.push(&[0; MESSAGE_MAX + 1]));
        let (mut next_in, mut next_out) = (0u8, 0u8);
        for round in 0..1000 {
            while queue.len() < CAPACITY / 16 {
                let message: Vec<u8> = (0..1 + round % 100)
                    .map(|n| next_in.wrapping_add(n as u8))
                    .collect();
                assert!(queue.push(&message));
                next_in = next_in.wrapping_add(message.len() as u8);
            }
            let mut got = vec![0; queue.len() / 3];
            // SAFETY: as long as it says.
            assert!(unsafe { queue.take(got.len(), got.as_mut_ptr()) });
            for byte in got {
                assert_eq!(byte, next_out);
                next_out = next_out.wrapping_add(1);
            }
        }
        while queue.push(&[7; MESSAGE_MAX]) {}
        assert!(queue.len() > CAPACITY - CAPACITY / 2 - 2 * MESSAGE_MAX);
        // SAFETY: it is not so much.
        assert!(!unsafe { queue.take(queue.len() + 1, core::ptr::null_mut()) });
        assert!(!queue.take_vec(CAPACITY).is_empty());
        assert!(queue.take_message().is_none() && queue.push(&[7; MESSAGE_MAX]));
    }

    #[test]
    fn messages_are_taken_one_by_one() {
        let queue = ShortQueue::default();
        for n in 1..=20u8 {
            assert!(queue.push(&vec![n; n.into()]) && queue.push(&[]));
        }
        let one = Cell::new([0u8; 2]);
        // SAFETY: as long as it says.
        unsafe {
            assert!(!queue.take_small(2, one.as_ptr().cast()), "it is one byte");
            assert!(queue.take_small(1, one.as_ptr().cast()));
        }
        assert_eq!(one.get(), [1, 0]);
        assert_eq!(queue.take_vec(4), [2, 2, 3, 3]);
        assert_eq!(queue.take_message().unwrap(), [3]);
        for n in 4..=20u8 {
            assert_eq!(queue.take_message().unwrap(), vec![n; n.into()]);
        }
        assert!(queue.take_message().is_none());
    }
}
