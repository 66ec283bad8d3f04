//! The list of event handlers, read and replaced without memory or locks of the allocator.
//!
//! It is read from inside the C library's allocator. A reader increments a counter, which may nest and never waits.
//! A writer replaces the list by a new one, yields the processor until no reader is left, and frees the old list. At any
//! moment fork() copies a whole list; `keep_own_readers` removes the readers that a child does not have.

use crate::sys::{process, thread};
use core::ops::Deref;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

pub struct Published<T> {
    current: AtomicPtr<T>,
    readers: AtomicUsize,
}

/// Keeps what is read alive. Nothing is there before the first `replace`.
pub struct Reading<'a, T> {
    from: &'a Published<T>,
    at: *mut T,
}

impl<T: Send + Sync> Published<T> {
    pub const fn new() -> Published<T> {
        Published {
            current: AtomicPtr::new(core::ptr::null_mut()),
            readers: AtomicUsize::new(0),
        }
    }

    /// `None` when nothing was published.
    pub fn read(&self) -> Option<Reading<'_, T>> {
        if self.current.load(Ordering::Relaxed).is_null() {
            return None;
        }
        // SeqCst, as in `wait_for_readers`: either the writer sees this reader, or the reader what the writer put there.
        self.readers.fetch_add(1, Ordering::SeqCst);
        let at = self.current.load(Ordering::SeqCst);
        Some(Reading { from: self, at })
    }

    /// Puts what `next` makes of the current value in its place, again while another thread does so first, and frees
    /// the old one. Waits for all readers: not to be called by a thread that reads.
    pub fn replace(&self, next: impl Fn(Option<&T>) -> T) {
        loop {
            let read = self.read();
            let before = read.as_ref().map_or(core::ptr::null_mut(), |r| r.at);
            let fresh = Box::into_raw(Box::new(next(read.as_deref())));
            // What is read is not freed, so its address is of no other.
            let put =
                self.current
                    .compare_exchange(before, fresh, Ordering::SeqCst, Ordering::Relaxed);
            drop(read);
            let unused = match put {
                Ok(before) => {
                    self.wait_for_readers();
                    before
                }
                Err(_) => fresh,
            };
            if !unused.is_null() {
                // SAFETY: boxed here or by an earlier call, and no longer published or read.
                drop(unsafe { Box::from_raw(unused) });
            }
            if put.is_ok() {
                return;
            }
        }
    }

    /// Until every reader of a value that is no longer published is gone.
    pub fn wait_for_readers(&self) {
        while self.readers.load(Ordering::SeqCst) != 0 {
            process::yield_now();
        }
    }

    /// In a child of fork(): of the readers, those of this thread are left.
    pub fn keep_own_readers(&self, own: usize) {
        self.readers.store(own, Ordering::SeqCst);
    }
}

impl<T> Deref for Reading<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: published, and not freed while a reader is counted.
        unsafe { &*self.at }
    }
}

impl<T> Drop for Reading<'_, T> {
    fn drop(&mut self) {
        // Release: pairs with the load in `wait_for_readers`.
        self.from.readers.fetch_sub(1, Ordering::Release);
    }
}

/// A thread that is inside a dispatch, and how deep.
struct Seat {
    thread: AtomicU64,
    depth: AtomicU32,
}

/// So many threads can be inside dispatches with handlers at a time; more wait for a seat.
const SEATS: usize = 64;

static THREADS: [Seat; SEATS] = [const {
    Seat {
        thread: AtomicU64::new(0),
        depth: AtomicU32::new(0),
    }
}; SEATS];

/// The calling thread is inside a dispatch for as long as this lives.
pub struct Dispatching(&'static Seat);

impl Dispatching {
    /// Whether the calling thread is inside a dispatch.
    pub fn here() -> bool {
        // Relaxed: only this thread writes its own number into a seat.
        let me = thread::here();
        THREADS
            .iter()
            .any(|s| s.thread.load(Ordering::Relaxed) == me)
    }

    /// In a child of fork(): gives the seats of its parent's other threads back. How deep this thread is inside.
    pub fn keep_own() -> usize {
        let me = thread::here();
        let mut own = 0;
        for seat in &THREADS {
            if seat.thread.load(Ordering::Relaxed) == me {
                own += seat.depth.load(Ordering::Relaxed) as usize;
            } else {
                seat.thread.store(0, Ordering::Relaxed);
            }
        }
        own
    }

    pub fn enter() -> Dispatching {
        let me = thread::here();
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
        static VALUE: Published<u32> = Published::new();
        let add = || VALUE.replace(|before| before.map_or(7, |n| n + 1));
        assert!(VALUE.read().is_none());
        add();
        let first = VALUE.read().unwrap();
        let writer = std::thread::spawn(add);
        while *VALUE.read().unwrap() == 7 {
            std::thread::yield_now();
        }
        // The old value stays for who reads it.
        assert_eq!((*first, *VALUE.read().unwrap()), (7, 8));
        assert!(!writer.is_finished());
        drop(first);
        writer.join().unwrap();
    }

    #[test]
    fn writers_lose_nothing() {
        static VALUE: Published<u32> = Published::new();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        VALUE.replace(|before| before.map_or(1, |n| n + 1));
                    }
                });
            }
        });
        assert_eq!(*VALUE.read().unwrap(), 400);
    }

    #[test]
    fn a_child_keeps_its_own_readers() {
        static VALUE: Published<u32> = Published::new();
        VALUE.replace(|_| 1);
        let own = VALUE.read();
        let others = (VALUE.read(), VALUE.read());
        // As if those were threads that fork() did not copy.
        core::mem::forget(others);
        VALUE.keep_own_readers(1);
        drop(own);
        VALUE.replace(|_| 2);
        assert_eq!(VALUE.read().as_deref(), Some(&2));
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
