//! Streams: the exported functions of `ucp.h` and its companions.

use crate::c::prelude::*;
use crate::ucs::Status;

/// `ucp/api/ucp_compat.h`, group `stream`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_stream_send_nb(
    _ep: ucp_ep_h,
    _buffer: *const c_void,
    _count: usize,
    _datatype: ucp_datatype_t,
    _cb: ucp_send_callback_t,
    _flags: c_uint,
) -> ucs_status_ptr_t {
    Status::NOT_IMPLEMENTED.code() as isize as ucs_status_ptr_t
}

/// `ucp/api/ucp_compat.h`, group `stream`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_stream_recv_nb(
    _ep: ucp_ep_h,
    _buffer: *mut c_void,
    _count: usize,
    _datatype: ucp_datatype_t,
    _cb: ucp_stream_recv_callback_t,
    _length: *mut usize,
    _flags: c_uint,
) -> ucs_status_ptr_t {
    Status::NOT_IMPLEMENTED.code() as isize as ucs_status_ptr_t
}

/// `ucp/api/ucp.h`, group `stream`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_stream_worker_poll(
    _worker: ucp_worker_h,
    _poll_eps: *mut ucp_stream_poll_ep_t,
    _max_eps: usize,
    _flags: c_uint,
) -> isize {
    Status::NOT_IMPLEMENTED.code() as isize
}

/// `ucp/api/ucp.h`, group `stream`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_stream_send_nbx(
    _ep: ucp_ep_h,
    _buffer: *const c_void,
    _count: usize,
    _param: *const ucp_request_param_t,
) -> ucs_status_ptr_t {
    Status::NOT_IMPLEMENTED.code() as isize as ucs_status_ptr_t
}

/// `ucp/api/ucp.h`, group `stream`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_stream_recv_nbx(
    _ep: ucp_ep_h,
    _buffer: *mut c_void,
    _count: usize,
    _length: *mut usize,
    _param: *const ucp_request_param_t,
) -> ucs_status_ptr_t {
    Status::NOT_IMPLEMENTED.code() as isize as ucs_status_ptr_t
}

/// `ucp/api/ucp.h`, group `stream`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_stream_recv_data_nb(
    _ep: ucp_ep_h,
    _length: *mut usize,
) -> ucs_status_ptr_t {
    Status::NOT_IMPLEMENTED.code() as isize as ucs_status_ptr_t
}

/// `ucp/api/ucp.h`, group `stream`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_stream_recv_request_test(
    _request: *mut c_void,
    _length_p: *mut usize,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// `ucp/api/ucp.h`, group `stream`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_stream_data_release(_ep: ucp_ep_h, _data: *mut c_void) {}
