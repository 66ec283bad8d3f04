//! A lock whose most frequent owner takes it by two plain stores. The lock is biased towards that thread. Another thread
//! that wants the lock revokes the bias, which costs a barrier on every thread of the process.
//!
//! A thread gets the bias when it has locked the mutex many times without another thread in between. Each revocation
//! doubles that number, so threads that take turns use the mutex alone. The lock is recursive.

use super::{AtomicU64, Ordering, RawMutex, barrier, can_barrier, compiler_barrier, pause};
use crate::sys::thread;
use core::cell::Cell;
use core::marker::PhantomData;

/// Consecutive mutex locks of one thread before it first gets the bias.
#[cfg(not(all(test, loom)))]
const BIAS_THRESHOLD: u32 = 64;
#[cfg(all(test, loom))]
const BIAS_THRESHOLD: u32 = 0;
/// Upper limit of that number.
const MAX_BIAS_THRESHOLD: u32 = 1 << 20;
const NO_THREAD: u64 = 0;

pub struct BiasedLock {
    /// The thread that needs no mutex. It sets this itself, others reset it; both hold the mutex.
    biased_to: AtomicU64,
    /// Not 0 while the biased thread holds the lock, or checks whether it still has the bias.
    entered: AtomicU64,
    /// The owner. Only an owner writes it, so a thread that reads its own number is the owner.
    holder: AtomicU64,
    mutex: RawMutex,
    /// The thread that locked the mutex last, and how often in a row. Accessed with the mutex held.
    last: Cell<u64>,
    streak: Cell<u32>,
    threshold: Cell<u32>,
}

// SAFETY: the cells are accessed only with the mutex held.
unsafe impl Sync for BiasedLock {}

/// How a thread took the lock.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Path {
    Recursive,
    Biased,
    Mutex,
}

/// Holds the lock while it lives.
#[must_use]
pub struct Guard<'a> {
    lock: &'a BiasedLock,
    path: Path,
    /// The locking thread has to unlock.
    not_send: PhantomData<*const ()>,
}

impl Default for BiasedLock {
    fn default() -> BiasedLock {
        BiasedLock {
            biased_to: AtomicU64::new(NO_THREAD),
            entered: AtomicU64::new(0),
            holder: AtomicU64::new(NO_THREAD),
            mutex: RawMutex::default(),
            last: Cell::new(NO_THREAD),
            streak: Cell::new(0),
            threshold: Cell::new(BIAS_THRESHOLD),
        }
    }
}

impl BiasedLock {
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
        let path = if self.holder.load(Ordering::Relaxed) == me {
            Path::Recursive
        } else if self.lock_biased(me) {
            Path::Biased
        } else {
            self.lock_mutex(me);
            Path::Mutex
        };
        Guard {
            lock: self,
            path,
            not_send: PhantomData,
        }
    }

    /// Relaxed: a thread gets the bias with the mutex held, and saw the writes of earlier owners then.
    #[inline]
    fn lock_biased(&self, me: u64) -> bool {
        if self.biased_to.load(Ordering::Relaxed) != me {
            return false;
        }
        self.entered.store(1, Ordering::Relaxed);
        // Either the second load sees the revocation, or the revoking thread sees `entered` after its barrier.
        compiler_barrier();
        if self.biased_to.load(Ordering::Relaxed) != me {
            self.entered.store(0, Ordering::Release);
            return false;
        }
        self.holder.store(me, Ordering::Relaxed);
        true
    }

    #[cold]
    #[inline(never)]
    fn lock_mutex(&self, me: u64) {
        self.mutex.lock();
        if self.biased_to.load(Ordering::Relaxed) != NO_THREAD {
            self.revoke();
        }
        if self.last.replace(me) != me {
            self.streak.set(0);
        } else if self.streak.get() < self.threshold.get() {
            self.streak.set(self.streak.get() + 1);
        } else if can_barrier() {
            self.biased_to.store(me, Ordering::Relaxed);
        }
        self.holder.store(me, Ordering::Relaxed);
    }

    /// Revokes the bias of another thread and waits until that thread has unlocked. Needs the mutex.
    fn revoke(&self) {
        self.biased_to.store(NO_THREAD, Ordering::Relaxed);
        barrier();
        let mut tries = 0;
        // Acquire: the other thread's writes under the lock.
        while self.entered.load(Ordering::Acquire) != 0 {
            pause(tries);
            tries += 1;
        }
        let threshold = self.threshold.get();
        self.threshold.set((threshold * 2).min(MAX_BIAS_THRESHOLD));
    }
}

