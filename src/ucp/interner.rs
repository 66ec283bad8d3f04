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
    /// The number of a value, and whether it is new.
    pub fn number(&self, value: T) -> (usize, bool) {
        let mut known = self.0.borrow_mut();
        match known.iter().position(|other| *other == value) {
            Some(number) => (number, false),
            None => {
                known.push(value);
                (known.len() - 1, true)
            }
        }
    }
}
