//! Ranges that memory events have told of, until the cache takes them. Nothing here allocates, and whoever
//! waits for the lock does so for a few instructions.
#![forbid(unsafe_code)]

use crate::sys::lock::Mutex;
use crate::ucs::sync::{AtomicUsize, Ordering};

/// Ranges that are kept apart; more become one that has them all.
const ROOM: usize = 64;

#[derive(Default)]
pub struct Pending {
    /// Held for a few instructions, and by no one who could be in the allocator.
    ranges: Mutex<Ranges>,
    /// How many there are, to be looked at without the lock.
    count: AtomicUsize,
    bytes: AtomicUsize,
}

struct Ranges {
    count: usize,
    all: [(usize, usize); ROOM],
}

impl Default for Ranges {
    fn default() -> Ranges {
        Ranges {
            count: 0,
            all: [(0, 0); ROOM],
        }
    }
}

impl Pending {
    /// Adds a range, from its first byte to behind its last.
    pub fn note(&self, start: usize, end: usize) {
        let mut ranges = self.ranges.lock();
        if ranges.count == ROOM {
            let all = ranges.all.iter().fold((start, end), |(from, to), range| {
                (from.min(range.0), to.max(range.1))
            });
            ranges.all[0] = all;
            ranges.count = 1;
        } else {
            let next = ranges.count;
            ranges.all[next] = (start, end);
            ranges.count += 1;
        }
        self.count.store(ranges.count, Ordering::Release);
        drop(ranges);
        self.bytes.fetch_add(end - start, Ordering::Relaxed);
    }

    /// Takes the first range.
    pub fn take(&self) -> Option<(usize, usize)> {
        if self.count.load(Ordering::Acquire) == 0 {
            return None;
        }
        let taken = self.take_locked();
        if self.count.load(Ordering::Relaxed) == 0 {
            self.bytes.store(0, Ordering::Relaxed);
        }
        taken
    }

    fn take_locked(&self) -> Option<(usize, usize)> {
        let mut ranges = self.ranges.lock();
        if ranges.count == 0 {
            return None;
        }
        let (first, count) = (ranges.all[0], ranges.count);
        ranges.all.copy_within(1..count, 0);
        ranges.count -= 1;
        self.count.store(ranges.count, Ordering::Release);
        Some(first)
    }

    /// Bytes of the ranges that wait.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_come_in_order_and_none_is_lost() {
        let pending = Pending::default();
        assert_eq!(pending.take(), None);
        for i in 1..=ROOM {
            pending.note(i * 100, i * 100 + 10);
        }
        assert_eq!(pending.bytes(), ROOM * 10);
        assert_eq!(pending.take(), Some((100, 110)));
        pending.note(7, 8);
        pending.note(100_000, 100_001);
        assert_eq!(
            pending.take(),
            Some((7, 100_001)),
            "one too many joins them all"
        );
        assert_eq!((pending.take(), pending.bytes()), (None, 0));
    }
}
