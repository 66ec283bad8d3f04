//! A lock for the event handlers that never allocates and lets readers nest.
//!
//! It is taken from inside the C library's allocator. Writers are rare (a handler comes or goes) and
//! short; who has to wait yields the processor. A waiting writer does not hold readers up, so a
//! reader may come again on the same thread.

use crate::sys::process;
use core::cell::UnsafeCell;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// The state of a lock that a writer has; other values count readers.
const WRITER: usize = usize::MAX;

pub struct HandlerLock<T> {
    state: AtomicUsize,
    value: UnsafeCell<T>,
}

// SAFETY: the value is shared by readers only while no writer has it.
unsafe impl<T: Send + Sync> Sync for HandlerLock<T> {}

pub struct Reading<'a, T>(&'a HandlerLock<T>);
pub struct Writing<'a, T>(&'a HandlerLock<T>);

impl<T> HandlerLock<T> {
    pub const fn new(value: T) -> HandlerLock<T> {
        HandlerLock {
            state: AtomicUsize::new(0),
            value: UnsafeCell::new(value),
        }
    }

    pub fn read(&self) -> Reading<'_, T> {
        loop {
            let readers = self.state.load(Ordering::Relaxed);
            if readers != WRITER
                && self
                    .state
                    // Acquire: pairs with the Release in Writing::drop.
                    .compare_exchange_weak(
                        readers,
                        readers + 1,
                        Ordering::Acquire,
                        Ordering::Relaxed,
                    )
                    .is_ok()
            {
                return Reading(self);
            }
            process::yield_now();
        }
    }

    /// Waits for all readers: not to be called by a thread that reads.
    pub fn write(&self) -> Writing<'_, T> {
        while self
            .state
            // Acquire: pairs with the Release in Reading::drop and Writing::drop.
            .compare_exchange_weak(0, WRITER, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
        {
            process::yield_now();
        }
        Writing(self)
    }
}

impl<T> Deref for Reading<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: counted as a reader: no writer has the value.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> Drop for Reading<'_, T> {
    fn drop(&mut self) {
        // Release: pairs with the Acquire in write().
        self.0.state.fetch_sub(1, Ordering::Release);
    }
}

impl<T> Deref for Writing<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the only holder.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for Writing<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the only holder.
        unsafe { &mut *self.0.value.get() }
    }
}

impl<T> Drop for Writing<'_, T> {
    fn drop(&mut self) {
        // Release: pairs with the Acquire in read() and write().
        self.0.state.store(0, Ordering::Release);
    }
}

/// A thread that is inside a dispatch, and how deep.
struct Seat {
    thread: AtomicU32,
    depth: AtomicU32,
}

/// So many threads can be inside dispatches with handlers at a time; more wait for a seat.
const SEATS: usize = 64;

static THREADS: [Seat; SEATS] = [const {
    Seat {
        thread: AtomicU32::new(0),
        depth: AtomicU32::new(0),
    }
}; SEATS];

/// The calling thread is inside a dispatch for as long as this lives.
pub struct Dispatching(&'static Seat);

impl Dispatching {
    /// Whether the calling thread is inside a dispatch.
    pub fn here() -> bool {
        // Relaxed: only this thread writes its own number into a seat.
        let me = process::tid();
        THREADS
            .iter()
            .any(|s| s.thread.load(Ordering::Relaxed) == me)
    }

    pub fn enter() -> Dispatching {
        let me = process::tid();
        // Relaxed throughout: a seat's depth is used by its thread only; the number is a claim.
        if let Some(seat) = THREADS
            .iter()
            .find(|s| s.thread.load(Ordering::Relaxed) == me)
        {
            seat.depth.fetch_add(1, Ordering::Relaxed);
            return Dispatching(seat);
        }
        loop {
            for seat in &THREADS {
                let claimed =
                    seat.thread
                        .compare_exchange(0, me, Ordering::Relaxed, Ordering::Relaxed);
                if claimed.is_ok() {
                    seat.depth.store(1, Ordering::Relaxed);
                    return Dispatching(seat);
                }
            }
            process::yield_now();
        }
    }
}

impl Drop for Dispatching {
    fn drop(&mut self) {
        // Relaxed: as in enter().
        if self.0.depth.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.0.thread.store(0, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_nest_while_a_writer_waits() {
        static LOCK: HandlerLock<u32> = HandlerLock::new(0);
        let first = LOCK.read();
        let writer = std::thread::spawn(|| *LOCK.write() += 1);
        let second = LOCK.read();
        assert_eq!((*first, *second), (0, 0));
        drop((first, second));
        writer.join().unwrap();
        assert_eq!(*LOCK.read(), 1);
    }

    #[test]
    fn a_thread_knows_that_it_dispatches() {
        assert!(!Dispatching::here());
        let outer = Dispatching::enter();
        let inner = Dispatching::enter();
        assert!(std::thread::spawn(|| !Dispatching::here()).join().unwrap());
        drop(inner);
        assert!(Dispatching::here());
        drop(outer);
        assert!(!Dispatching::here());
    }
}
