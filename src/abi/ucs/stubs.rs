//! `ucs/sys/stubs.h`: functions to put where nothing is to be done, named for what they answer; those
//! of them that a client imports.

use crate::c::prelude::*;
use crate::sys::process;

/// Does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_empty_function() {}

/// Answers UCS_OK.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_empty_function_return_success() -> ucs_status_t {
    UCS_OK
}

/// Stands where no call may happen: ends the process.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_empty_function_do_assert() -> c_int {
    crate::ucs_error!("a function that must not be called was called");
    process::abort()
}
