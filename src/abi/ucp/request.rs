//! Requests: the exported functions of `ucp.h` and its companions.

use crate::c::prelude::*;
use crate::ucs::Status;

/// `ucp/api/ucp_compat.h`, group `request`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_request_is_completed(_request: *mut c_void) -> c_int {
    0
}

/// `ucp/api/ucp_compat.h`, group `request`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_request_release(_request: *mut c_void) {}

/// `ucp/api/ucp_compat.h`, group `request`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_request_alloc(_worker: ucp_worker_h) -> *mut c_void {
    core::ptr::null_mut()
}

/// `ucp/api/ucp_compat.h`, group `request`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_request_test(
    _request: *mut c_void,
    _info: *mut ucp_tag_recv_info_t,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// `ucp/api/ucp.h`, group `request`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_request_query(
    _request: *mut c_void,
    _attr: *mut ucp_request_attr_t,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// `ucp/api/ucp.h`, group `request`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_request_check_status(_request: *mut c_void) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// `ucp/api/ucp.h`, group `request`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_request_cancel(_worker: ucp_worker_h, _request: *mut c_void) {}

/// `ucp/api/ucp.h`, group `request`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_request_free(_request: *mut c_void) {}
