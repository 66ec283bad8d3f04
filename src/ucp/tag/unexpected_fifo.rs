//! `UnexpectedFifo`: complete unexpected messages, in order of arrival. It is used while no receive is posted and no other
//! message waits; most programs then receive the messages in that order, which takes neither a hash nor links.

use super::slot_ring::SlotRing;
use super::{Content, Message, with_empty};
use crate::ucp::buffers::{Buffers, InlineBytes};
use crate::uct::base::copy::{Payload, SMALL};
use crate::wire::id::RequestName;
use core::cell::Cell;
use core::mem::MaybeUninit;

/// Messages at first, and at most.
const CAPACITY: usize = 64;
const MOST: usize = if cfg!(miri) { 512 } else { 128 << 10 };

struct Slot {
    tag: Cell<u64>,
    /// It is written and read in place: see `SlotRing`.
    message: Cell<MaybeUninit<Message>>,
}

impl Default for Slot {
    fn default() -> Slot {
        Slot {
            tag: Cell::new(0),
            message: Cell::new(MaybeUninit::uninit()),
        }
    }
}

impl Slot {
    #[inline(always)]
    fn at(&self) -> *mut Message {
        self.message.as_ptr().cast()
    }

    /// The place of the next message, of `tag`, in a free slot.
    #[allow(clippy::mut_from_ref)]
    #[inline(always)]
    fn begin(&self, tag: u64) -> &mut MaybeUninit<Message> {
        self.tag.set(tag);
        // SAFETY: nobody else has a free slot.
        unsafe { &mut *self.message.as_ptr() }
    }

    /// The message of an occupied slot, if a receive of `tag` and `mask` matches it, and its tag.
    #[inline(always)]
    fn matching(&self, tag: u64, mask: u64) -> Option<(u64, &Message)> {
        let own = self.tag.get();
        // SAFETY: written by `push`; it changes when it is taken only.
        ((own ^ tag) & mask == 0).then(|| (own, unsafe { &*self.at() }))
    }
}

pub struct UnexpectedFifo(SlotRing<Slot>);

