//! Calls for code on a GPU: the exported functions of `ucp.h` and its companions. Lists of memory for device code, and the
//! counters by which it tells that data have come.

use super::ep::ep;
use super::param::{own, worker};
use crate::abi::args::non_null;
use crate::c::prelude::*;
use crate::ucp::mem::Region;
use crate::ucp::rkey::RemoteKey;
use crate::ucp::rma::device_list::{self, Both, Local, Remote};
use crate::ucs::status::code_of;
use crate::ucs::{Result, Status};
use crate::ucs_error;
use crate::uct::base::memory_copier::MemoryCopier;
use crate::uct::base::params::masked;
use core::sync::atomic::{AtomicU64, Ordering};

masked! {
    CounterArgs of ucp_device_counter_params, field_mask {
        mem_type: ucs_memory_type_t, UCP_DEVICE_COUNTER_PARAMS_FIELD_MEM_TYPE;
        memh: ucp_mem_h, UCP_DEVICE_COUNTER_PARAMS_FIELD_MEMH;
    }
}

masked! {
    ListArgs of ucp_device_mem_list_params, field_mask {
        elements: *const ucp_device_mem_list_elem_t, UCP_DEVICE_MEM_LIST_PARAMS_FIELD_ELEMENTS;
        element_size: usize, UCP_DEVICE_MEM_LIST_PARAMS_FIELD_ELEMENT_SIZE;
        num_elements: usize, UCP_DEVICE_MEM_LIST_PARAMS_FIELD_NUM_ELEMENTS;
        worker: ucp_worker_h, UCP_DEVICE_MEM_LIST_PARAMS_FIELD_WORKER;
    }
}

masked! {
    ElementArgs of ucp_device_mem_list_elem, field_mask {
        memh: ucp_mem_h, UCP_DEVICE_MEM_LIST_ELEM_FIELD_MEMH;
        rkey: ucp_rkey_h, UCP_DEVICE_MEM_LIST_ELEM_FIELD_RKEY;
        local_addr: *mut c_void, UCP_DEVICE_MEM_LIST_ELEM_FIELD_LOCAL_ADDR;
        length: usize, UCP_DEVICE_MEM_LIST_ELEM_FIELD_LENGTH;
        ep: ucp_ep_h, UCP_DEVICE_MEM_LIST_ELEM_FIELD_EP;
    }
}

/// `ucp_device_mem_list_params_t` of 1.20.
#[repr(C)]
pub struct ListParamsOf1_20 {
    field_mask: u64,
    element_size: usize,
    num_elements: usize,
    elements: *const ucp_device_mem_list_elem_t,
}

/// Bytes of an element of 1.20: the endpoint came later, at the end.
const ELEMENT_OF_1_20: usize = core::mem::offset_of!(ucp_device_mem_list_elem_t, ep);

impl ListArgs {
    /// The elements of a list, one after the other.
    ///
    /// # Safety
    /// As `ucp_device_local_mem_list_create`.
    unsafe fn all(
        self,
    ) -> Result<impl Iterator<Item = (*const ucp_device_mem_list_elem, ElementArgs)>> {
        let array = Array {
            first: self.elements().unwrap_or(core::ptr::null()),
            number: self.num_elements().unwrap_or(0),
            size: self.element_size().unwrap_or(0),
        };
        // SAFETY: by the caller's promise.
        unsafe { array.elements(size_of::<ucp_device_mem_list_elem>()) }
    }
}

/// Elements one after the other, as a caller has given them.
struct Array {
    first: *const ucp_device_mem_list_elem,
    number: usize,
    /// Bytes from one to the next.
    size: usize,
}

impl Array {
    /// Each of them, of at least so many bytes.
    ///
    /// # Safety
    /// They must be there, with all members of that many bytes that their masks name.
    unsafe fn elements(
        self,
        least: usize,
    ) -> Result<impl Iterator<Item = (*const ucp_device_mem_list_elem, ElementArgs)>> {
        let Array {
            first,
            number,
            size,
        } = self;
        let is_whole = size >= least && size.is_multiple_of(align_of::<ucp_device_mem_list_elem>());
        if first.is_null() || number == 0 || !is_whole {
            ucs_error!(
                "a list for device code of {number} elements of {size} bytes at {first:p}: elements, their size and their number must be given"
            );
            return Err(Status::INVALID_PARAM);
        }
        Ok((0..number).map(move |i| {
            let at = first.wrapping_byte_add(i * size);
            // SAFETY: an element of the caller's array.
            (at, unsafe { ElementArgs::new(at) })
        }))
    }
}

