//! What the lowest Rust that this library is built with lacks of `VecDeque`.
#![forbid(unsafe_code)]

use std::collections::VecDeque;

/// Removes the first element if it is such a one.
#[inline]
pub fn pop_front_if<T>(deque: &mut VecDeque<T>, is_it: impl FnOnce(&T) -> bool) -> Option<T> {
    if deque.front().is_some_and(is_it) {
        deque.pop_front()
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_element_is_asked() {
        let mut deque = VecDeque::from([1, 2]);
        assert_eq!(pop_front_if(&mut deque, |n| *n == 2), None);
        assert_eq!(pop_front_if(&mut deque, |n| *n == 1), Some(1));
        assert_eq!(pop_front_if(&mut deque, |n| *n == 2), Some(2));
        assert_eq!(pop_front_if(&mut deque, |_| true), None);
    }
}
