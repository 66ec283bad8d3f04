//! A lock that costs the thread which mostly takes it two plain stores: one thread is favoured, and comes in by
//! saying so; who else wants in takes the favour back, which costs a barrier on every thread of the process.
//!
//! A thread that took the mutex many times with no other between is favoured. Each time a favour is taken back
//! the next needs twice as many, so that threads which take turns use the mutex alone. The thread that is
//! in may come again.

use super::{AtomicU64, Ordering, RawMutex, barrier, can_barrier, compiler_barrier, pause};
use crate::sys::thread;
use core::cell::Cell;
use core::marker::PhantomData;

/// So often in a row a thread takes the mutex before it is favoured for the first time.
#[cfg(not(all(test, loom)))]
const PATIENCE: u32 = 64;
#[cfg(all(test, loom))]
const PATIENCE: u32 = 0;
/// No thread needs more than this.
const MOST_PATIENCE: u32 = 1 << 20;
const NOBODY: u64 = 0;

pub struct FavourLock {
    /// The thread that needs no mutex. Given by itself, taken by others, both with the mutex held.
    favoured: AtomicU64,
    /// Not 0 while the favoured thread is in, or looks whether it is still favoured.
    inside: AtomicU64,
    /// The thread that is in. Only what is in writes it, so a thread that reads its own number is.
    holder: AtomicU64,
    mutex: RawMutex,
    /// The thread that took the mutex last, and how often since another did; both with the mutex held.
    last: Cell<u64>,
    in_a_row: Cell<u32>,
    patience: Cell<u32>,
}

// SAFETY: the cells are only looked at with the mutex held.
unsafe impl Sync for FavourLock {}

/// How a thread came in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Entry {
    Again,
    Favoured,
    ByMutex,
}

/// While it lives its thread is in.
#[must_use]
pub struct Guard<'a> {
    lock: &'a FavourLock,
    entry: Entry,
    /// Who came in has to go out.
    not_send: PhantomData<*const ()>,
}

impl Default for FavourLock {
    fn default() -> FavourLock {
        FavourLock {
            favoured: AtomicU64::new(NOBODY),
            inside: AtomicU64::new(0),
            holder: AtomicU64::new(NOBODY),
            mutex: RawMutex::default(),
            last: Cell::new(NOBODY),
            in_a_row: Cell::new(0),
            patience: Cell::new(PATIENCE),
        }
    }
}

impl FavourLock {
    #[inline]
    pub fn lock(&self) -> Guard<'_> {
        self.lock_as(thread::here())
    }

    pub fn is_held_here(&self) -> bool {
        self.holder.load(Ordering::Relaxed) == thread::here()
    }

    /// `me` is the number of the calling thread.
    #[inline]
    fn lock_as(&self, me: u64) -> Guard<'_> {
        let entry = if self.holder.load(Ordering::Relaxed) == me {
            Entry::Again
        } else if self.enter_favoured(me) {
            Entry::Favoured
        } else {
            self.enter_by_mutex(me);
            Entry::ByMutex
        };
        Guard {
            lock: self,
            entry,
            not_send: PhantomData,
        }
    }

    /// Relaxed: what others did while they were in was seen when the mutex was taken, without which nobody is
    /// favoured.
    #[inline]
    fn enter_favoured(&self, me: u64) -> bool {
        if self.favoured.load(Ordering::Relaxed) != me {
            return false;
        }
        self.inside.store(1, Ordering::Relaxed);
        // Either the second look finds the favour gone, or who takes it finds `inside` after its barrier.
        compiler_barrier();
        if self.favoured.load(Ordering::Relaxed) != me {
            self.inside.store(0, Ordering::Release);
            return false;
        }
        self.holder.store(me, Ordering::Relaxed);
        true
    }

    #[cold]
    #[inline(never)]
    fn enter_by_mutex(&self, me: u64) {
        self.mutex.lock();
        if self.favoured.load(Ordering::Relaxed) != NOBODY {
            self.take_back();
        }
        if self.last.replace(me) != me {
            self.in_a_row.set(0);
        } else if self.in_a_row.get() < self.patience.get() {
            self.in_a_row.set(self.in_a_row.get() + 1);
        } else if can_barrier() {
            self.favoured.store(me, Ordering::Relaxed);
        }
        self.holder.store(me, Ordering::Relaxed);
    }

    /// Ends the favour of another thread and waits until that is out. Needs the mutex.
    fn take_back(&self) {
        self.favoured.store(NOBODY, Ordering::Relaxed);
        barrier();
        let mut looks = 0;
        // Acquire: what the other did while it was in.
        while self.inside.load(Ordering::Acquire) != 0 {
            pause(looks);
            looks += 1;
        }
        let patience = self.patience.get();
        self.patience.set((patience * 2).min(MOST_PATIENCE));
    }
}

