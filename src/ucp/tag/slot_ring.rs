//! `SlotRing`: a FIFO ring buffer whose slots are filled and read in place, member by member. A slot that is written by
//! narrow stores and read back by one wide load would stall: store forwarding fails.
//!
//! A ring that is full can be made longer, and a long one that is empty as short as it was at first.

use core::cell::{Cell, RefCell};
use core::ptr::NonNull;

pub struct Slot<P> {
    occupied: Cell<bool>,
    pub value: P,
    /// The next slot; after the last comes the first.
    next: Cell<NonNull<Slot<P>>>,
}

impl<P> Slot<P> {
    fn next(&self) -> &Slot<P> {
        // SAFETY: another slot of the ring.
        unsafe { self.next.get().as_ref() }
    }
}

pub struct SlotRing<P> {
    /// The oldest occupied slot (any slot when empty).
    first: Cell<NonNull<Slot<P>>>,
    /// The slot that the next `push` fills.
    end: Cell<NonNull<Slot<P>>>,
    /// Own the slots, each never moved or resized. The first has those of a new ring.
    parts: RefCell<Vec<Vec<Slot<P>>>>,
    /// There are others.
    grown: Cell<bool>,
}

/// Some free slots, at least one.
fn new_slots<P: Default>(count: usize) -> Vec<Slot<P>> {
    let slot = || Slot {
        occupied: Cell::new(false),
        value: P::default(),
        next: Cell::new(NonNull::dangling()),
    };
    (0..count.max(1)).map(|_| slot()).collect()
}

/// Links slots in a row, of which the last is followed by `behind`. Returns the first.
fn link<P>(slots: &[Slot<P>], behind: NonNull<Slot<P>>) -> NonNull<Slot<P>> {
    let mut next = behind;
    for slot in slots.iter().rev() {
        slot.next.set(next);
        next = NonNull::from(slot);
    }
    next
}

/// Links slots in a ring. Returns the first.
fn link_ring<P>(slots: &[Slot<P>]) -> NonNull<Slot<P>> {
    let first = slots.first().map_or(NonNull::dangling(), NonNull::from);
    link(slots, first)
}

impl<P: Default> SlotRing<P> {
    /// A ring of `count` slots, at least one.
    pub fn new(count: usize) -> SlotRing<P> {
        let slots = new_slots(count);
        let first = link_ring(&slots);
        SlotRing {
            first: Cell::new(first),
            end: Cell::new(first),
            parts: RefCell::new(vec![slots]),
            grown: Cell::new(false),
        }
    }

    /// Doubles a ring that is full, unless it would have more than `most` slots then. Returns whether there is room.
    #[cold]
    pub fn grow(&self, most: usize) -> bool {
        let mut parts = self.parts.borrow_mut();
        let count: usize = parts.iter().map(Vec::len).sum();
        if count * 2 > most || !self.is_full() {
            return !self.is_full();
        }
        // The slot in front of the oldest is the last that was filled.
        let oldest = self.head();
        let mut last = oldest;
        while !core::ptr::eq(last.next(), oldest) {
            last = last.next();
        }
        let slots = new_slots(count);
        let first = link(&slots, NonNull::from(oldest));
        last.next.set(first);
        self.end.set(first);
        parts.push(slots);
        self.grown.set(true);
        true
    }
}

impl<P> SlotRing<P> {
    #[inline(always)]
    fn head(&self) -> &Slot<P> {
        // SAFETY: one of the slots, which live at their addresses as long as the ring.
        unsafe { self.first.get().as_ref() }
    }

    /// The oldest value.
    #[inline(always)]
    pub fn first(&self) -> Option<&P> {
        let slot = self.head();
        slot.occupied.get().then_some(&slot.value)
    }

    /// Removes the oldest value. The ring must not be empty. The slot is not written before the next `push`.
    #[inline(always)]
    pub fn pop(&self) {
        let slot = self.head();
        debug_assert!(slot.occupied.get());
        slot.occupied.set(false);
        self.first.set(slot.next.get());
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        !self.head().occupied.get()
    }

    #[inline(always)]
    pub fn is_full(&self) -> bool {
        // SAFETY: as in `head`.
        unsafe { self.end.get().as_ref() }.occupied.get()
    }

    /// Whether there is a value behind the oldest.
    #[inline(always)]
    pub fn has_second(&self) -> bool {
        let first = self.head();
        first.occupied.get() && self.end.get() != first.next.get()
    }

