//! Who of a worker's threads may be sleeping, and the signal that wakes those of the program.
//!
//! A thread arms, sleeps, and is back with its next progress or its next arming. Work that comes meanwhile wakes it once: who was
//! woken and is not back yet needs no second signal.
#![forbid(unsafe_code)]

#[cfg(not(all(test, loom)))]
pub use crate::sys::eventfd::EventFd;
use crate::ucs::Result;
use crate::ucs::sync::{AtomicBool, Ordering};
use core::cell::Cell;
#[cfg(all(test, loom))]
pub use event_fd::EventFd;

/// Threads of the program, by `thread::here()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Threads {
    One(u64),
    /// Which ones is not known, nor when all of them are back.
    Several,
}

impl Threads {
    fn and(self, thread: u64) -> Threads {
        match self == Threads::One(thread) {
            true => self,
            false => Threads::Several,
        }
    }
}

/// What the program does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Program {
    /// No thread of it has armed since it was back.
    Awake,
    /// Threads have armed, and wait for what comes.
    Asleep(Threads),
    /// Threads have armed, what they wait for has come, and they are not back yet.
    Woken(Threads),
}

impl Program {
    /// `thread` has armed.
    fn armed(self, thread: u64) -> Program {
        match self {
            Program::Awake => Program::Asleep(Threads::One(thread)),
            Program::Asleep(others) | Program::Woken(others) => Program::Asleep(others.and(thread)),
        }
    }

    /// What it waits for has come.
    fn woken(self) -> Program {
        match self {
            Program::Asleep(threads) => Program::Woken(threads),
            awake => awake,
        }
    }

    /// Whether it is `thread` alone that has armed.
    #[inline]
    fn is(self, thread: impl FnOnce() -> u64) -> bool {
        match self {
            Program::Awake => false,
            Program::Asleep(threads) | Program::Woken(threads) => threads == Threads::One(thread()),
        }
    }
}

/// Which of the two that may sleep: the program's threads, the progress thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asleep {
    pub program: bool,
    pub progress_thread: bool,
}

/// Used with the worker's lock held.
pub struct Sleepers {
    program: Cell<Program>,
    progress_thread: Cell<bool>,
}

impl Default for Sleepers {
    fn default() -> Sleepers {
        Sleepers {
            program: Cell::new(Program::Awake),
            progress_thread: Cell::new(false),
        }
    }
}

impl Sleepers {
    /// Whether somebody has to be woken for work that comes.
    #[inline]
    pub fn any(&self) -> bool {
        matches!(self.program.get(), Program::Asleep(_)) || self.progress_thread.get()
    }

    #[inline]
    pub fn is_progress_thread(&self) -> bool {
        self.progress_thread.get()
    }

    /// `thread`, of the program, is about to sleep.
    pub fn program_armed(&self, thread: u64) {
        self.program.update(|program| program.armed(thread));
    }

    pub fn progress_thread_armed(&self) {
        self.progress_thread.set(true);
    }

    /// Whether a thread of the program has armed and is not known to be back.
    pub fn is_program_away(&self) -> bool {
        self.program.get() != Program::Awake
    }

    /// Whether `thread`, which calls, has armed.
    #[inline]
    pub fn is_back(&self, thread: impl FnOnce() -> u64) -> bool {
        self.program.get().is(thread)
    }

    /// `thread` is back. Returns whether it had armed: others that have may still be sleeping.
    pub fn program_back(&self, thread: u64) -> bool {
        let is_back = self.is_back(|| thread);
        if is_back {
            self.program.set(Program::Awake);
        }
        is_back
    }

    /// All are woken by the caller. Returns who has to be.
    pub fn wake_all(&self) -> Asleep {
        let program = self.program.get();
        self.program.set(program.woken());
        Asleep {
            program: matches!(program, Program::Asleep(_)),
            ..self.wake_progress_thread()
        }
    }

    /// The same of the progress thread alone.
    pub fn wake_progress_thread(&self) -> Asleep {
        Asleep {
            program: false,
            progress_thread: self.progress_thread.take(),
        }
    }
}

/// Wakes the program: a member of its event set, and what was done with it.
pub struct Signal {
    event: EventFd,
    /// It was given, and not taken yet. Who finds it given need not write.
    given: AtomicBool,
    /// It was taken, of which the next `arm` tells.
    taken: Cell<bool>,
}

impl Signal {
    pub fn new() -> Result<Signal> {
        Ok(Signal {
            event: EventFd::new()?,
            given: AtomicBool::new(false),
            taken: Cell::new(false),
        })
    }

    pub fn event(&self) -> &EventFd {
        &self.event
    }

    /// From any thread.
    pub fn give(&self) {
        // AcqRel: pairs with `take`. Who finds it given has what it did before seen by who takes it.
        if !self.given.swap(true, Ordering::AcqRel) {
            self.event.signal();
        }
    }

