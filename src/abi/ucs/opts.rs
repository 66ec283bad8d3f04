//! `ucs/config/global_opts.h`: the options object that clients read.
//!
//! Its layout is another in six releases, and programs hold a copy of it by COPY relocation. So the
//! library keeps its options to itself; the object has the size of the oldest layout, and only the
//! members that never moved are written. Until the first call that may log, it says what the
//! defaults are; then `refresh` writes what the environment says.

use crate::abi::args::{self, non_null};
use crate::abi::ucs::config::style_of;
use crate::abi::ucs::{put_text, text_of};
use crate::c::prelude::*;
use crate::ucs::config::{Config, PREFIX, global, print, var};
use crate::ucs::fork::ForkLocked;
use crate::ucs::log;
use crate::ucs::status::code_of;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};
use std::ffi::{CStr, CString};
use std::sync::Arc;

/// Changes an option of the library for the whole process, by its name without `UCX_`. What counts only at the start of
/// the process is checked, with no other effect. UCS_ERR_NO_ELEM: no such option; UCS_ERR_INVALID_PARAM: the text does
/// not fit. `ucs/config/global_opts.h`.
///
/// - `name` (in): Name without `UCX_`, NUL-terminated.
/// - `value` (in): New value as text, NUL-terminated; copied.
/// - returns: UCS_OK; UCS_ERR_NO_ELEM: no such option; UCS_ERR_INVALID_PARAM: the text does not
///   fit.
///
/// # Safety
/// C strings or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_global_opts_set_value(
    name: *const c_char,
    value: *const c_char,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; name, value);
    // SAFETY: the caller's strings, here and below.
    let name = unsafe { text_of(name) };
    // SAFETY: as above.
    let value = unsafe { text_of(value) };
    let done = if global::is_read_only(&name) {
        crate::ucs_diag!(
            "{name} counts at the start of the process: the value '{value}' is not used"
        );
        global::check_read_only(&name, &value)
    } else {
        global::set(&name, &value)
    };
    rewrite();
    code_of(&done)
}

/// Writes an option's text, cut off to fit into `max` bytes with its terminator. UCS_ERR_NO_ELEM: no such option.
/// `ucs/config/global_opts.h`.
///
/// - `name` (in): Name without `UCX_`, NUL-terminated.
/// - `value` (out): Gets the text with its NUL, cut to fit.
/// - `max` (in): Bytes of `value`.
/// - returns: UCS_OK; UCS_ERR_NO_ELEM: no such option.
///
/// # Safety
/// `name` is null or a C string, `value` null or writable for `max` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_global_opts_get_value(
    name: *const c_char,
    value: *mut c_char,
    max: usize,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; name, value);
    // SAFETY: the caller's string.
    let name = unsafe { text_of(name) };
    match global::text(&name) {
        Ok(text) => {
            // SAFETY: the caller's buffer.
            unsafe { put_text(value, max, &text) };
            UCS_OK
        }
        Err(status) => status.code(),
    }
}

/// 1 for an option that counts only at the start of the process, else 0. `ucs/config/global_opts.h`.
///
/// - `name` (in): Name without `UCX_`, NUL-terminated.
/// - returns: 1 or 0.
///
/// # Safety
/// `name` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_global_opts_is_read_only(name: *const c_char) -> c_int {
    // SAFETY: the caller's string.
    global::is_read_only(&unsafe { text_of(name) }).into()
}

/// Prints the options of the library as `print_flags` say. `ucs/config/global_opts.h`.
///
/// - `stream` (in): Open for writing.
/// - `print_flags` (in): What to print, bits of `ucs_config_print_flags_t`.
///
/// # Safety
/// `stream` is null or an open stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_global_opts_print(
    stream: *mut FILE,
    print_flags: ucs_config_print_flags_t,
) {
    non_null!(; stream);
    let mut text = String::new();
    let style = style_of(print_flags);
    for options in [&*global::current(), global::fixed()] {
        print::print(options, options.table.name, PREFIX, style, None, &mut text);
    }
    // SAFETY: the caller's stream.
    unsafe { args::print(stream, &text) };
}

