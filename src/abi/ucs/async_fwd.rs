//! `ucs/async/async_fwd.h`, and the pair that tools use on contexts in their own memory.
//!
//! A `ucs_async_context_t` is 80 bytes of its owner; the first word holds our reference.

use crate::abi::args::non_null;
use crate::c::prelude::*;
use crate::sys::heap;
use crate::ucs::async_ctx::{self, AsyncContext, Callback, FIRST_TIMER_ID, Mode};
use crate::ucs::{Events, Result, Status, status::code_of, time};

/// Words of a `ucs_async_context_t` in every release.
const CONTEXT_WORDS: usize = 10;

/// Makes a context that `ucs_async_context_destroy` frees. Modes are poll, thread (spinlock or
/// mutex) and signal, which is served by the async thread. `ucs/async/async_fwd.h`.
///
/// - `mode` (in): Who calls back: the caller of `ucs_async_poll`, the async thread, or a signal.
/// - `async_p` (out): The context.
/// - returns: UCS_OK, or an error; the cause is logged.
///
/// # Safety
/// `async_p` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_async_context_create(
    mode: ucs_async_mode_t,
    async_p: *mut *mut ucs_async_context_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; async_p);
    let memory: *mut ucs_async_context_t = heap::calloc(CONTEXT_WORDS, size_of::<usize>()).cast();
    if memory.is_null() {
        return UCS_ERR_NO_MEMORY;
    }
    // SAFETY: fresh memory of a context's size.
    let status = unsafe { ucs_async_context_init(memory, mode) };
    if status != UCS_OK {
        // SAFETY: made above.
        unsafe { heap::free(memory.cast()) };
        return status;
    }
    // SAFETY: checked above; the caller vouches for it.
    unsafe { async_p.write(memory) };
    UCS_OK
}

