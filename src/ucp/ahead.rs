//! `Ahead`: which bytes of a message have come before those in front of them.
//!
//! Fragments that come by several connections come in any order. Neighbours are one range, so an honest sender takes a few
//! entries for each connection. One that leaves more holes than `MOST` is not listened to.
#![forbid(unsafe_code)]

use core::ops::Range;
use std::collections::BTreeMap;

/// Most ranges of one message.
const MOST: usize = 1024;

/// Ranges without overlap, none empty, none next to another: the end of each by its start.
#[derive(Debug, Default)]
pub struct Ahead(BTreeMap<usize, usize>);

impl Ahead {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a range of a message of which the first `received` bytes are here. Returns how many are after that; `None`,
    /// and nothing changes, when a byte of it has come before, it is empty, or there are too many.
    pub fn add(&mut self, received: usize, range: Range<usize>) -> Option<usize> {
        let Range { mut start, mut end } = range;
        let before = self.0.range(..end).next_back();
        let before = before.map(|(start, end)| (*start, *end));
        let overlaps = start < received || before.is_some_and(|(_, before)| before > start);
        if start >= end || overlaps {
            return None;
        }
        if let Some(after) = self.0.remove(&end) {
            end = after;
        }
        if start == received {
            return Some(end);
        }
        if let Some((first, reached)) = before
            && reached == start
        {
            start = first;
        } else if self.0.len() >= MOST {
            return None;
        }
        self.0.insert(start, end);
        Some(received)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ucs::test_rng::TestRng;

    /// Against a list of bytes: fragments in any order, some of them twice or across others.
    #[test]
    fn bytes_are_counted_once_in_any_order() {
        let rng = TestRng::new(5);
        for _ in 0..300 {
            let total = 1 + rng.below(200);
            let mut here = vec![false; total];
            let (mut ahead, mut received) = (Ahead::default(), 0);
            while received < total {
                let start = rng.below(total);
                let range = start..(start + rng.below(20)).min(total);
                let is_new = !range.is_empty() && !here[range.clone()].contains(&true);
                let reached = ahead.add(received, range.clone());
                assert_eq!(reached.is_some(), is_new, "{range:?} {ahead:?}");
                if let Some(reached) = reached {
                    here[range].fill(true);
                    received = reached;
                }
                let first_hole = here.iter().position(|byte| !byte).unwrap_or(total);
                assert_eq!(received, first_hole);
                assert_eq!(ahead.is_empty(), !here[first_hole..].contains(&true));
            }
        }
    }

    #[test]
    fn neighbours_are_one_range_and_holes_are_limited() {
        let mut ahead = Ahead::default();
        for n in (1..5000).rev() {
            assert_eq!(ahead.add(0, n..n + 1), Some(0));
        }
        assert_eq!(ahead.0.len(), 1);
        assert_eq!(ahead.add(0, 0..1), Some(5000));
        assert!(ahead.is_empty());
        for n in 0..MOST {
            assert_eq!(ahead.add(0, 2 * n + 1..2 * n + 2), Some(0));
        }
        assert_eq!(ahead.add(0, 2 * MOST + 1..2 * MOST + 2), None);
        assert_eq!(ahead.add(0, 2..3), Some(0));
        assert_eq!(ahead.add(0, 0..1), Some(4));
        assert_eq!(ahead.add(0, usize::MAX..usize::MAX), None);
    }
}
