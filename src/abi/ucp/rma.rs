//! Remote memory access: the exported functions of `ucp.h` and its companions.

use crate::c::prelude::*;
use crate::ucs::Status;

/// Writes to memory of the peer, and waits until the caller's memory is free.
///
/// `ucp/api/ucp_compat.h`, group `rma`. Not implemented yet.
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

/// Reads memory of the peer, and waits.
///
/// `ucp/api/ucp_compat.h`, group `rma`. Not implemented yet.
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

/// Writes to memory of the peer. UCS_OK: the caller's memory is free; UCS_INPROGRESS: after a
/// flush.
///
/// `ucp/api/ucp_compat.h`, group `rma`. Not implemented yet.
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

/// Old form of `ucp_put_nbx`.
///
/// `ucp/api/ucp_compat.h`, group `rma`. Not implemented yet.
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

/// Reads memory of the peer. UCS_INPROGRESS: the data is there after a flush.
///
/// `ucp/api/ucp_compat.h`, group `rma`. Not implemented yet.
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

/// Old form of `ucp_get_nbx`.
///
/// `ucp/api/ucp_compat.h`, group `rma`. Not implemented yet.
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

/// Writes `count` elements to the peer's memory at `remote_addr`. Done when the caller's memory is
/// free; the peer sees it after a flush. Returns NULL when done, a request, or an error.
///
/// `ucp/api/ucp.h`, group `rma`. Not implemented yet.
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

/// Reads `count` elements of the peer's memory at `remote_addr`. Returns NULL when done, a
/// request, or an error.
///
/// `ucp/api/ucp.h`, group `rma`. Not implemented yet.
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
