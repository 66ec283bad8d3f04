//! The log: levels as UCX's, to stderr unless `UCX_LOG_FILE` says otherwise.
//!
//! `ucs_error!`, `ucs_warn!`, `ucs_diag!`, `ucs_info!`, `ucs_debug!`, `ucs_trace!` format only when
//! their level is on.

use core::fmt;

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

/// The levels' names as configuration spells them.
pub const LEVEL_NAMES: &[&str] = &[
    "fatal", "error", "warn", "diag", "info", "debug", "trace", "req", "data", "async", "func",
    "poll",
];

/// Whether a message of `level` would be written.
#[inline]
pub fn enabled(level: Level) -> bool {
    level <= Level::Warn
}

/// Writes one message. Called through the macros.
#[cold]
pub fn write(level: Level, file: &str, line: u32, args: fmt::Arguments<'_>) {
    eprintln!("{file}:{line} UCX {level:?} {args}");
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
macro_rules! ucs_error { ($($arg:tt)*) => { $crate::ucs_log!(Error, $($arg)*) }; }
#[macro_export]
macro_rules! ucs_warn { ($($arg:tt)*) => { $crate::ucs_log!(Warn, $($arg)*) }; }
#[macro_export]
macro_rules! ucs_diag { ($($arg:tt)*) => { $crate::ucs_log!(Diag, $($arg)*) }; }
#[macro_export]
macro_rules! ucs_info { ($($arg:tt)*) => { $crate::ucs_log!(Info, $($arg)*) }; }
#[macro_export]
macro_rules! ucs_debug { ($($arg:tt)*) => { $crate::ucs_log!(Debug, $($arg)*) }; }
#[macro_export]
macro_rules! ucs_trace { ($($arg:tt)*) => { $crate::ucs_log!(Trace, $($arg)*) }; }
