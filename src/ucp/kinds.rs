//! Kinds of things that are told of once each: who tells numbers them as they come.

use core::cell::RefCell;

/// The kinds that were seen, by number.
pub struct Kinds<T>(RefCell<Vec<T>>);

impl<T> Default for Kinds<T> {
    fn default() -> Kinds<T> {
        Kinds(RefCell::new(Vec::new()))
    }
}

impl<T: PartialEq> Kinds<T> {
    /// The number of a kind that was not seen before; `None` when it was.
    pub fn number_if_new(&self, kind: T) -> Option<usize> {
        let mut known = self.0.borrow_mut();
        if known.contains(&kind) {
            return None;
        }
        known.push(kind);
        Some(known.len() - 1)
    }
}
