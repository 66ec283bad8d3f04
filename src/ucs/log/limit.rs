//! Rate limit of log lines of one place in the code.
#![forbid(unsafe_code)]

use crate::sys::clock::monotonic_ns;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Lines without limit at the start.
const BURST: u64 = 50;
/// Time between two lines after that, in nanoseconds.
const INTERVAL_NS: u64 = 500_000_000;

/// The limit of one place. Suppressed lines are counted, and their number is written with the next line.
pub struct Limit {
    /// When the place would be idle again if it wrote one line an interval.
    idle_at: AtomicU64,
    left_out: AtomicU32,
}

impl Limit {
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Limit {
        Limit {
            idle_at: AtomicU64::new(0),
            left_out: AtomicU32::new(0),
        }
    }

    /// Whether a line may be written, and how many were left out since the last.
    pub fn allow(&self) -> Option<u32> {
        self.allow_at(monotonic_ns())
    }

    fn allow_at(&self, now: u64) -> Option<u32> {
        // Relaxed: the limit guards no other memory, and one line more or less is no harm.
        let idle_at = self.idle_at.load(Ordering::Relaxed).max(now);
        if idle_at - now >= BURST * INTERVAL_NS {
            self.left_out.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        self.idle_at.store(idle_at + INTERVAL_NS, Ordering::Relaxed);
        Some(self.left_out.swap(0, Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_then_one_an_interval_and_what_was_left_out_is_counted() {
        let limit = Limit::new();
        let mut now = 1_000_000;
        for _ in 0..BURST {
            assert_eq!(limit.allow_at(now), Some(0));
        }
        for _ in 0..1000 {
            assert_eq!(limit.allow_at(now), None);
        }
        now += INTERVAL_NS;
        assert_eq!(limit.allow_at(now), Some(1000));
        assert_eq!(limit.allow_at(now), None);
        now += INTERVAL_NS * BURST * 2;
        assert_eq!(
            (0..BURST + 1)
                .filter_map(|_| limit.allow_at(now))
                .sum::<u32>(),
            1
        );
        assert_eq!(limit.allow_at(now), None);
    }
}
