//! Bytes of short messages that came before a receive, one behind the other in one small buffer. Where a message ends
//! matters only to who is lent its bytes: as upstream's, that are never those of two.

use crate::uct::base::copy::copy;

/// Longer messages stand by themselves: they are worth a buffer that the application can be lent.
const MOST: usize = 256;
/// Of the buffer, which is there from the first use on.
const ROOM: usize = 2 << 10;

#[derive(Default)]
pub struct Early {
    /// Empty, or of `ROOM` bytes.
    buffer: Box<[u8]>,
    /// What stands in it: from here to there.
    from: usize,
    to: usize,
    /// What is left of each message, from `first` on.
    lengths: Vec<u16>,
    first: usize,
}

impl Early {
    #[inline(always)]
    fn bytes(&self) -> &[u8] {
        self.buffer.get(self.from..self.to).unwrap_or_default()
    }

    #[inline(always)]
    pub fn len(&self) -> usize {
        self.to - self.from
    }

    /// Appends a message; `false` when there is no room for it here.
    #[inline(always)]
    pub fn push(&mut self, message: &[u8]) -> bool {
        let len = message.len();
        if len > MOST || (len > self.buffer.len() - self.to && !self.make_room(len)) {
            return false;
        }
        if len > 0 {
            // SAFETY: there is room behind `to`, as was just looked at.
            unsafe { copy(message.as_ptr(), self.buffer.as_mut_ptr().add(self.to), len) };
            self.to += len;
            self.lengths.push(len as u16);
        }
        true
    }

    /// Whether there could be made room for `len` bytes behind what stands here.
    #[inline(never)]
    fn make_room(&mut self, len: usize) -> bool {
        if self.buffer.is_empty() {
            self.buffer = vec![0; ROOM].into();
        } else if self.from >= ROOM / 2 {
            self.buffer.copy_within(self.from..self.to, 0);
            (self.from, self.to) = (0, self.to - self.from);
            self.lengths.drain(..self.first);
            self.first = 0;
        }
        len <= ROOM - self.to
    }

    /// Takes the first bytes off into memory of the caller's; `false` when there are not so many.
    ///
    /// # Safety
    /// `to` must be writable for `count` bytes.
    #[inline(always)]
    pub unsafe fn take(&mut self, count: usize, to: *mut u8) -> bool {
        let bytes = self.bytes();
        if bytes.len() < count {
            return false;
        }
        // SAFETY: `count` bytes are there, and room for them by the caller's promise.
        unsafe { copy(bytes.as_ptr(), to, count) };
        self.advance(count);
        true
    }

    /// Takes the first bytes off, at most `count`.
    pub fn take_vec(&mut self, count: usize) -> Vec<u8> {
        let bytes = self.bytes();
        let taken = bytes[..count.min(bytes.len())].to_vec();
        self.advance(taken.len());
        taken
    }

    /// Takes what is left of the first message off.
    pub fn take_message(&mut self) -> Option<Vec<u8>> {
        let left = *self.lengths.get(self.first)?;
        Some(self.take_vec(left.into()))
    }

    #[inline(always)]
    fn advance(&mut self, mut count: usize) {
        self.from += count;
        if self.from == self.to {
            (self.from, self.to, self.first) = (0, 0, 0);
            self.lengths.clear();
            return;
        }
        while let Some(left) = self.lengths.get_mut(self.first) {
            if usize::from(*left) > count {
                *left -= count as u16;
                return;
            }
            count -= usize::from(*left);
            self.first += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out_while_there_is_room() {
        let mut early = Early::default();
        assert!(!early.push(&[0; MOST + 1]));
        let (mut next_in, mut next_out) = (0u8, 0u8);
        for round in 0..1000 {
            while early.len() < ROOM / 2 - MOST {
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
        assert!(early.len() > ROOM - ROOM / 2 - MOST);
        // SAFETY: it is not so much.
        assert!(!unsafe { early.take(early.len() + 1, core::ptr::null_mut()) });
        assert!(!early.take_vec(ROOM).is_empty());
        assert!(early.take_message().is_none() && early.push(&[7; MOST]));
    }

    #[test]
    fn a_message_is_taken_alone() {
        let mut early = Early::default();
        for n in 1..=20u8 {
            assert!(early.push(&vec![n; n.into()]) && early.push(&[]));
        }
        assert_eq!(early.take_message().unwrap(), [1]);
        assert_eq!(early.take_vec(4), [2, 2, 3, 3]);
        assert_eq!(early.take_message().unwrap(), [3]);
        for n in 4..=20u8 {
            assert_eq!(early.take_message().unwrap(), vec![n; n.into()]);
        }
        assert!(early.take_message().is_none());
    }
}
