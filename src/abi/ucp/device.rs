//! Calls for code on a GPU: the exported functions of `ucp.h` and its companions. Counters in host memory work; lists
//! for device code need a device transport, which this library has not.

use crate::abi::args::non_null;
use crate::c::prelude::*;
use crate::ucp::mem::Region;
use crate::ucp::request::{expect_host, in_device};
use crate::ucs::memtype::MemType;
use crate::ucs::{Result, Status};
use crate::ucs_error;
use crate::uct::base::params::masked;
use core::sync::atomic::{AtomicU64, Ordering};

masked! {
    CounterArgs of ucp_device_counter_params, field_mask {
        mem_type: ucs_memory_type_t, UCP_DEVICE_COUNTER_PARAMS_FIELD_MEM_TYPE;
        memh: ucp_mem_h, UCP_DEVICE_COUNTER_PARAMS_FIELD_MEMH;
    }
}

/// Refuses to make a list: the parameters first, then the list itself.
///
/// # Safety
/// As `ucp_device_local_mem_list_create`.
unsafe fn refuse_list(what: &str, params: *const ucp_device_mem_list_params_t) -> ucs_status_t {
    const NEEDED: u64 = (UCP_DEVICE_MEM_LIST_PARAMS_FIELD_ELEMENTS
        | UCP_DEVICE_MEM_LIST_PARAMS_FIELD_ELEMENT_SIZE
        | UCP_DEVICE_MEM_LIST_PARAMS_FIELD_NUM_ELEMENTS) as u64;
    // SAFETY: every release has the mask.
    let mask = unsafe { (*params).field_mask };
    if mask & NEEDED != NEEDED {
        ucs_error!("{what}: elements, their size and their number must be given");
        return UCS_ERR_INVALID_PARAM;
    }
    ucs_error!("{what}: lists for device code need a GPU transport, which this library has not");
    UCS_ERR_UNSUPPORTED
}

/// Makes a list of local memory for device code: always UCS_ERR_UNSUPPORTED.
///
/// - `params` (in): The elements, their size and number.
/// - `mem_list_h` (out): Not written.
/// - returns: UCS_ERR_INVALID_PARAM when a member is missing, else UCS_ERR_UNSUPPORTED: no GPU
///   transport.
///
/// `ucp/api/device/ucp_host.h`, group `device`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_device_local_mem_list_create(
    params: *const ucp_device_mem_list_params_t,
    mem_list_h: *mut ucp_device_local_mem_list_h,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; params, mem_list_h);
    // SAFETY: the caller's struct.
    unsafe { refuse_list("ucp_device_local_mem_list_create", params) }
}

/// Makes a list of remote memory for device code: always UCS_ERR_UNSUPPORTED.
///
/// - `params` (in): The elements, their size and number.
/// - `mem_list_h` (out): Not written.
/// - returns: UCS_ERR_INVALID_PARAM when a member is missing, else UCS_ERR_UNSUPPORTED: no GPU
///   transport.
///
/// `ucp/api/device/ucp_host.h`, group `device`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_device_remote_mem_list_create(
    params: *const ucp_device_mem_list_params_t,
    mem_list_h: *mut ucp_device_remote_mem_list_h,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; params, mem_list_h);
    // SAFETY: the caller's struct.
    unsafe { refuse_list("ucp_device_remote_mem_list_create", params) }
}

/// Number of elements of a list for device code: 0, since there are no lists.
///
/// - `mem_list_h` (in): Not read: there are no lists.
/// - returns: 0.
///
/// `ucp/api/device/ucp_host.h`, group `device`.
///
/// # Safety
/// The argument is not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_device_get_mem_list_length(mem_list_h: *const c_void) -> u32 {
    ucs_error!("ucp_device_get_mem_list_length: {mem_list_h:p} is no list of this library");
    0
}

/// Frees a list for device code: there are no lists.
///
/// - `mem_list_h` (in): Not read: there are no lists.
///
/// `ucp/api/device/ucp_host.h`, group `device`.
///
/// # Safety
/// The argument is not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_device_mem_list_release(mem_list_h: *mut c_void) {
    ucs_error!("ucp_device_mem_list_release: {mem_list_h:p} is no list of this library");
}

/// A counter in host memory.
///
/// # Safety
/// `params` valid as masked, its memory handle alive; the counter as described.
unsafe fn counter<'a>(
    worker: ucp_worker_h,
    params: *const ucp_device_counter_params_t,
    at: *mut c_void,
) -> Result<&'a AtomicU64> {
    // SAFETY: every release has the mask.
    let args = unsafe { CounterArgs::new(params) };
    let kind = args.mem_type().unwrap_or(UCS_MEMORY_TYPE_HOST);
    match MemType::from_c(kind) {
        MemType::Host => {}
        MemType::Device(_) => return Err(in_device(kind)),
        // SAFETY: a live worker.
        MemType::Unknown => expect_host(unsafe { super::param::worker(worker) }, at)?,
    }
    let memh = args.memh().unwrap_or(core::ptr::null_mut());
    // SAFETY: null or alive, by the caller's promise.
    let here = match unsafe { memh.cast::<Region>().as_ref() } {
        Some(region) => {
            region.expect(at, size_of::<u64>())?;
            region.locate(at, size_of::<u64>())?
        }
        None => at,
    };
    if !(here as usize).is_multiple_of(align_of::<AtomicU64>()) {
        ucs_error!("a counter at {at:p} is not aligned to 8 bytes");
        return Err(Status::INVALID_PARAM);
    }
    // SAFETY: 8 bytes of the caller, aligned; others change them by atomics only.
    Ok(unsafe { AtomicU64::from_ptr(here.cast()) })
}

/// Sets a counter to 0. UCS_ERR_UNSUPPORTED for memory of a GPU.
///
/// - `worker` (in): Worker of `ucp_worker_create`, not destroyed yet.
/// - `params` (in): Kind and handle of the counter's memory, both optional; not NULL.
/// - `counter_ptr` (out): The counter: 8 bytes, aligned to 8.
/// - returns: UCS_OK. UCS_ERR_INVALID_PARAM for a counter that is not aligned or outside the
///   handle's memory. UCS_ERR_UNSUPPORTED for memory of a GPU.
///
/// `ucp/api/device/ucp_host.h`, group `device`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_device_counter_init(
    worker: ucp_worker_h,
    params: *const ucp_device_counter_params_t,
    counter_ptr: *mut c_void,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; worker, params, counter_ptr);
    // SAFETY: the caller's arguments.
    match unsafe { counter(worker, params, counter_ptr) } {
        Ok(c) => {
            // Release: pairs with whoever reads the counter after being told of it.
            c.store(0, Ordering::Release);
            UCS_OK
        }
        Err(e) => e.code(),
    }
}

/// Reads a counter; 0 for one that cannot be read.
///
/// - `worker` (in): Worker of `ucp_worker_create`, not destroyed yet.
/// - `params` (in): Kind and handle of the counter's memory, both optional; not NULL.
/// - `counter_ptr` (in): The counter: 8 bytes, aligned to 8.
/// - returns: Its value; 0 for one that cannot be read.
///
/// `ucp/api/device/ucp_host.h`, group `device`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_device_counter_read(
    worker: ucp_worker_h,
    params: *const ucp_device_counter_params_t,
    counter_ptr: *mut c_void,
) -> u64 {
    non_null!(0; worker, params, counter_ptr);
    // SAFETY: the caller's arguments.
    match unsafe { counter(worker, params, counter_ptr) } {
        // Acquire: what was written before the counter was raised is seen.
        Ok(c) => c.load(Ordering::Acquire),
        Err(_) => 0,
    }
}
