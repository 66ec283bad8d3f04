//! A caller that polls progress in vain. With more such processes than processors, each spins until the kernel preempts
//! it, milliseconds later, and every message between them takes that long. A caller that has spun for a while yields
//! the processor: seldom while no other process runs then, soon when another process did.
#![forbid(unsafe_code)]

use crate::sys::clock::{cycles, cycles_in};
use crate::ucs::sync::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// Calls without events between two reads of the clock.
const CALLS: u32 = 64;
/// A caller that takes longer than this between two reads does other work too, and needs the processor for it.
const SPINNING_NS: u64 = 256_000;
/// Time to spin if others wait for the processor.
const SHORT_NS: u64 = 2_000;
/// Time to spin if no other process ran the last times: a yield takes some hundred nanoseconds.
const LONG_NS: u64 = 100_000;
/// A yield takes less than this if no other process runs.
const NOBODY_NS: u64 = 2_000;

/// Accesses that were done at once, and nothing else, after which progress is made unasked.
const ACCESSES: u32 = 1024;
/// Value of `calls` until the next progress.
const NO_CALL: u32 = 1 << 30;

/// State of a worker's caller. Times are in cycles. Atomic, as threads that share a worker use it outside its lock;
/// lost updates only make a thread spin longer.
pub struct Spin {
    /// Calls since the last event, between one and two times `CALLS` from the first read of the clock on.
    calls: AtomicU32,
    /// Accesses to memory that were done at once.
    accesses: AtomicU32,
    looked: AtomicU64,
    spun: AtomicU64,
    patience: AtomicU64,
}

impl Default for Spin {
    fn default() -> Spin {
        Spin {
            calls: AtomicU32::new(0),
            accesses: AtomicU32::new(0),
            looked: AtomicU64::new(0),
            spun: AtomicU64::new(0),
            patience: AtomicU64::new(cycles_in(LONG_NS)),
        }
    }
}

impl Spin {
    /// Called after each progress of the caller, outside all locks, with the number of events, which it returns.
    #[inline(always)]
    pub fn note(&self, count: u32) -> u32 {
        self.note_with(count, cycles, std::thread::yield_now)
    }

    #[inline(always)]
    fn note_with(&self, count: u32, clock: impl Fn() -> u64, let_run: impl Fn()) -> u32 {
        if count > 0 {
            self.calls.store(0, Relaxed);
            return count;
        }
        let calls = self.calls.load(Relaxed) + 1;
        self.calls.store(calls, Relaxed);
        if calls.is_multiple_of(CALLS) {
            self.look(calls, clock, let_run);
        }
        0
    }

    /// Called after each atomic that completed at once. Returns whether progress is due, as the caller makes none: it
    /// may wait for a change of this memory by a peer, which needs a reply.
    #[inline(always)]
    pub fn note_access(&self) -> bool {
        let accesses = self.accesses.load(Relaxed).wrapping_add(1);
        self.accesses.store(accesses, Relaxed);
        accesses.is_multiple_of(ACCESSES) && self.calls.swap(NO_CALL, Relaxed) == NO_CALL
    }

    /// Reads the clock after so many calls without events, and yields if it is time.
    #[cold]
    #[inline(never)]
    fn look(&self, calls: u32, clock: impl Fn() -> u64, let_run: impl Fn()) {
        let now = clock();
        let since = now.wrapping_sub(self.looked.swap(now, Relaxed));
        let is_first = calls == CALLS;
        if !is_first {
            self.calls.store(CALLS, Relaxed);
        }
        if is_first || since > cycles_in(SPINNING_NS) {
            self.spun.store(0, Relaxed);
            return;
        }
        let spun = self.spun.load(Relaxed) + since;
        self.spun.store(spun, Relaxed);
        let patience = self.patience.load(Relaxed);
        if spun < patience {
            return;
        }
        let_run();
        let back = clock();
        let somebody_ran = back.wrapping_sub(now) > cycles_in(NOBODY_NS);
        let patience = if somebody_ran {
            cycles_in(SHORT_NS)
        } else {
            (2 * patience).min(cycles_in(LONG_NS))
        };
        self.patience.store(patience, Relaxed);
        self.looked.store(back, Relaxed);
        self.spun.store(0, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::Cell;

    /// A caller with a clock of its own; each of its calls takes `call` cycles, and others run for `others`.
    struct Caller {
        spin: Spin,
        now: Cell<u64>,
        yields: Cell<u32>,
        call: u64,
        others: Cell<u64>,
    }

    impl Caller {
        fn new(call_ns: u64, others_ns: u64) -> Caller {
            Caller {
                spin: Spin::default(),
                now: Cell::new(1 << 40),
                yields: Cell::new(0),
                call: cycles_in(call_ns),
                others: Cell::new(cycles_in(others_ns)),
            }
        }

        /// Number of yields in so many calls without events.
        fn calls(&self, count: u32) -> u32 {
            let before = self.yields.get();
            for _ in 0..count {
                self.now.set(self.now.get() + self.call);
                self.spin.note_with(
                    0,
                    || self.now.get(),
                    || {
                        self.yields.set(self.yields.get() + 1);
                        self.now.set(self.now.get() + self.others.get());
                    },
                );
            }
            self.yields.get() - before
        }
    }

    #[test]
    fn who_spins_alone_asks_seldom() {
        // A millisecond.
        assert!((5..=10).contains(&Caller::new(100, 200).calls(10_000)));
    }

    #[test]
    fn who_spins_among_others_lets_them_run_soon() {
        let caller = Caller::new(100, 50_000);
        assert!(caller.calls(10_000) > 100);
        // The others end; after a few yields in vain it yields seldom again.
        caller.others.set(cycles_in(200));
        assert!(caller.calls(10_000) < 20);
    }

    #[test]
    fn who_makes_accesses_only_makes_progress_too() {
        let spin = Spin::default();
        let due = || (0..ACCESSES).filter(|_| spin.note_access()).count();
        assert_eq!((due(), due(), due()), (0, 1, 1));
        spin.note(0);
        assert_eq!((due(), due()), (0, 1));
        spin.note(1);
        assert_eq!(due(), 0);
    }

    #[test]
    fn who_has_news_or_other_work_keeps_the_processor() {
        let caller = Caller::new(100, 50_000);
        for _ in 0..1000 {
            assert_eq!(caller.calls(2 * CALLS - 1), 0);
            caller.spin.note(1);
        }
        assert_eq!(Caller::new(10_000, 50_000).calls(10_000), 0);
    }
}
