//! `PostedFifo`: receives into contiguous buffers, in the order posted. A program that posts a few receives and waits for
//! them uses nothing else: each message is compared with the first one, then with a few behind it, without a hash table. A
//! request in the FIFO has `Op::TagPostedFifo`; tag, mask and buffer stand in the slot.
#![forbid(unsafe_code)]

use super::slot_ring::SlotRing;
use crate::ucp::request::Request;
use core::cell::Cell;
use core::ptr::{NonNull, null_mut};

/// Receives in a FIFO at first, and at most. The requests of so many take four times the memory, and are kept too.
const CAPACITY: usize = 64;
const MOST: usize = if cfg!(miri) { 512 } else { 16 << 10 };

/// So many receives are compared with a message one by one: those of a rank for which a few others send, in any order.
const NEAR: usize = 16;

/// Where a message finds its receive.
#[derive(Debug, PartialEq, Eq)]
pub enum Place {
    /// It is the first receive.
    First,
    /// No receive matches.
    Nowhere,
    /// None of the first ones matches, and there are more.
    Further,
}

/// A receive into `capacity` bytes at `buffer`. A message matches if its tag equals `tag` in the bits of `mask`.
pub struct PostedReceive {
    pub request: NonNull<Request>,
    pub tag: u64,
    pub mask: u64,
    pub buffer: *mut u8,
    pub capacity: usize,
}

/// A `PostedReceive` whose members are written and read one by one.
struct Slot {
    request: Cell<NonNull<Request>>,
    tag: Cell<u64>,
    mask: Cell<u64>,
    buffer: Cell<*mut u8>,
    capacity: Cell<usize>,
}

impl Default for Slot {
    fn default() -> Slot {
        Slot {
            request: Cell::new(NonNull::dangling()),
            tag: Cell::new(0),
            mask: Cell::new(0),
            buffer: Cell::new(null_mut()),
            capacity: Cell::new(0),
        }
    }
}

impl Slot {
    #[inline(always)]
    fn fill(&self, receive: &PostedReceive) {
        self.request.set(receive.request);
        self.tag.set(receive.tag & receive.mask);
        self.mask.set(receive.mask);
        self.buffer.set(receive.buffer);
        self.capacity.set(receive.capacity);
    }

    fn receive(&self) -> PostedReceive {
        PostedReceive {
            request: self.request.get(),
            tag: self.tag.get(),
            mask: self.mask.get(),
            buffer: self.buffer.get(),
            capacity: self.capacity.get(),
        }
    }

    #[inline(always)]
    fn matches(&self, tag: u64) -> bool {
        tag & self.mask.get() == self.tag.get()
    }
}

pub struct PostedFifo(SlotRing<Slot>);

