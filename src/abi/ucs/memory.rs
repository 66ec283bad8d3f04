//! `ucs/memory/memory_type.h` and `ucs/debug/memtrack.h`.
//!
//! The two tables are copied into executables at load, up to the size that the executable knows;
//! the library itself reads `ucs::memtype` instead.

use crate::c::prelude::*;
use crate::sys::heap;
use crate::ucs::memtype::TYPES;

/// Pointers to constant C strings.
#[repr(transparent)]
pub struct Names<const N: usize>([*const c_char; N]);

// SAFETY: the pointers lead to constants and are never written.
unsafe impl<const N: usize> Sync for Names<N> {}

const fn column<const N: usize>(descriptions: bool) -> Names<N> {
    let mut names = [core::ptr::null(); N];
    let mut i = 0;
    while i < N && i < TYPES.len() {
        names[i] = if descriptions {
            TYPES[i].1.as_ptr()
        } else {
            TYPES[i].0.as_ptr()
        };
        i += 1;
    }
    Names(names)
}

/// Names by memory type, "unknown" last, then NULL.
#[unsafe(no_mangle)]
pub static ucs_memory_type_names: Names<12> = column(false);

/// Descriptions by memory type, "unknown" last.
#[unsafe(no_mangle)]
pub static ucs_memory_type_descs: Names<11> = column(true);

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
#[unsafe(no_mangle)]
pub extern "C" fn ucs_memtrack_allocated(_ptr: *mut c_void, _size: usize, _name: *const c_char) {}

/// Tells the allocation statistics that memory goes; they are off. `ucs/debug/memtrack.h`.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_memtrack_releasing(_ptr: *mut c_void) {}
