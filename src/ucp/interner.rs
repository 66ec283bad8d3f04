//! `Interner`: numbers values in the order of their first occurrence, so that each is reported once.
#![forbid(unsafe_code)]

use core::cell::RefCell;

/// The values seen so far, by number.
pub struct Interner<T>(RefCell<Vec<T>>);

impl<T> Default for Interner<T> {
    fn default() -> Interner<T> {
        Interner(RefCell::new(Vec::new()))
    }
}

impl<T: PartialEq> Interner<T> {
    /// The number of a new value; `None` for a known one.
    pub fn insert_if_new(&self, value: T) -> Option<usize> {
        let mut known = self.0.borrow_mut();
        if known.contains(&value) {
            return None;
        }
        known.push(value);
        Some(known.len() - 1)
    }
}
