//! A program that sleeps until a message comes, where messages come at once. To put a process to sleep, to tell it, and to wake it
//! takes many times as long as the message does. So before it sleeps it looks for messages for a moment where that has paid:
//! where the last looks found some, or, seldom, where the last sleeps were short. Who sleeps long, or is woken by something else,
//! does not look: an idle program uses no processor.
#![forbid(unsafe_code)]

use crate::sys::clock::cycles_in;
use core::cell::Cell;

/// A look where the last ones paid: some turns of a peer that is awake.
const LOOK_NS: u64 = 4_000;
/// A look that finds out whether they do: the peer may have to be woken first.
const TRY_NS: u64 = 20_000;
/// A sleep that a look might have spared: two processes are woken in it.
const SHORT_NS: u64 = 60_000;
/// The credit that looks have at most, which each in vain halves.
const MOST_FOUND: u32 = 8;
/// Short sleeps in a row before a look is tried: twice as many after each one in vain.
const LEAST_SLEEPS: u32 = 4;
const MOST_SLEEPS: u32 = 1024;

/// What the last sleeps and looks were like. Times are in cycles.
pub struct ShortSleeps {
    /// The credit: looks that found something, halved by one in vain.
    found: Cell<u32>,
    /// Short sleeps in a row, and how many there have to be.
    sleeps: Cell<u32>,
    needed: Cell<u32>,
    armed_at: Cell<u64>,
}

impl Default for ShortSleeps {
    fn default() -> ShortSleeps {
        ShortSleeps {
            found: Cell::new(0),
            sleeps: Cell::new(0),
            needed: Cell::new(LEAST_SLEEPS),
            armed_at: Cell::new(0),
        }
    }
}

impl ShortSleeps {
    /// For how long to look for messages before the next sleep.
    pub fn time_to_look(&self) -> Option<u64> {
        if self.found.get() > 0 {
            return Some(cycles_in(LOOK_NS));
        }
        (self.sleeps.get() >= self.needed.get()).then(|| cycles_in(TRY_NS))
    }

    /// A look has found something, or nothing.
    pub fn note_look(&self, found: bool) {
        self.sleeps.set(0);
        if found {
            self.found.set((self.found.get() + 1).min(MOST_FOUND));
            self.needed.set(LEAST_SLEEPS);
            return;
        }
        if self.found.get() == 0 {
            self.needed.set((2 * self.needed.get()).min(MOST_SLEEPS));
        }
        self.found.set(self.found.get() / 2);
    }

    /// The program goes to sleep.
    pub fn note_armed(&self, now: u64) {
        self.armed_at.set(now);
    }

    /// The program is back.
    pub fn note_back(&self, now: u64) {
        let was_short = now.wrapping_sub(self.armed_at.get()) < cycles_in(SHORT_NS);
        let sleeps = if was_short { self.sleeps.get() + 1 } else { 0 };
        self.sleeps.set(sleeps.min(MOST_SLEEPS));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sleeps of so many nanoseconds; how many looks there were before them, of which `finds` found something.
    fn sleep(sleeps: &ShortSleeps, count: u32, ns: u64, finds: bool) -> u32 {
        let mut looks = 0;
        for _ in 0..count {
            if sleeps.time_to_look().is_some() {
                looks += 1;
                sleeps.note_look(finds);
                if finds {
                    continue;
                }
            }
            sleeps.note_armed(0);
            sleeps.note_back(cycles_in(ns));
        }
        looks
    }

    #[test]
    fn who_sleeps_long_never_looks() {
        assert_eq!(sleep(&ShortSleeps::default(), 10_000, 1_000_000, false), 0);
    }

    #[test]
    fn who_looks_in_vain_looks_ever_less() {
        let sleeps = ShortSleeps::default();
        assert!(sleep(&sleeps, 1000, 10_000, false) < 10);
        assert!(sleep(&sleeps, 10_000, 10_000, false) <= 10);
    }

    #[test]
    fn who_finds_something_looks_each_time() {
        let sleeps = ShortSleeps::default();
        assert!(sleep(&sleeps, 100, 10_000, true) > 90);
        // It sleeps long from now on.
        assert!(sleep(&sleeps, 100, 1_000_000, false) <= 4);
        assert_eq!(sleep(&sleeps, 100, 1_000_000, false), 0);
    }
}
