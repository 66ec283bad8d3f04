//! Datatypes: the exported functions of `ucp.h` and its companions.

use crate::c::prelude::*;
use crate::ucs::Status;

/// `ucp/api/ucp.h`, group `dt`: not implemented yet.
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

/// `ucp/api/ucp.h`, group `dt`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_dt_destroy(_datatype: ucp_datatype_t) {}

/// `ucp/api/ucp.h`, group `dt`: not implemented yet.
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
