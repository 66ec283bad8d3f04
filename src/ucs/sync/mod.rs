//! The only door to atomics and fences for lock-free structures: core's own, or with `--cfg loom` in
//! tests those of loom, which tries out every order of events.
//!
//! Structures in shared memory name their words by address. loom's words cannot stand in raw memory:
//! there an address names a word of a table, made at its first use.

pub mod biased_lock;

#[cfg(not(all(test, loom)))]
mod door {
    use crate::sys::lock::{FutexMutex, RawMutex as _};
    use crate::sys::membarrier;
    pub use core::sync::atomic::{
        AtomicBool, AtomicI32, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize,
    };
    pub use core::sync::atomic::{Ordering, compiler_fence, fence};
    use std::time::Duration;

    /// A mutex that is separate from the data it protects.
    pub struct RawMutex(FutexMutex);

    impl Default for RawMutex {
        fn default() -> RawMutex {
            RawMutex(FutexMutex::INIT)
        }
    }

    impl RawMutex {
        pub fn lock(&self) {
            self.0.lock();
        }

        /// # Safety
        /// This thread has it.
        pub unsafe fn unlock(&self) {
            // SAFETY: by the caller's promise.
            unsafe { self.0.unlock() };
        }

        #[cfg(test)]
        pub fn is_locked(&self) -> bool {
            self.0.is_locked()
        }
    }

    /// Whether a `barrier` here stands for one on every thread of this process.
    pub fn can_barrier() -> bool {
        membarrier::register_own()
    }

    /// A full fence on every thread of this process; those in between need no more than a `compiler_barrier`.
    pub fn barrier() {
        if !membarrier::barrier_own() {
            // A filter of system calls that came later: no processor holds a store back so long.
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// What is before it and after it stays so in the code.
    #[inline(always)]
    pub fn compiler_barrier() {
        compiler_fence(Ordering::SeqCst);
    }

    /// Pauses between two polls of a word that another thread will change, with back-off.
    pub fn pause(looks: u32) {
        match looks {
            0..100 => core::hint::spin_loop(),
            100..200 => std::thread::yield_now(),
            _ => std::thread::sleep(Duration::from_micros(20)),
        }
    }

    /// The word at `at`.
    ///
    /// # Safety
    /// `at` must be aligned, mapped for `'a`, and only be accessed as an atomic.
    #[inline]
    pub unsafe fn word64<'a>(at: *mut u8) -> &'a AtomicU64 {
        // SAFETY: by the caller's promise.
        unsafe { AtomicU64::from_ptr(at.cast()) }
    }

    /// The word at `at`.
    ///
    /// # Safety
    /// As `word64`.
    #[inline]
    pub unsafe fn word32<'a>(at: *mut u8) -> &'a AtomicU32 {
        // SAFETY: by the caller's promise.
        unsafe { AtomicU32::from_ptr(at.cast()) }
    }
}

#[cfg(all(test, loom))]
mod door {
    pub use core::sync::atomic::compiler_fence;
    pub use loom::sync::atomic::{
        AtomicBool, AtomicI32, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize,
    };
    pub use loom::sync::atomic::{Ordering, fence};
    use std::collections::HashMap;
    use std::sync::Mutex;

    /// As outside of models.
    #[derive(Default)]
    pub struct RawMutex(AtomicU32);

    impl RawMutex {
        pub fn lock(&self) {
            while self
                .0
                .compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed)
                .is_err()
            {
                loom::thread::yield_now();
            }
        }

        /// # Safety
        /// None here; the same signature as outside of models.
        pub unsafe fn unlock(&self) {
            self.0.store(0, Ordering::Release);
        }
    }

    pub fn can_barrier() -> bool {
        true
    }

    pub fn barrier() {
        fence(Ordering::SeqCst);
    }

    /// The barrier of the other side, as if it had been issued here.
    pub fn compiler_barrier() {
        fence(Ordering::SeqCst);
    }

    pub fn pause(_looks: u32) {
        loom::thread::yield_now();
    }

    loom::lazy_static! {
        static ref LONG: Mutex<HashMap<usize, &'static AtomicU64>> = Mutex::new(HashMap::new());
        static ref SHORT: Mutex<HashMap<usize, &'static AtomicU32>> = Mutex::new(HashMap::new());
    }

    /// The word named `at`.
    ///
    /// # Safety
    /// None here; the same signature as outside of models.
    pub unsafe fn word64<'a>(at: *mut u8) -> &'a AtomicU64 {
        let mut words = LONG.lock().unwrap();
        words
            .entry(at as usize)
            .or_insert_with(|| Box::leak(Box::new(AtomicU64::new(0))))
    }

    /// The word named `at`.
    ///
    /// # Safety
    /// As `word64`.
    pub unsafe fn word32<'a>(at: *mut u8) -> &'a AtomicU32 {
        let mut words = SHORT.lock().unwrap();
        words
            .entry(at as usize)
            .or_insert_with(|| Box::leak(Box::new(AtomicU32::new(0))))
    }
}

pub use door::{
    AtomicBool, AtomicI32, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering,
    RawMutex, barrier, can_barrier, compiler_barrier, compiler_fence, fence, pause, word32, word64,
};
