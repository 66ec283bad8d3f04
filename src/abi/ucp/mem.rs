//! Memory, remote keys: the exported functions of `ucp.h` and its companions.

use crate::c::prelude::*;
use crate::ucs::Status;

/// Packs access to mapped memory for peers; the buffer is freed by `ucp_rkey_buffer_release`.
///
/// `ucp/api/ucp_compat.h`, group `mem`. Not implemented yet.
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

/// Frees a buffer of `ucp_rkey_pack`.
///
/// `ucp/api/ucp_compat.h`, group `mem`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_rkey_buffer_release(_rkey_buffer: *mut c_void) {}

/// Orders two remote keys: `*result` is negative, 0 or positive. Equal keys can stand for each
/// other.
///
/// `ucp/api/ucp.h`, group `mem`. Not implemented yet.
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

/// Makes memory known to the library, or allocates it. `ucp_mem_unmap` frees the handle, and the
/// memory if it was allocated.
///
/// `ucp/api/ucp.h`, group `mem`. Not implemented yet.
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

/// Frees a memory handle.
///
/// `ucp/api/ucp.h`, group `mem`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_mem_unmap(_context: ucp_context_h, _memh: ucp_mem_h) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// Tells about mapped memory.
///
/// `ucp/api/ucp.h`, group `mem`. Not implemented yet.
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

/// Maps `mem_size` of memory and prints how.
///
/// `ucp/api/ucp.h`, group `mem`. Not implemented yet.
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

/// Tells how mapped memory will be used.
///
/// `ucp/api/ucp.h`, group `mem`. Not implemented yet.
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

/// Packs a memory handle for peers or for other processes of this machine; the buffer is freed by
/// `ucp_memh_buffer_release`.
///
/// `ucp/api/ucp.h`, group `mem`. Not implemented yet.
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

/// Frees a buffer of `ucp_memh_pack`.
///
/// `ucp/api/ucp.h`, group `mem`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_memh_buffer_release(
    _buffer: *mut c_void,
    _params: *const ucp_memh_buffer_release_params_t,
) {
}

/// Turns a packed key of the endpoint's peer into access. `ucp_rkey_destroy` frees it.
///
/// `ucp/api/ucp.h`, group `mem`. Not implemented yet.
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

/// Gives a pointer to the peer's memory where it can be reached directly, else UCS_ERR_UNREACHABLE
/// or UCS_ERR_UNSUPPORTED.
///
/// `ucp/api/ucp.h`, group `mem`. Not implemented yet.
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

/// Frees a remote key.
///
/// `ucp/api/ucp.h`, group `mem`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_rkey_destroy(_rkey: ucp_rkey_h) {}
