//! Workers: the exported functions of `ucp.h` and its companions.

use crate::c::prelude::*;
use crate::ucs::Status;

/// `ucp/api/ucp_compat.h`, group `worker`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_flush(_worker: ucp_worker_h) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// `ucp/api/ucp_compat.h`, group `worker`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_get_address(
    _worker: ucp_worker_h,
    _address_p: *mut *mut ucp_address_t,
    _address_length_p: *mut usize,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// `ucp/api/ucp_compat.h`, group `worker`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_flush_nb(
    _worker: ucp_worker_h,
    _flags: c_uint,
    _cb: ucp_send_callback_t,
) -> ucs_status_ptr_t {
    Status::NOT_IMPLEMENTED.code() as isize as ucs_status_ptr_t
}

/// `ucp/api/ucp.h`, group `worker`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_create(
    _context: ucp_context_h,
    _params: *const ucp_worker_params_t,
    _worker_p: *mut ucp_worker_h,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// `ucp/api/ucp.h`, group `worker`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_destroy(_worker: ucp_worker_h) {}

/// `ucp/api/ucp.h`, group `worker`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_query(
    _worker: ucp_worker_h,
    _attr: *mut ucp_worker_attr_t,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// `ucp/api/ucp.h`, group `worker`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_print_info(_worker: ucp_worker_h, _stream: *mut FILE) {}

/// `ucp/api/ucp.h`, group `worker`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_release_address(
    _worker: ucp_worker_h,
    _address: *mut ucp_address_t,
) {
}

/// `ucp/api/ucp.h`, group `worker`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_address_query(
    _address: *mut ucp_address_t,
    _attr: *mut ucp_worker_address_attr_t,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// `ucp/api/ucp.h`, group `worker`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_progress(_worker: ucp_worker_h) -> c_uint {
    0
}

/// `ucp/api/ucp.h`, group `worker`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_get_efd(
    _worker: ucp_worker_h,
    _fd: *mut c_int,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// `ucp/api/ucp.h`, group `worker`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_wait(_worker: ucp_worker_h) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// `ucp/api/ucp.h`, group `worker`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_wait_mem(_worker: ucp_worker_h, _address: *mut c_void) {}

/// `ucp/api/ucp.h`, group `worker`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_arm(_worker: ucp_worker_h) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// `ucp/api/ucp.h`, group `worker`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_signal(_worker: ucp_worker_h) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// `ucp/api/ucp.h`, group `worker`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_fence(_worker: ucp_worker_h) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// `ucp/api/ucp.h`, group `worker`: not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_flush_nbx(
    _worker: ucp_worker_h,
    _param: *const ucp_request_param_t,
) -> ucs_status_ptr_t {
    Status::NOT_IMPLEMENTED.code() as isize as ucs_status_ptr_t
}
