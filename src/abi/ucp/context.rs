//! Contexts and versions: the exported functions of `ucp.h` and its companions.

use crate::c::prelude::*;
use crate::ucs::Status;

/// Tells what the library can do, before any context.
///
/// `ucp/api/ucp.h`, group `context`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_lib_query(_attr: *mut ucp_lib_attr_t) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// Tells the version: 1, 22, 0.
///
/// `ucp/api/ucp.h`, group `context`. Not implemented yet.
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

/// The version as text; static.
///
/// `ucp/api/ucp.h`, group `context`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_get_version_string() -> *const c_char {
    core::ptr::null()
}

/// Creates a context, for a program that was compiled against a version of this interface.
/// `config` may be NULL. `ucp_cleanup` frees it. UCS_ERR_INVALID_PARAM without features;
/// UCS_ERR_NO_DEVICE when no transport is left.
///
/// `ucp/api/ucp.h`, group `context`. Not implemented yet.
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

/// Frees a context, all of whose workers and memory must be gone.
///
/// `ucp/api/ucp.h`, group `context`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_cleanup(_context_p: ucp_context_h) {}

/// Tells about a context.
///
/// `ucp/api/ucp.h`, group `context`. Not implemented yet.
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

/// Prints what a context found: one line for each resource.
///
/// `ucp/api/ucp.h`, group `context`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_context_print_info(_context: ucp_context_h, _stream: *mut FILE) {}
