//! The functions of `ucs/config/parser.h` that read, write, copy and free values of one type.
//!
//! Clients name them in their tables; all functions of a kind have the same arguments. Reading answers 1, or 0 for a
//! text that is not of the type, and leaves the place as it was. Writing answers how many characters the text has, at
//! least 1, and cuts it to fit.

use crate::abi::args::non_null;
use crate::abi::ucs::put_text;
use crate::c::prelude::*;
use crate::ucs::compat::config::{keys, lists, table, values};
use crate::ucs::config::Kind;
use crate::ucs::status::code_of;
use crate::ucs::string_buffer;

/// Defines functions: what kind, the name in C, and the function behind it with the names of its arguments.
macro_rules! parser_functions {
    ($($(#[$doc:meta])* $kind:ident $name:ident = |$($arg:ident),+| $body:expr;)*) => {
        $(parser_functions!(@ $kind [$(#[$doc])*] $name |$($arg),+| $body);)*
    };
    (@ read [$(#[$doc:meta])*] $name:ident |$text:ident, $dest:ident, $arg:ident| $body:expr) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// `buf` is a C string, `dest` a place for a value, `arg` what the type needs.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(buf: *const c_char, $dest: *mut c_void, $arg: *const c_void) -> c_int {
            non_null!(0; buf, $dest);
            let _ = $arg;
            // SAFETY: the caller's string.
            let $text = unsafe { CStr::from_ptr(buf) };
            // SAFETY: the caller's place and argument.
            c_int::from(unsafe { $body })
        }
    };
    (@ write [$(#[$doc:meta])*] $name:ident |$src:ident, $arg:ident| $body:expr) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// `buf` has `max` bytes, `src` is a value, `arg` what the type needs.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            buf: *mut c_char,
            max: usize,
            $src: *const c_void,
            $arg: *const c_void,
        ) -> c_int {
            non_null!(0; buf, $src);
            let _ = $arg;
            // SAFETY: the caller's value and argument.
            let text: String = unsafe { $body };
            // SAFETY: the caller's buffer.
            unsafe { put_text(buf, max, &text) };
            c_int::try_from(text.len().max(1)).unwrap_or(c_int::MAX)
        }
    };
    (@ copy [$(#[$doc:meta])*] $name:ident |$src:ident, $dest:ident, $arg:ident| $body:expr) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// `src` is a value, `dest` a place for one, `arg` what the type needs.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            $src: *const c_void,
            $dest: *mut c_void,
            $arg: *const c_void,
        ) -> ucs_status_t {
            non_null!(UCS_ERR_INVALID_PARAM; $src, $dest);
            let _ = $arg;
            // SAFETY: the caller's value, place and argument.
            code_of(&unsafe { $body })
        }
    };
    (@ release [$(#[$doc:meta])*] $name:ident |$value:ident, $arg:ident| $body:expr) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// `ptr` is a value, given up; `arg` what the type needs.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(ptr: *mut c_void, $arg: *const c_void) {
            let _ = $arg;
            let $value = ptr;
            // SAFETY: the caller's value and argument.
            #[allow(unused_unsafe)]
            unsafe {
                $body
            }
        }
    };
    (@ help [$(#[$doc:meta])*] $name:ident |$arg:ident| $body:expr) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// `buf` has `max` bytes; `arg` is what the type needs.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(buf: *mut c_char, max: usize, $arg: *const c_void) {
            non_null!(; buf);
            // SAFETY: the caller's argument.
            #[allow(unused_unsafe)]
            let text: String = unsafe { $body };
            // SAFETY: the caller's buffer.
            unsafe { put_text(buf, max, &text) };
        }
    };
}

parser_functions! {
    /// Reads a whole number.
    ///
    /// - `buf` (in): Text, NUL-terminated.
    /// - `dest` (out): Place for the value; written on success only.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: 1, or 0 for a text that is not of the type.
    read ucs_config_sscanf_int = |text, dest, _arg| values::read::<i32>(Kind::Int, text, dest);
    /// Writes a whole number.
    ///
    /// - `buf` (out): Gets the text with its NUL, cut to fit.
    /// - `max` (in): Bytes of `buf`.
    /// - `src` (in): The value.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: Characters of the whole text, at least 1; 0 when an argument is NULL.
    write ucs_config_sprintf_int = |src, _arg| values::write::<i32>(Kind::Int, src);
    /// Reads a whole number without a sign.
    ///
    /// - `buf` (in): Text, NUL-terminated.
    /// - `dest` (out): Place for the value; written on success only.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: 1, or 0 for a text that is not of the type.
    read ucs_config_sscanf_uint = |text, dest, _arg| values::read::<u32>(Kind::UInt, text, dest);
    /// Writes a whole number without a sign.
    ///
    /// - `buf` (out): Gets the text with its NUL, cut to fit.
    /// - `max` (in): Bytes of `buf`.
    /// - `src` (in): The value.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: Characters of the whole text, at least 1; 0 when an argument is NULL.
    write ucs_config_sprintf_uint = |src, _arg| values::write::<u32>(Kind::UInt, src);
    /// Reads a long whole number without a sign.
    ///
    /// - `buf` (in): Text, NUL-terminated.
    /// - `dest` (out): Place for the value; written on success only.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: 1, or 0 for a text that is not of the type.
    read ucs_config_sscanf_ulong = |text, dest, _arg| values::read::<usize>(Kind::PlainULong, text, dest);
    /// Writes a long whole number without a sign.
    ///
    /// - `buf` (out): Gets the text with its NUL, cut to fit.
    /// - `max` (in): Bytes of `buf`.
    /// - `src` (in): The value.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: Characters of the whole text, at least 1; 0 when an argument is NULL.
    write ucs_config_sprintf_ulong = |src, _arg| values::write::<usize>(Kind::PlainULong, src);
    /// Reads the same, or "inf" or "auto".
    ///
    /// - `buf` (in): Text, NUL-terminated.
    /// - `dest` (out): Place for the value; written on success only.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: 1, or 0 for a text that is not of the type.
    read ucs_config_sscanf_ulunits = |text, dest, _arg| values::read::<usize>(Kind::ULong, text, dest);
    /// Writes the same, or "inf" or "auto".
    ///
    /// - `buf` (out): Gets the text with its NUL, cut to fit.
    /// - `max` (in): Bytes of `buf`.
    /// - `src` (in): The value.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: Characters of the whole text, at least 1; 0 when an argument is NULL.
    write ucs_config_sprintf_ulunits = |src, _arg| values::write::<usize>(Kind::ULong, src);
    /// Reads a number.
    ///
    /// - `buf` (in): Text, NUL-terminated.
    /// - `dest` (out): Place for the value; written on success only.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: 1, or 0 for a text that is not of the type.
    read ucs_config_sscanf_double = |text, dest, _arg| values::read::<f64>(Kind::Double, text, dest);
    /// Writes a number.
    ///
    /// - `buf` (out): Gets the text with its NUL, cut to fit.
    /// - `max` (in): Bytes of `buf`.
    /// - `src` (in): The value.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: Characters of the whole text, at least 1; 0 when an argument is NULL.
    write ucs_config_sprintf_double = |src, _arg| values::write::<f64>(Kind::Double, src);
    /// Reads a number above 0, or "auto".
    ///
    /// - `buf` (in): Text, NUL-terminated.
    /// - `dest` (out): Place for the value; written on success only.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: 1, or 0 for a text that is not of the type.
    read ucs_config_sscanf_pos_double = |text, dest, _arg| values::read::<f64>(Kind::PositiveDouble, text, dest);
    /// Writes a number above 0, or "auto".
    ///
    /// - `buf` (out): Gets the text with its NUL, cut to fit.
    /// - `max` (in): Bytes of `buf`.
    /// - `src` (in): The value.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: Characters of the whole text, at least 1; 0 when an argument is NULL.
    write ucs_config_sprintf_pos_double = |src, _arg| values::write::<f64>(Kind::PositiveDouble, src);
    /// Reads a hexadecimal number, or "auto".
    ///
    /// - `buf` (in): Text, NUL-terminated.
    /// - `dest` (out): Place for the value; written on success only.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: 1, or 0 for a text that is not of the type.
    read ucs_config_sscanf_hex = |text, dest, _arg| values::read::<u32>(Kind::Hex, text, dest);
    /// Writes a hexadecimal number, or "auto".
    ///
    /// - `buf` (out): Gets the text with its NUL, cut to fit.
    /// - `max` (in): Bytes of `buf`.
    /// - `src` (in): The value.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: Characters of the whole text, at least 1; 0 when an argument is NULL.
    write ucs_config_sprintf_hex = |src, _arg| values::write::<u32>(Kind::Hex, src);
    /// Reads yes or no.
    ///
    /// - `buf` (in): Text, NUL-terminated.
    /// - `dest` (out): Place for the value; written on success only.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: 1, or 0 for a text that is not of the type.
    read ucs_config_sscanf_bool = |text, dest, _arg| values::read::<i32>(Kind::Bool, text, dest);
    /// Writes yes or no.
    ///
    /// - `buf` (out): Gets the text with its NUL, cut to fit.
    /// - `max` (in): Bytes of `buf`.
    /// - `src` (in): The value.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: Characters of the whole text, at least 1; 0 when an argument is NULL.
    write ucs_config_sprintf_bool = |src, _arg| values::write::<i32>(Kind::Bool, src);
    /// Reads a time, in seconds.
    ///
    /// - `buf` (in): Text, NUL-terminated.
    /// - `dest` (out): Place for the value; written on success only.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: 1, or 0 for a text that is not of the type.
    read ucs_config_sscanf_time = |text, dest, _arg| values::read::<f64>(Kind::PlainTime, text, dest);
    /// Writes a time, in seconds.
    ///
    /// - `buf` (out): Gets the text with its NUL, cut to fit.
    /// - `max` (in): Bytes of `buf`.
    /// - `src` (in): The value.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: Characters of the whole text, at least 1; 0 when an argument is NULL.
    write ucs_config_sprintf_time = |src, _arg| values::write::<f64>(Kind::PlainTime, src);
    /// Reads bytes a second.
    ///
    /// - `buf` (in): Text, NUL-terminated.
    /// - `dest` (out): Place for the value; written on success only.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: 1, or 0 for a text that is not of the type.
    read ucs_config_sscanf_bw = |text, dest, _arg| values::read::<f64>(Kind::Bandwidth, text, dest);
    /// Writes bytes a second.
    ///
    /// - `buf` (out): Gets the text with its NUL, cut to fit.
    /// - `max` (in): Bytes of `buf`.
    /// - `src` (in): The value.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: Characters of the whole text, at least 1; 0 when an argument is NULL.
    write ucs_config_sprintf_bw = |src, _arg| values::write::<f64>(Kind::Bandwidth, src);
    /// Reads a signal.
    ///
    /// - `buf` (in): Text, NUL-terminated.
    /// - `dest` (out): Place for the value; written on success only.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: 1, or 0 for a text that is not of the type.
    read ucs_config_sscanf_signo = |text, dest, _arg| values::read::<i32>(Kind::Signal, text, dest);
    /// Writes a signal.
    ///
    /// - `buf` (out): Gets the text with its NUL, cut to fit.
    /// - `max` (in): Bytes of `buf`.
    /// - `src` (in): The value.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: Characters of the whole text, at least 1; 0 when an argument is NULL.
    write ucs_config_sprintf_signo = |src, _arg| values::write::<i32>(Kind::Signal, src);
    /// Reads bytes.
    ///
    /// - `buf` (in): Text, NUL-terminated.
    /// - `dest` (out): Place for the value; written on success only.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: 1, or 0 for a text that is not of the type.
    read ucs_config_sscanf_memunits = |text, dest, _arg| values::read::<usize>(Kind::MemUnits, text, dest);
    /// Writes bytes.
    ///
    /// - `buf` (out): Gets the text with its NUL, cut to fit.
    /// - `max` (in): Bytes of `buf`.
    /// - `src` (in): The value.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: Characters of the whole text, at least 1; 0 when an argument is NULL.
    write ucs_config_sprintf_memunits = |src, _arg| values::write::<usize>(Kind::MemUnits, src);
    /// Reads a range of numbers.
    ///
    /// - `buf` (in): Text, NUL-terminated.
    /// - `dest` (out): Place for the value; written on success only.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: 1, or 0 for a text that is not of the type.
    read ucs_config_sscanf_range_spec = |text, dest, _arg| values::read::<ucs_range_spec_t>(Kind::RangeSpec, text, dest);
    /// Writes a range of numbers.
    ///
    /// - `buf` (out): Gets the text with its NUL, cut to fit.
    /// - `max` (in): Bytes of `buf`.
    /// - `src` (in): The value.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: Characters of the whole text, at least 1; 0 when an argument is NULL.
    write ucs_config_sprintf_range_spec = |src, _arg| values::write::<ucs_range_spec_t>(Kind::RangeSpec, src);
    /// Reads yes, no or try.
    ///
    /// - `buf` (in): Text, NUL-terminated.
    /// - `dest` (out): Place for the value; written on success only.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: 1, or 0 for a text that is not of the type.
    read ucs_config_sscanf_ternary = |text, dest, _arg| values::read::<i32>(Kind::Ternary, text, dest);
    /// Reads yes, no, try or auto.
    ///
    /// - `buf` (in): Text, NUL-terminated.
    /// - `dest` (out): Place for the value; written on success only.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: 1, or 0 for a text that is not of the type.
    read ucs_config_sscanf_ternary_auto = |text, dest, _arg| values::read::<i32>(Kind::TernaryAuto, text, dest);
    /// Writes yes, no, try or auto.
    ///
    /// - `buf` (out): Gets the text with its NUL, cut to fit.
    /// - `max` (in): Bytes of `buf`.
    /// - `src` (in): The value.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: Characters of the whole text, at least 1; 0 when an argument is NULL.
    write ucs_config_sprintf_ternary_auto = |src, _arg| values::write::<i32>(Kind::TernaryAuto, src);
    /// Reads on or off.
    ///
    /// - `buf` (in): Text, NUL-terminated.
    /// - `dest` (out): Place for the value; written on success only.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: 1, or 0 for a text that is not of the type.
    read ucs_config_sscanf_on_off = |text, dest, _arg| values::read::<i32>(Kind::OnOff, text, dest);
    /// Reads on, off or auto.
    ///
    /// - `buf` (in): Text, NUL-terminated.
    /// - `dest` (out): Place for the value; written on success only.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: 1, or 0 for a text that is not of the type.
    read ucs_config_sscanf_on_off_auto = |text, dest, _arg| values::read::<i32>(Kind::OnOffAuto, text, dest);
    /// Writes on, off or auto.
    ///
    /// - `buf` (out): Gets the text with its NUL, cut to fit.
    /// - `max` (in): Bytes of `buf`.
    /// - `src` (in): The value.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: Characters of the whole text, at least 1; 0 when an argument is NULL.
    write ucs_config_sprintf_on_off_auto = |src, _arg| values::write::<i32>(Kind::OnOffAuto, src);
    /// Reads a time, in ticks.
    ///
    /// - `buf` (in): Text, NUL-terminated.
    /// - `dest` (out): Place for the value; written on success only.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: 1, or 0 for a text that is not of the type.
    read ucs_config_sscanf_time_units = |text, dest, _arg| values::read_ticks(text, dest);
    /// Writes a time in ticks.
    ///
    /// - `buf` (out): Gets the text with its NUL, cut to fit.
    /// - `max` (in): Bytes of `buf`.
    /// - `src` (in): The value.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: Characters of the whole text, at least 1; 0 when an argument is NULL.
    write ucs_config_sprintf_time_units = |src, _arg| values::write_ticks(src);
    /// Reads how many low bits a mask has.
    ///
    /// - `buf` (in): Text, NUL-terminated.
    /// - `dest` (out): Place for the value; written on success only.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: 1, or 0 for a text that is not of the type.
    read ucs_config_sscanf_bitmask = |text, dest, _arg| values::read_bitmask(text, dest);
    /// Writes how many bits a mask has.
    ///
    /// - `buf` (out): Gets the text with its NUL, cut to fit.
    /// - `max` (in): Bytes of `buf`.
    /// - `src` (in): The value.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: Characters of the whole text, at least 1; 0 when an argument is NULL.
    write ucs_config_sprintf_bitmask = |src, _arg| values::write_bitmask(src);
    /// Reads a string.
    ///
    /// - `buf` (in): Text, NUL-terminated.
    /// - `dest` (out): Place for the value; written on success only.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: 1, or 0 for a text that is not of the type.
    read ucs_config_sscanf_string = |text, dest, _arg| values::read_string(text, dest);
    /// Writes a string.
    ///
    /// - `buf` (out): Gets the text with its NUL, cut to fit.
    /// - `max` (in): Bytes of `buf`.
    /// - `src` (in): The value.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: Characters of the whole text, at least 1; 0 when an argument is NULL.
    write ucs_config_sprintf_string = |src, _arg| values::write_string(src);
    /// Reads a device and its bandwidth.
    ///
    /// - `buf` (in): Text, NUL-terminated.
    /// - `dest` (out): Place for the value; written on success only.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: 1, or 0 for a text that is not of the type.
    read ucs_config_sscanf_bw_spec = |text, dest, _arg| values::read_bandwidth_of(text, dest);
    /// Writes a device and its bandwidth.
    ///
    /// - `buf` (out): Gets the text with its NUL, cut to fit.
    /// - `max` (in): Bytes of `buf`.
    /// - `src` (in): The value.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: Characters of the whole text, at least 1; 0 when an argument is NULL.
    write ucs_config_sprintf_bw_spec = |src, _arg| values::write_bandwidth_of(src);
    /// Reads a name, as its number.
    ///
    /// - `buf` (in): Text, NUL-terminated.
    /// - `dest` (out): Place for the value; written on success only.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: 1, or 0 for a text that is not of the type.
    read ucs_config_sscanf_enum = |text, dest, arg| lists::read_enum(text, dest, arg);
    /// Writes a name.
    ///
    /// - `buf` (out): Gets the text with its NUL, cut to fit.
    /// - `max` (in): Bytes of `buf`.
    /// - `src` (in): The value.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: Characters of the whole text, at least 1; 0 when an argument is NULL.
    write ucs_config_sprintf_enum = |src, arg| lists::write_enum(src, arg);
    /// Reads a number or a name.
    ///
    /// - `buf` (in): Text, NUL-terminated.
    /// - `dest` (out): Place for the value; written on success only.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: 1, or 0 for a text that is not of the type.
    read ucs_config_sscanf_uint_enum = |text, dest, arg| lists::read_uint_enum(text, dest, arg);
    /// Writes a number or a name.
    ///
    /// - `buf` (out): Gets the text with its NUL, cut to fit.
    /// - `max` (in): Bytes of `buf`.
    /// - `src` (in): The value.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: Characters of the whole text, at least 1; 0 when an argument is NULL.
    write ucs_config_sprintf_uint_enum = |src, arg| lists::write_uint_enum(src, arg);
    /// Reads names, as bits.
    ///
    /// - `buf` (in): Text, NUL-terminated.
    /// - `dest` (out): Place for the value; written on success only.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: 1, or 0 for a text that is not of the type.
    read ucs_config_sscanf_bitmap = |text, dest, arg| lists::read_bitmap(text, dest, arg, false);
    /// Writes names.
    ///
    /// - `buf` (out): Gets the text with its NUL, cut to fit.
    /// - `max` (in): Bytes of `buf`.
    /// - `src` (in): The value.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: Characters of the whole text, at least 1; 0 when an argument is NULL.
    write ucs_config_sprintf_bitmap = |src, arg| lists::write_bitmap(src, arg, false);
    /// Reads an array with commas.
    ///
    /// - `buf` (in): Text, NUL-terminated.
    /// - `dest` (out): Place for the value; written on success only.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: 1, or 0 for a text that is not of the type.
    read ucs_config_sscanf_array = |text, dest, arg| lists::read_array(text, dest, arg, b',');
    /// Writes an array with commas.
    ///
    /// - `buf` (out): Gets the text with its NUL, cut to fit.
    /// - `max` (in): Bytes of `buf`.
    /// - `src` (in): The value.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: Characters of the whole text, at least 1; 0 when an argument is NULL.
    write ucs_config_sprintf_array = |src, arg| lists::write_array(src, arg, ",");
    /// Reads an array with colons.
    ///
    /// - `buf` (in): Text, NUL-terminated.
    /// - `dest` (out): Place for the value; written on success only.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: 1, or 0 for a text that is not of the type.
    read ucs_config_sscanf_path_array = |text, dest, arg| lists::read_array(text, dest, arg, b':');
    /// Writes an array with colons.
    ///
    /// - `buf` (out): Gets the text with its NUL, cut to fit.
    /// - `max` (in): Bytes of `buf`.
    /// - `src` (in): The value.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: Characters of the whole text, at least 1; 0 when an argument is NULL.
    write ucs_config_sprintf_path_array = |src, arg| lists::write_array(src, arg, ":");
    /// Reads what is allowed.
    ///
    /// - `buf` (in): Text, NUL-terminated.
    /// - `dest` (out): Place for the value; written on success only.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: 1, or 0 for a text that is not of the type.
    read ucs_config_sscanf_allow_list = |text, dest, arg| lists::read_allow_list(text, dest, arg, false);
    /// The same, where `x[1-3]` stands for three names.
    ///
    /// - `buf` (in): Text, NUL-terminated.
    /// - `dest` (out): Place for the value; written on success only.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: 1, or 0 for a text that is not of the type.
    read ucs_config_sscanf_allow_list_with_ranges = |text, dest, arg| lists::read_allow_list(text, dest, arg, true);
    /// Writes what is allowed.
    ///
    /// - `buf` (out): Gets the text with its NUL, cut to fit.
    /// - `max` (in): Bytes of `buf`.
    /// - `src` (in): The value.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: Characters of the whole text, at least 1; 0 when an argument is NULL.
    write ucs_config_sprintf_allow_list = |src, arg| lists::write_allow_list(src, arg);
    /// Reads a value for each key.
    ///
    /// - `buf` (in): Text, NUL-terminated.
    /// - `dest` (out): Place for the value; written on success only.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: 1, or 0 for a text that is not of the type.
    read ucs_config_sscanf_key_value = |text, dest, arg| keys::read(text, dest, arg);
    /// Writes the value of each key.
    ///
    /// - `buf` (out): Gets the text with its NUL, cut to fit.
    /// - `max` (in): Bytes of `buf`.
    /// - `src` (in): The value.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: Characters of the whole text, at least 1; 0 when an argument is NULL.
    write ucs_config_sprintf_key_value = |src, arg| keys::write(src, arg);
    /// Fills a structure with the defaults of its table; the text has those that differ.
    ///
    /// - `buf` (in): Text, NUL-terminated.
    /// - `dest` (out): Place for the value; written on success only.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: 1, or 0 for a text that is not of the type.
    read ucs_config_sscanf_table = |text, dest, arg| table::read_table(text, dest, arg.cast());

    /// Copies a whole number.
    ///
    /// - `src` (in): The value.
    /// - `dest` (out): Place for the copy.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_NO_MEMORY.
    copy ucs_config_clone_int = |src, dest, _arg| values::copy::<i32>(src, dest);
    /// Copies a whole number without a sign.
    ///
    /// - `src` (in): The value.
    /// - `dest` (out): Place for the copy.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_NO_MEMORY.
    copy ucs_config_clone_uint = |src, dest, _arg| values::copy::<u32>(src, dest);
    /// Copies a long whole number.
    ///
    /// - `src` (in): The value.
    /// - `dest` (out): Place for the copy.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_NO_MEMORY.
    copy ucs_config_clone_ulong = |src, dest, _arg| values::copy::<usize>(src, dest);
    /// Copies a number.
    ///
    /// - `src` (in): The value.
    /// - `dest` (out): Place for the copy.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_NO_MEMORY.
    copy ucs_config_clone_double = |src, dest, _arg| values::copy::<f64>(src, dest);
    /// Copies a range.
    ///
    /// - `src` (in): The value.
    /// - `dest` (out): Place for the copy.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_NO_MEMORY.
    copy ucs_config_clone_range_spec = |src, dest, _arg| values::copy::<ucs_range_spec_t>(src, dest);
    /// Copies the level and the name of a component's log.
    ///
    /// - `src` (in): The value.
    /// - `dest` (out): Place for the copy.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_NO_MEMORY.
    copy ucs_config_clone_log_comp = |src, dest, _arg| values::copy::<ucs_log_component_config_t>(src, dest);
    /// Copies a string.
    ///
    /// - `src` (in): The value.
    /// - `dest` (out): Place for the copy.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_NO_MEMORY.
    copy ucs_config_clone_string = |src, dest, _arg| values::copy_string(src, dest);
    /// Copies a device and its bandwidth.
    ///
    /// - `src` (in): The value.
    /// - `dest` (out): Place for the copy.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_NO_MEMORY.
    copy ucs_config_clone_bw_spec = |src, dest, _arg| values::copy_bandwidth_of(src, dest);
    /// Copies an array.
    ///
    /// - `src` (in): The value.
    /// - `dest` (out): Place for the copy.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_NO_MEMORY.
    copy ucs_config_clone_array = |src, dest, arg| lists::copy_array(src, dest, arg);
    /// Copies what is allowed.
    ///
    /// - `src` (in): The value.
    /// - `dest` (out): Place for the copy.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_NO_MEMORY.
    copy ucs_config_clone_allow_list = |src, dest, arg| lists::copy_allow_list(src, dest, arg);
    /// Copies the value of each key.
    ///
    /// - `src` (in): The value.
    /// - `dest` (out): Place for the copy.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_NO_MEMORY.
    copy ucs_config_clone_key_value = |src, dest, arg| keys::copy(src, dest, arg);
    /// Copies the structure of a table.
    ///
    /// - `src` (in): The value.
    /// - `dest` (out): Place for the copy.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    /// - returns: UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_NO_MEMORY.
    copy ucs_config_clone_table = |src, dest, arg| table::copy(src.cast_mut(), dest, arg.cast());

    /// Frees nothing.
    ///
    /// - `ptr` (in): The value; not to be used afterwards.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    release ucs_config_release_nop = |_value, _arg| ();
    /// Frees a string.
    ///
    /// - `ptr` (in): The value; not to be used afterwards.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    release ucs_config_release_string = |value, _arg| values::release_string(value);
    /// Frees the name of a device.
    ///
    /// - `ptr` (in): The value; not to be used afterwards.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    release ucs_config_release_bw_spec = |value, _arg| values::release_string(value);
    /// Frees an array.
    ///
    /// - `ptr` (in): The value; not to be used afterwards.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    release ucs_config_release_array = |value, arg| lists::release_array(value, arg);
    /// Frees a list of what is allowed.
    ///
    /// - `ptr` (in): The value; not to be used afterwards.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    release ucs_config_release_allow_list = |value, arg| lists::release_allow_list(value, arg);
    /// Frees the value of each key.
    ///
    /// - `ptr` (in): The value; not to be used afterwards.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    release ucs_config_release_key_value = |value, arg| keys::release(value, arg);
    /// Frees what the structure of a table owns.
    ///
    /// - `ptr` (in): The value; not to be used afterwards.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    release ucs_config_release_table = |value, arg| table::release(value, arg.cast());

    /// What texts are accepted: the string `arg`.
    ///
    /// - `buf` (out): Gets the text with its NUL, cut to fit.
    /// - `max` (in): Bytes of `buf`.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    help ucs_config_help_generic = |arg| crate::abi::ucs::text_of(arg.cast()).into_owned();
    /// What texts are accepted: a name.
    ///
    /// - `buf` (out): Gets the text with its NUL, cut to fit.
    /// - `max` (in): Bytes of `buf`.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    help ucs_config_help_enum = |arg| lists::help_enum(arg);
    /// What texts are accepted: a number or a name.
    ///
    /// - `buf` (out): Gets the text with its NUL, cut to fit.
    /// - `max` (in): Bytes of `buf`.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    help ucs_config_help_uint_enum = |arg| lists::help_uint_enum(arg);
    /// What texts are accepted: names.
    ///
    /// - `buf` (out): Gets the text with its NUL, cut to fit.
    /// - `max` (in): Bytes of `buf`.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    help ucs_config_help_bitmap = |arg| lists::help_bitmap(arg);
    /// What texts are accepted: an array with commas.
    ///
    /// - `buf` (out): Gets the text with its NUL, cut to fit.
    /// - `max` (in): Bytes of `buf`.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    help ucs_config_help_array = |arg| lists::help_array(arg, "comma");
    /// What texts are accepted: an array with colons.
    ///
    /// - `buf` (out): Gets the text with its NUL, cut to fit.
    /// - `max` (in): Bytes of `buf`.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    help ucs_config_help_path_array = |arg| lists::help_array(arg, "colon");
    /// What texts are accepted: what is allowed.
    ///
    /// - `buf` (out): Gets the text with its NUL, cut to fit.
    /// - `max` (in): Bytes of `buf`.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    help ucs_config_help_allow_list = |arg| lists::help_allow_list(arg, false);
    /// What texts are accepted: what is allowed, with ranges.
    ///
    /// - `buf` (out): Gets the text with its NUL, cut to fit.
    /// - `max` (in): Bytes of `buf`.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    help ucs_config_help_allow_list_with_ranges = |arg| lists::help_allow_list(arg, true);
    /// What texts are accepted: keys and values.
    ///
    /// - `buf` (out): Gets the text with its NUL, cut to fit.
    /// - `max` (in): Bytes of `buf`.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    help ucs_config_help_key_value = |arg| keys::help(arg);
    /// What texts are accepted: none, as it is a table.
    ///
    /// - `buf` (out): Gets the text with its NUL, cut to fit.
    /// - `max` (in): Bytes of `buf`.
    /// - `arg` (in): What the type needs, as the table of options gives it.
    help ucs_config_help_table = |_arg| "Table".to_owned();
}

/// Arrays of strings. `ucs/config/parser.h`.
#[unsafe(no_mangle)]
pub static ucs_config_array_string: StringArray = StringArray(ucs_config_array_t {
    elem_size: size_of::<*mut c_char>(),
    parser: ucs_config_parser_t {
        read: Some(ucs_config_sscanf_string),
        write: Some(ucs_config_sprintf_string),
        clone: Some(ucs_config_clone_string),
        release: Some(ucs_config_release_string),
        help: Some(ucs_config_help_generic),
        doc: Some(ucs_config_doc_nop),
        arg: c"string".as_ptr().cast(),
    },
});

/// An array type as an object that C may refer to.
#[repr(transparent)]
pub struct StringArray(ucs_config_array_t);

// SAFETY: nothing writes it; its pointers lead to a constant and to functions.
unsafe impl Sync for StringArray {}

/// Says nothing of a type's values. `ucs/config/parser.h`.
///
/// - `strb` (in,out): Gets the text behind what it holds.
/// - `arg` (in): What the type needs, as the table of options gives it.
///
/// # Safety
/// None is needed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_config_doc_nop(_strb: *mut ucs_string_buffer_t, _arg: *const c_void) {}

/// Appends a line for each key. `ucs/config/parser.h`.
///
/// - `strb` (in,out): Gets the text behind what it holds.
/// - `arg` (in): What the type needs, as the table of options gives it.
///
/// # Safety
/// `strb` is a live buffer, `arg` what the type needs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_config_doc_key_value(
    strb: *mut ucs_string_buffer_t,
    arg: *const c_void,
) {
    non_null!(; strb, arg);
    // SAFETY: the caller's argument.
    let text = unsafe { keys::doc(arg) };
    // SAFETY: the caller's buffer. One that is full keeps what fits.
    let _ = unsafe { string_buffer::append(&mut *strb, text.as_bytes()) };
}
