//! `ucs/config/ini.h`: types and constants.

use crate::c::prelude::*;

/// Is handed each name and value, and the section that they stand in; 0 is an error in that line.
///
/// - `user` (in): As it was given to the parser.
/// - `section` (in): Section, NUL-terminated; empty before the first one.
/// - `name` (in): Name, NUL-terminated.
/// - `value` (in): Value, NUL-terminated.
/// - returns: Nonzero, or 0 for an error in the line.
pub type ini_handler = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        section: *const c_char,
        name: *const c_char,
        value: *const c_char,
    ) -> c_int,
>;

/// Reads a line, as fgets does.
///
/// - `str` (out): Gets the line with its NUL.
/// - `num` (in): Bytes of `str`.
/// - `stream` (in): As it was given to the parser.
/// - returns: `str`, or NULL at the end.
pub type ini_reader =
    Option<unsafe extern "C" fn(str: *mut c_char, num: c_int, stream: *mut c_void) -> *mut c_char>;
