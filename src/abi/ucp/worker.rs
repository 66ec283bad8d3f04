//! Workers: the exported functions of `ucp.h` and its companions.

use super::blob::{blob, hand_out, take_back, upstream_address};
use super::param::{self, NULL_PTR, Which, enter, error, own, status_ptr};
use crate::abi::args::{non_null, put_name};
use crate::c::prelude::*;
use crate::ucp::context::{Context, default_name};
use crate::ucp::request::Param;
use crate::ucp::rma::flush;
use crate::ucp::wakeup;
use crate::ucp::worker::Worker;
use crate::ucp::worker_core::{Core, WorkerParams};
use crate::ucs::Status;
use crate::ucs::fork;
use crate::ucs::status::code_of;
use crate::uct::base::params::masked;
use crate::uct::base::params::text;
use crate::uct::registry;
use crate::wire::address::Address;
use crate::wire::blob::BlobError;
use crate::wire::envelope::EnvelopeKind;

masked! {
    WorkerArgs of ucp_worker_params, field_mask {
        thread_mode: ucs_thread_mode_t, UCP_WORKER_PARAM_FIELD_THREAD_MODE;
        cpu_mask: ucs_cpu_set_t, UCP_WORKER_PARAM_FIELD_CPU_MASK;
        am_alignment: usize, UCP_WORKER_PARAM_FIELD_AM_ALIGNMENT;
        name: *const c_char, UCP_WORKER_PARAM_FIELD_NAME;
        events: c_uint, UCP_WORKER_PARAM_FIELD_EVENTS;
        user_data: *mut c_void, UCP_WORKER_PARAM_FIELD_USER_DATA;
        event_fd: c_int, UCP_WORKER_PARAM_FIELD_EVENT_FD;
        flags: u64, UCP_WORKER_PARAM_FIELD_FLAGS;
        client_id: u64, UCP_WORKER_PARAM_FIELD_CLIENT_ID;
    }
}

/// Creates a worker. It may get a lesser thread mode than it was asked for: see
/// `ucp_worker_query`. `ucp_worker_destroy` frees it.
///
/// `ucp/api/ucp.h`, group `worker`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_create(
    context: ucp_context_h,
    params: *const ucp_worker_params_t,
    worker_p: *mut ucp_worker_h,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; context, params, worker_p);
    // SAFETY: every release has the mask; members are read behind their bits.
    let args = unsafe { WorkerArgs::new(params) };
    let thread_mode = args.thread_mode().unwrap_or(UCS_THREAD_MODE_SINGLE);
    if thread_mode >= UCS_THREAD_MODE_LAST {
        crate::ucs_error!("ucp_worker_create: thread mode {thread_mode} is unknown");
        return UCS_ERR_INVALID_PARAM;
    }
    let am_alignment = args.am_alignment().unwrap_or(1);
    if am_alignment != 0 && !am_alignment.is_power_of_two() {
        crate::ucs_error!("ucp_worker_create: am_alignment {am_alignment} is no power of two");
        return UCS_ERR_INVALID_PARAM;
    }
    let name = args.name().unwrap_or(core::ptr::null());
    let parsed = WorkerParams {
        thread_mode,
        cpu_mask: args.cpu_mask().map(|set| set.ucs_bits),
        events: args.events().unwrap_or(!UCP_WAKEUP_EDGE),
        user_data: args.user_data().unwrap_or(core::ptr::null_mut()),
        event_fd: args.event_fd(),
        flags: args.flags().unwrap_or(0),
        // SAFETY: null or the caller's string.
        name: match unsafe { text(name) } {
            Ok(n) => n.to_owned(),
            Err(_) => default_name(),
        },
        am_alignment,
        client_id: args.client_id().unwrap_or(0),
    };
    crate::ucs::config::warn_unused();
    // SAFETY: a live context.
    let context = unsafe { &*context.cast::<Context>() };
    if let Err(e) = fork::check(context.made_by, "a context") {
        return e.code();
    }
    match Worker::create(context, parsed) {
        Ok(w) => {
            // SAFETY: the caller's out parameter.
            unsafe { *worker_p = Box::into_raw(w).cast() };
            UCS_OK
        }
        Err(e) => e.code(),
    }
}

/// Frees a worker with its endpoints. Nobody may use them at that time.
///
/// `ucp/api/ucp.h`, group `worker`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_destroy(worker: ucp_worker_h) {
    non_null!(; worker);
    // A child of fork() may tidy up: there is nothing to do.
    // SAFETY: a live worker.
    if unsafe { param::worker(worker) }.inherited.get() {
        return;
    }
    // SAFETY: boxed by `ucp_worker_create`.
    drop(unsafe { Box::from_raw(worker.cast::<Worker>()) });
}

