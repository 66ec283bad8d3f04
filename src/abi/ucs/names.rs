//! Exported tables of names: `ucs/memory/memory_type.h`, `ucs/config/types.h`,
//! `ucs/type/thread_mode.h`, `ucs/stats/stats_fwd.h`.
//!
//! They are copied into executables at load, up to the size that the executable knows; the library
//! itself never reads them.

use crate::c::prelude::*;
use crate::ucs::memtype::TYPES;

/// Pointers to constant C strings.
#[repr(transparent)]
pub struct Names<const N: usize>(pub(crate) [*const c_char; N]);

// SAFETY: the pointers lead to constants and are never written.
unsafe impl<const N: usize> Sync for Names<N> {}

const fn names<const N: usize>(texts: [&'static CStr; N]) -> Names<N> {
    let mut names = [core::ptr::null(); N];
    let mut i = 0;
    while i < N {
        names[i] = texts[i].as_ptr();
        i += 1;
    }
    Names(names)
}

/// Names or descriptions of memory types; what is left of `N` stays null.
const fn types<const N: usize>(descriptions: bool) -> Names<N> {
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
pub static ucs_memory_type_names: Names<12> = types(false);

/// Descriptions by memory type, "unknown" last.
#[unsafe(no_mangle)]
pub static ucs_memory_type_descs: Names<11> = types(true);

/// Names by async mode, then NULL.
#[unsafe(no_mangle)]
pub static ucs_async_mode_names: Names<5> = Names([
    c"signal".as_ptr(),
    c"thread_spinlock".as_ptr(),
    c"thread_mutex".as_ptr(),
    c"poll".as_ptr(),
    core::ptr::null(),
]);

/// Names by thread mode.
#[unsafe(no_mangle)]
pub static ucs_thread_mode_names: Names<3> = names([c"single", c"serialized", c"multi"]);

/// Names by format of statistics, then NULL. Statistics are off, as in upstream's release builds.
#[unsafe(no_mangle)]
pub static ucs_stats_formats_names: Names<4> = Names([
    c"full".as_ptr(),
    c"agg".as_ptr(),
    c"summary".as_ptr(),
    core::ptr::null(),
]);
