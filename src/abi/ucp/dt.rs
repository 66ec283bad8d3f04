//! Datatypes: the exported functions of `ucp.h` and its companions.

use crate::c::prelude::*;
use crate::ucs::Status;

/// Makes a datatype of the caller's functions; `context` is passed to them. `ucp_dt_destroy` frees
/// it.
///
/// `ucp/api/ucp.h`, group `dt`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_dt_create_generic(
    _ops: *const ucp_generic_dt_ops_t,
    _context: *mut c_void,
    _datatype_p: *mut ucp_datatype_t,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// Frees a datatype of `ucp_dt_create_generic`; nothing happens for others.
///
/// `ucp/api/ucp.h`, group `dt`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_dt_destroy(_datatype: ucp_datatype_t) {}

/// Tells about a datatype.
///
/// `ucp/api/ucp.h`, group `dt`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_dt_query(
    _datatype: ucp_datatype_t,
    _attr: *mut ucp_datatype_attr_t,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}
