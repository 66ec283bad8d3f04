//! The only door to atomics and fences for lock-free structures: core's own, or with `--cfg loom` in
//! tests those of loom, which tries out every order of events.
//!
//! Structures in shared memory name their words by address. loom's words cannot stand in raw memory:
//! there an address names a word of a table, made at its first use.

#[cfg(not(all(test, loom)))]
mod door {
    pub use core::sync::atomic::{AtomicU32, AtomicU64, Ordering, compiler_fence, fence};

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
    pub use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
    use std::collections::HashMap;
    use std::sync::Mutex;

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

pub use door::{AtomicU32, AtomicU64, Ordering, compiler_fence, fence, word32, word64};