/// Tells about a worker. An address that it gives is freed by `ucp_worker_release_address`.
///
/// `ucp/api/ucp.h`, group `worker`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_query(
    worker: ucp_worker_h,
    attr: *mut ucp_worker_attr_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; worker, attr);
    // SAFETY: a live worker.
    let w = unsafe { param::worker(worker) };
    let _guard = own!(w, UCS_ERR_UNSUPPORTED);
    // SAFETY: the caller's struct, written as masked.
    unsafe {
        let mask = (*attr).field_mask;
        let has = |bit: u32| mask & u64::from(bit) != 0;
        if has(UCP_WORKER_ATTR_FIELD_THREAD_MODE) {
            (*attr).thread_mode = w.params.thread_mode;
        }
        if has(UCP_WORKER_ATTR_FIELD_ADDRESS) {
            let net_only = has(UCP_WORKER_ATTR_FIELD_ADDRESS_FLAGS)
                && (*attr).address_flags & UCP_WORKER_ADDRESS_FLAG_NET_ONLY != 0;
            let (at, len) = hand_out(w.address(net_only).to_envelope());
            (*attr).address = at.cast();
            (*attr).address_length = len;
        }
        if has(UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER) {
            (*attr).max_am_header = w.max_am_header();
        }
        if has(UCP_WORKER_ATTR_FIELD_NAME) {
            put_name(&mut (*attr).name, &w.params.name);
        }
        if has(UCP_WORKER_ATTR_FIELD_MAX_INFO_STRING) {
            (*attr).max_debug_string = MAX_INFO_STRING;
        }
    }
    UCS_OK
}

/// Bytes that the description of a request takes at most.
const MAX_INFO_STRING: usize = 200;

/// Gives the worker's address for peers; `ucp_worker_release_address` frees it.
///
/// `ucp/api/ucp_compat.h`, group `worker`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_get_address(
    worker: ucp_worker_h,
    address_p: *mut *mut ucp_address_t,
    address_length_p: *mut usize,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; worker, address_p, address_length_p);
    // SAFETY: a live worker.
    let w = unsafe { param::worker(worker) };
    let _guard = own!(w, UCS_ERR_UNSUPPORTED);
    let (at, len) = hand_out(w.address(false).to_envelope());
    // SAFETY: the caller's out parameters.
    unsafe {
        *address_p = at.cast();
        *address_length_p = len;
    }
    UCS_OK
}

/// Frees an address of the worker.
///
/// `ucp/api/ucp.h`, group `worker`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_release_address(
    worker: ucp_worker_h,
    address: *mut ucp_address_t,
) {
    non_null!(; worker);
    // `ucx_info -A` of 1.13 gives back an address that it never took.
    if address.is_null() {
        return;
    }
    // SAFETY: of `hand_out`, once.
    if let Err(e) = unsafe { take_back(&[EnvelopeKind::Address], address.cast()) } {
        crate::ucs_error!("ucp_worker_release_address: not an address: {e}");
    }
}

/// Tells about an address.
///
/// `ucp/api/ucp.h`, group `worker`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_address_query(
    address: *mut ucp_address_t,
    attr: *mut ucp_worker_address_attr_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; address, attr);
    // SAFETY: the caller's address.
    let uuid = match unsafe { blob(EnvelopeKind::Address, address.cast()) } {
        Ok(bytes) => Address::from_envelope(&bytes, registry::is_known).map(|a| a.uuid),
        // Upstream's number means the same.
        Err(e @ BlobError::Upstream(_)) => {
            upstream_address(address.cast()).map_or(Err(e), |a| Ok(a.uuid))
        }
        Err(e) => Err(e),
    };
    match uuid {
        Ok(uuid) => {
            // SAFETY: the caller's struct, written as masked.
            unsafe {
                if (*attr).field_mask & u64::from(UCP_WORKER_ADDRESS_ATTR_FIELD_UID) != 0 {
                    (*attr).worker_uid = uuid;
                }
            }
            UCS_OK
        }
        Err(e) => {
            crate::ucs_error!("ucp_worker_address_query: the address is not usable: {e}");
            UCS_ERR_INVALID_ADDR
        }
    }
}

/// Prints the address and the transports of a worker.
///
/// `ucp/api/ucp.h`, group `worker`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_print_info(worker: ucp_worker_h, stream: *mut FILE) {
    non_null!(; worker, stream);
    // SAFETY: a live worker and the caller's stream.
    unsafe {
        let w = param::worker(worker);
        let _guard = own!(w);
        super::print::put(stream, &w.describe());
    }
}

/// Moves messages and calls back. Never waits. Returns how much was done: 0 for nothing.
///
/// `ucp/api/ucp.h`, group `worker`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_progress(worker: ucp_worker_h) -> c_uint {
    // SAFETY: a live worker.
    progress(unsafe { param::worker(worker) })
}

