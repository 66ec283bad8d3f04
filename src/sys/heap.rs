//! The C heap, for memory that crosses the ABI: a client may release what we made and we may grow
//! what it gave.

use core::ffi::{CStr, c_char, c_void};

/// `len` bytes, or null.
pub fn malloc(len: usize) -> *mut c_void {
    // SAFETY: any length is allowed; the answer may be null.
    unsafe { libc::malloc(len) }
}

/// `count` zeroed objects of `len` bytes, or null.
pub fn calloc(count: usize, len: usize) -> *mut c_void {
    // SAFETY: any lengths are allowed; the answer may be null.
    unsafe { libc::calloc(count, len) }
}

/// `block` with room for `len` bytes, or null with `block` untouched.
///
/// # Safety
/// `block` is null or a live block of the C heap, given up on success.
pub unsafe fn realloc(block: *mut c_void, len: usize) -> *mut c_void {
    // SAFETY: the caller's promise is realloc's own.
    unsafe { libc::realloc(block, len) }
}

/// # Safety
/// `block` is null or a live block of the C heap, given up.
pub unsafe fn free(block: *mut c_void) {
    // SAFETY: the caller's promise is free's own.
    unsafe { libc::free(block) }
}

/// A copy of `text`, or null.
pub fn strdup(text: &CStr) -> *mut c_char {
    // SAFETY: a C string.
    unsafe { libc::strdup(text.as_ptr()) }
}

/// Sorts an array by a comparison of C.
///
/// # Safety
/// `base` has `count` elements of `size` bytes, which `compare` orders.
pub unsafe fn sort(
    base: *mut c_void,
    count: usize,
    size: usize,
    compare: Option<unsafe extern "C" fn(*const c_void, *const c_void, *mut c_void) -> i32>,
    argument: *mut c_void,
) {
    unsafe extern "C" {
        // glibc and musl have it; the crate `libc` declares glibc's only.
        fn qsort_r(
            base: *mut c_void,
            count: usize,
            size: usize,
            compare: Option<unsafe extern "C" fn(*const c_void, *const c_void, *mut c_void) -> i32>,
            argument: *mut c_void,
        );
    }
    // SAFETY: the caller's promise is qsort_r's own.
    unsafe { qsort_r(base, count, size, compare, argument) };
}