impl Drop for Guard<'_> {
    #[inline]
    fn drop(&mut self) {
        let lock = self.lock;
        if self.path == Path::Recursive {
            return;
        }
        lock.holder.store(NO_THREAD, Ordering::Relaxed);
        if self.path == Path::Biased {
            // Release: pairs with the Acquire in `revoke`.
            lock.entered.store(0, Ordering::Release);
        } else {
            // SAFETY: locked when this guard was made, on this thread.
            unsafe { lock.mutex.unlock() };
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    fn bias(lock: &BiasedLock) {
        for _ in 0..BIAS_THRESHOLD + 2 {
            drop(lock.lock());
        }
        assert_eq!(lock.biased_to.load(Ordering::Relaxed), thread::here());
    }

    #[test]
    fn the_lock_is_recursive() {
        let lock = BiasedLock::default();
        for _ in 0..2 {
            assert!(!lock.is_held_here());
            let outer = lock.lock();
            drop(lock.lock());
            assert!(lock.is_held_here());
            drop(outer);
            assert!(!lock.is_held_here());
            bias(&lock);
        }
    }

    #[test]
    fn a_biased_owner_uses_no_mutex_and_excludes_others() {
        let lock = BiasedLock::default();
        bias(&lock);
        let entered = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let guard = lock.lock();
            assert!(!lock.mutex.is_locked());
            let other = scope.spawn(|| {
                let _guard = lock.lock();
                entered.store(true, Ordering::Relaxed);
            });
            while lock.biased_to.load(Ordering::Relaxed) != NO_THREAD {
                std::thread::yield_now();
            }
            drop(lock.lock());
            assert!(!entered.load(Ordering::Relaxed));
            drop(guard);
            other.join().unwrap();
        });
        assert!(entered.load(Ordering::Relaxed));
        assert_eq!(lock.threshold.get(), 2 * BIAS_THRESHOLD);
        bias_again(&lock);
    }

    fn bias_again(lock: &BiasedLock) {
        drop(lock.lock());
        assert_eq!(lock.biased_to.load(Ordering::Relaxed), NO_THREAD);
        for _ in 0..2 * BIAS_THRESHOLD + 1 {
            drop(lock.lock());
        }
        assert_eq!(lock.biased_to.load(Ordering::Relaxed), thread::here());
    }

    /// Threads add to a sum that only the lock protects. One of them has the bias most of the time.
    #[test]
    fn one_owner_at_a_time() {
        struct Sum(BiasedLock, Cell<u64>);
        // SAFETY: only the owner of the lock changes the cell.
        unsafe impl Sync for Sum {}
        let sum = Sum(BiasedLock::default(), Cell::new(0));
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

/// Every order of events. `tests/loom` runs it.
#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    struct Sum(BiasedLock, loom::cell::Cell<u64>);
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
    fn one_owner_at_a_time_and_every_thread_gets_the_lock() {
        loom::model(|| {
            let sum = Arc::new(Sum(BiasedLock::default(), loom::cell::Cell::new(0)));
            // The second call gives the thread the bias.
            sum.add(1);
            sum.add(1);
            assert_eq!(sum.0.biased_to.load(Ordering::Relaxed), 1);
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
