//! Active messages: the exported functions of `ucp.h` and its companions.

use crate::c::prelude::*;
use crate::ucs::Status;

/// `ucp/api/ucp_compat.h`, group `am`: not implemented yet.
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

/// `ucp/api/ucp_compat.h`, group `am`: not implemented yet.
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

/// `ucp/api/ucp.h`, group `am`: not implemented yet.
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

/// `ucp/api/ucp.h`, group `am`: not implemented yet.
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

/// `ucp/api/ucp.h`, group `am`: not implemented yet.
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

/// `ucp/api/ucp.h`, group `am`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_am_data_release(_worker: ucp_worker_h, _data: *mut c_void) {}
