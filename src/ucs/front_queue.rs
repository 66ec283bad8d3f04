//! `FrontQueue`: a FIFO whose first element stands in place. A queue that mostly has one element or none allocates nothing.
#![forbid(unsafe_code)]

use std::collections::VecDeque;
use std::{collections::vec_deque, iter::Chain, option};

pub struct FrontQueue<T> {
    /// The oldest element; `None` when the queue is empty.
    front: Option<T>,
    /// The others.
    behind: VecDeque<T>,
}

impl<T> Default for FrontQueue<T> {
    fn default() -> FrontQueue<T> {
        FrontQueue::new()
    }
}

impl<T> FrontQueue<T> {
    pub const fn new() -> FrontQueue<T> {
        FrontQueue {
            front: None,
            behind: VecDeque::new(),
        }
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.front.is_none()
    }

    pub fn len(&self) -> usize {
        usize::from(self.front.is_some()) + self.behind.len()
    }

    /// Elements that there is room for.
    pub fn capacity(&self) -> usize {
        self.behind.capacity()
    }

    #[inline]
    pub fn push_back(&mut self, element: T) {
        match self.front {
            None => self.front = Some(element),
            Some(_) => self.behind.push_back(element),
        }
    }

    #[inline]
    pub fn push_front(&mut self, element: T) {
        if let Some(second) = self.front.replace(element) {
            self.behind.push_front(second);
        }
    }

    #[inline]
    pub fn pop_front(&mut self) -> Option<T> {
        let front = self.front.take();
        if !self.behind.is_empty() {
            self.front = self.behind.pop_front();
        }
        front
    }

    /// The elements, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.front.iter().chain(&self.behind)
    }
}

impl<T> IntoIterator for FrontQueue<T> {
    type Item = T;
    type IntoIter = Chain<option::IntoIter<T>, vec_deque::IntoIter<T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.front.into_iter().chain(self.behind)
    }
}

impl<T> Extend<T> for FrontQueue<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, more: I) {
        more.into_iter().for_each(|element| self.push_back(element));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ucs::test_rng::TestRng;

    #[test]
    fn it_is_a_deque() {
        for seed in 1..20u64 {
            let rng = TestRng::new(0x1234_5678_9abc_def1_u64.wrapping_mul(seed));
            let (mut queue, mut model) = (FrontQueue::new(), VecDeque::new());
            for n in 0..200 {
                match rng.below(5) {
                    0 | 1 => {
                        queue.push_back(n);
                        model.push_back(n);
                    }
                    2 => {
                        queue.push_front(n);
                        model.push_front(n);
                    }
                    _ => assert_eq!(queue.pop_front(), model.pop_front()),
                }
                assert_eq!(
                    (queue.len(), queue.is_empty()),
                    (model.len(), model.is_empty())
                );
                assert!(queue.iter().eq(&model));
            }
            queue.extend([7, 8]);
            model.extend([7, 8]);
            assert!(queue.into_iter().eq(model));
        }
    }

    #[test]
    fn one_element_at_a_time_allocates_nothing() {
        let mut queue = FrontQueue::new();
        for n in 0..3 {
            queue.push_back(n);
            assert_eq!(queue.pop_front(), Some(n));
            queue.push_front(n);
            assert_eq!(queue.pop_front(), Some(n));
        }
        assert_eq!(queue.capacity(), 0);
    }
}
