//! Device (GPU) calls: out of scope, always unsupported: the exported functions of `ucp.h` and its companions.

use crate::c::prelude::*;
use crate::ucs::Status;

/// Makes a list of local memory for device code.
///
/// `ucp/api/device/ucp_host.h`, group `device`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_device_local_mem_list_create(
    _params: *const ucp_device_mem_list_params_t,
    _mem_list_h: *mut ucp_device_local_mem_list_h,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// Makes a list of remote memory for device code.
///
/// `ucp/api/device/ucp_host.h`, group `device`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_device_remote_mem_list_create(
    _params: *const ucp_device_mem_list_params_t,
    _mem_list_h: *mut ucp_device_remote_mem_list_h,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// Number of elements of a list for device code.
///
/// `ucp/api/device/ucp_host.h`, group `device`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_device_get_mem_list_length(_mem_list_h: *const c_void) -> u32 {
    0
}

/// Frees a list for device code.
///
/// `ucp/api/device/ucp_host.h`, group `device`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_device_mem_list_release(_mem_list_h: *mut c_void) {}

/// Sets a counter of device code.
///
/// `ucp/api/device/ucp_host.h`, group `device`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_device_counter_init(
    _worker: ucp_worker_h,
    _params: *const ucp_device_counter_params_t,
    _counter_ptr: *mut c_void,
) -> ucs_status_t {
    Status::NOT_IMPLEMENTED.code()
}

/// Reads a counter of device code.
///
/// `ucp/api/device/ucp_host.h`, group `device`. Not implemented yet.
///
/// # Safety
/// Arguments are not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_device_counter_read(
    _worker: ucp_worker_h,
    _params: *const ucp_device_counter_params_t,
    _counter_ptr: *mut c_void,
) -> u64 {
    0
}