/// Local memory of an element.
fn local<'a>(region: &'a Region, element: &ElementArgs) -> Local<'a> {
    Local {
        region,
        address: element.local_addr().unwrap_or(core::ptr::null_mut()),
        length: element.length().unwrap_or(1),
    }
}

/// # Safety
/// As `ucp_device_local_mem_list_create`.
unsafe fn local_list(params: *const ucp_device_mem_list_params_t) -> Result<usize> {
    // SAFETY: by the caller's promise.
    let args = unsafe { ListArgs::new(params) };
    let Some(handle) = args.worker().filter(|handle| !handle.is_null()) else {
        ucs_error!("a list of local memory for device code needs a worker");
        return Err(Status::INVALID_PARAM);
    };
    let mut elements = Vec::new();
    // SAFETY: as above.
    for (_, element) in unsafe { args.all() }? {
        let memh = element.memh().unwrap_or(core::ptr::null_mut());
        // SAFETY: null or alive, by the caller's promise.
        let Some(region) = (unsafe { memh.cast::<Region>().as_ref() }) else {
            ucs_error!(
                "element {} of a list of local memory has no memory handle",
                elements.len()
            );
            return Err(Status::INVALID_PARAM);
        };
        elements.push(local(region, &element));
    }
    // SAFETY: a live worker, by the caller's promise.
    let worker = unsafe { worker(handle) };
    let _guard = own!(worker, Err(Status::UNSUPPORTED));
    device_list::of_local(worker, &elements)
}

/// # Safety
/// As `ucp_device_remote_mem_list_create`.
unsafe fn remote_list(params: *const ucp_device_mem_list_params_t) -> Result<usize> {
    // SAFETY: by the caller's promise.
    let args = unsafe { ListArgs::new(params) };
    let mut elements = Vec::new();
    let mut worker = None;
    // SAFETY: as above.
    for (at, element) in unsafe { args.all() }? {
        let handle = element.ep().unwrap_or(core::ptr::null_mut());
        let rkey = element.rkey().unwrap_or(core::ptr::null_mut());
        if element.ep().is_none() && element.rkey().is_none() {
            elements.push(None);
            continue;
        }
        // SAFETY: null or alive, by the caller's promise.
        let Some(key) =
            (unsafe { rkey.cast::<RemoteKey>().as_ref() }).filter(|_| !handle.is_null())
        else {
            ucs_error!(
                "element {} of a list of remote memory needs both an endpoint and a remote key",
                elements.len()
            );
            return Err(Status::INVALID_PARAM);
        };
        // SAFETY: a live endpoint, by the caller's promise.
        let ep = unsafe { ep(handle) };
        let first = *worker.get_or_insert(ep.worker());
        if !core::ptr::eq(first, ep.worker()) {
            ucs_error!("the endpoints of a list for device code are of several workers");
            return Err(Status::INVALID_PARAM);
        }
        // As upstream, read without its bit: memory without an address is of no use.
        // SAFETY: an element of the caller's array.
        let address = unsafe { (*at).remote_addr };
        elements.push(Some(Remote { ep, key, address }));
    }
    let _guard = match worker {
        Some(worker) => own!(worker, Err(Status::UNSUPPORTED)),
        None => None,
    };
    device_list::of_remote(&elements)
}