impl UnexpectedFifo {
    pub fn new() -> UnexpectedFifo {
        UnexpectedFifo(SlotRing::new(CAPACITY))
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

    /// Appends a complete message. It must have room.
    #[inline(always)]
    pub(super) fn push(
        &self,
        tag: u64,
        buffers: &Buffers,
        content: impl Content,
        sync: Option<RequestName>,
    ) {
        let slot = self.0.free();
        let place = slot.value.begin(tag);
        with_empty(buffers, content, sync, |message| {
            place.write(message).fill(content);
        });
        self.0.occupy(slot);
    }

    /// The same of at most `SMALL` bytes that nobody waits for.
    #[inline(always)]
    pub fn push_small(&self, tag: u64, payload: Payload<'_>) {
        let len = payload.len().min(SMALL);
        self.0.push(|slot| {
            let inline = Message::Inline(InlineBytes::empty());
            slot.begin(tag).write(inline).fill(&payload.bytes()[..len]);
        });
    }

    /// The first message and its tag, if a receive of `tag` and `mask` matches it.
    #[inline(always)]
    pub fn look(&self, tag: u64, mask: u64) -> Option<(u64, &Message)> {
        self.0.first()?.matching(tag, mask)
    }

    /// Removes the first message, if a receive of `tag` and `mask` matches it, it has at most `SMALL` bytes, nobody waits for
    /// its match and `take` takes its bytes, which must not use the FIFO. Returns its tag and length.
    #[inline(always)]
    pub fn take_small(
        &self,
        tag: u64,
        mask: u64,
        take: impl FnOnce(Payload<'_>) -> bool,
    ) -> Option<(u64, usize)> {
        let (own, message) = self.look(tag, mask)?;
        let Message::Inline(bytes) = message else {
            return None;
        };
        let bytes = bytes.bytes();
        if bytes.len() > SMALL || !take(bytes.into()) {
            return None;
        }
        let len = bytes.len();
        self.0.pop();
        Some((own, len))
    }

    /// As `take_small`, of any message. Returns its synchronous sender too.
    #[inline(always)]
    pub fn take(
        &self,
        tag: u64,
        mask: u64,
        take: impl FnOnce(&[u8]) -> bool,
    ) -> Option<(u64, usize, Option<RequestName>)> {
        let slot = self.0.first()?;
        let (own, message) = slot.matching(tag, mask)?;
        let bytes = message.bytes()?;
        let len = bytes.len();
        if !take(bytes) {
            return None;
        }
        // SAFETY: nothing above borrows it any more.
        let sync = unsafe { &mut *slot.at() }.give_back();
        self.0.pop();
        Some((own, len, sync))
    }

    /// Removes the first message, with its tag.
    pub fn pop(&self) -> Option<(u64, Message)> {
        let slot = self.0.first()?;
        // SAFETY: written by `push`, and the slot is free from here on.
        let message = unsafe { slot.at().read() };
        self.0.pop();
        Some((slot.tag.get(), message))
    }
}

impl Drop for UnexpectedFifo {
    fn drop(&mut self) {
        while self.pop().is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::id::RequestId;

    const LENGTHS: [usize; 8] = [0, 1, SMALL, SMALL + 1, 32, 33, 1000, 10_000];

    fn push(fifo: &UnexpectedFifo, tag: u64, bytes: &[u8], sync: Option<RequestName>) {
        assert!(!fifo.is_full() || fifo.grow());
        fifo.push(tag, &Buffers::new(&[64, 1024]), bytes, sync);
    }

    fn sender(n: u64) -> RequestName {
        RequestName {
            id: RequestId(n),
            ..RequestName::default()
        }
    }

    #[test]
    fn the_first_message_is_taken_if_the_receive_matches_and_takes_it() {
        let fifo = UnexpectedFifo::new();
        let sent = |n: usize| vec![n as u8; LENGTHS[n]];
        let tag = |n: usize| 0x10 + n as u64;
        for (n, _) in LENGTHS.iter().enumerate() {
            push(&fifo, tag(n), &sent(n), None);
            push(&fifo, tag(n), &sent(n), Some(sender(n as u64)));
        }
        for (n, len) in LENGTHS.into_iter().enumerate() {
            for sync in [None, Some(sender(n as u64))] {
                let looked = |tag, mask| {
                    let (tag, message) = fifo.look(tag, mask)?;
                    Some((tag, message.total()))
                };
                assert_eq!(looked(tag(n) + 1, !0), None, "another tag");
                assert_eq!(looked(0x7000, 0xf000_0000), Some((tag(n), len)));
                assert!(fifo.take(tag(n) + 1, !0, |_| unreachable!()).is_none());
                assert!(fifo.take(tag(n), !0, |_| false).is_none(), "not taken");
                let small = fifo.take_small(tag(n), !0, |bytes| bytes.bytes() == sent(n));
                if sync.is_none() && len <= SMALL {
                    assert_eq!(small, Some((tag(n), len)));
                    continue;
                }
                assert_eq!(small, None);
                let taken = fifo.take(0x7000, 0xf000_0000, |bytes| bytes == sent(n));
                assert_eq!(taken, Some((tag(n), len, sync)));
            }
        }
        assert!(fifo.is_empty() && fifo.pop().is_none());
    }

    #[test]
    fn messages_leave_with_their_bytes_and_what_is_left_is_dropped() {
        let buffers = Buffers::new(&[64]);
        let pooled = |fifo: &UnexpectedFifo| fifo.push(1, &buffers, [7; 64].as_slice(), None);
        let fifo = UnexpectedFifo::new();
        pooled(&fifo);
        push(&fifo, 2, &[2; 5], None);
        push(&fifo, 3, &[3; 50], Some(sender(4)));
        let (tag, message) = fifo.pop().unwrap();
        assert_eq!((tag, message.here()), (1, Some((&[7; 64][..], None))));
        let at = message.here().unwrap().0.as_ptr();
        drop(message);
        let (tag, message) = fifo.pop().unwrap();
        assert_eq!((tag, message.here()), (2, Some((&[2; 5][..], None))));
        pooled(&fifo);
        drop(fifo);
        assert_eq!(buffers.copy(&[1]).as_ptr(), at, "its buffer is free again");
    }

    #[test]
    fn many_messages_have_room_and_leave_none() {
        let fifo = UnexpectedFifo::new();
        for round in 0..2 {
            for n in 0..MOST as u64 {
                assert!(!fifo.is_full() || fifo.grow(), "{round}, {n}");
                push(&fifo, n, &[], None);
            }
            assert!(fifo.is_full() && !fifo.grow());
            for n in 0..MOST as u64 {
                assert!(fifo.pop().is_some_and(|(tag, _)| tag == n));
            }
            fifo.shrink();
            assert!(fifo.is_empty() && !fifo.0.is_grown());
        }
    }
}
