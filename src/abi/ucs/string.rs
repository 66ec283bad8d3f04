//! `ucs/sys/string.h`, as far as clients use it.

use super::{put_text, text_of};
use crate::abi::args::non_null;
use crate::abi::jump::jump;
use crate::c::prelude::*;
use crate::ucs::memunits;

/// Copies `src` cut to `max` bytes with a terminator; the rest of `dest` becomes zero.
/// `ucs/sys/string.h`.
///
/// # Safety
/// `dest` is null or writable for `max` bytes, `src` null or a C string apart from it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_strncpy_zero(dest: *mut c_char, src: *const c_char, max: usize) {
    // SAFETY: the caller's promise.
    let copied = unsafe { copy_text(dest, src, max) };
    for i in copied..max {
        // SAFETY: below `max`; `copied` is `max` where there is nothing to write.
        unsafe { dest.add(i).write(0) };
    }
}

/// Copies `src` cut to `len` bytes with a terminator; answers `dst`. `ucs/sys/string.h`.
///
/// # Safety
/// `dst` is null or writable for `len` bytes, `src` null or a C string apart from it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_strncpy_safe(
    dst: *mut c_char,
    src: *const c_char,
    len: usize,
) -> *mut c_char {
    // SAFETY: the caller's promise.
    let copied = unsafe { copy_text(dst, src, len) };
    if copied < len {
        // SAFETY: below `len`.
        unsafe { dst.add(copied).write(0) };
    }
    dst
}

/// Copies at most `max` - 1 characters; how many, or `max` where there is no room for any byte.
unsafe fn copy_text(dest: *mut c_char, src: *const c_char, max: usize) -> usize {
    if dest.is_null() || max == 0 {
        return max;
    }
    let mut len = 0;
    while !src.is_null() && len < max - 1 {
        // SAFETY: no terminator was met before this byte of a C string.
        let c = unsafe { src.add(len).read() };
        if c == 0 {
            break;
        }
        // SAFETY: below `max`.
        unsafe { dest.add(len).write(c) };
        len += 1;
    }
    len
}

/// A size as `8K`, `inf`, `auto`; answers `buf`. `ucs/sys/string.h`.
///
/// # Safety
/// `buf` is null or writable for `max` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_memunits_to_str(
    value: usize,
    buf: *mut c_char,
    max: usize,
) -> *mut c_char {
    // SAFETY: the caller's promise.
    unsafe { put_text(buf, max, &memunits::format(value)) };
    buf
}

/// Reads a size into the `size_t` at `dest`. `UCS_ERR_INVALID_PARAM` for other text.
/// `ucs/sys/string.h`.
///
/// # Safety
/// `buf` is null or a C string, `dest` null or a writable `size_t`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_str_to_memunits(
    buf: *const c_char,
    dest: *mut c_void,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; buf, dest);
    // SAFETY: the caller's promise.
    match memunits::parse(&unsafe { text_of(buf) }) {
        Ok(value) => {
            // SAFETY: checked above; the caller vouches for it.
            unsafe { dest.cast::<usize>().write(value) };
            UCS_OK
        }
        Err(status) => status.code(),
    }
}

/// The names of the bits set in `flags`, comma between them, cut to `max`; answers `str`.
/// `ucs/sys/string.h`.
///
/// # Safety
/// `str` is null or writable for `max` bytes, `str_table` null or C strings ended by a null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_flags_str(
    str: *mut c_char,
    max: usize,
    flags: u64,
    str_table: *mut *const c_char,
) -> *const c_char {
    let mut names = Vec::new();
    for bit in 0..64 {
        if str_table.is_null() {
            break;
        }
        // SAFETY: no null was met before this entry.
        let name = unsafe { str_table.add(bit).read() };
        if name.is_null() {
            break;
        }
        if flags >> bit & 1 == 1 {
            // SAFETY: entries are C strings.
            names.push(unsafe { text_of(name) });
        }
    }
    // SAFETY: the caller's promise.
    unsafe { put_text(str, max, &names.join(",")) };
    str
}

unsafe extern "C" {
    fn ferrucx_snprintf_zero(buf: *mut c_char, size: usize, fmt: *const c_char, ...);
    fn ferrucx_snprintf_safe(buf: *mut c_char, size: usize, fmt: *const c_char, ...);
}

/// Formats into `size` bytes and zeroes the rest: `(char *buf, size_t size, const char *fmt, ...)`.
/// `ucs/sys/string.h`.
///
/// # Safety
/// `buf` is writable for `size` bytes; format and arguments agree as for printf.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_snprintf_zero() {
    jump!(ferrucx_snprintf_zero);
}

/// Formats into `size` bytes, always terminated: `(char *buf, size_t size, const char *fmt, ...)`.
/// `ucs/sys/string.h`.
///
/// # Safety
/// `buf` is writable for `size` bytes; format and arguments agree as for printf.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_snprintf_safe() {
    jump!(ferrucx_snprintf_safe);
}
