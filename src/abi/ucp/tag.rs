//! Tag matching: the exported functions of `ucp.h` and its companions.

use crate::c::prelude::*;
use crate::ucs::Status;

/// Old form of `ucp_tag_send_nbx`.
///
/// `ucp/api/ucp_compat.h`, group `tag`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_tag_send_nb(
    _ep: ucp_ep_h,
    _buffer: *const c_void,
    _count: usize,
    _datatype: ucp_datatype_t,
    _tag: ucp_tag_t,
    _cb: ucp_send_callback_t,
) -> ucs_status_ptr_t {
    Status::NOT_IMPLEMENTED.code() as isize as ucs_status_ptr_t
}

/// Sends a tagged message with a request of the caller. UCS_OK: done, and no callback;
/// UCS_INPROGRESS: `ucp_request_check_status` tells.
///
/// `ucp/api/ucp_compat.h`, group `tag`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_tag_send_nbr(
    _ep: ucp_ep_h,
    _buffer: *const c_void,
    _count: usize,
    _datatype: ucp_datatype_t,
    _tag: ucp_tag_t,
    _req: *mut c_void,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// Old form of `ucp_tag_send_sync_nbx`.
///
/// `ucp/api/ucp_compat.h`, group `tag`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_tag_send_sync_nb(
    _ep: ucp_ep_h,
    _buffer: *const c_void,
    _count: usize,
    _datatype: ucp_datatype_t,
    _tag: ucp_tag_t,
    _cb: ucp_send_callback_t,
) -> ucs_status_ptr_t {
    Status::NOT_IMPLEMENTED.code() as isize as ucs_status_ptr_t
}

/// Old form of `ucp_tag_recv_nbx`. Always gives a request and calls back.
///
/// `ucp/api/ucp_compat.h`, group `tag`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_tag_recv_nb(
    _worker: ucp_worker_h,
    _buffer: *mut c_void,
    _count: usize,
    _datatype: ucp_datatype_t,
    _tag: ucp_tag_t,
    _tag_mask: ucp_tag_t,
    _cb: ucp_tag_recv_callback_t,
) -> ucs_status_ptr_t {
    Status::NOT_IMPLEMENTED.code() as isize as ucs_status_ptr_t
}

/// Receives a tagged message with a request of the caller.
///
/// `ucp/api/ucp_compat.h`, group `tag`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_tag_recv_nbr(
    _worker: ucp_worker_h,
    _buffer: *mut c_void,
    _count: usize,
    _datatype: ucp_datatype_t,
    _tag: ucp_tag_t,
    _tag_mask: ucp_tag_t,
    _req: *mut c_void,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// Old form of `ucp_tag_msg_recv_nbx`. Always gives a request and calls back.
///
/// `ucp/api/ucp_compat.h`, group `tag`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_tag_msg_recv_nb(
    _worker: ucp_worker_h,
    _buffer: *mut c_void,
    _count: usize,
    _datatype: ucp_datatype_t,
    _message: ucp_tag_message_h,
    _cb: ucp_tag_recv_callback_t,
) -> ucs_status_ptr_t {
    Status::NOT_IMPLEMENTED.code() as isize as ucs_status_ptr_t
}

/// Sends `count` elements with a tag. Done when the caller's memory is free. Returns NULL when
/// done, a request, or an error.
///
/// `ucp/api/ucp.h`, group `tag`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_tag_send_nbx(
    _ep: ucp_ep_h,
    _buffer: *const c_void,
    _count: usize,
    _tag: ucp_tag_t,
    _param: *const ucp_request_param_t,
) -> ucs_status_ptr_t {
    Status::NOT_IMPLEMENTED.code() as isize as ucs_status_ptr_t
}

/// The same, but done only when the receiver has matched it.
///
/// `ucp/api/ucp.h`, group `tag`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_tag_send_sync_nbx(
    _ep: ucp_ep_h,
    _buffer: *const c_void,
    _count: usize,
    _tag: ucp_tag_t,
    _param: *const ucp_request_param_t,
) -> ucs_status_ptr_t {
    Status::NOT_IMPLEMENTED.code() as isize as ucs_status_ptr_t
}

/// Receives the first message whose tag equals `tag` in the bits of `tag_mask`, now or when it
/// comes. Returns NULL when done, a request, or an error. A message that is longer than the buffer
/// ends with UCS_ERR_MESSAGE_TRUNCATED.
///
/// `ucp/api/ucp.h`, group `tag`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_tag_recv_nbx(
    _worker: ucp_worker_h,
    _buffer: *mut c_void,
    _count: usize,
    _tag: ucp_tag_t,
    _tag_mask: ucp_tag_t,
    _param: *const ucp_request_param_t,
) -> ucs_status_ptr_t {
    Status::NOT_IMPLEMENTED.code() as isize as ucs_status_ptr_t
}

/// Looks for a message that arrived, and tells its tag and bytes. With `remove` it is taken:
/// `ucp_tag_msg_recv_nbx` must receive it. NULL for none.
///
/// `ucp/api/ucp.h`, group `tag`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_tag_probe_nb(
    _worker: ucp_worker_h,
    _tag: ucp_tag_t,
    _tag_mask: ucp_tag_t,
    _remove: c_int,
    _info: *mut ucp_tag_recv_info_t,
) -> ucp_tag_message_h {
    core::ptr::null_mut()
}

/// Receives a message that a probe took.
///
/// `ucp/api/ucp.h`, group `tag`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_tag_msg_recv_nbx(
    _worker: ucp_worker_h,
    _buffer: *mut c_void,
    _count: usize,
    _message: ucp_tag_message_h,
    _param: *const ucp_request_param_t,
) -> ucs_status_ptr_t {
    Status::NOT_IMPLEMENTED.code() as isize as ucs_status_ptr_t
}

/// Checks a tagged receive, and tells tag and bytes.
///
/// `ucp/api/ucp.h`, group `tag`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_tag_recv_request_test(
    _request: *mut c_void,
    _info: *mut ucp_tag_recv_info_t,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}