impl PostedFifo {
    pub fn new() -> PostedFifo {
        PostedFifo(SlotRing::new(CAPACITY))
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

    /// Appends a receive. The FIFO must not be full.
    #[inline(always)]
    pub fn push(&self, receive: PostedReceive) {
        self.0.push(|slot| slot.fill(&receive));
    }

    /// Makes the oldest receive that a message of `tag` matches the first, if it is one of the first `NEAR`. The others keep their
    /// order.
    pub fn bring_forward(&self, tag: u64) -> Place {
        let mut slots = self.0.iter();
        match slots.by_ref().take(NEAR).position(|slot| slot.matches(tag)) {
            Some(0) => Place::First,
            Some(at) => {
                self.move_to_front(at);
                Place::First
            }
            None if slots.next().is_none() => Place::Nowhere,
            None => Place::Further,
        }
    }

    fn move_to_front(&self, at: usize) {
        let Some(mut carried) = self.0.iter().nth(at).map(Slot::receive) else {
            return;
        };
        for slot in self.0.iter().take(at + 1) {
            let here = slot.receive();
            slot.fill(&carried);
            carried = here;
        }
    }

    /// Removes the first receive and returns it with its buffer, if a message of `tag` and `len` bytes matches and fits.
    #[inline(always)]
    pub fn take(&self, tag: u64, len: usize) -> Option<(NonNull<Request>, *mut u8)> {
        let slot = self.0.first()?;
        if !slot.matches(tag) || len > slot.capacity.get() {
            return None;
        }
        self.0.pop();
        Some((slot.request.get(), slot.buffer.get()))
    }

    /// Removes the first receive.
    pub fn pop(&self) -> Option<PostedReceive> {
        let receive = self.0.first()?.receive();
        self.0.pop();
        Some(receive)
    }

    /// Whether there are receives behind the first.
    #[inline(always)]
    pub fn has_second(&self) -> bool {
        self.0.has_second()
    }

    /// Removes all receives but the first, in order. `each` must not call the FIFO.
    pub fn pop_after_first(&self, mut each: impl FnMut(PostedReceive)) {
        self.0.pop_after_first(|slot| each(slot.receive()));
        if self.0.is_grown()
            && let Some(first) = self.pop()
        {
            self.0.shrink();
            self.push(first);
        }
    }

    /// Whether `request` is the first.
    pub fn is_first(&self, request: NonNull<Request>) -> bool {
        self.0
            .first()
            .is_some_and(|slot| slot.request.get() == request)
    }

    /// The receive of `request`, if it is in the FIFO.
    pub fn find(&self, request: NonNull<Request>) -> Option<PostedReceive> {
        let mut all = self.0.iter();
        all.find(|slot| slot.request.get() == request)
            .map(Slot::receive)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receive(number: usize, tag: u64) -> PostedReceive {
        PostedReceive {
            request: NonNull::new(core::ptr::without_provenance_mut(16 * (number + 1))).unwrap(),
            tag,
            mask: 0xff,
            buffer: core::ptr::without_provenance_mut(number),
            capacity: 8,
        }
    }

    #[test]
    fn take_returns_the_first_receive_if_the_message_matches_and_fits() {
        let fifo = PostedFifo::new();
        fifo.push(receive(1, 0x1_05));
        fifo.push(receive(2, 0x06));
        assert_eq!(fifo.take(6, 8), None, "the first is of another tag");
        assert_eq!(fifo.take(5, 9), None, "it does not fit");
        assert!(fifo.is_first(receive(1, 0).request));
        let (request, buffer) = fifo.take(0x3_05, 8).unwrap();
        assert_eq!(request, receive(1, 0).request);
        assert_eq!(buffer.addr(), 1, "only the bits of the mask are compared");
        assert_eq!(fifo.bring_forward(6), Place::First);
        assert_eq!(fifo.bring_forward(5), Place::Nowhere);
        assert_eq!(fifo.pop().unwrap().buffer.addr(), 2);
        assert!(fifo.pop().is_none());
        assert_eq!(fifo.bring_forward(6), Place::Nowhere);
    }

    #[test]
    fn the_oldest_match_among_the_first_comes_forward_and_the_others_keep_their_order() {
        let fifo = PostedFifo::new();
        for number in 0..NEAR + 1 {
            fifo.push(receive(
                number,
                if number % 5 == 3 { 9 } else { number as u64 },
            ));
        }
        let order = |fifo: &PostedFifo| -> Vec<usize> {
            let slots = fifo.0.iter();
            slots.map(|slot| slot.buffer.get().addr()).collect()
        };
        assert_eq!(fifo.bring_forward(9), Place::First);
        let others = (0..NEAR + 1).filter(|number| *number != 3);
        assert!(order(&fifo).into_iter().eq([3].into_iter().chain(others)));
        let (request, buffer) = fifo.take(9, 8).unwrap();
        assert_eq!((request, buffer.addr()), (receive(3, 9).request, 3));
        assert_eq!(fifo.bring_forward(9), Place::First);
        assert_eq!(fifo.pop().unwrap().buffer.addr(), 8, "the next oldest");
        for other in [NEAR + 1, NEAR + 2] {
            fifo.push(receive(other, 0x77));
        }
        let last = (NEAR + 1) as u64;
        assert_eq!(
            fifo.bring_forward(0x76),
            Place::Further,
            "not compared with all"
        );
        assert_eq!(fifo.pop().unwrap().buffer.addr(), 0);
        assert_eq!(fifo.bring_forward(last), Place::Nowhere);
    }

    #[test]
    fn what_stands_behind_the_first_is_found_until_it_goes() {
        let fifo = PostedFifo::new();
        for number in 0..MOST {
            assert!(!fifo.is_full() || fifo.grow());
            fifo.push(receive(number, 1));
        }
        assert!(fifo.is_full() && !fifo.grow());
        let last = receive(MOST - 1, 1).request;
        assert_eq!(fifo.find(last).map(|r| r.capacity), Some(8));
        let mut order = Vec::new();
        fifo.pop_after_first(|receive| order.push(receive.buffer.addr()));
        assert!(order.into_iter().eq(1..MOST));
        assert!(fifo.find(last).is_none() && !fifo.0.is_grown());
        assert!(fifo.is_first(receive(0, 1).request) && !fifo.has_second());
    }
}