/// The size of the object in the oldest release we serve.
const OLDEST_SIZE: usize = 280;

/// The members that are at the same place in every release.
#[repr(C)]
struct Prefix {
    log_component: ucs_log_component_config_t,
    log_file: *const c_char,
    log_file_size: usize,
    log_file_rotate: c_uint,
    log_buffer_size: usize,
    log_data_size: usize,
    log_print_enable: c_int,
    mpool_fifo: c_int,
    handle_errors: u64,
    error_signals: *const c_int,
    error_signals_count: c_uint,
    error_signals_truncated: c_uint,
    error_mail_to: *const c_char,
    error_mail_footer: *const c_char,
    gdb_command: *const c_char,
    debug_signo: c_uint,
    log_level_trigger: ucs_log_level_t,
    warn_unused_env_vars: c_int,
}

const _: () = {
    assert!(offset_of!(Prefix, log_file) == offset_of!(ucs_global_opts_t, log_file));
    assert!(
        offset_of!(Prefix, log_print_enable) == offset_of!(ucs_global_opts_t, log_print_enable)
    );
    assert!(offset_of!(Prefix, error_signals) == offset_of!(ucs_global_opts_t, error_signals));
    assert!(offset_of!(Prefix, error_mail_to) == offset_of!(ucs_global_opts_t, error_mail_to));
    assert!(offset_of!(Prefix, warn_unused_env_vars) == 136);
    assert!(size_of::<Exported>() == OLDEST_SIZE);
};

#[repr(C)]
pub struct Exported {
    prefix: UnsafeCell<Prefix>,
    rest: [u8; OLDEST_SIZE - size_of::<Prefix>()],
}

// SAFETY: clients read the members without a lock, as upstream has it; we write them once, in
// `refresh`, each an aligned word that was valid before.
unsafe impl Sync for Exported {}

const NAME: [c_char; 16] = {
    let mut name = [0; 16];
    name[0] = b'U' as c_char;
    name[1] = b'C' as c_char;
    name[2] = b'X' as c_char;
    name
};

// Room behind the object: subsection 1 of its section follows subsection 0, where the object is. Where a
// program has this library preloaded as one file, the loader still maps upstream's libucs, whose start-up
// code writes its own, longer options (448 bytes in 1.22) into ours.
core::arch::global_asm!(
    ".section .data.ucs_global_opts, \"aw\", @progbits",
    ".subsection 1",
    ".zero 232",
    ".subsection 0",
    ".text",
);

/// Options of the library as clients see them: the log level and what stands beside it.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".data.ucs_global_opts")]
pub static ucs_global_opts: Exported = Exported {
    prefix: UnsafeCell::new(Prefix {
        log_component: ucs_log_component_config {
            log_level: UCS_LOG_LEVEL_WARN,
            name: NAME,
            file_filter: c"*".as_ptr(),
        },
        log_file: c"".as_ptr(),
        log_file_size: usize::MAX,
        log_file_rotate: 0,
        log_buffer_size: 1024,
        log_data_size: 0,
        log_print_enable: 0,
        mpool_fifo: 0,
        handle_errors: 1 << UCS_HANDLE_ERROR_NONE,
        error_signals: core::ptr::null(),
        error_signals_count: 0,
        error_signals_truncated: 0,
        error_mail_to: c"".as_ptr(),
        error_mail_footer: c"".as_ptr(),
        gdb_command: c"gdb -quiet".as_ptr(),
        debug_signo: 1,
        log_level_trigger: UCS_LOG_LEVEL_FATAL,
        warn_unused_env_vars: 1,
    }),
    rest: [0; OLDEST_SIZE - size_of::<Prefix>()],
};

/// Whether the object says what the options say.
static WRITTEN: AtomicBool = AtomicBool::new(false);

