//! Atomics: the exported functions of `ucp.h` and its companions.

use crate::c::prelude::*;
use crate::ucs::Status;

/// Adds to 4 bytes of the peer. May return before it happens there; the peer sees it after a
/// flush.
///
/// `ucp/api/ucp_compat.h`, group `amo`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_atomic_add32(
    _ep: ucp_ep_h,
    _add: u32,
    _remote_addr: u64,
    _rkey: ucp_rkey_h,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// Adds to 8 bytes of the peer. May return before it happens there; the peer sees it after a
/// flush.
///
/// `ucp/api/ucp_compat.h`, group `amo`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_atomic_add64(
    _ep: ucp_ep_h,
    _add: u64,
    _remote_addr: u64,
    _rkey: ucp_rkey_h,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// Adds to 4 bytes of the peer and waits for what was there.
///
/// `ucp/api/ucp_compat.h`, group `amo`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_atomic_fadd32(
    _ep: ucp_ep_h,
    _add: u32,
    _remote_addr: u64,
    _rkey: ucp_rkey_h,
    _result: *mut u32,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// Adds to 8 bytes of the peer and waits for what was there.
///
/// `ucp/api/ucp_compat.h`, group `amo`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_atomic_fadd64(
    _ep: ucp_ep_h,
    _add: u64,
    _remote_addr: u64,
    _rkey: ucp_rkey_h,
    _result: *mut u64,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// Exchanges 4 bytes of the peer and waits for what was there.
///
/// `ucp/api/ucp_compat.h`, group `amo`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_atomic_swap32(
    _ep: ucp_ep_h,
    _swap: u32,
    _remote_addr: u64,
    _rkey: ucp_rkey_h,
    _result: *mut u32,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// Exchanges 8 bytes of the peer and waits for what was there.
///
/// `ucp/api/ucp_compat.h`, group `amo`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_atomic_swap64(
    _ep: ucp_ep_h,
    _swap: u64,
    _remote_addr: u64,
    _rkey: ucp_rkey_h,
    _result: *mut u64,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// Exchanges 4 bytes of the peer if they equal `compare`, and waits for what was there.
///
/// `ucp/api/ucp_compat.h`, group `amo`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_atomic_cswap32(
    _ep: ucp_ep_h,
    _compare: u32,
    _swap: u32,
    _remote_addr: u64,
    _rkey: ucp_rkey_h,
    _result: *mut u32,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// Exchanges 8 bytes of the peer if they equal `compare`, and waits for what was there.
///
/// `ucp/api/ucp_compat.h`, group `amo`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_atomic_cswap64(
    _ep: ucp_ep_h,
    _compare: u64,
    _swap: u64,
    _remote_addr: u64,
    _rkey: ucp_rkey_h,
    _result: *mut u64,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// Changes `op_size` (4 or 8) bytes of the peer without an answer; a flush completes it.
///
/// `ucp/api/ucp_compat.h`, group `amo`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_atomic_post(
    _ep: ucp_ep_h,
    _opcode: ucp_atomic_post_op_t,
    _value: u64,
    _op_size: usize,
    _remote_addr: u64,
    _rkey: ucp_rkey_h,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// Changes `op_size` (4 or 8) bytes of the peer; what was there goes to `result`. Returns NULL
/// when done, a request, or an error.
///
/// `ucp/api/ucp_compat.h`, group `amo`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_atomic_fetch_nb(
    _ep: ucp_ep_h,
    _opcode: ucp_atomic_fetch_op_t,
    _value: u64,
    _result: *mut c_void,
    _op_size: usize,
    _remote_addr: u64,
    _rkey: ucp_rkey_h,
    _cb: ucp_send_callback_t,
) -> ucs_status_ptr_t {
    Status::NOT_IMPLEMENTED.code() as isize as ucs_status_ptr_t
}

/// Changes `count` elements, of 4 or 8 bytes by the datatype, of the peer's memory at
/// `remote_addr`. `buffer` is the operand (of CSWAP: what is expected); with `reply_buffer` what
/// was there comes back (of CSWAP it is also the new value). Returns NULL when done, a request, or
/// an error.
///
/// `ucp/api/ucp.h`, group `amo`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_atomic_op_nbx(
    _ep: ucp_ep_h,
    _opcode: ucp_atomic_op_t,
    _buffer: *const c_void,
    _count: usize,
    _remote_addr: u64,
    _rkey: ucp_rkey_h,
    _param: *const ucp_request_param_t,
) -> ucs_status_ptr_t {
    Status::NOT_IMPLEMENTED.code() as isize as ucs_status_ptr_t
}
