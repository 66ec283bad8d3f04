//! The log: levels as UCX's, to stderr or `UCX_LOG_FILE`.
//!
//! `ucs_error!`, `ucs_warn!`, `ucs_diag!`, `ucs_info!`, `ucs_debug!`, `ucs_trace!` format only when
//! their level is on; a level that is off costs one relaxed load and a compare.
//!
//! Each place in the code writes a limited number of errors, warnings and diagnostics (`Limit`).
//!
//! The options are read at the first message of any level, or by `start`. Until then every level
//! counts as on, so that nothing needs to run at load. What a thread has to say while it reads them goes to
//! stderr at the default level; several threads may read them at a time, and nobody waits for another.

mod handlers;
mod limit;
mod line;
mod sink;

pub use crate::ucs::config::global::LOG_LEVELS as LEVEL_NAMES;
pub use handlers::{LogHandler, handlers, pop_handler, push_handler};
pub use limit::Limit;
pub use line::{change_indent, indent, set_thread_name};
pub use sink::fill_name;

use crate::sys::fork::ForkLocked;
use crate::sys::{file, machine, process};
use crate::ucs::config::{global, var};
use core::fmt;
use once_cell::race::OnceBox;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// UCX's levels, in its order: a smaller value is more severe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum Level {
    Fatal,
    Error,
    Warn,
    Diag,
    Info,
    Debug,
    Trace,
    TraceReq,
    TraceData,
    TraceAsync,
    TraceFunc,
    TracePoll,
}

/// The number of a level that is written whatever the level of the log is.
pub const PRINT: u32 = 13;

const DEFAULT: u32 = Level::Warn as u32;
/// Above every level: all are on until the options are read.
const UNREAD: u32 = u32::MAX;

/// Relaxed: it guards no other memory.
static LEVEL: AtomicU32 = AtomicU32::new(UNREAD);

/// The output of messages.
static SINK: OnceBox<sink::Sink> = OnceBox::new();

/// Bytes of the longest message.
static BUFFER: AtomicUsize = AtomicUsize::new(DEFAULT_BUFFER);
/// A pattern of source files; none for all.
static FILTER: ForkLocked<Option<Arc<str>>> = ForkLocked::new(None);

thread_local! {
    /// This thread reads the options.
    static READING: Cell<bool> = const { Cell::new(false) };
}

/// The longest message when the options are not read yet.
const DEFAULT_BUFFER: usize = 1024;
/// The limit of `UCX_LOG_BUFFER`.
const MAX_BUFFER: usize = 1 << 20;

/// Whether a message of `level` would be written.
#[inline]
pub fn enabled(level: Level) -> bool {
    level as u32 <= LEVEL.load(Ordering::Relaxed)
}

/// The level of the log, by number.
pub fn level() -> u32 {
    start();
    match LEVEL.load(Ordering::Relaxed) {
        UNREAD => DEFAULT,
        level => level,
    }
}

/// Bytes that a message may have.
pub fn buffer_size() -> usize {
    start();
    BUFFER.load(Ordering::Relaxed)
}

/// Takes over what the options say now; whether it is the first time.
pub fn take_over_options() -> bool {
    let mut first = false;
    loop {
        let options = global::current();
        let buffer = options
            .memunits(var!(global::TABLE, "LOG_BUFFER"))
            .clamp(1, MAX_BUFFER);
        BUFFER.store(buffer, Ordering::Relaxed);
        let filter = options.str(var!(global::TABLE, "LOG_FILE_FILTER"));
        let filter = (filter != "*").then(|| Arc::from(filter));
        // The one before is dropped without the lock.
        let _before = FILTER.with(|known| core::mem::replace(known, filter));
        let level = options.enum_index(var!(global::TABLE, "LOG_LEVEL")) as u32;
        first |= LEVEL.swap(level, Ordering::Relaxed) == UNREAD;
        // Another thread may have changed them meanwhile.
        if Arc::ptr_eq(&options, &global::current()) {
            return first;
        }
    }
}

/// Reads the options, once. At INFO and below, logs version and path of the library.
pub fn start() {
    if LEVEL.load(Ordering::Relaxed) == UNREAD {
        read_options();
    }
}

