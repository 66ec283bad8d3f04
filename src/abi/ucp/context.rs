//! Contexts and versions: the exported functions of `ucp.h` and its companions.

use crate::c::prelude::*;
use crate::ucs::Status;

/// `ucp/api/ucp.h`, group `context`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_lib_query(_attr: *mut ucp_lib_attr_t) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// `ucp/api/ucp.h`, group `context`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_get_version(
    _major_version: *mut c_uint,
    _minor_version: *mut c_uint,
    _release_number: *mut c_uint,
) {
}

/// `ucp/api/ucp.h`, group `context`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_get_version_string() -> *const c_char {
    core::ptr::null()
}

/// `ucp/api/ucp.h`, group `context`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_init_version(
    _api_major_version: c_uint,
    _api_minor_version: c_uint,
    _params: *const ucp_params_t,
    _config: *const ucp_config_t,
    _context_p: *mut ucp_context_h,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// `ucp/api/ucp.h`, group `context`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_cleanup(_context_p: ucp_context_h) {}

/// `ucp/api/ucp.h`, group `context`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_context_query(
    _context_p: ucp_context_h,
    _attr: *mut ucp_context_attr_t,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// `ucp/api/ucp.h`, group `context`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_context_print_info(_context: ucp_context_h, _stream: *mut FILE) {}