/// Writes what the options say, once; later calls cost one load.
pub fn refresh() {
    // Acquire: pairs with the Release in `publish`.
    if !WRITTEN.load(Ordering::Acquire) {
        publish(&global::current(), true);
    }
}

/// Writes what the options say now.
pub fn rewrite() {
    loop {
        let options = global::current();
        publish(&options, false);
        // Another thread may have changed them meanwhile.
        if Arc::ptr_eq(&options, &global::current()) {
            return;
        }
    }
}

/// With `once`, unless it was done.
fn publish(options: &Config, once: bool) {
    static ONE_AT_A_TIME: ForkLocked<()> = ForkLocked::new(());
    // SAFETY: the object is ours or the program's copy of it, at least this large in every release.
    let mut values = unsafe { ucs_global_opts.prefix.get().read() };
    write(&mut values, options, global::fixed());
    ONE_AT_A_TIME.with(|()| {
        if !once || !WRITTEN.load(Ordering::Relaxed) {
            // SAFETY: as above; one thread writes at a time.
            unsafe { ucs_global_opts.prefix.get().write(values) };
            WRITTEN.store(true, Ordering::Release);
        }
    });
}

fn write(to: &mut Prefix, options: &Config, fixed: &Config) {
    let signals: Vec<c_int> = fixed
        .signals(var!(global::READ_ONLY, "ERROR_SIGNALS"))
        .into_iter()
        .filter_map(|number| c_int::try_from(number).ok())
        .collect();
    keep(
        &mut to.log_component.file_filter,
        options.str(var!(global::TABLE, "LOG_FILE_FILTER")),
    );
    keep(
        &mut to.log_file,
        fixed.str(var!(global::READ_ONLY, "LOG_FILE")),
    );
    to.log_file_size = fixed.memunits(var!(global::READ_ONLY, "LOG_FILE_SIZE"));
    to.log_file_rotate = fixed.uint(var!(global::READ_ONLY, "LOG_FILE_ROTATE"));
    to.log_buffer_size = log::buffer_size();
    to.log_data_size = options.ulong(var!(global::TABLE, "LOG_DATA_SIZE"));
    to.log_print_enable = c_int::from(options.bool(var!(global::TABLE, "LOG_PRINT_ENABLE")));
    to.handle_errors = options.bitmap(var!(global::TABLE, "HANDLE_ERRORS"));
    if to.error_signals.is_null() {
        to.error_signals_count = signals.len() as c_uint;
        to.error_signals = Box::leak(signals.into_boxed_slice()).as_ptr();
    }
    keep(
        &mut to.error_mail_to,
        options.str(var!(global::TABLE, "ERROR_MAIL_TO")),
    );
    keep(
        &mut to.error_mail_footer,
        options.str(var!(global::TABLE, "ERROR_MAIL_FOOTER")),
    );
    keep(
        &mut to.gdb_command,
        options.str(var!(global::TABLE, "GDB_COMMAND")),
    );
    to.debug_signo = options.uint(var!(global::TABLE, "DEBUG_SIGNO"));
    to.log_level_trigger =
        options.enum_index(var!(global::TABLE, "LOG_LEVEL_TRIGGER")) as ucs_log_level_t;
    to.warn_unused_env_vars =
        c_int::from(options.bool(var!(global::TABLE, "WARN_UNUSED_ENV_VARS")));
    to.log_component.log_level = log::level();
}

/// Points `to` at a C string of this text. It stays for the life of the process, as the one before does: clients keep
/// pointers to them.
fn keep(to: &mut *const c_char, text: &str) {
    // SAFETY: a C string of the library's or of the client's, as the header has it.
    let same = !to.is_null() && unsafe { CStr::from_ptr(*to) }.to_bytes() == text.as_bytes();
    if !same {
        *to = CString::new(text).map_or(c"".as_ptr(), |text| text.into_raw());
    }
}
