//! Datatypes: the exported functions of `ucp.h` and its companions.

use crate::abi::args::non_null;
use crate::c::prelude::*;
use crate::ucp::dt::generic::{GenericType, is_generic};
use crate::ucp::dt::{Data, Side, contiguous_bytes};
use crate::ucs::Status;

/// Makes a datatype of the caller's functions. `ucp_dt_destroy` frees it.
///
/// - `ops` (in): The six functions, all needed; copied.
/// - `context` (in): First argument of the start functions.
/// - `datatype_p` (out): The datatype; written on success only.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument or a function is NULL.
///
/// `ucp/api/ucp.h`, group `dt`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_dt_create_generic(
    ops: *const ucp_generic_dt_ops_t,
    context: *mut c_void,
    datatype_p: *mut ucp_datatype_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; ops, datatype_p);
    // SAFETY: the caller's struct, the same in every release.
    match GenericType::create(unsafe { *ops }, context) {
        Ok(dt) => {
            // SAFETY: the caller's out parameter.
            unsafe { *datatype_p = dt };
            UCS_OK
        }
        Err(e) => e.code(),
    }
}

/// Frees a datatype of `ucp_dt_create_generic`; nothing happens for others.
///
/// - `datatype` (in): Datatype that no operation uses any more.
///
/// `ucp/api/ucp.h`, group `dt`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_dt_destroy(datatype: ucp_datatype_t) {
    if is_generic(datatype) {
        // SAFETY: of `ucp_dt_create_generic`, destroyed once.
        unsafe { GenericType::destroy(datatype) };
    }
}

/// Tells the packed size of a buffer.
///
/// - `datatype` (in): Datatype of this library.
/// - `attr` (in,out): `field_mask` says which members are read and written; not NULL. A `buffer` is
///   needed unless the datatype is contiguous.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when the buffer is missing or does not fit the
///   datatype.
///
/// `ucp/api/ucp.h`, group `dt`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_dt_query(
    datatype: ucp_datatype_t,
    attr: *mut ucp_datatype_attr_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; attr);
    // SAFETY: the caller's struct, read and written as masked.
    unsafe {
        let mask = (*attr).field_mask;
        let has = |bit: u32| mask & u64::from(bit) != 0;
        if !has(UCP_DATATYPE_ATTR_FIELD_PACKED_SIZE) {
            return UCS_OK;
        }
        let count = if has(UCP_DATATYPE_ATTR_FIELD_COUNT) {
            (*attr).count
        } else {
            1
        };
        let size = match contiguous_bytes(datatype, count) {
            // Contiguous elements have a size without a buffer.
            Some(bytes) => bytes,
            None if has(UCP_DATATYPE_ATTR_FIELD_BUFFER) => {
                let mut data = Data::empty();
                data.describe((*attr).buffer.cast_mut(), count, datatype, Side::Send)
                    .map(|()| data.len())
            }
            None => {
                crate::ucs_error!(
                    "ucp_dt_query: datatype {datatype:#x} has no size without a buffer"
                );
                Err(Status::INVALID_PARAM)
            }
        };
        match size {
            Ok(bytes) => {
                (*attr).packed_size = bytes;
                UCS_OK
            }
            Err(e) => e.code(),
        }
    }
}