/// # Safety
/// As `ucp_device_mem_list_create`.
unsafe fn list_of_1_20(handle: ucp_ep_h, params: *const ListParamsOf1_20) -> Result<usize> {
    const ALL: u64 = (UCP_DEVICE_MEM_LIST_PARAMS_FIELD_ELEMENTS
        | UCP_DEVICE_MEM_LIST_PARAMS_FIELD_ELEMENT_SIZE
        | UCP_DEVICE_MEM_LIST_PARAMS_FIELD_NUM_ELEMENTS) as u64;
    // SAFETY: by the caller's promise.
    let params = unsafe { &*params };
    let array = Array {
        first: params.elements,
        number: match params.field_mask & ALL {
            ALL => params.num_elements,
            _ => 0,
        },
        size: params.element_size,
    };
    // SAFETY: by the caller's promise; no member is read that 1.20 had not.
    let all = unsafe { array.elements(ELEMENT_OF_1_20) }?;
    // SAFETY: a live endpoint, by the caller's promise.
    let ep = unsafe { ep(handle) };
    let mut elements = Vec::new();
    for (at, element) in all {
        let memh = element.memh().unwrap_or(core::ptr::null_mut());
        let rkey = element.rkey().unwrap_or(core::ptr::null_mut());
        // SAFETY: null or alive, by the caller's promise.
        let (region, key) = unsafe {
            (
                memh.cast::<Region>().as_ref(),
                rkey.cast::<RemoteKey>().as_ref(),
            )
        };
        let Some(key) = key else {
            ucs_error!(
                "element {} of a list for device code has no remote key",
                elements.len()
            );
            return Err(Status::INVALID_PARAM);
        };
        // As upstream, read without its bit.
        // SAFETY: an element of the caller's array.
        let address = unsafe { (*at).remote_addr };
        elements.push(Both {
            local: region.map(|region| local(region, &element)),
            remote: Remote { ep, key, address },
        });
    }
    let _guard = own!(ep.worker(), Err(Status::UNSUPPORTED));
    device_list::of_both(&elements)
}

/// Answers with a list.
///
/// # Safety
/// `list` valid for writing.
unsafe fn answer<T>(made: Result<usize>, list: *mut *mut T) -> ucs_status_t {
    match made {
        Ok(address) => {
            // SAFETY: the caller's out parameter. The address is one of a device.
            unsafe { *list = core::ptr::without_provenance_mut(address) };
            UCS_OK
        }
        Err(e) => e.code(),
    }
}

/// Makes a list of local memory for device code.
///
/// - `params` (in): The worker, the elements, their size and number; an element has a memory
///   handle, an address in its memory, and a length.
/// - `mem_list_h` (out): The list, in memory of a device: only code that runs there reads it.
/// - returns: UCS_OK. UCS_ERR_INVALID_PARAM when a member is missing or an address is not of the
///   element's memory, UCS_ERR_UNSUPPORTED for memory that no transport copies from by a device.
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
    // SAFETY: the caller's arguments.
    unsafe { answer(local_list(params), mem_list_h) }
}

/// Makes a list of remote memory for device code, which stays mapped until the list is released.
///
/// - `params` (in): The elements, their size and number; an element has an endpoint, a remote key
///   and a remote address, or neither endpoint nor key, which leaves its place empty.
/// - `mem_list_h` (out): The list, in memory of a device: only code that runs there reads it.
/// - returns: UCS_OK. UCS_ERR_INVALID_PARAM when a member is missing or an address is not of the
///   element's key, UCS_ERR_NOT_CONNECTED while an endpoint is being connected: try again after
///   progress. UCS_ERR_UNSUPPORTED for memory that no transport lets device code access, and
///   UCS_ERR_UNREACHABLE where the driver does not map it.
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
    // SAFETY: the caller's arguments.
    unsafe { answer(remote_list(params), mem_list_h) }
}

/// Makes a list of local and remote memory for device code that was compiled with headers of 1.20, the only ones that have
/// this function.
///
/// - `ep` (in): The endpoint of all elements.
/// - `params` (in): The elements, their size and number, as 1.20 has them; an element has a remote
///   key and address, and a memory handle, an address and a length, or none of these for a counter.
/// - `mem_list_h` (out): The list, in memory of a device: only code that runs there reads it.
/// - returns: As `ucp_device_remote_mem_list_create`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_device_mem_list_create(
    ep: ucp_ep_h,
    params: *const ListParamsOf1_20,
    mem_list_h: *mut *mut c_void,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; ep, params, mem_list_h);
    // SAFETY: the caller's arguments.
    unsafe { answer(list_of_1_20(ep, params), mem_list_h) }
}

/// Number of elements of a list for device code.
///
/// - `mem_list_h` (in): A list of one of the two functions above.
/// - returns: Its elements; 0 for what is no list.
///
/// `ucp/api/device/ucp_host.h`, group `device`.
///
/// # Safety
/// The argument is not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_device_get_mem_list_length(mem_list_h: *const c_void) -> u32 {
    device_list::length(mem_list_h.addr()).unwrap_or_else(|| {
        ucs_error!("ucp_device_get_mem_list_length: {mem_list_h:p} is no list of this process");
        0
    })
}

