//! `SlotRing`: a FIFO ring buffer whose slots are filled and read in place, member by member. A slot that is written by
//! narrow stores and read back by one wide load would stall: store forwarding fails.

use core::cell::Cell;
use core::ptr::NonNull;

struct Slot<P> {
    occupied: Cell<bool>,
    value: P,
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
    /// Owns the slots; never moved or resized.
    _slots: Vec<Slot<P>>,
}

impl<P: Default> SlotRing<P> {
    /// A ring of `count` slots, at least one.
    pub fn new(count: usize) -> SlotRing<P> {
        let slot = || Slot {
            occupied: Cell::new(false),
            value: P::default(),
            next: Cell::new(NonNull::dangling()),
        };
        let slots: Vec<Slot<P>> = (0..count.max(1)).map(|_| slot()).collect();
        let mut first = NonNull::dangling();
        for slot in slots.iter().rev() {
            slot.next.set(first);
            first = NonNull::from(slot);
        }
        if let Some(last) = slots.last() {
            last.next.set(first);
        }
        SlotRing {
            first: Cell::new(first),
            end: Cell::new(first),
            _slots: slots,
        }
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
        debug_assert!(!self.is_full());
        // SAFETY: as in `head`.
        let slot = unsafe { self.end.get().as_ref() };
        fill(&slot.value);
        slot.occupied.set(true);
        self.end.set(slot.next.get());
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