    /// A hint: who does not see it finds the descriptor readable, or soon.
    pub fn is_given(&self) -> bool {
        self.given.load(Ordering::Relaxed)
    }

    /// Takes it, if it was given or its descriptor is readable: who has given it may not have written yet.
    pub fn take(&self, is_readable: bool) {
        let given = self.given.swap(false, Ordering::AcqRel);
        let cleared = (given || is_readable) && self.event.clear();
        if given || cleared {
            self.taken.set(true);
        }
    }

    /// Whether it was taken since the last call.
    pub fn was_taken(&self) -> bool {
        self.taken.take()
    }
}

/// The kernel's counter as models see it.
#[cfg(all(test, loom))]
mod event_fd {
    use loom::sync::{Condvar, Mutex};
    use std::os::fd::RawFd;

    pub struct EventFd {
        set: Mutex<bool>,
        change: Condvar,
    }

    impl EventFd {
        pub fn new() -> std::io::Result<EventFd> {
            Ok(EventFd {
                set: Mutex::new(false),
                change: Condvar::new(),
            })
        }

        pub fn signal(&self) {
            *self.set.lock().unwrap() = true;
            self.change.notify_all();
        }

        pub fn clear(&self) -> bool {
            core::mem::take(&mut *self.set.lock().unwrap())
        }

        pub fn raw(&self) -> RawFd {
            -1
        }

        /// Whoever sleeps on this and on another descriptor looks at that one again.
        pub fn other_is_readable(&self) {
            drop(self.set.lock().unwrap());
            self.change.notify_all();
        }

        /// Sleeps until this one or the other descriptor is readable.
        pub fn wait_until_readable(&self, other: impl Fn() -> bool) {
            let mut set = self.set.lock().unwrap();
            while !*set && !other() {
                set = self.change.wait(set).unwrap();
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Threads::*;
    use super::*;

    #[test]
    fn the_program_is_woken_once_for_each_time_it_arms() {
        let sleepers = Sleepers::default();
        assert!(!sleepers.any() && sleepers.wake_all() == Asleep::default());
        for _ in 0..2 {
            sleepers.program_armed(7);
            assert!(sleepers.any() && sleepers.is_back(|| 7) && !sleepers.is_back(|| 8));
            assert!(sleepers.wake_all().program);
            // It was woken, and is not back yet.
            assert!(!sleepers.any() && sleepers.is_program_away());
            assert_eq!(sleepers.wake_all(), Asleep::default());
            assert!(sleepers.program_back(7) && !sleepers.is_program_away());
            assert!(!sleepers.program_back(7));
        }
        // It arms again without having been back.
        sleepers.program_armed(7);
        assert!(sleepers.wake_all().program);
        sleepers.program_armed(7);
        assert!(sleepers.wake_all().program && sleepers.program_back(7));
    }

    /// Where several threads have armed, one that is back does not speak for the others: they are woken all the same.
    #[test]
    fn of_several_threads_that_have_armed_none_is_back() {
        for before in [
            Program::Asleep(One(7)),
            Program::Woken(One(7)),
            Program::Asleep(Several),
            Program::Woken(Several),
        ] {
            let sleepers = Sleepers::default();
            sleepers.program.set(before);
            sleepers.program_armed(8);
            assert_eq!(sleepers.program.get(), Program::Asleep(Several));
            assert!(!sleepers.program_back(7) && !sleepers.program_back(8));
            assert!(sleepers.wake_all().program && sleepers.is_program_away());
            assert_eq!(sleepers.program.get(), Program::Woken(Several));
        }
    }

    #[test]
    fn the_progress_thread_is_woken_alone_or_with_the_program() {
        let sleepers = Sleepers::default();
        sleepers.progress_thread_armed();
        sleepers.program_armed(7);
        let woken = sleepers.wake_progress_thread();
        assert!(woken.progress_thread && !woken.program);
        assert!(sleepers.any() && !sleepers.is_progress_thread());
        sleepers.progress_thread_armed();
        let woken = sleepers.wake_all();
        assert!(woken.progress_thread && woken.program && !sleepers.any());
    }

    #[test]
    fn a_signal_is_written_once_until_it_is_taken() {
        let signal = Signal::new().unwrap();
        assert!(!signal.is_given() && !signal.was_taken());
        signal.take(true);
        assert!(!signal.was_taken());
        signal.give();
        signal.give();
        assert!(signal.is_given());
        signal.take(false);
        assert!(!signal.is_given() && !signal.event().clear());
        assert!(signal.was_taken() && !signal.was_taken());
        // Whoever has given it has not written yet when it is taken: the descriptor tells later.
        signal.event().signal();
        signal.take(false);
        assert!(!signal.was_taken());
        signal.take(true);
        assert!(signal.was_taken());
    }
}