/// Frees a list for device code. No code that uses it may run any more.
///
/// - `mem_list_h` (in): A list of one of the functions above.
///
/// `ucp/api/device/ucp_host.h`, group `device`.
///
/// # Safety
/// The argument is not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_device_mem_list_release(mem_list_h: *mut c_void) {
    if !device_list::release(mem_list_h.addr()) {
        ucs_error!("ucp_device_mem_list_release: {mem_list_h:p} is no list of this process");
    }
}

/// Where a counter is.
enum Counter<'a> {
    Host(&'a AtomicU64),
    /// In memory that the processor does not reach.
    Device(&'a dyn MemoryCopier, *mut u8),
}

impl Counter<'_> {
    fn write(&self, value: u64) -> Result<()> {
        match self {
            // Release: pairs with whoever reads the counter after being told of it.
            Counter::Host(word) => word.store(value, Ordering::Release),
            Counter::Device(copier, at) => {
                let from = value.to_ne_bytes();
                // SAFETY: 8 bytes of the caller; those of `from` stay for the call.
                unsafe { copier.copy(*at, from.as_ptr(), from.len()) }?;
            }
        }
        Ok(())
    }

    fn read(&self) -> Result<u64> {
        match self {
            // Acquire: what was written before the counter was raised is seen.
            Counter::Host(word) => Ok(word.load(Ordering::Acquire)),
            Counter::Device(copier, at) => {
                let mut to = [0; size_of::<u64>()];
                // SAFETY: as above.
                unsafe { copier.copy(to.as_mut_ptr(), *at, to.len()) }?;
                Ok(u64::from_ne_bytes(to))
            }
        }
    }
}

/// A counter. Its memory's type is the one that is told, that of the memory handle, or found out.
///
/// # Safety
/// `params` valid as masked, its memory handle alive; the counter as described.
unsafe fn counter<'a>(
    handle: ucp_worker_h,
    params: *const ucp_device_counter_params_t,
    at: *mut c_void,
) -> Result<Counter<'a>> {
    // SAFETY: every release has the mask.
    let args = unsafe { CounterArgs::new(params) };
    let memh = args.memh().unwrap_or(core::ptr::null_mut());
    // SAFETY: null or alive, by the caller's promise.
    let region = unsafe { memh.cast::<Region>().as_ref() };
    // SAFETY: a live worker, by the caller's promise.
    let context = unsafe { worker(handle) }.context();
    let told = args.mem_type().unwrap_or(UCS_MEMORY_TYPE_UNKNOWN);
    let kind = match (context.memory_type_of(told)?, region) {
        (Some(kind), _) => kind,
        (None, Some(region)) => region.kind,
        (None, None) => context.memory_type(at, size_of::<u64>())?,
    };
    let here = match region {
        Some(region) => {
            region.expect(at, size_of::<u64>())?;
            region.locate(at, size_of::<u64>())?
        }
        None => at,
    };
    if !here.addr().is_multiple_of(align_of::<AtomicU64>()) {
        ucs_error!("a counter at {at:p} is not aligned to 8 bytes");
        return Err(Status::INVALID_PARAM);
    }
    if let Some(copier) = context.device_memory.copier(kind) {
        return Ok(Counter::Device(&**copier, here.cast()));
    }
    // SAFETY: 8 bytes of the caller, aligned; others change them by atomics only.
    Ok(Counter::Host(unsafe { AtomicU64::from_ptr(here.cast()) }))
}

/// Sets a counter to 0, in memory of the host or of a device.
///
/// - `worker` (in): Worker of `ucp_worker_create`, not destroyed yet.
/// - `params` (in): Kind and handle of the counter's memory, both optional; not NULL.
/// - `counter_ptr` (out): The counter: 8 bytes, aligned to 8.
/// - returns: UCS_OK. UCS_ERR_INVALID_PARAM for a counter that is not aligned or outside the
///   handle's memory. UCS_ERR_UNSUPPORTED for a type of memory that there is none of.
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
    let counter = unsafe { counter(worker, params, counter_ptr) };
    code_of(&counter.and_then(|counter| counter.write(0)))
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
    let counter = unsafe { counter(worker, params, counter_ptr) };
    counter.and_then(|counter| counter.read()).unwrap_or(0)
}
