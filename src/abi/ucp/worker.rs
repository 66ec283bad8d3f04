//! Workers: the exported functions of `ucp.h` and its companions.

use super::blob::{blob, hand_out, take_back, upstream_address};
use super::param::{self, NULL_PTR, Which, enter, error, own, status_ptr};
use crate::abi::args::{self, non_null, put_name};
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

/// Creates a worker. It may get a lesser thread mode than it was asked for: see `ucp_worker_query`.
/// `ucp_worker_destroy` frees it.
///
/// - `context` (in): Context of `ucp_init`, not cleaned up yet.
/// - `params` (in): How the worker works; not NULL, read during the call only.
/// - `worker_p` (out): The worker; written on success only.
/// - returns: UCS_OK. UCS_ERR_INVALID_PARAM for a value that is unknown. UCS_ERR_UNSUPPORTED in a
///   child of fork(). Or the error of a transport that cannot be opened, such as UCS_ERR_NO_MEMORY.
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

/// Frees a worker with its endpoints. Destroy its listeners first. No other thread may use them
/// meanwhile, and it must not be called in a callback. What is under way ends with an error. In a
/// child of fork() it does nothing.
///
/// - `worker` (in): Worker of `ucp_worker_create`; not to be used afterwards.
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
/// - `worker` (in): Worker of `ucp_worker_create`, not destroyed yet.
/// - `attr` (in,out): `field_mask` says which members are written; not NULL.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_UNSUPPORTED in a
///   child of fork().
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
            let (at, len) = hand_out(w.packed_address(net_only));
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

/// Gives the worker's address for peers. To be sent as `address_length_p` bytes to a peer, which
/// connects with `ucp_ep_create`. `ucp_worker_release_address` frees it.
///
/// - `worker` (in): Worker of `ucp_worker_create`, not destroyed yet.
/// - `address_p` (out): The address.
/// - `address_length_p` (out): Its bytes.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_UNSUPPORTED in a
///   child of fork().
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
    let (at, len) = hand_out(w.packed_address(false));
    // SAFETY: the caller's out parameters.
    unsafe {
        *address_p = at.cast();
        *address_length_p = len;
    }
    UCS_OK
}

/// Frees an address of the worker.
///
/// - `worker` (in): Worker of `ucp_worker_create`, not destroyed yet.
/// - `address` (in): Address that this library gave out, once; NULL does nothing.
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

/// Tells about a worker's address, one's own or a peer's.
///
/// - `address` (in): Address as `ucp_worker_get_address` gave it, here or at the peer.
/// - `attr` (in,out): `field_mask` says which members are written; not NULL.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_INVALID_ADDR for
///   bytes that are no address.
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
/// - `worker` (in): Worker of `ucp_worker_create`, not destroyed yet.
/// - `stream` (in): Open for writing.
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
        args::print(stream, &w.describe());
    }
}

/// Moves messages and calls back. Never waits. Nothing moves by itself: call it as long as anything
/// is outstanding.
///
/// - `worker` (in): Worker of `ucp_worker_create`, not destroyed yet.
/// - returns: How much was done; 0 when there was nothing to do.
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
    w.wakeup.note_poll();
    w.progress()
}

/// Gives a descriptor that becomes readable on events: for poll(), never to be read or closed. Call
/// `ucp_worker_arm` before each wait.
///
/// - `worker` (in): Worker of `ucp_worker_create`, not destroyed yet.
/// - `fd` (out): The descriptor; it belongs to the worker.
/// - returns: UCS_OK. UCS_ERR_UNSUPPORTED without UCP_FEATURE_WAKEUP, or when the worker was
///   created with an `event_fd`.
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

/// Makes the descriptor report the next event.
///
/// - `worker` (in): Worker of `ucp_worker_create`, not destroyed yet.
/// - returns: UCS_OK: the next event makes the descriptor readable, so waiting is safe.
///   UCS_ERR_BUSY: there are events now; call `ucp_worker_progress` until it returns 0 and arm
///   again. UCS_ERR_UNSUPPORTED without UCP_FEATURE_WAKEUP.
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

/// Sleeps until there are events. Call `ucp_worker_progress` until it returns 0 before and after.
/// Another thread may use the worker meanwhile if its thread mode allows that.
///
/// - `worker` (in): Worker of `ucp_worker_create`, not destroyed yet.
/// - returns: UCS_OK: there are events, or `ucp_worker_signal` was called. UCS_ERR_UNSUPPORTED
///   without UCP_FEATURE_WAKEUP.
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
    let _waits = w.wakeup.thread().map(|thread| thread.waits());
    // The lock is not held while the thread sleeps: another may progress meanwhile.
    let armed = {
        let _guard = enter(w);
        wakeup::arm(w).and_then(|()| wakeup::sleepers(w))
    };
    match armed {
        Ok(fds) => code_of(&wakeup::sleep(&fds, -1)),
        Err(Status::BUSY) => UCS_OK,
        Err(e) => e.code(),
    }
}

/// Waits until memory at `address` changes, or for a while; the caller checks.
///
/// - `worker` (in): Worker of `ucp_worker_create`, not destroyed yet.
/// - `address` (in): At least one readable byte, which another process or a device writes.
///
/// `ucp/api/ucp.h`, group `worker`.
///
/// # Safety
/// Handles live, pointers as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_wait_mem(worker: ucp_worker_h, address: *mut c_void) {
    non_null!(; worker, address);
    // SAFETY: the caller's word; volatile, since another process or a device writes it.
    wakeup::watch(|| unsafe { address.cast::<u8>().read_volatile() });
}

/// Wakes a wait. May be called by any thread, whatever the worker's thread mode.
///
/// - `worker` (in): Worker of `ucp_worker_create`, not destroyed yet.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when `worker` is NULL; UCS_ERR_UNSUPPORTED in a child
///   of fork().
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

/// Orders operations: those after the call take effect after those before it, on each endpoint; on all of them with
/// UCX_FENCE_MODE=strong, with which it waits and callbacks are called meanwhile.
///
/// - `worker` (in): Worker of `ucp_worker_create`, not destroyed yet.
/// - returns: UCS_OK, or the error of a transport.
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
    let posted = {
        let _guard = enter(w);
        flush::fence(w)
    };
    super::ep::wait(w, posted)
}

/// Waits until all operations of a worker are complete at the peers. It makes progress, so
/// callbacks are called meanwhile.
///
/// - `worker` (in): Worker of `ucp_worker_create`, not destroyed yet.
/// - returns: UCS_OK, or the first error.
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
/// - `worker` (in): Worker of `ucp_worker_create`, not destroyed yet.
/// - `flags` (in): 0.
/// - `cb` (in): Called at the end of a request, in progress; may be NULL. It is not called when the
///   operation is done at once.
/// - returns: NULL when done, a request, or an error: see @ref ucp_request.
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

/// Completes all operations of a worker that were posted before, at the peers too.
///
/// - `worker` (in): Worker of `ucp_worker_create`, not destroyed yet.
/// - `param` (in): Optional parameters, not NULL; read during the call only.
/// - returns: NULL when done, a request, or an error: see @ref ucp_request.
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
