//! `ucs/datastruct/callbackq.h`.

use crate::abi::args::non_null;
use crate::c::prelude::*;
use crate::ucs::callbackq::CallbackId;
use crate::ucs::compat::callbackq::Queue;
use core::ptr::null_mut;

/// Makes an empty queue. `ucs/datastruct/callbackq.h`.
///
/// - `cbq` (in,out): The queue.
/// - returns: UCS_OK, or an error; the cause is logged.
///
/// # Safety
/// `cbq` is null, or writable and stays where it is until `ucs_callbackq_cleanup`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_callbackq_init(cbq: *mut ucs_callbackq_t) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; cbq);
    // SAFETY: checked above; the caller vouches for it.
    unsafe { Queue::init(cbq) };
    UCS_OK
}

/// Ends a queue. `ucs/datastruct/callbackq.h`.
///
/// - `cbq` (in): The queue; not to be used afterwards.
///
/// # Safety
/// `cbq` is null or a live queue that nobody uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_callbackq_cleanup(cbq: *mut ucs_callbackq_t) {
    non_null!(; cbq);
    // SAFETY: checked above; the caller vouches for it.
    unsafe { Queue::cleanup(cbq) };
}

/// # Safety
/// `cbq` is null or a live queue; without `anywhere`, it is the caller's.
unsafe fn add(
    cbq: *mut ucs_callbackq_t,
    cb: ucs_callback_t,
    arg: *mut c_void,
    anywhere: bool,
) -> c_int {
    non_null!(UCS_CALLBACKQ_ID_NULL; cbq);
    let Some(cb) = cb else {
        crate::ucs_error!("a queue of callbacks: argument `cb` is NULL");
        return UCS_CALLBACKQ_ID_NULL;
    };
    // SAFETY: checked above; the caller vouches for it.
    match unsafe { Queue::of(cbq).add(cb, arg, anywhere) } {
        Ok(id) => id,
        Err(status) => {
            crate::ucs_error!("a callback cannot be added: {status}");
            UCS_CALLBACKQ_ID_NULL
        }
    }
}

/// # Safety
/// As for `add`.
unsafe fn remove(cbq: *mut ucs_callbackq_t, id: CallbackId, anywhere: bool) -> *mut c_void {
    non_null!(null_mut(); cbq);
    // SAFETY: checked above; the caller vouches for it.
    match unsafe { Queue::of(cbq).remove(id, anywhere) } {
        Ok(arg) => arg,
        Err(_) => {
            crate::ucs_error!("there is no callback {id} to be removed");
            null_mut()
        }
    }
}

/// Adds a callback; its number, or UCS_CALLBACKQ_ID_NULL. Not while another thread dispatches.
/// `ucs/datastruct/callbackq.h`.
///
/// - `cbq` (in,out): The queue.
/// - `cb` (in): The callback.
/// - `arg` (in): Its argument.
/// - returns: Number of the callback, or UCS_CALLBACKQ_ID_NULL.
///
/// # Safety
/// `cbq` is a live queue, `cb` may be called with `arg` until it is removed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_callbackq_add(
    cbq: *mut ucs_callbackq_t,
    cb: ucs_callback_t,
    arg: *mut c_void,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { add(cbq, cb, arg, false) }
}

/// Removes a callback, and gives its argument back. Not while another thread dispatches. `ucs/datastruct/callbackq.h`.
///
/// - `cbq` (in,out): The queue.
/// - `id` (in): Number of the callback.
/// - returns: Argument of the callback.
///
/// # Safety
/// `cbq` is a live queue.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_callbackq_remove(cbq: *mut ucs_callbackq_t, id: c_int) -> *mut c_void {
    // SAFETY: the caller's promise.
    unsafe { remove(cbq, id, false) }
}

/// Adds a callback, from any thread; its number, or UCS_CALLBACKQ_ID_NULL. `ucs/datastruct/callbackq.h`.
///
/// - `cbq` (in,out): The queue.
/// - `cb` (in): The callback.
/// - `arg` (in): Its argument.
/// - returns: Number of the callback, or UCS_CALLBACKQ_ID_NULL.
///
/// # Safety
/// `cbq` is a live queue, `cb` may be called with `arg` until it is removed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_callbackq_add_safe(
    cbq: *mut ucs_callbackq_t,
    cb: ucs_callback_t,
    arg: *mut c_void,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { add(cbq, cb, arg, true) }
}

/// Removes a callback, from any thread, and gives its argument back. It may be called until the next dispatch begins.
/// `ucs/datastruct/callbackq.h`.
///
/// - `cbq` (in,out): The queue.
/// - `id` (in): Number of the callback.
/// - returns: Argument of the callback.
///
/// # Safety
/// `cbq` is a live queue.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_callbackq_remove_safe(
    cbq: *mut ucs_callbackq_t,
    id: c_int,
) -> *mut c_void {
    // SAFETY: the caller's promise.
    unsafe { remove(cbq, id, true) }
}

/// Has a callback called once, from any thread. Those of one key are called in order. `ucs/datastruct/callbackq.h`.
///
/// - `cbq` (in,out): The queue.
/// - `key` (in): Key.
/// - `cb` (in): The callback.
/// - `arg` (in): Its argument.
///
/// # Safety
/// `cbq` is a live queue, `cb` may be called with `arg` until it was, or is removed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_callbackq_add_oneshot(
    cbq: *mut ucs_callbackq_t,
    key: ucs_callbackq_key_t,
    cb: ucs_callback_t,
    arg: *mut c_void,
) {
    non_null!(; cbq);
    let Some(cb) = cb else {
        return crate::abi::args::missing(crate::abi::args::function!(), "cb");
    };
    // SAFETY: checked above; the caller vouches for it.
    if let Err(status) = unsafe { Queue::of(cbq).add_once(key, cb, arg) } {
        crate::ucs_error!("a callback cannot be added: {status}");
    }
}

/// Removes those that are to be called once, have a key, and that `pred` chooses, from any thread.
/// `ucs/datastruct/callbackq.h`.
///
/// - `cbq` (in,out): The queue.
/// - `key` (in): Key.
/// - `pred` (in): Chooses among those.
/// - `arg` (in): Its last argument.
///
/// # Safety
/// `cbq` is a live queue, `pred` may be called with `arg`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_callbackq_remove_oneshot(
    cbq: *mut ucs_callbackq_t,
    key: ucs_callbackq_key_t,
    pred: ucs_callbackq_predicate_t,
    arg: *mut c_void,
) {
    non_null!(; cbq);
    let Some(pred) = pred else {
        return crate::abi::args::missing(crate::abi::args::function!(), "pred");
    };
    // SAFETY: checked above; the caller vouches for it.
    unsafe { Queue::of(cbq).remove_once(key, pred, arg) };
}