    /// Appends a value, which `fill` writes. The ring must not be full.
    #[inline(always)]
    pub fn push(&self, fill: impl FnOnce(&P)) {
        let slot = self.free();
        fill(&slot.value);
        self.occupy(slot);
    }

    /// The slot that `occupy` appends, to be filled before. The ring must not be full.
    #[inline(always)]
    pub fn free(&self) -> &Slot<P> {
        debug_assert!(!self.is_full());
        // SAFETY: as in `head`.
        unsafe { self.end.get().as_ref() }
    }

    /// Appends the slot of `free`.
    #[inline(always)]
    pub fn occupy(&self, slot: &Slot<P>) {
        slot.occupied.set(true);
        self.end.set(slot.next.get());
    }

    /// Whether it has more slots than a new one.
    #[inline(always)]
    pub fn is_grown(&self) -> bool {
        self.grown.get()
    }

    /// Gives the slots back that an empty ring has grown by.
    #[cold]
    pub fn shrink(&self) {
        debug_assert!(self.is_empty());
        let mut parts = self.parts.borrow_mut();
        parts.truncate(1);
        self.grown.set(false);
        let first = link_ring(&parts[0]);
        self.first.set(first);
        self.end.set(first);
    }

    /// All values, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &P> {
        let start = self.head();
        let mut slot = Some(start);
        core::iter::from_fn(move || {
            let here = slot.filter(|slot| slot.occupied.get())?;
            let next = here.next();
            slot = (!core::ptr::eq(next, start)).then_some(next);
            Some(&here.value)
        })
    }

    /// Removes all values but the oldest, in order. `each` must not call the ring.
    pub fn pop_after_first(&self, mut each: impl FnMut(&P)) {
        let first = self.head();
        let mut slot = first.next();
        if self.is_empty() {
            return;
        }
        self.end.set(first.next.get());
        // In a full ring, the first slot follows the last.
        while !core::ptr::eq(slot, first) && slot.occupied.replace(false) {
            each(&slot.value);
            slot = slot.next();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(ring: &SlotRing<Cell<usize>>) -> Vec<usize> {
        ring.iter().map(Cell::get).collect()
    }

    #[test]
    fn values_leave_in_order_and_slots_are_reused() {
        let ring = SlotRing::<Cell<usize>>::new(3);
        for number in 0..10 {
            assert!(ring.is_empty() && ring.first().is_none());
            (0..3).for_each(|n| ring.push(|slot| slot.set(number + n)));
            assert!(ring.is_full());
            assert_eq!(all(&ring), [number, number + 1, number + 2]);
            for n in 0..3 {
                assert_eq!(ring.first().unwrap().get(), number + n);
                ring.pop();
            }
            ring.push(|slot| slot.set(7));
            assert_eq!(all(&ring), [7]);
            ring.pop();
        }
    }

    #[test]
    fn a_full_ring_grows_and_an_empty_one_shrinks() {
        let ring = SlotRing::<Cell<usize>>::new(4);
        for start in 0..5 {
            // The oldest stands in any slot.
            for _ in 0..start {
                ring.push(|_| ());
                ring.pop();
            }
            assert!(ring.grow(8) && !ring.is_grown(), "there is room");
            for n in 0..100 {
                if ring.is_full() {
                    assert!(!ring.grow(ring.iter().count() * 2 - 1));
                    assert!(ring.grow(128) && ring.is_grown());
                }
                ring.push(|slot| slot.set(n));
                assert!(all(&ring).into_iter().eq(0..=n));
            }
            for n in 0..100 {
                assert_eq!(ring.first().unwrap().get(), n);
                ring.pop();
                assert_eq!(ring.iter().count(), 99 - n);
            }
            ring.shrink();
            assert!(!ring.is_grown() && ring.is_empty());
        }
        (0..4).for_each(|n| ring.push(|slot| slot.set(n)));
        assert!(ring.is_full() && !ring.grow(4));
    }

    #[test]
    fn pop_after_first_removes_the_others_in_order() {
        let ring = SlotRing::<Cell<usize>>::new(4);
        for count in 0..=4 {
            (0..count).for_each(|n| ring.push(|slot| slot.set(n)));
            assert_eq!(ring.has_second(), count > 1);
            let mut behind = Vec::new();
            ring.pop_after_first(|slot| behind.push(slot.get()));
            assert!(behind.into_iter().eq(1..count.max(1)));
            assert_eq!(all(&ring).len(), count.min(1));
            if count > 0 {
                ring.push(|slot| slot.set(9));
                assert_eq!(all(&ring), [0, 9]);
                ring.pop();
                ring.pop();
            }
            assert!(ring.is_empty());
        }
    }
}
