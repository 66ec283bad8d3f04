//! `InlineUnexpected`: unexpected messages of a few bytes, stored in the slots themselves, in order of arrival. It is used
//! while no receive is posted and no other message waits; most programs then receive the messages in that order.

use super::slot_ring::{PLAIN, SlotRing};
use crate::uct::base::copy::{Payload, SMALL, copy_small};
use crate::wire::id::RequestName;
use core::cell::Cell;

/// Messages at first, and at most.
const CAPACITY: usize = 64;
const MOST: usize = if cfg!(miri) { 512 } else { 128 << 10 };
/// The kind of a slot whose sender waits for the match.
const SYNC: u8 = PLAIN + 1;

#[derive(Default)]
struct Slot {
    tag: Cell<u64>,
    len: Cell<usize>,
    bytes: Cell<[u8; SMALL]>,
    /// Of a slot of the kind `SYNC`.
    sender: Cell<RequestName>,
}

impl Slot {
    #[inline(always)]
    fn bytes(&self) -> *mut u8 {
        self.bytes.as_ptr().cast()
    }

    #[inline(always)]
    fn fill(&self, tag: u64, payload: Payload<'_>) {
        let len = payload.len().min(SMALL);
        self.tag.set(tag);
        self.len.set(len);
        // SAFETY: a slot has room for `SMALL` bytes.
        unsafe { copy_small(payload.as_ptr(), self.bytes(), len) };
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

    /// Makes room, if it is full and may be longer. Returns whether there is room.
    pub fn grow(&self) -> bool {
        self.0.grow(MOST)
    }

    /// Gives the memory back that it has grown by, when no message is left.
    pub fn shrink(&self) {
        self.0.shrink();
    }

    /// Appends a message of at most `SMALL` bytes, which must have room.
    #[inline(always)]
    pub fn push(&self, tag: u64, payload: Payload<'_>) {
        self.0.push(|slot| slot.fill(tag, payload));
    }

    /// The same of a synchronous `sender`.
    pub fn push_sync(&self, tag: u64, payload: Payload<'_>, sender: RequestName) {
        self.0.push_as(SYNC, |slot| {
            slot.fill(tag, payload);
            slot.sender.set(sender);
        });
    }

    /// Removes the first message and copies it to `buffer` of `capacity` bytes, if nobody waits for its match, `tag` and
    /// `mask` match and it fits. Returns its tag and length.
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
        let slot = self.0.first_of(PLAIN)?;
        let (own, len) = (slot.tag.get(), slot.len.get());
        if (own ^ tag) & mask != 0 || len > capacity {
            return None;
        }
        // SAFETY: `len` bytes were written to the slot; the buffer is large enough by the caller's promise.
        unsafe { copy_small(slot.bytes(), buffer, len) };
        self.0.pop();
        Some((own, len))
    }

    /// As `take`, if `take` takes its bytes.
    #[inline]
    pub fn take_plain(
        &self,
        tag: u64,
        mask: u64,
        take: impl FnOnce(&[u8]) -> bool,
    ) -> Option<(u64, usize)> {
        let slot = self.0.first_of(PLAIN)?;
        let (own, len, bytes) = (slot.tag.get(), slot.len.get(), slot.bytes.get());
        if (own ^ tag) & mask != 0 || !take(&bytes[..len]) {
            return None;
        }
        self.0.pop();
        Some((own, len))
    }

    /// Removes the first message, if it is of a synchronous sender, `tag` and `mask` match and `take` takes its bytes. Returns
    /// its tag, its length and the sender.
    #[inline]
    pub fn take_sync(
        &self,
        tag: u64,
        mask: u64,
        take: impl FnOnce(&[u8]) -> bool,
    ) -> Option<(u64, usize, RequestName)> {
        let slot = self.0.first_of(SYNC)?;
        let (own, len, bytes) = (slot.tag.get(), slot.len.get(), slot.bytes.get());
        if (own ^ tag) & mask != 0 || !take(&bytes[..len]) {
            return None;
        }
        let sender = slot.sender.get();
        self.0.pop();
        Some((own, len, sender))
    }

