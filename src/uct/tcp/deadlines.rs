//! `Deadlines`: the objects of an interface that have deadlines, the earliest first.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;

/// Nothing is to happen.
pub const NEVER: u64 = u64::MAX;

/// Each entry has a number of its own and a time, in nanoseconds of the monotonic clock.
pub struct Deadlines<T> {
    by_time: BTreeMap<(u64, u64), T>,
}

impl<T> Default for Deadlines<T> {
    fn default() -> Deadlines<T> {
        Deadlines {
            by_time: BTreeMap::new(),
        }
    }
}

impl<T> Deadlines<T> {
    /// Moves entry `number` from its time `old` to `new`; each may be `NEVER`.
    pub fn change(&mut self, number: u64, old: u64, new: u64, what: impl FnOnce() -> T) {
        let before = self.by_time.remove(&(old, number));
        if new != NEVER {
            let what = before.unwrap_or_else(what);
            self.by_time.insert((new, number), what);
        }
    }

    /// Removes and returns one whose deadline has passed.
    pub fn take_due(&mut self, now: u64) -> Option<T> {
        let first = self.by_time.first_entry()?;
        (first.key().0 <= now).then(|| first.remove())
    }

    pub fn next(&self) -> Option<u64> {
        self.by_time.first_key_value().map(|(key, _)| key.0)
    }

    pub fn clear(&mut self) {
        self.by_time.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_by_their_time_and_only_then() {
        let mut all = Deadlines::default();
        all.change(1, NEVER, 30, || 'a');
        all.change(2, NEVER, 10, || 'b');
        all.change(3, NEVER, 10, || 'c');
        all.change(1, 30, 20, || unreachable!());
        assert_eq!(all.next(), Some(10));
        assert_eq!(all.take_due(9), None);
        assert_eq!((all.take_due(10), all.take_due(10)), (Some('b'), Some('c')));
        assert_eq!(all.take_due(10), None);
        all.change(1, 20, NEVER, || unreachable!());
        assert_eq!(all.next(), None);
    }
}
