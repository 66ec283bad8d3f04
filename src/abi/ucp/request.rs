//! Requests: the exported functions of `ucp.h` and its companions.

use crate::c::prelude::*;
use crate::ucs::Status;

/// Nonzero when a request is at its end. See `ucp_request_check_status`.
///
/// `ucp/api/ucp_compat.h`, group `request`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_request_is_completed(_request: *mut c_void) -> c_int {
    0
}

/// Old name of `ucp_request_free`.
///
/// `ucp/api/ucp_compat.h`, group `request`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_request_release(_request: *mut c_void) {}

/// Allocates a request for operations that take one of the caller.
///
/// `ucp/api/ucp_compat.h`, group `request`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_request_alloc(_worker: ucp_worker_h) -> *mut c_void {
    core::ptr::null_mut()
}

/// Old form of `ucp_request_check_status`, with the result of a tagged receive.
///
/// `ucp/api/ucp_compat.h`, group `request`. Not implemented yet.
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

/// Tells about a request.
///
/// `ucp/api/ucp.h`, group `request`. Not implemented yet.
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

/// UCS_INPROGRESS while a request goes on, then its result.
///
/// `ucp/api/ucp.h`, group `request`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_request_check_status(_request: *mut c_void) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// Asks to give a request up. It still has to come to its end, with UCS_ERR_CANCELED or as usual.
///
/// `ucp/api/ucp.h`, group `request`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_request_cancel(_worker: ucp_worker_h, _request: *mut c_void) {}

/// Frees a request, before its end too: then it goes on and no callback is lost.
///
/// `ucp/api/ucp.h`, group `request`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_request_free(_request: *mut c_void) {}
