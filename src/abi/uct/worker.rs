//! `uct.h`, workers. `uct_worker_progress` is inline in clients: see `ucs::callbackq`.

use crate::abi::args::non_null;
use crate::abi::ucs::opts;
use crate::c::*;
use crate::ucs::callbackq::Repeat;
use crate::ucs::config;
use crate::uct::base::worker::WorkerHandle;
use core::ffi::{c_uint, c_void};

/// Creates a worker. It and all that is opened on it are used by one thread at a time, whatever the
/// mode.
///
/// - `async` (in): Context whose thread or signal calls asynchronous events; alive until the worker
///   is destroyed.
/// - `thread_mode` (in): Which threads use the worker.
/// - `worker_p` (out): The worker; written on success only.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL or the mode is unknown.
///
/// `uct/api/uct.h`, group `worker`.
///
/// # Safety
/// `async` must be a live async context that outlives the worker; `worker_p` writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_worker_create(
    r#async: *mut ucs_async_context_t,
    thread_mode: ucs_thread_mode_t,
    worker_p: *mut uct_worker_h,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; r#async, worker_p);
    if thread_mode >= UCS_THREAD_MODE_LAST {
        crate::ucs_error!("uct_worker_create: thread mode {thread_mode} is unknown");
        return UCS_ERR_INVALID_PARAM;
    }
    opts::refresh();
    config::warn_unused();
    // SAFETY: the caller's out parameter.
    unsafe { *worker_p = WorkerHandle::create(r#async) };
    UCS_OK
}

/// Destroys a worker on which nothing is open.
///
/// - `worker` (in): Worker without interfaces and connection managers; not to be used afterwards.
///   NULL does nothing.
///
/// `uct/api/uct.h`, group `worker`.
///
/// # Safety
/// `worker` must be null or a live worker.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_worker_destroy(worker: uct_worker_h) {
    if !worker.is_null() {
        // SAFETY: by the caller's promise.
        unsafe { WorkerHandle::destroy(worker) };
    }
}

/// Adds a callback to what the worker's progress calls. May be called by any thread.
///
/// - `worker` (in): Worker of `uct_worker_create`, not destroyed yet.
/// - `func` (in): Called in each `uct_worker_progress`; returns how much it did.
/// - `arg` (in): Its argument.
/// - `flags` (in): UCS_CALLBACKQ_FLAG_ONESHOT calls it once; else 0.
/// - `id_p` (in,out): The callback's number. Nothing is done unless it is UCS_CALLBACKQ_ID_NULL, so
///   that a callback is registered once.
///
/// `uct/api/uct.h`, group `worker`.
///
/// # Safety
/// `worker` live, `id_p` writable; `func` and `arg` valid until unregistered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_worker_progress_register_safe(
    worker: uct_worker_h,
    func: ucs_callback_t,
    arg: *mut c_void,
    flags: c_uint,
    id_p: *mut uct_worker_cb_id_t,
) {
    non_null!(; worker, id_p);
    // SAFETY: a live worker.
    let (Some(worker), Some(func)) = (unsafe { WorkerHandle::from_c(worker) }, func) else {
        return;
    };
    // SAFETY: the caller's id.
    if unsafe { *id_p } != UCS_CALLBACKQ_ID_NULL {
        return;
    }
    let repeat = if flags & UCS_CALLBACKQ_FLAG_ONESHOT != 0 {
        Repeat::Once
    } else {
        Repeat::Always
    };
    // SAFETY: callback and argument valid until unregistered, by the caller's promise.
    match unsafe { worker.queue().add_safe(func, arg, repeat) } {
        // SAFETY: the caller's id.
        Ok(id) => unsafe { *id_p = id },
        Err(e) => crate::ucs_error!("uct_worker_progress_register_safe: {e}"),
    }
}

/// Takes back `uct_worker_progress_register_safe`. May be called by any thread.
///
/// - `worker` (in): Worker of `uct_worker_create`, not destroyed yet.
/// - `id_p` (in,out): The callback's number, which becomes UCS_CALLBACKQ_ID_NULL; nothing is done
///   if it is that already.
///
/// `uct/api/uct.h`, group `worker`.
///
/// # Safety
/// `worker` live, `id_p` writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uct_worker_progress_unregister_safe(
    worker: uct_worker_h,
    id_p: *mut uct_worker_cb_id_t,
) {
    non_null!(; worker, id_p);
    // SAFETY: a live worker.
    let Some(worker) = (unsafe { WorkerHandle::from_c(worker) }) else {
        return;
    };
    // SAFETY: the caller's id.
    let id = unsafe { id_p.replace(UCS_CALLBACKQ_ID_NULL) };
    if id != UCS_CALLBACKQ_ID_NULL
        && let Err(e) = worker.queue().remove_safe(id)
    {
        crate::ucs_error!("uct_worker_progress_unregister_safe: id {id}: {e}");
    }
}
