//! Remote memory access: the exported functions of `ucp.h` and its companions.

use crate::c::prelude::*;
use crate::ucs::Status;

/// `ucp/api/ucp_compat.h`, group `rma`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_put(
    _ep: ucp_ep_h,
    _buffer: *const c_void,
    _length: usize,
    _remote_addr: u64,
    _rkey: ucp_rkey_h,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// `ucp/api/ucp_compat.h`, group `rma`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_get(
    _ep: ucp_ep_h,
    _buffer: *mut c_void,
    _length: usize,
    _remote_addr: u64,
    _rkey: ucp_rkey_h,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// `ucp/api/ucp_compat.h`, group `rma`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_put_nbi(
    _ep: ucp_ep_h,
    _buffer: *const c_void,
    _length: usize,
    _remote_addr: u64,
    _rkey: ucp_rkey_h,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// `ucp/api/ucp_compat.h`, group `rma`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_put_nb(
    _ep: ucp_ep_h,
    _buffer: *const c_void,
    _length: usize,
    _remote_addr: u64,
    _rkey: ucp_rkey_h,
    _cb: ucp_send_callback_t,
) -> ucs_status_ptr_t {
    Status::NOT_IMPLEMENTED.code() as isize as ucs_status_ptr_t
}

/// `ucp/api/ucp_compat.h`, group `rma`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_get_nbi(
    _ep: ucp_ep_h,
    _buffer: *mut c_void,
    _length: usize,
    _remote_addr: u64,
    _rkey: ucp_rkey_h,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// `ucp/api/ucp_compat.h`, group `rma`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_get_nb(
    _ep: ucp_ep_h,
    _buffer: *mut c_void,
    _length: usize,
    _remote_addr: u64,
    _rkey: ucp_rkey_h,
    _cb: ucp_send_callback_t,
) -> ucs_status_ptr_t {
    Status::NOT_IMPLEMENTED.code() as isize as ucs_status_ptr_t
}

/// `ucp/api/ucp.h`, group `rma`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_put_nbx(
    _ep: ucp_ep_h,
    _buffer: *const c_void,
    _count: usize,
    _remote_addr: u64,
    _rkey: ucp_rkey_h,
    _param: *const ucp_request_param_t,
) -> ucs_status_ptr_t {
    Status::NOT_IMPLEMENTED.code() as isize as ucs_status_ptr_t
}

/// `ucp/api/ucp.h`, group `rma`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_get_nbx(
    _ep: ucp_ep_h,
    _buffer: *mut c_void,
    _count: usize,
    _remote_addr: u64,
    _rkey: ucp_rkey_h,
    _param: *const ucp_request_param_t,
) -> ucs_status_ptr_t {
    Status::NOT_IMPLEMENTED.code() as isize as ucs_status_ptr_t
}
