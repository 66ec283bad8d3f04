//! Active messages: the exported functions of `ucp.h` and its companions.

use crate::c::prelude::*;
use crate::ucs::Status;

/// Registers an old-style handler of active messages with this `id`; NULL removes it.
///
/// `ucp/api/ucp_compat.h`, group `am`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_set_am_handler(
    _worker: ucp_worker_h,
    _id: u16,
    _cb: ucp_am_callback_t,
    _arg: *mut c_void,
    _flags: u32,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// Old form of `ucp_am_send_nbx`, without a header.
///
/// `ucp/api/ucp_compat.h`, group `am`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_am_send_nb(
    _ep: ucp_ep_h,
    _id: u16,
    _buffer: *const c_void,
    _count: usize,
    _datatype: ucp_datatype_t,
    _cb: ucp_send_callback_t,
    _flags: c_uint,
) -> ucs_status_ptr_t {
    Status::NOT_IMPLEMENTED.code() as isize as ucs_status_ptr_t
}

/// Registers a handler of active messages, or removes one. UCS_ERR_INVALID_PARAM when the id is
/// not set.
///
/// `ucp/api/ucp.h`, group `am`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_set_am_recv_handler(
    _worker: ucp_worker_h,
    _param: *const ucp_am_handler_param_t,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// Sends an active message to the handler `id` of the peer: `header_length` bytes of header, at
/// most the worker's `max_am_header`, and `count` elements at `buffer`. The header may be reused
/// at the end, or at once with UCP_AM_SEND_FLAG_COPY_HEADER. Returns NULL when done, a request, or
/// an error.
///
/// `ucp/api/ucp.h`, group `am`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_am_send_nbx(
    _ep: ucp_ep_h,
    _id: c_uint,
    _header: *const c_void,
    _header_length: usize,
    _buffer: *const c_void,
    _count: usize,
    _param: *const ucp_request_param_t,
) -> ucs_status_ptr_t {
    Status::NOT_IMPLEMENTED.code() as isize as ucs_status_ptr_t
}

/// Fetches the data of an active message that the handler got as a descriptor, into `buffer`.
/// Returns NULL when done, a request, or an error.
///
/// `ucp/api/ucp.h`, group `am`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_am_recv_data_nbx(
    _worker: ucp_worker_h,
    _data_desc: *mut c_void,
    _buffer: *mut c_void,
    _count: usize,
    _param: *const ucp_request_param_t,
) -> ucs_status_ptr_t {
    Status::NOT_IMPLEMENTED.code() as isize as ucs_status_ptr_t
}

/// Gives back data that a handler kept by returning UCS_INPROGRESS.
///
/// `ucp/api/ucp.h`, group `am`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_am_data_release(_worker: ucp_worker_h, _data: *mut c_void) {}
