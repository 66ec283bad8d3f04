//! `ucs/type/spinlock.h`: what is not inline there.

use crate::abi::args::non_null;
use crate::c::prelude::*;
use crate::sys::lock;

/// Ends a lock, which nobody holds. `ucs/type/spinlock.h`.
///
/// - `lock` (in,out): The lock.
///
/// # Safety
/// `lock` is null or a live lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_spinlock_destroy(lock: *mut ucs_spinlock_t) {
    non_null!(; lock);
    // SAFETY: the caller's promise.
    if let Err(error) = unsafe { lock::destroy_spinning(&raw mut (*lock).lock) } {
        crate::ucs_warn!("the spinlock at {lock:p} is not ended: {error}");
    }
}

/// The same for a lock that its owner may take again. `ucs/type/spinlock.h`.
///
/// - `lock` (in,out): The lock.
///
/// # Safety
/// As for `ucs_spinlock_destroy`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_recursive_spinlock_destroy(lock: *mut ucs_recursive_spinlock_t) {
    non_null!(; lock);
    // SAFETY: the caller's promise.
    unsafe { ucs_spinlock_destroy(&raw mut (*lock).super_) };
}

/// 1 when a thread holds the lock, else 0. `ucs/type/spinlock.h`.
///
/// - `lock` (in,out): The lock.
/// - returns: 1 or 0.
///
/// # Safety
/// As for `ucs_spinlock_destroy`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_spinlock_is_held(lock: *mut ucs_spinlock_t) -> c_int {
    non_null!(0; lock);
    // SAFETY: the caller's promise.
    unsafe { lock::spinning_is_held(&raw mut (*lock).lock) }.into()
}

/// The same for a lock that its owner may take again. `ucs/type/spinlock.h`.
///
/// - `lock` (in,out): The lock.
/// - returns: 1 or 0.
///
/// # Safety
/// As for `ucs_spinlock_destroy`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_recursive_spinlock_is_held(
    lock: *const ucs_recursive_spinlock_t,
) -> c_int {
    non_null!(0; lock);
    // SAFETY: the caller's promise; the lock is taken and given back, as its type allows behind `const`.
    unsafe { ucs_spinlock_is_held((&raw const (*lock).super_).cast_mut()) }
}
