//! `Row`: a number of places one behind the other, of which a part is taken: what is put behind the others is the last to
//! be first. A place is filled and read where it stands, part by part: what is written in parts and read as a whole waits.

use core::cell::Cell;
use core::ptr::NonNull;

struct Place<P> {
    taken: Cell<bool>,
    what: P,
    /// The place behind this one; the first is behind the last.
    next: Cell<NonNull<Place<P>>>,
}

impl<P> Place<P> {
    fn next(&self) -> &Place<P> {
        // SAFETY: another place of the row.
        unsafe { self.next.get().as_ref() }
    }
}

pub struct Row<P> {
    /// The first place, if it is taken, and the first one that is not, if there is any.
    first: Cell<NonNull<Place<P>>>,
    end: Cell<NonNull<Place<P>>>,
    /// They stay where they are.
    _places: Vec<Place<P>>,
}

impl<P: Default> Row<P> {
    /// A row of so many places, one at least.
    pub fn new(count: usize) -> Row<P> {
        let place = || Place {
            taken: Cell::new(false),
            what: P::default(),
            next: Cell::new(NonNull::dangling()),
        };
        let places: Vec<Place<P>> = (0..count.max(1)).map(|_| place()).collect();
        let mut first = NonNull::dangling();
        for place in places.iter().rev() {
            place.next.set(first);
            first = NonNull::from(place);
        }
        if let Some(last) = places.last() {
            last.next.set(first);
        }
        Row {
            first: Cell::new(first),
            end: Cell::new(first),
            _places: places,
        }
    }
}

impl<P> Row<P> {
    #[inline(always)]
    fn head(&self) -> &Place<P> {
        // SAFETY: one of the places, which stay where they are as long as the row.
        unsafe { self.first.get().as_ref() }
    }

    /// What stands first.
    #[inline(always)]
    pub fn first(&self) -> Option<&P> {
        let place = self.head();
        place.taken.get().then_some(&place.what)
    }

    /// Takes the first off, where there is one. Its place is not used again before the next `push`.
    #[inline(always)]
    pub fn step(&self) {
        let place = self.head();
        debug_assert!(place.taken.get());
        place.taken.set(false);
        self.first.set(place.next.get());
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        !self.head().taken.get()
    }

    #[inline(always)]
    pub fn is_full(&self) -> bool {
        // SAFETY: as in `head`.
        unsafe { self.end.get().as_ref() }.taken.get()
    }

    /// Has `fill` fill the place behind all others. Not where it is full.
    #[inline(always)]
    pub fn push(&self, fill: impl FnOnce(&P)) {
        debug_assert!(!self.is_full());
        // SAFETY: as in `head`.
        let place = unsafe { self.end.get().as_ref() };
        fill(&place.what);
        place.taken.set(true);
        self.end.set(place.next.get());
    }

    /// All that stand here, the first one first.
    pub fn iter(&self) -> impl Iterator<Item = &P> {
        let start = self.head();
        let mut place = Some(start);
        core::iter::from_fn(move || {
            let here = place.filter(|place| place.taken.get())?;
            let next = here.next();
            place = (!core::ptr::eq(next, start)).then_some(next);
            Some(&here.what)
        })
    }

    /// Takes all but the first off, in their order. `each` does not come back here.
    pub fn keep_first(&self, mut each: impl FnMut(&P)) {
        let first = self.head();
        let mut place = first.next();
        if self.is_empty() {
            return;
        }
        self.end.set(first.next.get());
        // Behind the last of a full row stands the first.
        while !core::ptr::eq(place, first) && place.taken.replace(false) {
            each(&place.what);
            place = place.next();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(row: &Row<Cell<usize>>) -> Vec<usize> {
        row.iter().map(Cell::get).collect()
    }

    #[test]
    fn first_in_is_first_out_and_places_are_used_again() {
        let row = Row::<Cell<usize>>::new(3);
        for number in 0..10 {
            assert!(row.is_empty() && row.first().is_none());
            (0..3).for_each(|n| row.push(|place| place.set(number + n)));
            assert!(row.is_full());
            assert_eq!(all(&row), [number, number + 1, number + 2]);
            for n in 0..3 {
                assert_eq!(row.first().unwrap().get(), number + n);
                row.step();
            }
            row.push(|place| place.set(7));
            assert_eq!(all(&row), [7]);
            row.step();
        }
    }

    #[test]
    fn what_stands_behind_the_first_goes_in_its_order() {
        let row = Row::<Cell<usize>>::new(4);
        for count in 0..=4 {
            (0..count).for_each(|n| row.push(|place| place.set(n)));
            let mut behind = Vec::new();
            row.keep_first(|place| behind.push(place.get()));
            assert!(behind.into_iter().eq(1..count.max(1)));
            assert_eq!(all(&row).len(), count.min(1));
            if count > 0 {
                row.push(|place| place.set(9));
                assert_eq!(all(&row), [0, 9]);
                row.step();
                row.step();
            }
            assert!(row.is_empty());
        }
    }
}
