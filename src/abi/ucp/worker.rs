//! Workers: the exported functions of `ucp.h` and its companions.

use crate::c::prelude::*;
use crate::ucs::Status;

/// Waits until all operations of a worker are complete at the peers.
///
/// `ucp/api/ucp_compat.h`, group `worker`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_flush(_worker: ucp_worker_h) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// Gives the worker's address for peers; `ucp_worker_release_address` frees it.
///
/// `ucp/api/ucp_compat.h`, group `worker`. Not implemented yet.
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

/// Old form of `ucp_worker_flush_nbx`.
///
/// `ucp/api/ucp_compat.h`, group `worker`. Not implemented yet.
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

/// Creates a worker. It may get a lesser thread mode than it was asked for: see
/// `ucp_worker_query`. `ucp_worker_destroy` frees it.
///
/// `ucp/api/ucp.h`, group `worker`. Not implemented yet.
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

/// Frees a worker with its endpoints. Nobody may use them at that time.
///
/// `ucp/api/ucp.h`, group `worker`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_destroy(_worker: ucp_worker_h) {}

/// Tells about a worker. An address that it gives is freed by `ucp_worker_release_address`.
///
/// `ucp/api/ucp.h`, group `worker`. Not implemented yet.
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

/// Prints the address and the transports of a worker.
///
/// `ucp/api/ucp.h`, group `worker`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_print_info(_worker: ucp_worker_h, _stream: *mut FILE) {}

/// Frees an address of the worker.
///
/// `ucp/api/ucp.h`, group `worker`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_release_address(
    _worker: ucp_worker_h,
    _address: *mut ucp_address_t,
) {
}

/// Tells about an address.
///
/// `ucp/api/ucp.h`, group `worker`. Not implemented yet.
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

/// Moves messages and calls back. Never waits. Returns how much was done: 0 for nothing.
///
/// `ucp/api/ucp.h`, group `worker`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_progress(_worker: ucp_worker_h) -> c_uint {
    0
}

/// Gives a descriptor that becomes readable on events; for poll(), never to be read. Needs
/// UCP_FEATURE_WAKEUP.
///
/// `ucp/api/ucp.h`, group `worker`. Not implemented yet.
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

/// Waits for events. Needs UCP_FEATURE_WAKEUP. Call `ucp_worker_progress` until it returns 0
/// before and after.
///
/// `ucp/api/ucp.h`, group `worker`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_wait(_worker: ucp_worker_h) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// Waits until memory at `address` changes, or for a while; the caller checks.
///
/// `ucp/api/ucp.h`, group `worker`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_wait_mem(_worker: ucp_worker_h, _address: *mut c_void) {}

/// Makes the descriptor report the next event. UCS_ERR_BUSY: there are events now, progress first.
///
/// `ucp/api/ucp.h`, group `worker`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_arm(_worker: ucp_worker_h) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// Wakes a wait from another thread.
///
/// `ucp/api/ucp.h`, group `worker`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_signal(_worker: ucp_worker_h) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// Orders operations: those after the call take effect after those before it, on each endpoint.
///
/// `ucp/api/ucp.h`, group `worker`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_fence(_worker: ucp_worker_h) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// Completes all operations of a worker, at the peers too. Returns NULL when done, a request, or
/// an error.
///
/// `ucp/api/ucp.h`, group `worker`. Not implemented yet.
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
