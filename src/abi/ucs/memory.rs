//! Memory of the C heap for tools, and `ucs/debug/memtrack.h`.

use crate::c::prelude::*;
use crate::sys::heap;

/// Memory that `ucs_free` takes back; null when there is none. `name` serves statistics that are
/// off. Used by tools.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_malloc(size: usize, _name: *const c_char) -> *mut c_void {
    heap::malloc(size)
}

/// Frees what `ucs_malloc` gave.
///
/// # Safety
/// `ptr` is null or from `ucs_malloc`, and is not used after.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_free(ptr: *mut c_void) {
    // SAFETY: the caller's promise.
    unsafe { heap::free(ptr) };
}

/// Tells the allocation statistics of memory; they are off. `ucs/debug/memtrack.h`.
///
/// - `ptr` (in): The memory.
/// - `size` (in): Bytes.
/// - `name` (in): Name, NUL-terminated.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_memtrack_allocated(_ptr: *mut c_void, _size: usize, _name: *const c_char) {}

/// Tells the allocation statistics that memory goes; they are off. `ucs/debug/memtrack.h`.
///
/// - `ptr` (in): The memory.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_memtrack_releasing(_ptr: *mut c_void) {}
