//! `ucs/sys/event_set.h`.

use crate::abi::args::non_null;
use crate::c::prelude::*;
use crate::ucs::event_set::{EventSet, MAX_WAIT_EVENTS, Waited};
use crate::ucs::{Events, status::code_of};

/// How many events one wait can give.
#[unsafe(no_mangle)]
pub static ucs_sys_event_set_max_wait_events: c_uint = MAX_WAIT_EVENTS as c_uint;

/// Makes a set. `ucs/sys/event_set.h`.
///
/// - `event_set_p` (out): The set.
/// - returns: UCS_OK, or an error; the cause is logged.
///
/// # Safety
/// `event_set_p` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_event_set_create(
    event_set_p: *mut *mut ucs_sys_event_set_t,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; event_set_p);
    match EventSet::new() {
        // SAFETY: checked above; the caller vouches for it.
        Ok(set) => unsafe { hand_out(set, event_set_p) },
        Err(status) => status.code(),
    }
}

/// Makes a set of an epoll descriptor that stays the caller's. `ucs/sys/event_set.h`.
///
/// - `event_set_p` (out): The set.
/// - `event_fd` (in): Descriptor of epoll_create(2).
/// - returns: UCS_OK, or an error; the cause is logged.
///
/// # Safety
/// `event_set_p` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_event_set_create_from_fd(
    event_set_p: *mut *mut ucs_sys_event_set_t,
    event_fd: c_int,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; event_set_p);
    // SAFETY: checked above; the caller vouches for it.
    unsafe { hand_out(EventSet::Borrowed(event_fd), event_set_p) }
}

/// Watches `fd`. `ucs/sys/event_set.h`.
///
/// - `event_set` (in,out): Set of `ucs_event_set_create`.
/// - `fd` (in): Descriptor.
/// - `events` (in): Bits of `ucs_event_set_types_t`.
/// - `callback_data` (in): Word that the handler gets.
/// - returns: UCS_OK, or an error; the cause is logged.
///
/// # Safety
/// `event_set` is null or a live set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_event_set_add(
    event_set: *mut ucs_sys_event_set_t,
    fd: c_int,
    events: ucs_event_set_types_t,
    callback_data: *mut c_void,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; event_set);
    // SAFETY: the caller's promise.
    let set = unsafe { set_of(event_set) };
    let events = Events::from_bits_truncate(events);
    code_of(&set.add(fd, events, callback_data as u64))
}

/// Changes events and word of a watched `fd`. `ucs/sys/event_set.h`.
///
/// - `event_set` (in,out): Set of `ucs_event_set_create`.
/// - `fd` (in): Descriptor.
/// - `events` (in): Bits of `ucs_event_set_types_t`.
/// - `callback_data` (in): Word that the handler gets.
/// - returns: UCS_OK, or an error; the cause is logged.
///
/// # Safety
/// `event_set` is null or a live set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_event_set_mod(
    event_set: *mut ucs_sys_event_set_t,
    fd: c_int,
    events: ucs_event_set_types_t,
    callback_data: *mut c_void,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; event_set);
    // SAFETY: the caller's promise.
    let set = unsafe { set_of(event_set) };
    let events = Events::from_bits_truncate(events);
    code_of(&set.modify(fd, events, callback_data as u64))
}

/// Stops watching `fd`. `ucs/sys/event_set.h`.
///
/// - `event_set` (in,out): Set of `ucs_event_set_create`.
/// - `fd` (in): Descriptor.
/// - returns: UCS_OK, or an error; the cause is logged.
///
/// # Safety
/// `event_set` is null or a live set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_event_set_del(
    event_set: *mut ucs_sys_event_set_t,
    fd: c_int,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; event_set);
    // SAFETY: the caller's promise.
    code_of(&unsafe { set_of(event_set) }.delete(fd))
}

/// Waits and hands events over; `*num_events` is the most to take and how many came.
/// `UCS_INPROGRESS` after a signal. `ucs/sys/event_set.h`.
///
/// - `event_set` (in,out): Set of `ucs_event_set_create`.
/// - `num_events` (in,out): Most events to take; then how many came.
/// - `timeout_ms` (in): Milliseconds to wait; -1 for ever, 0 not at all.
/// - `event_set_handler` (in): Called for each descriptor with events.
/// - `arg` (in): Its last argument.
/// - returns: UCS_OK; UCS_INPROGRESS after a signal; an error.
///
/// # Safety
/// `event_set` is null or a live set, `num_events` null or valid; the handler may be called with
/// `arg`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_event_set_wait(
    event_set: *mut ucs_sys_event_set_t,
    num_events: *mut c_uint,
    timeout_ms: c_int,
    event_set_handler: ucs_event_set_handler_t,
    arg: *mut c_void,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; event_set, num_events);
    let Some(handler) = event_set_handler else {
        crate::ucs_error!("ucs_event_set_wait: argument `event_set_handler` is NULL");
        return UCS_ERR_INVALID_PARAM;
    };
    // SAFETY: the caller's promise.
    let set = unsafe { set_of(event_set) };
    // SAFETY: checked above; the caller vouches for it.
    let max = unsafe { num_events.read() };
    let waited = set.wait(max as usize, timeout_ms, |word, events| {
        // SAFETY: the caller's promise; the word is the one given at registration.
        unsafe { handler(word as *mut c_void, events.bits(), arg) }
    });
    let (count, status) = match waited {
        Ok(Waited::Events(n)) => (n as c_uint, UCS_OK),
        Ok(Waited::Interrupted) => (0, UCS_INPROGRESS),
        Err(status) => (0, status.code()),
    };
    // SAFETY: as above.
    unsafe { num_events.write(count) };
    status
}

/// Ends a set. `ucs/sys/event_set.h`.
///
/// - `event_set` (in): Set; not to be used afterwards.
///
/// # Safety
/// `event_set` is null or a live set, and is not used after.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_event_set_cleanup(event_set: *mut ucs_sys_event_set_t) {
    if !event_set.is_null() {
        // SAFETY: `hand_out` made it from a box.
        drop(unsafe { Box::from_raw(event_set.cast::<EventSet>()) });
    }
}

/// The descriptor that is readable while the set has events. `ucs/sys/event_set.h`.
///
/// - `event_set` (in,out): Set of `ucs_event_set_create`.
/// - `event_fd_p` (out): The descriptor; it belongs to the set.
/// - returns: UCS_OK, or an error; the cause is logged.
///
/// # Safety
/// `event_set` is null or a live set, `event_fd_p` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_event_set_fd_get(
    event_set: *mut ucs_sys_event_set_t,
    event_fd_p: *mut c_int,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; event_set, event_fd_p);
    // SAFETY: the caller's promise.
    let fd = unsafe { set_of(event_set) }.fd();
    // SAFETY: checked above; the caller vouches for it.
    unsafe { event_fd_p.write(fd) };
    UCS_OK
}

unsafe fn hand_out(set: EventSet, out: *mut *mut ucs_sys_event_set_t) -> ucs_status_t {
    // SAFETY: the caller's promise.
    unsafe { out.write(Box::into_raw(Box::new(set)).cast()) };
    UCS_OK
}

unsafe fn set_of<'a>(set: *mut ucs_sys_event_set_t) -> &'a EventSet {
    // SAFETY: the caller vouches for a live set, which `hand_out` made; it is only read.
    unsafe { &*set.cast::<EventSet>() }
}
