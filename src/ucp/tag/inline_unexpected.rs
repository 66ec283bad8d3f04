//! `InlineUnexpected`: unexpected messages of a few bytes, stored in the slots themselves, in order of arrival. It is used
//! while no receive is posted and no other message waits; most programs then receive the messages in that order.

use super::slot_ring::SlotRing;
use crate::uct::base::copy::{Payload, SMALL, copy_small};
use core::cell::Cell;

/// Most messages.
const CAPACITY: usize = 64;

#[derive(Default)]
struct Slot {
    tag: Cell<u64>,
    len: Cell<usize>,
    bytes: Cell<[u8; SMALL]>,
}

impl Slot {
    #[inline(always)]
    fn bytes(&self) -> *mut u8 {
        self.bytes.as_ptr().cast()
    }
}

pub struct InlineUnexpected(SlotRing<Slot>);

impl InlineUnexpected {
    pub fn new() -> InlineUnexpected {
        InlineUnexpected(SlotRing::new(CAPACITY))
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.0.is_full()
    }

    /// Appends a message of at most `SMALL` bytes. The ring must not be full.
    #[inline(always)]
    pub fn push(&self, tag: u64, payload: Payload<'_>) {
        let len = payload.len().min(SMALL);
        self.0.push(|slot| {
            slot.tag.set(tag);
            slot.len.set(len);
            // SAFETY: a slot has room for `SMALL` bytes.
            unsafe { copy_small(payload.as_ptr(), slot.bytes(), len) };
        });
    }

    /// Removes the first message and copies it to `buffer` of `capacity` bytes, if `tag` and `mask` match and it fits.
    /// Returns its tag and length.
    ///
    /// # Safety
    /// `buffer` must be writable for `capacity` bytes.
    #[inline(always)]
    pub unsafe fn take(
        &self,
        tag: u64,
        mask: u64,
        (buffer, capacity): (*mut u8, usize),
    ) -> Option<(u64, usize)> {
        let slot = self.0.first()?;
        let (own, len) = (slot.tag.get(), slot.len.get());
        if (own ^ tag) & mask != 0 || len > capacity {
            return None;
        }
        // SAFETY: `len` bytes were written to the slot; the buffer is large enough by the caller's promise.
        unsafe { copy_small(slot.bytes(), buffer, len) };
        self.0.pop();
        Some((own, len))
    }

    /// Removes the first message, and passes it to `see`. Returns whether there was one.
    pub fn pop(&self, see: impl FnOnce(u64, &[u8])) -> bool {
        let Some(slot) = self.0.first() else {
            return false;
        };
        let bytes = slot.bytes.get();
        see(slot.tag.get(), &bytes[..slot.len.get()]);
        self.0.pop();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn take_returns_the_first_message_if_the_receive_matches_and_has_room() {
        let inline = InlineUnexpected::new();
        let got = Cell::new([0xffu8; SMALL]);
        let to = |capacity| (got.as_ptr().cast::<u8>(), capacity);
        for n in 0..=SMALL {
            let sent = [n as u8; SMALL];
            inline.push(0x10 + n as u64, sent[..n].into());
        }
        for n in 0..=SMALL {
            let tag = 0x10 + n as u64;
            // SAFETY: as many bytes.
            unsafe {
                assert_eq!(inline.take(tag + 1, !0, to(SMALL)), None, "another tag");
                if n > 0 {
                    assert_eq!(inline.take(tag, !0, to(n - 1)), None, "no capacity");
                }
                assert_eq!(inline.take(0x7000, 0xf000_0000, to(n)), Some((tag, n)));
            }
            assert!(got.get()[..n].iter().all(|byte| *byte == n as u8));
        }
        assert!(inline.is_empty());
        inline.push(5, [1, 2, 3][..].into());
        assert!(inline.pop(|tag, bytes| assert_eq!((tag, bytes), (5, &[1, 2, 3][..]))));
        assert!(!inline.pop(|_, _| unreachable!()));
    }
}