/// Ends a context made by `ucs_async_context_create`. Handlers that are still registered live on,
/// with a warning. `ucs/async/async_fwd.h`.
///
/// - `async` (in): Context; not to be used afterwards.
///
/// # Safety
/// `async` is null or from `ucs_async_context_create`, and is not used after.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_async_context_destroy(r#async: *mut ucs_async_context_t) {
    if r#async.is_null() {
        return;
    }
    // SAFETY: the caller's promise.
    unsafe { ucs_async_context_cleanup(r#async) };
    // SAFETY: `create` took it from this heap.
    unsafe { heap::free(r#async.cast()) };
}

/// Makes a context in 80 bytes of the caller. `ucs/async/async.h`, which is not installed.
///
/// - `async` (in): Context of `ucs_async_context_create`; NULL for the library's own.
/// - `mode` (in): Who calls back: the caller of `ucs_async_poll`, the async thread, or a signal.
/// - returns: UCS_OK, or an error; the cause is logged.
///
/// # Safety
/// `async` is null or 80 writable bytes without a context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_async_context_init(
    r#async: *mut ucs_async_context_t,
    mode: ucs_async_mode_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; r#async);
    let mode = match Mode::from_c(mode) {
        Ok(mode) => mode,
        Err(status) => return status.code(),
    };
    let mut words = [0usize; CONTEXT_WORDS];
    words[0] = AsyncContext::new(mode).into_raw();
    // SAFETY: 80 bytes of the caller.
    unsafe { r#async.cast::<[usize; CONTEXT_WORDS]>().write(words) };
    UCS_OK
}

/// Ends a context made by `ucs_async_context_init`.
///
/// - `async` (in): Context of `ucs_async_context_create`; NULL for the library's own.
///
/// # Safety
/// `async` is null or holds a context, which is not used after.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_async_context_cleanup(r#async: *mut ucs_async_context_t) {
    non_null!(; r#async);
    // SAFETY: the first word is ours.
    let raw = unsafe { r#async.cast::<usize>().replace(0) };
    if raw == 0 {
        return;
    }
    // SAFETY: from `into_raw` in `init`, and taken out of the object.
    let ctx = unsafe { AsyncContext::from_raw(raw) };
    if ctx.handlers() > 0 {
        crate::ucs_warn!(
            "an async context is released with {} handlers: remove them first",
            ctx.handlers()
        );
    }
    ctx.end();
}

/// Calls `cb` when `event_fd` has one of `events`. `ucs/async/async_fwd.h`.
///
/// - `mode` (in): Who calls back: the caller of `ucs_async_poll`, the async thread, or a signal.
/// - `event_fd` (in): Descriptor to watch.
/// - `events` (in): Bits of `ucs_event_set_types_t`.
/// - `cb` (in): Called on events.
/// - `arg` (in): Its last argument.
/// - `async` (in): Context of `ucs_async_context_create`; NULL for the library's own.
/// - returns: UCS_OK, or an error; the cause is logged.
///
/// # Safety
/// `async` is null or a live context of the same mode; `cb` may be called with `arg` until the
/// handler is removed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_async_set_event_handler(
    mode: ucs_async_mode_t,
    event_fd: c_int,
    events: ucs_event_set_types_t,
    cb: ucs_async_event_cb_t,
    arg: *mut c_void,
    r#async: *mut ucs_async_context_t,
) -> ucs_status_t {
    // SAFETY: the caller's promise.
    let ctx = unsafe { AsyncContext::from_c(r#async) };
    let add = || {
        let events = Events::from_bits_truncate(events);
        let callback = callback(cb, arg)?;
        async_ctx::add_fd(
            Mode::from_c(mode)?,
            event_fd,
            events,
            callback,
            ctx.as_ref(),
        )?;
        Ok(())
    };
    code_of(&add())
}

/// Calls `cb` every `interval` ticks of `ucs_get_time`; the handler's id is from 1000000 on.
/// `ucs/async/async_fwd.h`.
///
/// - `mode` (in): Who calls back: the caller of `ucs_async_poll`, the async thread, or a signal.
/// - `interval` (in): Ticks of `ucs_get_time`.
/// - `cb` (in): Called each time.
/// - `arg` (in): Its last argument.
/// - `async` (in): Context of `ucs_async_context_create`; NULL for the library's own.
/// - `timer_id_p` (out): The timer's number.
/// - returns: UCS_OK, or an error; the cause is logged.
///
/// # Safety
/// As `ucs_async_set_event_handler`; `timer_id_p` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_async_add_timer(
    mode: ucs_async_mode_t,
    interval: ucs_time_t,
    cb: ucs_async_event_cb_t,
    arg: *mut c_void,
    r#async: *mut ucs_async_context_t,
    timer_id_p: *mut c_int,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; timer_id_p);
    // SAFETY: the caller's promise.
    let ctx = unsafe { AsyncContext::from_c(r#async) };
    let add = || {
        let interval = time::duration_of(interval);
        let callback = callback(cb, arg)?;
        async_ctx::add_timer(Mode::from_c(mode)?, interval, callback, ctx.as_ref())
    };
    match add() {
        Ok(id) => {
            // SAFETY: checked above; the caller vouches for it.
            unsafe { timer_id_p.write(id) };
            UCS_OK
        }
        Err(status) => status.code(),
    }
}

/// Removes a handler, also from inside its callback; with `sync`, waits for a callback on another
/// thread. `UCS_ERR_NO_ELEM` for an unknown id. `ucs/async/async_fwd.h`.
///
/// - `id` (in): The descriptor, or the timer's number.
/// - `sync` (in): Nonzero: waits for a callback on another thread.
/// - returns: UCS_OK; UCS_ERR_NO_ELEM for an unknown number.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_async_remove_handler(id: c_int, sync: c_int) -> ucs_status_t {
    code_of(&async_ctx::remove(id, sync != 0))
}

/// Changes what a descriptor's handler waits for. `ucs/async/async_fwd.h`.
///
/// - `fd` (in): Descriptor that has a handler.
/// - `events` (in): Bits of `ucs_event_set_types_t`.
/// - returns: UCS_OK, or an error; the cause is logged.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_async_modify_handler(
    fd: c_int,
    events: ucs_event_set_types_t,
) -> ucs_status_t {
    if fd >= FIRST_TIMER_ID {
        return Status::INVALID_PARAM.code();
    }
    code_of(&async_ctx::modify(fd, Events::from_bits_truncate(events)))
}

/// Runs what is ready in a context, or in all for null. `ucs/async/async_fwd.h`.
///
/// - `async` (in): The context; NULL for all.
///
/// # Safety
/// `async` is null or a live context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_async_poll(r#async: *mut ucs_async_context_t) {
    // SAFETY: the caller's promise.
    match unsafe { AsyncContext::from_c(r#async) } {
        Some(ctx) => ctx.poll(),
        None => async_ctx::poll_all(),
    };
}

/// Runs what a context missed while it was blocked. Declared in `ucs/async/async_fwd.h` for inline
/// code of upstream.
///
/// - `async` (in): The context.
///
/// # Safety
/// `async` is null or a live context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __ucs_async_poll_missed(r#async: *mut ucs_async_context_t) {
    // SAFETY: the caller's promise.
    if let Some(ctx) = unsafe { AsyncContext::from_c(r#async) } {
        drop(ctx.block());
    }
}

/// A client's callback and argument as one callable.
fn callback(cb: ucs_async_event_cb_t, arg: *mut c_void) -> Result<Callback> {
    let Some(cb) = cb else {
        crate::ucs_error!("an async handler needs a callback");
        return Err(Status::INVALID_PARAM);
    };
    let arg = arg as usize;
    Ok(Box::new(move |id, events| {
        // SAFETY: the client promised that the pair is callable, on any thread, until removed.
        unsafe { cb(id, events.bits(), arg as *mut c_void) }
    }))
}
