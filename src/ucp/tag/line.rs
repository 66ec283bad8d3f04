//! `Line`: receives into contiguous buffers that were posted while nothing else waited, in their order: what most
//! receives are. Each has its `Op::TagLine`; what a message is compared with stands here, side by side.

use crate::ucp::request::Request;
use core::cell::Cell;
use core::ptr::NonNull;

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

/// Where one stands. Each part is written and read by itself: what is written in parts and read as a whole waits.
struct Place {
    /// `None` where nobody stands.
    request: Cell<Option<NonNull<Request>>>,
    tag: Cell<u64>,
    mask: Cell<u64>,
    buffer: Cell<*mut u8>,
    room: Cell<usize>,
    /// The place behind this one; the first is behind the last.
    next: Cell<NonNull<Place>>,
}

impl Place {
    fn receive(&self) -> Option<Receive> {
        Some(Receive {
            request: self.request.get()?,
            tag: self.tag.get(),
            mask: self.mask.get(),
            buffer: self.buffer.get(),
            room: self.room.get(),
        })
    }

    fn next(&self) -> &Place {
        // SAFETY: another place of the line.
        unsafe { self.next.get().as_ref() }
    }
}

pub struct Line {
    /// Where the first receive stands, if there is one, and where the next one is going to.
    first: Cell<NonNull<Place>>,
    end: Cell<NonNull<Place>>,
    /// They stay where they are.
    _places: Vec<Place>,
}

impl Line {
    pub fn new() -> Line {
        let empty = || Place {
            request: Cell::new(None),
            tag: Cell::new(0),
            mask: Cell::new(0),
            buffer: Cell::new(core::ptr::null_mut()),
            room: Cell::new(0),
            next: Cell::new(NonNull::dangling()),
        };
        let places: Vec<Place> = (0..PLACES).map(|_| empty()).collect();
        let mut first = NonNull::dangling();
        for place in places.iter().rev() {
            place.next.set(first);
            first = NonNull::from(place);
        }
        if let Some(last) = places.last() {
            last.next.set(first);
        }
        Line {
            first: Cell::new(first),
            end: Cell::new(first),
            _places: places,
        }
    }

    #[inline(always)]
    fn first(&self) -> &Place {
        // SAFETY: one of the places, which stay where they are as long as the line.
        unsafe { self.first.get().as_ref() }
    }

    #[inline(always)]
    fn end(&self) -> &Place {
        // SAFETY: as in `first`.
        unsafe { self.end.get().as_ref() }
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.first().request.get().is_none()
    }

    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.end().request.get().is_some()
    }

    /// Takes the first receive off.
    #[inline(always)]
    fn step(&self) {
        let place = self.first();
        place.request.set(None);
        self.first.set(place.next.get());
    }

    /// Puts a receive at the end of a line that is not full.
    #[inline(always)]
    pub fn push(&self, receive: Receive) {
        debug_assert!(!self.is_full());
        let place = self.end();
        place.request.set(Some(receive.request));
        place.tag.set(receive.tag & receive.mask);
        place.mask.set(receive.mask);
        place.buffer.set(receive.buffer);
        place.room.set(receive.room);
        self.end.set(place.next.get());
    }

    /// Whether a message of `tag` is for the first receive.
    #[inline(always)]
    pub fn is_for_first(&self, tag: u64) -> bool {
        let place = self.first();
        !self.is_empty() && tag & place.mask.get() == place.tag.get()
    }

    /// Takes the first receive for a message of `tag` and `len` bytes, with its buffer, if it is for it and fits.
    #[inline(always)]
    pub fn take(&self, tag: u64, len: usize) -> Option<(NonNull<Request>, *mut u8)> {
        let place = self.first();
        let request = place.request.get()?;
        if tag & place.mask.get() != place.tag.get() || len > place.room.get() {
            return None;
        }
        self.step();
        Some((request, place.buffer.get()))
    }

    /// Takes the first receive, whatever comes.
    pub fn pop(&self) -> Option<Receive> {
        let receive = self.first().receive()?;
        self.step();
        Some(receive)
    }

    /// Takes those behind the first, in their order. `each` does not come back here.
    pub fn pop_behind_first(&self, mut each: impl FnMut(Receive)) {
        let (first, mut place) = (self.first(), self.first().next());
        if self.is_empty() {
            return;
        }
        self.end.set(first.next.get());
        // Behind a full line's last the first stands again.
        while !core::ptr::eq(place, first)
            && let Some(receive) = place.receive()
        {
            place.request.set(None);
            each(receive);
            place = place.next();
        }
    }

    /// Whether `request` is the first.
    pub fn begins_with(&self, request: NonNull<Request>) -> bool {
        self.first().request.get() == Some(request)
    }

    /// The receive of `request`, where it stands here.
    pub fn find(&self, request: NonNull<Request>) -> Option<Receive> {
        core::iter::successors(Some(self.first()), |place| Some(place.next()))
            .take(PLACES)
            .map_while(Place::receive)
            .find(|receive| receive.request == request)
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
    fn first_is_taken_first_and_places_are_used_again() {
        let line = Line::new();
        for number in 0..3 * PLACES {
            assert!(line.is_empty());
            line.push(receive(number, 0x1_05));
            line.push(receive(number + 1, 0x06));
            assert_eq!(line.take(6, 8), None, "the first is of another tag");
            assert_eq!(line.take(5, 9), None, "it does not fit");
            let taken = line.take(0x3_05, 8).unwrap();
            assert_eq!(
                taken.1.addr(),
                number,
                "only the bits of the mask are compared"
            );
            assert!(line.is_for_first(6));
            assert_eq!(line.pop().unwrap().buffer.addr(), number + 1);
        }
    }

    #[test]
    fn what_stands_behind_the_first_goes_in_its_order() {
        let line = Line::new();
        let rest = || {
            let mut rest = Vec::new();
            line.pop_behind_first(|receive| rest.push(receive.buffer.addr()));
            rest
        };
        assert!(rest().is_empty());
        (0..PLACES).for_each(|number| line.push(receive(number, 1)));
        assert!(line.is_full());
        let second = receive(1, 1).request;
        assert_eq!(line.find(second).map(|r| r.room), Some(8));
        assert!(rest().into_iter().eq(1..PLACES));
        assert!(line.find(second).is_none());
        assert!(line.begins_with(receive(0, 1).request));
        assert!(rest().is_empty());
        line.push(receive(1, 1));
        assert!(rest().into_iter().eq(1..2));
        assert!(line.pop().is_some() && line.pop().is_none());
    }
}
