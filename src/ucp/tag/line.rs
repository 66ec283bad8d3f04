//! `Line`: receives into contiguous buffers that were posted while nothing else waited, in their order: what most
//! receives are. Each has its `Op::TagLine`; what a message is compared with stands here, side by side.

use super::row::Row;
use crate::ucp::request::Request;
use core::cell::Cell;
use core::ptr::{NonNull, null_mut};

/// Most receives in line.
const PLACES: usize = 64;

/// A receive into `room` bytes at `buffer`; of `tag` only the bits of `mask`.
pub struct Receive {
    pub request: NonNull<Request>,
    pub tag: u64,
    pub mask: u64,
    pub buffer: *mut u8,
    pub room: usize,
}

/// Its parts, where it stands.
struct Place {
    request: Cell<NonNull<Request>>,
    tag: Cell<u64>,
    mask: Cell<u64>,
    buffer: Cell<*mut u8>,
    room: Cell<usize>,
}

impl Default for Place {
    fn default() -> Place {
        Place {
            request: Cell::new(NonNull::dangling()),
            tag: Cell::new(0),
            mask: Cell::new(0),
            buffer: Cell::new(null_mut()),
            room: Cell::new(0),
        }
    }
}

impl Place {
    fn receive(&self) -> Receive {
        Receive {
            request: self.request.get(),
            tag: self.tag.get(),
            mask: self.mask.get(),
            buffer: self.buffer.get(),
            room: self.room.get(),
        }
    }

    #[inline(always)]
    fn is_for(&self, tag: u64) -> bool {
        tag & self.mask.get() == self.tag.get()
    }
}

pub struct Line(Row<Place>);

impl Line {
    pub fn new() -> Line {
        Line(Row::new(PLACES))
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.0.is_full()
    }

    /// Puts a receive at the end of a line that is not full.
    #[inline(always)]
    pub fn push(&self, receive: Receive) {
        self.0.push(|place| {
            place.request.set(receive.request);
            place.tag.set(receive.tag & receive.mask);
            place.mask.set(receive.mask);
            place.buffer.set(receive.buffer);
            place.room.set(receive.room);
        });
    }

    /// Whether a message of `tag` is for the first receive.
    pub fn is_for_first(&self, tag: u64) -> bool {
        self.0.first().is_some_and(|place| place.is_for(tag))
    }

    /// Takes the first receive for a message of `tag` and `len` bytes, with its buffer, if it is for it and fits.
    #[inline(always)]
    pub fn take(&self, tag: u64, len: usize) -> Option<(NonNull<Request>, *mut u8)> {
        let place = self.0.first()?;
        if !place.is_for(tag) || len > place.room.get() {
            return None;
        }
        self.0.step();
        Some((place.request.get(), place.buffer.get()))
    }

    /// Takes the first receive, whatever comes.
    pub fn pop(&self) -> Option<Receive> {
        let receive = self.0.first()?.receive();
        self.0.step();
        Some(receive)
    }

    /// Takes those behind the first, in their order. `each` does not come back here.
    pub fn pop_behind_first(&self, mut each: impl FnMut(Receive)) {
        self.0.keep_first(|place| each(place.receive()));
    }

    /// Whether `request` is the first.
    pub fn begins_with(&self, request: NonNull<Request>) -> bool {
        self.0
            .first()
            .is_some_and(|place| place.request.get() == request)
    }

    /// The receive of `request`, where it stands here.
    pub fn find(&self, request: NonNull<Request>) -> Option<Receive> {
        let mut all = self.0.iter();
        all.find(|place| place.request.get() == request)
            .map(Place::receive)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receive(number: usize, tag: u64) -> Receive {
        Receive {
            request: NonNull::new(core::ptr::without_provenance_mut(16 * (number + 1))).unwrap(),
            tag,
            mask: 0xff,
            buffer: core::ptr::without_provenance_mut(number),
            room: 8,
        }
    }

    #[test]
    fn the_first_receive_is_taken_by_what_is_for_it_and_fits() {
        let line = Line::new();
        line.push(receive(1, 0x1_05));
        line.push(receive(2, 0x06));
        assert_eq!(line.take(6, 8), None, "the first is of another tag");
        assert_eq!(line.take(5, 9), None, "it does not fit");
        assert!(line.begins_with(receive(1, 0).request));
        let (request, buffer) = line.take(0x3_05, 8).unwrap();
        assert_eq!(request, receive(1, 0).request);
        assert_eq!(buffer.addr(), 1, "only the bits of the mask are compared");
        assert!(line.is_for_first(6) && !line.is_for_first(5));
        assert_eq!(line.pop().unwrap().buffer.addr(), 2);
        assert!(line.pop().is_none() && !line.is_for_first(6));
    }

    #[test]
    fn what_stands_behind_the_first_is_found_until_it_goes() {
        let line = Line::new();
        (0..PLACES).for_each(|number| line.push(receive(number, 1)));
        assert!(line.is_full());
        let last = receive(PLACES - 1, 1).request;
        assert_eq!(line.find(last).map(|r| r.room), Some(8));
        let mut order = Vec::new();
        line.pop_behind_first(|receive| order.push(receive.buffer.addr()));
        assert!(order.into_iter().eq(1..PLACES));
        assert!(line.find(last).is_none());
        assert!(line.begins_with(receive(0, 1).request));
    }
}