#[cold]
fn read_options() {
    // A thread that is ending has no cell left, and says the little that is left at the default level.
    if READING
        .try_with(|reading| reading.replace(true))
        .unwrap_or(true)
    {
        return;
    }
    let fixed = global::fixed();
    let open = || {
        sink::Sink::open(
            fixed.str(var!(global::READ_ONLY, "LOG_FILE")),
            fixed.memunits(var!(global::READ_ONLY, "LOG_FILE_SIZE")),
            fixed.uint(var!(global::READ_ONLY, "LOG_FILE_ROTATE")),
        )
    };
    SINK.get_or_init(|| Box::new(open()));
    let first = take_over_options();
    READING.set(false);
    if !first || !enabled(Level::Info) {
        return;
    }
    let path = machine::own_path().map(|path| path.display().to_string());
    crate::ucs_info!(
        "Version {} (loaded from {}), {}",
        env!("CARGO_PKG_VERSION"),
        path.as_deref().unwrap_or("an unknown file"),
        machine::own_identity()
    );
}

/// Writes one message of the library. Called through the macros.
#[cold]
pub fn write(level: Level, file: &str, line: u32, args: fmt::Arguments<'_>) {
    if level as u32 <= self::level() {
        handlers::dispatch(file, line, level as u32, &args.to_string());
    }
}

/// The same, unless the place has written too many already.
#[cold]
pub fn write_limited(level: Level, file: &str, line: u32, limit: &Limit, args: fmt::Arguments<'_>) {
    start();
    if !enabled(level) {
        return;
    }
    match limit.allow() {
        None => {}
        Some(0) => write(level, file, line, args),
        Some(n) => write(
            level,
            file,
            line,
            format_args!("{args} ({n} more such lines were left out)"),
        ),
    }
}

/// Writes one message to where the options say: what the default handler does. `component` stands
/// in the place of `UCX`; `filter` in that of `UCX_LOG_FILE_FILTER`.
pub fn emit(
    level: u32,
    file: &str,
    line: u32,
    component: &str,
    filter: Option<&str>,
    message: &str,
) {
    start();
    let general = FILTER.with(|filter| filter.clone());
    let filter = filter.or(general.as_deref()).unwrap_or("*");
    if filter != "*" && !crate::ucs::config::matches_pattern(filter, file) {
        return;
    }
    let longest = BUFFER.load(Ordering::Relaxed) - 1;
    let text = line::format(level, file, line, component, line::cut(message, longest));
    put(&text);
}

/// Writes lines that a user asked for by a variable, whatever the level of the log is.
#[cold]
pub fn print(text: &str) {
    start();
    let text = line::plain(text);
    put(&text);
}

/// Writes a message of a program that is about to end to stderr.
#[cold]
pub fn print_last(message: &str) {
    start();
    // What cannot be written is lost: there is nowhere to report it.
    let _ = file::write_all(file::STDERR, line::last(message).as_bytes());
}

/// Writes where this thread is, at a level: one line each function, the innermost first.
#[cold]
pub fn write_backtrace(level: u32, file: &str, line: u32) {
    if level > self::level() {
        return;
    }
    let trace = std::backtrace::Backtrace::force_capture();
    let title = format!("backtrace of thread {}", process::tid());
    handlers::dispatch(file, line, level, &format!("{title}\n{trace}"));
}

fn put(text: &str) {
    SINK.get()
        .unwrap_or(&sink::Sink::Stderr)
        .write(text.as_bytes());
}

#[macro_export]
macro_rules! ucs_log {
    ($level:ident, $($arg:tt)*) => {
        if $crate::ucs::log::enabled($crate::ucs::log::Level::$level) {
            $crate::ucs::log::write($crate::ucs::log::Level::$level, file!(), line!(), format_args!($($arg)*));
        }
    };
}
#[macro_export]
macro_rules! ucs_log_limited {
    ($level:ident, $($arg:tt)*) => {
        if $crate::ucs::log::enabled($crate::ucs::log::Level::$level) {
            static LIMIT: $crate::ucs::log::Limit = $crate::ucs::log::Limit::new();
            $crate::ucs::log::write_limited(
                $crate::ucs::log::Level::$level, file!(), line!(), &LIMIT, format_args!($($arg)*),
            );
        }
    };
}
#[macro_export]
macro_rules! ucs_error { ($($arg:tt)*) => { $crate::ucs_log_limited!(Error, $($arg)*) }; }
#[macro_export]
macro_rules! ucs_warn { ($($arg:tt)*) => { $crate::ucs_log_limited!(Warn, $($arg)*) }; }
#[macro_export]
macro_rules! ucs_diag { ($($arg:tt)*) => { $crate::ucs_log_limited!(Diag, $($arg)*) }; }
#[macro_export]
macro_rules! ucs_info { ($($arg:tt)*) => { $crate::ucs_log!(Info, $($arg)*) }; }
#[macro_export]
macro_rules! ucs_debug { ($($arg:tt)*) => { $crate::ucs_log!(Debug, $($arg)*) }; }
#[macro_export]
macro_rules! ucs_trace { ($($arg:tt)*) => { $crate::ucs_log!(Trace, $($arg)*) }; }
