//! `ucs/sys/stubs.h`: functions to put where nothing is to be done, named for what they answer.

use crate::c::prelude::*;
use crate::sys::process;

/// Does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_empty_function() {}

/// Answers UCS_OK.
///
/// - returns: UCS_OK.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_empty_function_return_success() -> ucs_status_t {
    UCS_OK
}

/// Stands where no call may happen: ends the process.
///
/// - returns: It does not return.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_empty_function_do_assert() -> c_int {
    crate::ucs_error!("a function that must not be called was called");
    process::abort()
}

/// Answers UCS_ERR_UNSUPPORTED.
///
/// - returns: UCS_ERR_UNSUPPORTED.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_empty_function_return_unsupported() -> ucs_status_t {
    UCS_ERR_UNSUPPORTED
}

/// Answers UCS_INPROGRESS.
///
/// - returns: UCS_INPROGRESS.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_empty_function_return_inprogress() -> ucs_status_t {
    UCS_INPROGRESS
}

/// Answers UCS_ERR_NO_RESOURCE.
///
/// - returns: UCS_ERR_NO_RESOURCE.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_empty_function_return_no_resource() -> ucs_status_t {
    UCS_ERR_NO_RESOURCE
}

/// Answers UCS_ERR_INVALID_PARAM.
///
/// - returns: UCS_ERR_INVALID_PARAM.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_empty_function_return_invalid_param() -> ucs_status_t {
    UCS_ERR_INVALID_PARAM
}

/// Answers UCS_ERR_ENDPOINT_TIMEOUT.
///
/// - returns: UCS_ERR_ENDPOINT_TIMEOUT.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_empty_function_return_ep_timeout() -> ucs_status_t {
    UCS_ERR_ENDPOINT_TIMEOUT
}

/// Answers UCS_ERR_BUSY.
///
/// - returns: UCS_ERR_BUSY.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_empty_function_return_busy() -> ucs_status_t {
    UCS_ERR_BUSY
}

/// Answers UCS_ERR_ENDPOINT_TIMEOUT, as a length.
///
/// - returns: UCS_ERR_ENDPOINT_TIMEOUT.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_empty_function_return_bc_ep_timeout() -> isize {
    UCS_ERR_ENDPOINT_TIMEOUT as isize
}

/// Answers UCS_ERR_NO_RESOURCE, as a pointer.
///
/// - returns: UCS_ERR_NO_RESOURCE.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_empty_function_return_ptr_no_resource() -> ucs_status_ptr_t {
    status_ptr(UCS_ERR_NO_RESOURCE)
}

/// Answers UCS_ERR_UNSUPPORTED, as a pointer.
///
/// - returns: UCS_ERR_UNSUPPORTED.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_empty_function_return_ptr_unsupported() -> ucs_status_ptr_t {
    status_ptr(UCS_ERR_UNSUPPORTED)
}

/// Answers 0.
///
/// - returns: 0.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_empty_function_return_zero() -> c_uint {
    0
}

/// Answers 0.
///
/// - returns: 0.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_empty_function_return_zero_int() -> c_int {
    0
}

/// Answers 0.
///
/// - returns: 0.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_empty_function_return_zero_int64() -> i64 {
    0
}

/// Answers 0.
///
/// - returns: 0.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_empty_function_return_zero_size_t() -> usize {
    0
}

/// Answers 1.
///
/// - returns: 1.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_empty_function_return_one() -> c_uint {
    1
}

/// Answers 1.
///
/// - returns: 1.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_empty_function_return_one_int() -> c_int {
    1
}

/// Stands where no call may happen: ends the process.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_empty_function_do_assert_void() {
    ucs_empty_function_do_assert();
}

/// A status as C puts it into a pointer.
fn status_ptr(status: ucs_status_t) -> ucs_status_ptr_t {
    core::ptr::without_provenance_mut(status as isize as usize)
}
