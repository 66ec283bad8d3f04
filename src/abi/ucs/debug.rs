//! `ucs/debug/debug.h`, and statistics, which are off.

use super::text_of;
use crate::c::prelude::*;
use crate::sys::process;

unsafe extern "C" {
    fn ferrucx_first_poisoned(address: *mut c_void, size: usize) -> *mut c_void;
}

/// Gives a signal back to the handler of before. This library handles no signals: there is nothing to give back.
/// `ucs/debug/debug.h`.
///
/// - `signum` (in): Number of the signal.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_debug_disable_signal(_signum: c_int) {}

/// The same for all signals. In no installed header.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_debug_disable_signals() {}

/// Stops where the address sanitizer says that memory is not valid. `ucs/debug/debug.h`.
///
/// - `ptr_name` (in): Name for the message, NUL-terminated.
/// - `address` (in): Start.
/// - `size` (in): Bytes.
///
/// # Safety
/// `ptr_name` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_debug_asan_validate_address(
    ptr_name: *const c_char,
    address: *mut c_void,
    size: usize,
) {
    // SAFETY: the sanitizer looks the range up and follows no address in it.
    let poisoned = unsafe { ferrucx_first_poisoned(address, size) };
    if !poisoned.is_null() {
        // SAFETY: the caller's string.
        let name = unsafe { text_of(ptr_name) };
        crate::ucs_error!(
            "{name}: {size} bytes at {address:p} are not the program's from {poisoned:p} on"
        );
        process::abort();
    }
}

/// The root of the statistics tree: null, as statistics are off. `ucs/stats/stats_fwd.h`.
///
/// - returns: NULL.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_stats_get_root() -> *mut ucs_stats_node_t {
    core::ptr::null_mut()
}
