//! Short messages that came before a receive, one behind the other in one small buffer, each behind its length. Where a
//! message ends matters only to who is lent its bytes: as upstream's, that are never those of two.

use crate::uct::base::copy::{FEW, copy, copy_few};
use core::cell::Cell;
use core::ptr::{NonNull, null_mut};

/// Longer messages stand by themselves: they are worth a buffer that the application can be lent.
const MOST: usize = 256;
/// Of the buffer, which is there from the first use on.
const ROOM: usize = 2 << 10;
/// Of a length.
const HEAD: usize = size_of::<u16>();

/// `from..to` of the buffer is a row of messages that are not empty, each a length and as many bytes, and both are at most
/// `ROOM`.
pub struct Early {
    /// Null before the first use, else of `ROOM` bytes.
    buffer: Cell<*mut u8>,
    from: Cell<usize>,
    to: Cell<usize>,
    /// Bytes of all messages.
    len: Cell<usize>,
}

impl Default for Early {
    fn default() -> Early {
        Early {
            buffer: Cell::new(null_mut()),
            // Nothing fits before there is a buffer.
            from: Cell::new(ROOM),
            to: Cell::new(ROOM),
            len: Cell::new(0),
        }
    }
}

impl Drop for Early {
    fn drop(&mut self) {
        if let Some(buffer) = NonNull::new(self.buffer.get()) {
            // SAFETY: made as such in `make_room`; nobody uses it any more.
            drop(unsafe { Box::from_raw(buffer.cast::<[u8; ROOM]>().as_ptr()) });
        }
    }
}