    /// Removes the first message, and passes it to `see` with its synchronous sender. Returns whether there was one.
    pub fn pop(&self, see: impl FnOnce(u64, &[u8], Option<RequestName>)) -> bool {
        let Some(slot) = self.0.first() else {
            return false;
        };
        let bytes = slot.bytes.get();
        let sender = self.0.first_of(SYNC).map(|slot| slot.sender.get());
        see(slot.tag.get(), &bytes[..slot.len.get()], sender);
        self.0.pop();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `take` returns into a buffer of `capacity` bytes, and how that begins then.
    fn taken(
        inline: &InlineUnexpected,
        tag: u64,
        mask: u64,
        capacity: usize,
    ) -> Option<(u64, usize, [u8; SMALL])> {
        let mut got = [0xff; SMALL];
        // SAFETY: a message has no more bytes than the array.
        let (tag, len) = unsafe { inline.take(tag, mask, (got.as_mut_ptr(), capacity)) }?;
        Some((tag, len, got))
    }

    #[test]
    fn take_returns_the_first_message_if_the_receive_matches_and_has_room() {
        let inline = InlineUnexpected::new();
        for n in 0..=SMALL {
            let sent = [n as u8; SMALL];
            inline.push(0x10 + n as u64, sent[..n].into());
        }
        for n in 0..=SMALL {
            let tag = 0x10 + n as u64;
            assert_eq!(taken(&inline, tag + 1, !0, SMALL), None, "another tag");
            if n > 0 {
                assert_eq!(taken(&inline, tag, !0, n - 1), None, "no capacity");
            }
            let mut expected = [0xff; SMALL];
            expected[..n].fill(n as u8);
            let got = taken(&inline, 0x7000, 0xf000_0000, n);
            assert_eq!(got, Some((tag, n, expected)));
        }
        assert!(inline.is_empty());
        inline.push(5, [1, 2, 3][..].into());
        assert!(inline.pop(|tag, bytes, sender| {
            assert_eq!((tag, bytes, sender), (5, &[1, 2, 3][..], None));
        }));
        assert!(!inline.pop(|_, _, _| unreachable!()));
    }

    #[test]
    fn who_takes_a_message_of_a_synchronous_sender_learns_of_it() {
        let inline = InlineUnexpected::new();
        let sender = |n| RequestName {
            id: crate::wire::id::RequestId(n),
            ..RequestName::default()
        };
        inline.push_sync(7, [1, 2, 3][..].into(), sender(1));
        inline.push(7, [4][..].into());
        inline.push_sync(7, [5][..].into(), sender(2));
        let take = |capacity| taken(&inline, 7, !0, capacity);
        let take_sync = |tag, bytes: &[u8]| inline.take_sync(tag, !0, |came| came == bytes);
        assert_eq!((take(SMALL), take(usize::MAX)), (None, None));
        assert_eq!(take_sync(8, &[1, 2, 3]), None);
        assert_eq!(take_sync(7, &[1, 2]), None, "it is not taken");
        assert_eq!(take_sync(7, &[1, 2, 3]), Some((7, 3, sender(1))));
        assert_eq!(take_sync(7, &[4]), None);
        assert!(take(SMALL).is_some_and(|(tag, len, got)| (tag, len, got[0]) == (7, 1, 4)));
        assert!(inline.pop(|tag, bytes, from| {
            assert_eq!((tag, bytes, from), (7, &[5][..], Some(sender(2))));
        }));
        assert!(inline.is_empty());
    }

    #[test]
    fn many_messages_have_room_and_leave_none() {
        let inline = InlineUnexpected::new();
        for round in 0..2 {
            for n in 0..MOST as u64 {
                assert!(!inline.is_full() || inline.grow(), "{round}, {n}");
                inline.push(n, [][..].into());
            }
            assert!(inline.is_full() && !inline.grow());
            for n in 0..MOST as u64 {
                assert!(inline.pop(|tag, _, _| assert_eq!(tag, n)));
            }
            inline.shrink();
            assert!(inline.is_empty() && !inline.0.is_grown());
        }
    }
}
