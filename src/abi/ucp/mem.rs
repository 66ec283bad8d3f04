//! Memory, remote keys: the exported functions of `ucp.h` and its companions.

use crate::c::prelude::*;
use crate::ucs::Status;

/// `ucp/api/ucp_compat.h`, group `mem`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_rkey_pack(
    _context: ucp_context_h,
    _memh: ucp_mem_h,
    _rkey_buffer_p: *mut *mut c_void,
    _size_p: *mut usize,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// `ucp/api/ucp_compat.h`, group `mem`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_rkey_buffer_release(_rkey_buffer: *mut c_void) {}

/// `ucp/api/ucp.h`, group `mem`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_rkey_compare(
    _worker: ucp_worker_h,
    _rkey1: ucp_rkey_h,
    _rkey2: ucp_rkey_h,
    _params: *const ucp_rkey_compare_params_t,
    _result: *mut c_int,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// `ucp/api/ucp.h`, group `mem`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_mem_map(
    _context: ucp_context_h,
    _params: *const ucp_mem_map_params_t,
    _memh_p: *mut ucp_mem_h,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// `ucp/api/ucp.h`, group `mem`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_mem_unmap(_context: ucp_context_h, _memh: ucp_mem_h) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// `ucp/api/ucp.h`, group `mem`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_mem_query(
    _memh: ucp_mem_h,
    _attr: *mut ucp_mem_attr_t,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// `ucp/api/ucp.h`, group `mem`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_mem_print_info(
    _mem_spec: *const c_char,
    _context: ucp_context_h,
    _stream: *mut FILE,
) {
}

/// `ucp/api/ucp.h`, group `mem`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_mem_advise(
    _context: ucp_context_h,
    _memh: ucp_mem_h,
    _params: *mut ucp_mem_advise_params_t,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// `ucp/api/ucp.h`, group `mem`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_memh_pack(
    _memh: ucp_mem_h,
    _params: *const ucp_memh_pack_params_t,
    _buffer_p: *mut *mut c_void,
    _buffer_size_p: *mut usize,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// `ucp/api/ucp.h`, group `mem`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_memh_buffer_release(
    _buffer: *mut c_void,
    _params: *const ucp_memh_buffer_release_params_t,
) {
}

/// `ucp/api/ucp.h`, group `mem`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_ep_rkey_unpack(
    _ep: ucp_ep_h,
    _rkey_buffer: *const c_void,
    _rkey_p: *mut ucp_rkey_h,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// `ucp/api/ucp.h`, group `mem`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_rkey_ptr(
    _rkey: ucp_rkey_h,
    _raddr: u64,
    _addr_p: *mut *mut c_void,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// `ucp/api/ucp.h`, group `mem`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_rkey_destroy(_rkey: ucp_rkey_h) {}
