//! Streams: the exported functions of `ucp.h` and its companions.

use crate::c::prelude::*;
use crate::ucs::Status;

/// Old form of `ucp_stream_send_nbx`.
///
/// `ucp/api/ucp_compat.h`, group `stream`. Not implemented yet.
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

/// Old form of `ucp_stream_recv_nbx`.
///
/// `ucp/api/ucp_compat.h`, group `stream`. Not implemented yet.
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

/// Lists endpoints with stream data that was not received: at most `max_eps`. Returns their
/// number, or an error.
///
/// `ucp/api/ucp.h`, group `stream`. Not implemented yet.
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

/// Sends `count` elements on the byte stream of an endpoint. Returns NULL when done, a request, or
/// an error.
///
/// `ucp/api/ucp.h`, group `stream`. Not implemented yet.
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

/// Receives up to `count` elements from the byte stream of an endpoint. NULL: done, `*length`
/// bytes.
///
/// `ucp/api/ucp.h`, group `stream`. Not implemented yet.
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

/// Takes what has arrived on a stream without a copy: its start, with the bytes in `*length`; NULL
/// for nothing. `ucp_stream_data_release` gives it back.
///
/// `ucp/api/ucp.h`, group `stream`. Not implemented yet.
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

/// Checks a stream receive, and tells its bytes.
///
/// `ucp/api/ucp.h`, group `stream`. Not implemented yet.
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

/// Gives back data of `ucp_stream_recv_data_nb`.
///
/// `ucp/api/ucp.h`, group `stream`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_stream_data_release(_ep: ucp_ep_h, _data: *mut c_void) {}