impl Early {
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len.get()
    }

    /// Whether there is room for a message of `len` bytes at hand, which is not empty and short enough.
    #[inline(always)]
    pub fn has_room(&self, len: usize) -> bool {
        self.to.get() + HEAD + len <= ROOM
    }

    /// Appends a message of at most `FEW` bytes where it `has_room`, and is not empty.
    #[inline(always)]
    pub fn push_few(&self, message: &[u8]) {
        debug_assert!(self.has_room(message.len()) && (1..=FEW).contains(&message.len()));
        let at = self.append(message.len());
        // SAFETY: as many bytes are there.
        unsafe { copy_few(message.as_ptr(), at, message.len()) };
    }

    /// Appends a message; `false` when there is no room for it here.
    pub fn push(&self, message: &[u8]) -> bool {
        let len = message.len();
        if len == 0 || len > MOST || !(self.has_room(len) || self.make_room(len)) {
            return len == 0;
        }
        let at = self.append(len);
        // SAFETY: as many bytes are there.
        unsafe { copy(message.as_ptr(), at, len) };
        true
    }

    /// Where `len` bytes of a message are to be written, for which there is room.
    #[inline(always)]
    fn append(&self, len: usize) -> *mut u8 {
        let to = self.to.get();
        // SAFETY: inside the buffer, as there is room.
        let at = unsafe { self.buffer.get().add(to) };
        // SAFETY: as above.
        unsafe { at.cast::<u16>().write_unaligned(len as u16) };
        self.to.set(to + HEAD + len);
        self.len.set(self.len.get() + len);
        at.wrapping_add(HEAD)
    }

    /// Whether there could be made room for a message of `len` bytes behind what stands here.
    #[cold]
    fn make_room(&self, len: usize) -> bool {
        let (from, to) = (self.from.get(), self.to.get());
        if self.buffer.get().is_null() {
            self.buffer
                .set(Box::into_raw(Box::new([0u8; ROOM])).cast::<u8>());
        } else if from < ROOM / 2 {
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

    /// The first message: where it stands, and its bytes. There has to be one.
    #[inline(always)]
    fn front(&self) -> (*mut u8, usize) {
        debug_assert!(self.len.get() > 0);
        // SAFETY: inside the buffer.
        let at = unsafe { self.buffer.get().add(self.from.get()) };
        // SAFETY: a message begins with its length.
        let len = unsafe { at.cast::<u16>().read_unaligned() };
        (at.wrapping_add(HEAD), len.into())
    }

    /// The first message was taken, of `len` bytes.
    #[inline(always)]
    fn step(&self, len: usize) {
        self.len.set(self.len.get() - len);
        self.from.set(self.from.get() + HEAD + len);
        if self.len.get() == 0 {
            self.from.set(0);
            self.to.set(0);
        }
    }

    /// Takes the first message off into memory of the caller's, where it is `count` bytes, and a few.
    ///
    /// # Safety
    /// `to` must be writable for `count` bytes.
    #[inline(always)]
    pub unsafe fn take_few(&self, count: usize, to: *mut u8) -> bool {
        if self.len.get() == 0 {
            return false;
        }
        let (at, len) = self.front();
        if len != count || len > FEW {
            return false;
        }
        // SAFETY: as many bytes are there, and room for them by the caller's promise.
        unsafe { copy_few(at, to, count) };
        self.step(count);
        true
    }

    /// Takes the first bytes off into memory of the caller's; `false` when there are not so many.
    ///
    /// # Safety
    /// `to` must be writable for `count` bytes.
    pub unsafe fn take(&self, count: usize, to: *mut u8) -> bool {
        let enough = self.len.get() >= count;
        if enough {
            // SAFETY: by the caller's promise.
            unsafe { self.take_parts(count, to) };
        }
        enough
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
                self.step(len);
            } else {
                // What is left gets its length in front, where the bytes were that are gone.
                // SAFETY: inside the message and its length.
                unsafe {
                    at.add(part)
                        .sub(HEAD)
                        .cast::<u16>()
                        .write_unaligned((len - part) as u16)
                };
                self.from.set(self.from.get() + part);
                self.len.set(self.len.get() - part);
            }
        }
    }

    /// Takes the first bytes off, at most `count`.
    pub fn take_vec(&self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count.min(self.len.get())];
        // SAFETY: as long as it says.
        unsafe { self.take(bytes.len(), bytes.as_mut_ptr()) };
        bytes
    }

    /// Takes what is left of the first message off.
    pub fn take_message(&self) -> Option<Vec<u8>> {
        (self.len.get() > 0).then(|| self.take_vec(self.front().1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out_while_there_is_room() {
        let early = Early::default();
        assert!(!early.push(&[0; MOST + 1]));
        let (mut next_in, mut next_out) = (0u8, 0u8);
        for round in 0..1000 {
            while early.len() < ROOM / 16 {
                let message: Vec<u8> = (0..1 + round % 100)
                    .map(|n| next_in.wrapping_add(n as u8))
                    .collect();
                assert!(early.push(&message));
                next_in = next_in.wrapping_add(message.len() as u8);
            }
            let mut got = vec![0; early.len() / 3];
            // SAFETY: as long as it says.
            assert!(unsafe { early.take(got.len(), got.as_mut_ptr()) });
            for byte in got {
                assert_eq!(byte, next_out);
                next_out = next_out.wrapping_add(1);
            }
        }
        while early.push(&[7; MOST]) {}
        assert!(early.len() > ROOM - ROOM / 2 - 2 * MOST);
        // SAFETY: it is not so much.
        assert!(!unsafe { early.take(early.len() + 1, core::ptr::null_mut()) });
        assert!(!early.take_vec(ROOM).is_empty());
        assert!(early.take_message().is_none() && early.push(&[7; MOST]));
    }

    #[test]
    fn a_message_is_taken_alone() {
        let early = Early::default();
        for n in 1..=20u8 {
            assert!(early.push(&vec![n; n.into()]) && early.push(&[]));
        }
        let one = Cell::new([0u8; 2]);
        // SAFETY: as long as it says.
        unsafe {
            assert!(!early.take_few(2, one.as_ptr().cast()), "it is one byte");
            assert!(early.take_few(1, one.as_ptr().cast()));
        }
        assert_eq!(one.get(), [1, 0]);
        assert_eq!(early.take_vec(4), [2, 2, 3, 3]);
        assert_eq!(early.take_message().unwrap(), [3]);
        for n in 4..=20u8 {
            assert_eq!(early.take_message().unwrap(), vec![n; n.into()]);
        }
        assert!(early.take_message().is_none());
    }
}
