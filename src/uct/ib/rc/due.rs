//! `DueList`: at which tick each connection of a connector has to be looked at.
//!
//! An interface may have tens of thousands of passive connections, each of which is looked at once in a while: a look costs
//! by those that are due, not by all.
#![forbid(unsafe_code)]

use std::collections::{BTreeSet, HashMap};

/// Connections by number, each with one tick.
#[derive(Default)]
pub struct DueList {
    ticks: HashMap<u32, u64>,
    order: BTreeSet<(u64, u32)>,
}

impl DueList {
    /// The connection is due at `tick`, and at no other.
    pub fn set(&mut self, number: u32, tick: u64) {
        if let Some(before) = self.ticks.insert(number, tick) {
            self.order.remove(&(before, number));
        }
        self.order.insert((tick, number));
    }

    /// The connection is not looked at any more.
    pub fn remove(&mut self, number: u32) {
        if let Some(tick) = self.ticks.remove(&number) {
            self.order.remove(&(tick, number));
        }
    }

    /// Removes those that are due, the earliest first.
    pub fn take(&mut self, now: u64) -> Vec<u32> {
        let later = self.order.split_off(&(now + 1, 0));
        let due = core::mem::replace(&mut self.order, later);
        let number = |(_, number)| {
            self.ticks.remove(&number);
            number
        };
        due.into_iter().map(number).collect()
    }

    /// The next tick at which one is due.
    pub fn next(&self) -> Option<u64> {
        self.order.first().map(|(tick, _)| *tick)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ucs::test_rng::TestRng;

    /// Against a list that is searched.
    #[test]
    fn each_connection_is_due_once_at_its_last_tick() {
        let rng = TestRng::new(11);
        let (mut list, mut plain) = (DueList::default(), HashMap::new());
        let mut now = 0;
        for _ in 0..20_000 {
            let number = rng.below(50) as u32;
            match rng.below(4) {
                0 => {
                    list.remove(number);
                    plain.remove(&number);
                }
                1 => {
                    now += rng.below(3) as u64;
                    let mut due = list.take(now);
                    due.sort_unstable();
                    let mut expected: Vec<u32> = plain
                        .extract_if(|_, tick| *tick <= now)
                        .map(|(n, _)| n)
                        .collect();
                    expected.sort_unstable();
                    assert_eq!(due, expected);
                }
                _ => {
                    let tick = now + 1 + rng.below(20) as u64;
                    list.set(number, tick);
                    plain.insert(number, tick);
                }
            }
            assert_eq!(list.next(), plain.values().min().copied());
        }
    }
}
