//! `ucs/debug/log_def.h`: messages of clients, their handlers, and fatal errors.
//!
//! The variadic functions are jumps to C, where a `va_list` can be made, and C comes back to two functions here.

use crate::abi::jump::{hidden_name, jump};
use crate::abi::ucs::opts;
use crate::c::prelude::*;
use crate::ucs::compat::text;
use crate::ucs::log::{self, Level, LogHandler};
use core::cell::UnsafeCell;
use std::borrow::Cow;

unsafe extern "C" {
    fn ferrucx_log_dispatch();
    fn ferrucx_fatal_error_format();
    fn ferrucx_log_fatal_error();
    fn ferrucx_log_set_thread_name();
}

hidden_name!("ferrucx_log_handlers", list_handlers);
hidden_name!("ferrucx_log_die", die);
hidden_name!("ferrucx_log_print_last", print_last);
hidden_name!("ferrucx_log_name_thread", name_thread);

/// Logs a message of a client: `(file, line, function, level, component, format, ...)`, `format` as
/// of printf. All handlers see it, newest first. The caller has asked whether the level is on.
///
/// # Safety
/// Strings as printf takes them; `component` null or valid.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_log_dispatch() {
    jump!(ferrucx_log_dispatch);
}

/// Writes a message at level FATAL, `(file, line, function, format, ...)`, and aborts the process.
///
/// # Safety
/// Strings as printf takes them.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_fatal_error_format() {
    jump!(ferrucx_fatal_error_format);
}

/// Writes the message of a fatal error to stderr: `(format, ...)`, as of printf. The process goes on.
///
/// # Safety
/// Strings as printf takes them.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_log_fatal_error() {
    jump!(ferrucx_log_fatal_error);
}

/// Has messages of this thread name it in the place of its number, `(format, ...)` as of printf: at most 30 bytes.
///
/// # Safety
/// Strings as printf takes them.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_log_set_thread_name() {
    jump!(ferrucx_log_set_thread_name);
}

/// For C: the formatted message of `ucs_log_fatal_error`.
///
/// # Safety
/// A C string.
unsafe extern "C" fn print_last(message: *const c_char) {
    // SAFETY: the caller's string.
    log::print_last(&unsafe { text(message) }.unwrap_or_default());
}

/// For C: the formatted name of `ucs_log_set_thread_name`.
///
/// # Safety
/// A C string.
unsafe extern "C" fn name_thread(name: *const c_char) {
    // SAFETY: the caller's string.
    log::set_thread_name(&unsafe { text(name) }.unwrap_or_default());
}

/// Writes lines to where `UCX_LOG_FILE` says, with time, host and thread, whatever the level of the log is.
///
/// - `str` (in): The lines, NUL-terminated.
///
/// # Safety
/// `str` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_log_print_compact(str: *const c_char) {
    // SAFETY: the caller's string.
    let text = unsafe { text(str) }.unwrap_or_default();
    let lines: Vec<String> = text.lines().map(|line| format!("  {line}")).collect();
    log::print(&lines.join("\n"));
}

/// Logs where the calling thread is, at a level.
///
/// - `level` (in): Level of the lines.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_log_print_backtrace(level: ucs_log_level_t) {
    log::write_backtrace(level, file!(), line!());
}

/// Numbers of the bits that are set in the first `length` bits of `bitmap`, plus `n`, with ranges as `from-to`. The
/// text stays until the thread's next call and is cut off behind 511 bytes.
///
/// - `n` (in): Number of the first bit.
/// - `bitmap` (in): The bits.
/// - `length` (in): Their number.
/// - returns: The text.
///
/// # Safety
/// `bitmap` is null or has this many bits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_log_bitmap_to_str(
    n: c_uint,
    bitmap: *mut u8,
    length: usize,
) -> *const c_char {
    const ROOM: usize = 512;
    thread_local! {
        static TEXT: UnsafeCell<[c_char; ROOM]> = const { UnsafeCell::new([0; ROOM]) };
    }
    let bytes = match bitmap.is_null() {
        true => &[],
        // SAFETY: the caller's bitmap.
        false => unsafe { core::slice::from_raw_parts(bitmap, length.div_ceil(8)) },
    };
    let shown = text::bit_ranges(bytes, length, n, ROOM);
    TEXT.with(|to| {
        // SAFETY: this thread's own buffer of `ROOM` bytes.
        unsafe { super::put_text(to.get().cast(), ROOM, &shown) };
        to.get().cast_const().cast()
    })
}

