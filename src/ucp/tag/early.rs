//! `Early`: messages of a few bytes that came while nothing else was here and nobody waited, in their order: what most
//! unexpected messages are, mostly received in that order.

use super::row::Row;
use crate::uct::base::copy::{FEW, copy_few};
use core::cell::Cell;

/// Most messages.
const PLACES: usize = 64;

#[derive(Default)]
struct Place {
    tag: Cell<u64>,
    len: Cell<usize>,
    bytes: Cell<[u8; FEW]>,
}

impl Place {
    #[inline(always)]
    fn bytes(&self) -> *mut u8 {
        self.bytes.as_ptr().cast()
    }
}

pub struct Early(Row<Place>);

impl Early {
    pub fn new() -> Early {
        Early(Row::new(PLACES))
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.0.is_full()
    }

    /// Puts a message of at most `FEW` bytes behind all others. Not where it is full.
    ///
    /// # Safety
    /// `payload` must be readable for `len` bytes.
    #[inline(always)]
    pub unsafe fn push(&self, tag: u64, payload: *const u8, len: usize) {
        self.0.push(|place| {
            place.tag.set(tag);
            place.len.set(len);
            // SAFETY: by the caller's promise; a place has room for as many.
            unsafe { copy_few(payload, place.bytes(), len) };
        });
    }

    /// Takes the first message into `room` bytes at `buffer`, where a receive of `tag` and `mask` matches it and it fits:
    /// its own tag and length.
    ///
    /// # Safety
    /// `buffer` must be writable for `room` bytes.
    #[inline(always)]
    pub unsafe fn take(
        &self,
        tag: u64,
        mask: u64,
        (buffer, room): (*mut u8, usize),
    ) -> Option<(u64, usize)> {
        let place = self.0.first()?;
        let (own, len) = (place.tag.get(), place.len.get());
        if (own ^ tag) & mask != 0 || len > room {
            return None;
        }
        // SAFETY: so many bytes were written there, and there is room by the caller's promise.
        unsafe { copy_few(place.bytes(), buffer, len) };
        self.0.step();
        Some((own, len))
    }

    /// Takes the first message.
    pub fn pop(&self, see: impl FnOnce(u64, &[u8])) -> bool {
        let Some(place) = self.0.first() else {
            return false;
        };
        let bytes = place.bytes.get();
        see(place.tag.get(), &bytes[..place.len.get()]);
        self.0.step();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_taken_in_their_order_by_what_matches_and_has_room() {
        let early = Early::new();
        let got = Cell::new([0xffu8; FEW]);
        let to = |room| (got.as_ptr().cast::<u8>(), room);
        for n in 0..=FEW {
            let sent = [n as u8; FEW];
            // SAFETY: as many bytes.
            unsafe { early.push(0x10 + n as u64, sent.as_ptr(), n) };
        }
        for n in 0..=FEW {
            let tag = 0x10 + n as u64;
            // SAFETY: as many bytes.
            unsafe {
                assert_eq!(early.take(tag + 1, !0, to(FEW)), None, "another tag");
                if n > 0 {
                    assert_eq!(early.take(tag, !0, to(n - 1)), None, "no room");
                }
                assert_eq!(early.take(0x7000, 0xf000_0000, to(n)), Some((tag, n)));
            }
            assert!(got.get()[..n].iter().all(|byte| *byte == n as u8));
        }
        assert!(early.is_empty());
        // SAFETY: as many bytes.
        unsafe { early.push(5, [1, 2, 3].as_ptr(), 3) };
        assert!(early.pop(|tag, bytes| assert_eq!((tag, bytes), (5, &[1, 2, 3][..]))));
        assert!(!early.pop(|_, _| unreachable!()));
    }
}