impl Drop for Guard<'_> {
    #[inline]
    fn drop(&mut self) {
        let lock = self.lock;
        if self.entry == Entry::Again {
            return;
        }
        lock.holder.store(NOBODY, Ordering::Relaxed);
        if self.entry == Entry::Favoured {
            // Release: pairs with the Acquire in `take_back`.
            lock.inside.store(0, Ordering::Release);
        } else {
            // SAFETY: taken when this guard was made, on this thread.
            unsafe { lock.mutex.unlock() };
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    fn favour(lock: &FavourLock) {
        for _ in 0..PATIENCE + 2 {
            drop(lock.lock());
        }
        assert_eq!(lock.favoured.load(Ordering::Relaxed), thread::here());
    }

    #[test]
    fn who_is_in_comes_again() {
        let lock = FavourLock::default();
        for _ in 0..2 {
            assert!(!lock.is_held_here());
            let outer = lock.lock();
            drop(lock.lock());
            assert!(lock.is_held_here());
            drop(outer);
            assert!(!lock.is_held_here());
            favour(&lock);
        }
    }

    #[test]
    fn who_is_favoured_uses_no_mutex_and_keeps_others_out() {
        let lock = FavourLock::default();
        favour(&lock);
        let entered = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let guard = lock.lock();
            assert!(!lock.mutex.is_locked());
            let other = scope.spawn(|| {
                let _guard = lock.lock();
                entered.store(true, Ordering::Relaxed);
            });
            while lock.favoured.load(Ordering::Relaxed) != NOBODY {
                std::thread::yield_now();
            }
            drop(lock.lock());
            assert!(!entered.load(Ordering::Relaxed));
            drop(guard);
            other.join().unwrap();
        });
        assert!(entered.load(Ordering::Relaxed));
        assert_eq!(lock.patience.get(), 2 * PATIENCE);
        favour_again(&lock);
    }

    fn favour_again(lock: &FavourLock) {
        drop(lock.lock());
        assert_eq!(lock.favoured.load(Ordering::Relaxed), NOBODY);
        for _ in 0..2 * PATIENCE + 1 {
            drop(lock.lock());
        }
        assert_eq!(lock.favoured.load(Ordering::Relaxed), thread::here());
    }

    /// A sum that only a lock keeps right, changed by threads of which one is favoured most of the time.
    #[test]
    fn one_at_a_time() {
        struct Sum(FavourLock, Cell<u64>);
        // SAFETY: the cell is only changed by who is in.
        unsafe impl Sync for Sum {}
        let sum = Sum(FavourLock::default(), Cell::new(0));
        let sum = &sum;
        let add = |times: u64| {
            for _ in 0..times {
                let _guard = sum.0.lock();
                sum.1.set(sum.1.get() + 1);
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(|| add(200_000));
            scope.spawn(|| {
                for _ in 0..20 {
                    add(3);
                    std::thread::yield_now();
                }
            });
            scope.spawn(|| add(1000));
        });
        assert_eq!(sum.1.get(), 201_060);
    }
}

/// Every order of events. Run by `tests/loom`.
#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    struct Sum(FavourLock, loom::cell::Cell<u64>);
    // SAFETY: loom tells when two threads touch the cell at once.
    unsafe impl Send for Sum {}
    // SAFETY: as above.
    unsafe impl Sync for Sum {}

    impl Sum {
        fn add(&self, me: u64) {
            let guard = self.0.lock_as(me);
            drop(self.0.lock_as(me));
            self.1.set(self.1.get() + 1);
            drop(guard);
        }
    }

    #[test]
    fn one_at_a_time_and_all_come_in() {
        loom::model(|| {
            let sum = Arc::new(Sum(FavourLock::default(), loom::cell::Cell::new(0)));
            // The second time favours the thread.
            sum.add(1);
            sum.add(1);
            assert_eq!(sum.0.favoured.load(Ordering::Relaxed), 1);
            let other = sum.clone();
            let thread = thread::spawn(move || {
                other.add(2);
                other.add(2);
            });
            sum.add(1);
            sum.add(1);
            thread.join().unwrap();
            sum.add(1);
            assert_eq!(sum.1.get(), 7);
        });
    }
}
