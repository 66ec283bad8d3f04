//! What the owner of a callback queue and other threads share without a lock: the slot that clients read inline, and the
//! mark that requests wait.
//!
//! The owner reads the callback, then its argument. Another thread therefore changes the callback only, to a dispatcher
//! that ignores its argument, and marks its request before. Whoever changes the slot holds the queue's mutex.
#![forbid(unsafe_code)]

use crate::ucs::sync::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use core::ffi::c_void;

/// The first two words of a queue.
#[repr(C)]
pub struct Slot {
    /// Zero without callbacks.
    cb: AtomicUsize,
    arg: AtomicPtr<c_void>,
}

impl Slot {
    pub fn empty() -> Slot {
        Slot {
            cb: AtomicUsize::new(0),
            arg: AtomicPtr::new(core::ptr::null_mut()),
        }
    }

    /// The callback, or zero. For the owner, as the next two functions.
    #[inline(always)]
    pub fn cb(&self) -> usize {
        self.cb.load(Ordering::Relaxed)
    }

    /// The argument of the callback that was read before.
    #[inline(always)]
    pub fn arg(&self) -> *mut c_void {
        self.arg.load(Ordering::Relaxed)
    }

    pub fn set(&self, cb: usize, arg: *mut c_void) {
        self.arg.store(arg, Ordering::Relaxed);
        self.cb.store(cb, Ordering::Release);
    }

    /// From any thread: a callback that ignores its argument, or zero.
    pub fn set_cb(&self, cb: usize) {
        self.cb.store(cb, Ordering::Release);
    }
}

/// Whether requests of other threads wait.
pub struct Requested(AtomicBool);

impl Requested {
    pub fn no() -> Requested {
        Requested(AtomicBool::new(false))
    }

    pub fn mark(&self) {
        // Release: pairs with the Acquire load in is_marked().
        self.0.store(true, Ordering::Release);
    }

    #[inline(always)]
    pub fn is_marked(&self) -> bool {
        // Acquire: pairs with the Release in mark().
        self.0.load(Ordering::Acquire)
    }

    /// With the mutex, after the requests were taken.
    pub fn clear(&self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::{Arc, Mutex};
    use loom::thread;

    /// Numbers in place of functions: a callback with its argument, and the dispatcher, which ignores its own.
    const PLAIN: usize = 1;
    const DISPATCHER: usize = 2;

    struct Queue {
        slot: Slot,
        requested: Requested,
        requests: Mutex<Vec<usize>>,
    }

    fn number(arg: usize) -> *mut c_void {
        core::ptr::without_provenance_mut(arg)
    }

    impl Queue {
        fn request(&self, arg: usize) {
            let mut requests = self.requests.lock().unwrap();
            requests.push(arg);
            self.requested.mark();
            self.slot.set_cb(DISPATCHER);
        }

        /// One progress of the owner, whose registered callback has the argument `plain`. Returns the argument that
        /// the callback has from now on.
        fn dispatch(&self, plain: usize) -> usize {
            if self.slot.cb() == PLAIN {
                assert_eq!(
                    self.slot.arg(),
                    number(plain),
                    "another callback's argument"
                );
                return plain;
            }
            if !self.requested.is_marked() {
                return plain;
            }
            let mut requests = self.requests.lock().unwrap();
            let newest = requests.drain(..).next_back().unwrap_or(plain);
            self.requested.clear();
            self.slot.set(PLAIN, number(newest));
            newest
        }
    }

    #[test]
    fn a_callback_gets_its_own_argument_and_no_request_is_lost() {
        loom::model(|| {
            let queue = Arc::new(Queue {
                slot: Slot::empty(),
                requested: Requested::no(),
                requests: Mutex::new(Vec::new()),
            });
            queue.slot.set(PLAIN, number(10));
            let other = queue.clone();
            let thread = thread::spawn(move || {
                other.request(20);
                other.request(30);
            });
            let mut plain = 10;
            for _ in 0..3 {
                plain = queue.dispatch(plain);
            }
            thread.join().unwrap();
            plain = queue.dispatch(plain);
            assert_eq!(plain, 30);
            assert_eq!(queue.dispatch(plain), 30);
        });
    }
}
