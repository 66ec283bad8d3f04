//! Locks on futexes. The whole state of a lock is in its own words, so a child of fork() can use every lock that it makes.
//!
//! parking_lot keeps waiting threads in a table of the process; a child could find that table locked by a thread that it
//! does not have. std's locks would do, but there is neither a raw nor a reentrant one.

use core::num::NonZeroUsize;
use rustix_futex_sync::lock_api;
pub use rustix_futex_sync::lock_api::RawMutex;
pub use rustix_futex_sync::{Condvar, Mutex, MutexGuard, RawMutex as FutexMutex, RwLock};

/// A mutex that its holder may lock again.
pub type ReentrantMutex<T> = lock_api::ReentrantMutex<FutexMutex, Threads, T>;
pub type ReentrantMutexGuard<'a, T> = lock_api::ReentrantMutexGuard<'a, FutexMutex, Threads, T>;

/// Tells threads apart.
pub struct Threads;

// SAFETY: `here` is never 0, and no other living thread has the number.
unsafe impl lock_api::GetThreadId for Threads {
    const INIT: Threads = Threads;

    fn nonzero_thread_id(&self) -> NonZeroUsize {
        NonZeroUsize::new(super::thread::here() as usize).unwrap_or(NonZeroUsize::MAX)
    }
}

/// Ends a spinning lock of the C library.
///
/// # Safety
/// `lock` is live and nobody uses it any more.
pub unsafe fn destroy_spinning(lock: *mut libc::pthread_spinlock_t) -> std::io::Result<()> {
    // SAFETY: the caller's promise.
    match unsafe { libc::pthread_spin_destroy(lock) } {
        0 => Ok(()),
        error => Err(std::io::Error::from_raw_os_error(error)),
    }
}

/// Whether a thread holds a spinning lock of the C library, the calling one included.
///
/// # Safety
/// `lock` is live.
pub unsafe fn spinning_is_held(lock: *mut libc::pthread_spinlock_t) -> bool {
    // SAFETY: the caller's promise.
    let taken = unsafe { libc::pthread_spin_trylock(lock) } == 0;
    if taken {
        // SAFETY: this thread took it in the line above.
        unsafe { libc::pthread_spin_unlock(lock) };
    }
    !taken
}