/// Writes a message to where `UCX_LOG_FILE` says. What handlers of a client may call to have the
/// usual output. Answers `UCS_LOG_FUNC_RC_CONTINUE`.
///
/// - `file` (in): Source file, NUL-terminated.
/// - `line` (in): Line in it.
/// - `function` (in): Function, NUL-terminated.
/// - `level` (in): Level of the message.
/// - `comp_conf` (in): Component that logs.
/// - `format` (in): As of printf(3).
/// - `ap` (in): Its arguments.
/// - returns: UCS_LOG_FUNC_RC_CONTINUE.
///
/// # Safety
/// Strings as vprintf takes them, `ap` of these; `comp_conf` null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_log_default_handler(
    file: *const c_char,
    line: c_uint,
    _function: *const c_char,
    level: ucs_log_level_t,
    comp_conf: *const ucs_log_component_config_t,
    format: *const c_char,
    ap: va_list,
) -> ucs_log_func_rc_t {
    let mut message = vec![0u8; log::buffer_size()];
    if !format.is_null() {
        // SAFETY: the buffer and its size; the caller's format and arguments.
        unsafe { vsnprintf(message.as_mut_ptr().cast(), message.len(), format, ap) };
    }
    let end = message
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(message.len());
    let message = String::from_utf8_lossy(message.get(..end).unwrap_or(&[]));
    let (component, filter) = if comp_conf.is_null() {
        (Cow::Borrowed("UCX"), None)
    } else {
        // SAFETY: not null, so valid by the caller's promise.
        let component = unsafe { &*comp_conf };
        // SAFETY: as above for the string it points to.
        (name_of(&component.name), unsafe {
            text(component.file_filter)
        })
    };
    // SAFETY: the caller's string.
    let file = unsafe { text(file) }.unwrap_or_default();
    log::emit(level, &file, line, &component, filter.as_deref(), &message);
    UCS_LOG_FUNC_RC_CONTINUE
}

unsafe extern "C" {
    fn vsnprintf(to: *mut c_char, size: usize, format: *const c_char, ap: va_list) -> c_int;
}

/// A name that may fill its whole field.
fn name_of(field: &[c_char]) -> Cow<'static, str> {
    let bytes: Vec<u8> = field
        .iter()
        .take_while(|c| **c != 0)
        .map(|c| *c as u8)
        .collect();
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

/// A C string, or none.
///
/// # Safety
/// `string` must be null or a C string that outlives the answer.
unsafe fn text<'a>(string: *const c_char) -> Option<Cow<'a, str>> {
    if string.is_null() {
        return None;
    }
    // SAFETY: by the caller's promise.
    Some(unsafe { CStr::from_ptr(string) }.to_string_lossy())
}

/// For C: writes the handlers to `handlers`, first to be called first, answers how many.
///
/// # Safety
/// `handlers` must have room for `room` pointers.
unsafe extern "C" fn list_handlers(handlers: *mut LogHandler, room: usize) -> usize {
    opts::refresh();
    let (clients, default) = log::handlers();
    let default = default.then_some(ucs_log_default_handler as LogHandler);
    let mut count = 0;
    for handler in clients.into_iter().chain(default).take(room) {
        // SAFETY: `count` is below `room`.
        unsafe { handlers.add(count).write(handler) };
        count += 1;
    }
    count
}

/// For C: writes the last message of the process and aborts it.
///
/// # Safety
/// C strings or null.
unsafe extern "C" fn die(
    file: *const c_char,
    line: c_uint,
    _function: *const c_char,
    message: *const c_char,
) -> ! {
    // SAFETY: the caller's strings.
    let (file, message) = unsafe { (text(file), text(message)) };
    log::emit(
        Level::Fatal as u32,
        &file.unwrap_or_default(),
        line,
        "UCX",
        Some("*"),
        &message.unwrap_or_default(),
    );
    std::process::abort()
}

/// Puts `handler` before all others. It may call the log and change the handlers.
///
/// - `handler` (in): The handler.
///
/// # Safety
/// `handler` must stay callable until it is popped.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_log_push_handler(handler: ucs_log_func_t) {
    let Some(handler) = handler else {
        crate::ucs_error!("ucs_log_push_handler: the handler is NULL");
        return;
    };
    if !log::push_handler(handler) {
        crate::ucs_error!("ucs_log_push_handler: too many handlers, this one is not called");
    }
}

/// Takes the newest handler away, at last the default one; nothing is written then.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_log_pop_handler() {
    log::pop_handler();
}

/// How many handlers there are, the default one included.
///
/// - returns: Their number.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_log_num_handlers() -> c_uint {
    let (clients, default) = log::handlers();
    clients.len() as c_uint + c_uint::from(default)
}

/// Bytes of the longest message.
///
/// - returns: Number of bytes.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_log_get_buffer_size() -> usize {
    log::buffer_size()
}

/// Moves the messages of this thread `delta` steps to the right, or back.
///
/// - `delta` (in): Steps; negative for back.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_log_indent(delta: c_int) {
    log::change_indent(delta);
}

/// Steps that the messages of this thread are moved.
///
/// - returns: Number of steps.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_log_get_current_indent() -> c_int {
    log::indent()
}

/// Waits until messages are written: each is written at once, there is nothing to wait for.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_log_flush() {}

/// A C array of names.
#[repr(transparent)]
pub struct Names<const N: usize>([*const c_char; N]);

// SAFETY: the pointers are to constant strings, and nobody writes the array.
unsafe impl<const N: usize> Sync for Names<N> {}

/// Names of the levels, by value; NULL after the last.
#[unsafe(no_mangle)]
pub static ucs_log_level_names: Names<13> = Names([
    c"FATAL".as_ptr(),
    c"ERROR".as_ptr(),
    c"WARN".as_ptr(),
    c"DIAG".as_ptr(),
    c"INFO".as_ptr(),
    c"DEBUG".as_ptr(),
    c"TRACE".as_ptr(),
    c"REQ".as_ptr(),
    c"DATA".as_ptr(),
    c"ASYNC".as_ptr(),
    c"FUNC".as_ptr(),
    c"POLL".as_ptr(),
    core::ptr::null(),
]);