/// Progress for a caller who holds no lock.
#[inline(always)]
pub(super) fn progress(w: &Core) -> c_uint {
    let count = if w.is_shared() {
        progress_shared(w)
    } else {
        w.progress()
    };
    w.spin.note(count)
}

#[inline(never)]
fn progress_shared(w: &Core) -> c_uint {
    let _guard = enter(w);
    w.progress()
}

/// Gives a descriptor that becomes readable on events; for poll(), never to be read. Needs
/// UCP_FEATURE_WAKEUP.
///
/// `ucp/api/ucp.h`, group `worker`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_get_efd(worker: ucp_worker_h, fd: *mut c_int) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; worker, fd);
    // SAFETY: a live worker.
    let w = unsafe { param::worker(worker) };
    let _guard = enter(w);
    match wakeup::fd(w) {
        Ok(efd) => {
            // SAFETY: the caller's out parameter.
            unsafe { *fd = efd };
            UCS_OK
        }
        Err(e) => e.code(),
    }
}

/// Makes the descriptor report the next event. UCS_ERR_BUSY: there are events now, progress first.
///
/// `ucp/api/ucp.h`, group `worker`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_arm(worker: ucp_worker_h) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; worker);
    // SAFETY: a live worker.
    let w = unsafe { param::worker(worker) };
    let _guard = enter(w);
    code_of(&wakeup::arm(w))
}

/// Waits for events. Needs UCP_FEATURE_WAKEUP. Call `ucp_worker_progress` until it returns 0
/// before and after.
///
/// `ucp/api/ucp.h`, group `worker`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_wait(worker: ucp_worker_h) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; worker);
    // SAFETY: a live worker.
    let w = unsafe { param::worker(worker) };
    // The lock is not held while the thread sleeps: another may progress meanwhile.
    let armed = {
        let _guard = enter(w);
        wakeup::arm(w).and_then(|()| wakeup::sleepers(w))
    };
    match armed {
        Ok(fds) => code_of(&wakeup::sleep(&fds)),
        Err(Status::BUSY) => UCS_OK,
        Err(e) => e.code(),
    }
}

/// Waits until memory at `address` changes, or for a while; the caller checks.
///
/// `ucp/api/ucp.h`, group `worker`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_wait_mem(worker: ucp_worker_h, address: *mut c_void) {
    non_null!(; worker, address);
    // SAFETY: the caller's word, written by another process or a device.
    unsafe { wakeup::watch(address.cast()) };
}

/// Wakes a wait from another thread.
///
/// `ucp/api/ucp.h`, group `worker`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_signal(worker: ucp_worker_h) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; worker);
    // SAFETY: a live worker; the descriptor is made with it, and needs no lock.
    code_of(&wakeup::signal(unsafe { param::worker(worker) }))
}

/// Orders operations: those after the call take effect after those before it, on each endpoint.
///
/// `ucp/api/ucp.h`, group `worker`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_fence(worker: ucp_worker_h) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; worker);
    // SAFETY: a live worker.
    let w = unsafe { param::worker(worker) };
    let _guard = enter(w);
    code_of(&flush::fence(w))
}

/// Waits until all operations of a worker are complete at the peers.
///
/// `ucp/api/ucp_compat.h`, group `worker`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_flush(worker: ucp_worker_h) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; worker);
    // SAFETY: a live worker.
    let w = unsafe { param::worker(worker) };
    let posted = {
        let _guard = enter(w);
        flush::worker(w, &Param::PLAIN)
    };
    super::ep::wait(w, posted)
}

/// Old form of `ucp_worker_flush_nbx`.
///
/// `ucp/api/ucp_compat.h`, group `worker`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_flush_nb(
    worker: ucp_worker_h,
    flags: c_uint,
    cb: ucp_send_callback_t,
) -> ucs_status_ptr_t {
    non_null!(NULL_PTR; worker);
    if flags != 0 {
        crate::ucs_error!("ucp_worker_flush_nb: flags {flags:#x} are unknown");
        return error(Status::INVALID_PARAM);
    }
    // SAFETY: a live worker.
    let w = unsafe { param::worker(worker) };
    let _guard = enter(w);
    let param = param::old_send(Param::PLAIN.datatype, cb);
    status_ptr(flush::worker(w, &param))
}

/// Completes all operations of a worker, at the peers too. Returns NULL when done, a request, or
/// an error.
///
/// `ucp/api/ucp.h`, group `worker`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_flush_nbx(
    worker: ucp_worker_h,
    param: *const ucp_request_param_t,
) -> ucs_status_ptr_t {
    non_null!(NULL_PTR; worker, param);
    // SAFETY: a live worker and the caller's parameters.
    unsafe {
        let w = param::worker(worker);
        let _guard = enter(w);
        status_ptr(flush::worker(w, &param::read(param, Which::Send)))
    }
}
