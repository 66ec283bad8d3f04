//! `ucs/sys/string.h`.

use super::{put_text, text_of};
use crate::abi::args::non_null;
use crate::abi::jump::jump;
use crate::c::prelude::*;
use crate::sys::heap;
use crate::ucs::compat::text;
use crate::ucs::{log, memunits, string_buffer};
use core::ptr::null_mut;

/// Copies `src` cut to `max` bytes with a terminator; the rest of `dest` becomes zero.
/// `ucs/sys/string.h`.
///
/// - `dest` (out): Gets the copy.
/// - `src` (in): String, NUL-terminated.
/// - `max` (in): Bytes of `dest`.
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
/// - `dst` (out): Gets the copy.
/// - `src` (in): String, NUL-terminated.
/// - `len` (in): Bytes of `dst`.
/// - returns: `dst`.
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
/// - `value` (in): Bytes.
/// - `buf` (out): Gets the text with its NUL, cut to fit.
/// - `max` (in): Bytes of that buffer.
/// - returns: `buf`.
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
/// - `buf` (in): Text, NUL-terminated.
/// - `dest` (out): A `size_t` that gets the bytes.
/// - returns: UCS_OK; UCS_ERR_INVALID_PARAM for another text.
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
/// - `str` (out): Gets the text with its NUL.
/// - `max` (in): Bytes of that buffer.
/// - `flags` (in): The bits.
/// - `str_table` (in): Name of each bit, ended by NULL.
/// - returns: `str`.
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

/// The same for a `va_list`: `(char *buf, size_t size, const char *fmt, va_list ap)`. `ucs/sys/string.h`.
///
/// # Safety
/// As for `ucs_snprintf_safe`.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_vsnprintf_safe() {
    jump!(ferrucx_vsnprintf_safe);
}

unsafe extern "C" {
    fn ferrucx_vsnprintf_safe();
    fn ferrucx_string_split();
    fn ferrucx_string_alloc_formatted_path();
}

/// Cuts a string at the first `count` characters of `delim`, and writes where each part begins, NULL for those that are
/// not there: `(char *str, const char *delim, int count, ...)`. Answers the rest, NULL without any. `ucs/sys/string.h`.
///
/// # Safety
/// `str` and `delim` are C strings, the others `count` places for pointers.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_string_split() {
    jump!(ferrucx_string_split);
}

/// A path of the caller's format in a new buffer: `(char **buffer_p, const char *name, const char *fmt, ...)`.
/// UCS_ERR_NO_MEMORY. `ucs/sys/string.h`.
///
/// # Safety
/// `buffer_p` is writable; format and arguments agree as for printf. The buffer is the caller's, for `ucs_free`.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_string_alloc_formatted_path() {
    jump!(ferrucx_string_alloc_formatted_path);
}

/// A C string's bytes.
///
/// # Safety
/// `text` is a C string.
unsafe fn bytes<'a>(text: *const c_char) -> &'a [u8] {
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(text) }.to_bytes()
}

/// Room for any path, the caller's for `ucs_free`. UCS_ERR_NO_MEMORY. `ucs/sys/string.h`.
///
/// - `buffer_p` (out): The buffer; `ucs_free` frees it.
/// - `name` (in): Name for statistics of memory.
/// - returns: UCS_OK or UCS_ERR_NO_MEMORY.
///
/// # Safety
/// `buffer_p` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_string_alloc_path_buffer(
    buffer_p: *mut *mut c_char,
    _name: *const c_char,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; buffer_p);
    let buffer = heap::calloc(1, libc::PATH_MAX as usize);
    // SAFETY: checked above; the caller vouches for it.
    unsafe { buffer_p.write(buffer.cast()) };
    if buffer.is_null() {
        UCS_ERR_NO_MEMORY
    } else {
        UCS_OK
    }
}

/// A path's folder in such room; `dir_p` gets where it begins. UCS_ERR_NO_MEMORY. `ucs/sys/string.h`.
///
/// - `buffer_p` (out): The buffer; `ucs_free` frees it.
/// - `name` (in): Name for statistics of memory.
/// - `path` (in): String, NUL-terminated.
/// - `dir_p` (out): The folder, inside the buffer.
/// - returns: UCS_OK or UCS_ERR_NO_MEMORY.
///
/// # Safety
/// `buffer_p` and `dir_p` are null or writable, `path` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_string_alloc_path_buffer_and_get_dirname(
    buffer_p: *mut *mut c_char,
    name: *const c_char,
    path: *const c_char,
    dir_p: *mut *const c_char,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; buffer_p, path, dir_p);
    // SAFETY: checked above; the caller vouches for it.
    let status = unsafe { ucs_string_alloc_path_buffer(buffer_p, name) };
    if status != UCS_OK {
        return status;
    }
    // SAFETY: just written.
    let buffer = unsafe { buffer_p.read() };
    // SAFETY: the caller's string.
    let folder = String::from_utf8_lossy(text::parent(unsafe { bytes(path) }));
    // SAFETY: new room of that size.
    unsafe { put_text(buffer, libc::PATH_MAX as usize, &folder) };
    // SAFETY: checked above; the caller vouches for it.
    unsafe { dir_p.write(buffer) };
    UCS_OK
}

/// Takes `num_layers` parts from the end of a path, in place. `ucs/sys/string.h`.
///
/// - `path` (in,out): Path, NUL-terminated.
/// - `num_layers` (in): Parts to take.
/// - returns: `path`.
///
/// # Safety
/// `path` is null or a C string with room for two bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_dirname(path: *mut c_char, num_layers: c_int) -> *mut c_char {
    non_null!(null_mut(); path);
    for _ in 0..num_layers {
        // SAFETY: the caller's string.
        let parent = text::parent(unsafe { bytes(path) }).to_vec();
        let len = parent.len();
        // SAFETY: no longer than what was there, or one character where the caller has room for it.
        unsafe { core::ptr::copy_nonoverlapping(parent.as_ptr().cast(), path, len) };
        // SAFETY: as above.
        unsafe { path.add(len).write(0) };
    }
    path
}

/// Makes a path absolute by the current folder; `fullpath` is cut to `max` bytes. `ucs/sys/string.h`.
///
/// - `path` (in): String, NUL-terminated.
/// - `fullpath` (out): Gets the path with its NUL.
/// - `max` (in): Bytes of that buffer.
///
/// # Safety
/// `path` is null or a C string, `fullpath` null or writable for `max` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_expand_path(path: *const c_char, fullpath: *mut c_char, max: usize) {
    non_null!(; path, fullpath);
    // SAFETY: the caller's string.
    let path = unsafe { text_of(path) };
    let full = if path.starts_with('/') {
        path.into_owned()
    } else {
        let here = std::env::current_dir().unwrap_or_default();
        format!("{}/{path}", here.display())
    };
    // SAFETY: the caller's room.
    unsafe { put_text(fullpath, max, &full) };
}

/// Fills the patterns of `UCX_LOG_FILE` into a name. `ucs/sys/string.h`.
///
/// - `tmpl` (in): Name with patterns such as %h and %p, NUL-terminated.
/// - `buf` (out): Gets the text with its NUL, cut to fit.
/// - `max` (in): Bytes of that buffer.
///
/// # Safety
/// `tmpl` is null or a C string, `buf` null or writable for `max` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_fill_filename_template(
    tmpl: *const c_char,
    buf: *mut c_char,
    max: usize,
) {
    // SAFETY: the caller's string.
    let name = log::fill_name(&unsafe { text_of(tmpl) });
    // SAFETY: the caller's room.
    unsafe { put_text(buf, max, &name) };
}

/// Two sizes as `1K..2K`, or one where they are the same; answers `buf`. `ucs/sys/string.h`.
///
/// - `range_start` (in): First size, bytes.
/// - `range_end` (in): Last size, bytes.
/// - `buf` (out): Gets the text with its NUL, cut to fit.
/// - `max` (in): Bytes of that buffer.
/// - returns: `buf`.
///
/// # Safety
/// `buf` is null or writable for `max` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_memunits_range_str(
    range_start: usize,
    range_end: usize,
    buf: *mut c_char,
    max: usize,
) -> *const c_char {
    // SAFETY: the caller's room.
    unsafe { put_text(buf, max, &text::memunits_range(range_start, range_end)) };
    buf
}

/// What the suffix of a size multiplies by; 0 for other letters. `ucs/sys/string.h`.
///
/// - `prefix` (in): Letter, such as K.
/// - returns: The factor, or 0.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_string_quantity_prefix_value(prefix: c_char) -> usize {
    text::quantity(prefix as u8)
}

/// Bytes as hexadecimal digits, `per_line` on each line, as many as fit; answers `buf`. `ucs/sys/string.h`.
///
/// - `data` (in): The bytes.
/// - `length` (in): Their number.
/// - `buf` (out): Gets the text with its NUL, cut to fit.
/// - `max` (in): Bytes of that buffer.
/// - `per_line` (in): Bytes on each line.
/// - returns: `buf`.
///
/// # Safety
/// `data` has `length` bytes, `buf` room for `max`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_str_dump_hex(
    data: *const c_void,
    length: usize,
    buf: *mut c_char,
    max: usize,
    per_line: usize,
) -> *const c_char {
    non_null!(buf; buf);
    let data = if length == 0 {
        &[]
    } else {
        // SAFETY: the caller's promise.
        unsafe { core::slice::from_raw_parts(data.cast::<u8>(), length) }
    };
    let dump = text::hex(data, per_line, max);
    // SAFETY: the caller's room.
    unsafe { put_text(buf, max, &dump) };
    buf
}

/// Takes white space from both ends, in place; answers where the text begins. `ucs/sys/string.h`.
///
/// - `str` (in,out): String, NUL-terminated.
/// - returns: Place inside `str`.
///
/// # Safety
/// `str` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_strtrim(str: *mut c_char) -> *mut c_char {
    non_null!(null_mut(); str);
    let is_space = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0x0b;
    // SAFETY: the caller's string.
    let all = unsafe { bytes(str) };
    let end = all
        .iter()
        .rposition(|byte| !is_space(byte))
        .map_or(0, |last| last + 1);
    let start = all.iter().position(|byte| !is_space(byte)).unwrap_or(0);
    // SAFETY: inside the string.
    unsafe { str.add(end).write(0) };
    // SAFETY: as above.
    unsafe { str.add(start) }
}

/// Characters that both strings begin with. `ucs/sys/string.h`.
///
/// - `str1` (in): String, NUL-terminated.
/// - `str2` (in): String, NUL-terminated.
/// - returns: Number of characters.
///
/// # Safety
/// Both are null or C strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_string_common_prefix_len(
    str1: *const c_char,
    str2: *const c_char,
) -> usize {
    non_null!(0; str1, str2);
    // SAFETY: the caller's strings.
    unsafe { text::common_prefix(bytes(str1), bytes(str2)) }
}

/// Characters of the path that both are, or are below. `ucs/sys/string.h`.
///
/// - `path1` (in): String, NUL-terminated.
/// - `path2` (in): String, NUL-terminated.
/// - returns: Number of characters.
///
/// # Safety
/// Both are null or C strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_path_common_parent_length(
    path1: *const c_char,
    path2: *const c_char,
) -> usize {
    non_null!(0; path1, path2);
    // SAFETY: the caller's strings.
    unsafe { text::common_parent(bytes(path1), bytes(path2)) }
}

/// Writes the path that both paths are, or are below. `ucs/sys/string.h`.
///
/// - `path1` (in): String, NUL-terminated.
/// - `path2` (in): String, NUL-terminated.
/// - `common_path` (out): Room for the longer of the two.
///
/// # Safety
/// The paths are null or C strings, `common_path` is null or has room for either.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_path_get_common_parent(
    path1: *const c_char,
    path2: *const c_char,
    common_path: *mut c_char,
) {
    non_null!(; path1, path2, common_path);
    // SAFETY: the caller's strings.
    let len = unsafe { text::common_parent(bytes(path1), bytes(path2)) };
    // SAFETY: the caller's room; `len` is inside the path.
    unsafe { core::ptr::copy(path1, common_path, len) };
    // SAFETY: as above.
    unsafe { common_path.add(len).write(0) };
}

/// Steps from one path to the other by way of it. `ucs/sys/string.h`.
///
/// - `path1` (in): String, NUL-terminated.
/// - `path2` (in): String, NUL-terminated.
/// - returns: Number of steps.
///
/// # Safety
/// Both are null or C strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_path_calc_distance(
    path1: *const c_char,
    path2: *const c_char,
) -> usize {
    non_null!(0; path1, path2);
    // SAFETY: the caller's strings.
    unsafe { text::distance(bytes(path1), bytes(path2)) }
}

/// How often a character occurs. `ucs/sys/string.h`.
///
/// - `str` (in): String, NUL-terminated.
/// - `c` (in): The character.
/// - returns: How often.
///
/// # Safety
/// `str` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_string_count_char(str: *const c_char, c: c_char) -> usize {
    non_null!(0; str);
    // SAFETY: the caller's string.
    let all = unsafe { bytes(str) }.iter();
    all.filter(|byte| **byte == c as u8).count()
}

/// Where a string stands in a list that a NULL ends, or -1. `ucs/sys/string.h`.
///
/// - `str` (in): String, NUL-terminated.
/// - `string_list` (in): Strings, ended by NULL.
/// - `case_sensitive` (in): 0: small and capital letters are equal.
/// - returns: Its number, or -1.
///
/// # Safety
/// `str` is null or a C string, `string_list` null or C strings ended by a null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_string_find_in_list(
    str: *const c_char,
    string_list: *mut *const c_char,
    case_sensitive: c_int,
) -> isize {
    non_null!(-1; str, string_list);
    // SAFETY: the caller's string.
    let wanted = unsafe { bytes(str) };
    for i in 0.. {
        // SAFETY: no null was met before this entry.
        let entry = unsafe { string_list.add(i).read() };
        if entry.is_null() {
            break;
        }
        // SAFETY: entries are C strings.
        let entry = unsafe { bytes(entry) };
        if entry == wanted || case_sensitive == 0 && entry.eq_ignore_ascii_case(wanted) {
            return i as isize;
        }
    }
    -1
}

/// The first seven characters as a number. `ucs/sys/string.h`.
///
/// - `str` (in): String, NUL-terminated.
/// - returns: The number; the same for strings that begin alike.
///
/// # Safety
/// `str` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_string_to_id(str: *const c_char) -> u64 {
    non_null!(0; str);
    // SAFETY: the caller's string.
    text::id(unsafe { bytes(str) })
}

/// The numbers of the bits that are set, as text in `strb`; answers it. `ucs/sys/string.h`.
///
/// - `mask` (in): The bits.
/// - `strb` (in,out): Gets the text behind what it holds.
/// - returns: The text of `strb`.
///
/// # Safety
/// `strb` is null or a live buffer; the answer is valid until it changes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_mask_str(mask: u64, strb: *mut ucs_string_buffer_t) -> *const c_char {
    non_null!(c"".as_ptr(); strb);
    let bits = match mask {
        0 => "<none>".to_owned(),
        _ => text::bits(mask, ", "),
    };
    // SAFETY: the caller's buffer, here and below. One that is full keeps what fits.
    let _ = unsafe { string_buffer::append(&mut *strb, bits.as_bytes()) };
    // SAFETY: as above.
    unsafe { string_buffer::text(&*strb) }.as_ptr()
}

/// A C array of names that a null ends.
#[repr(transparent)]
pub struct Suffixes([*const c_char; 8]);

// SAFETY: the pointers are to constant strings, and nobody writes the array.
unsafe impl Sync for Suffixes {}

/// What stands behind a size: nothing, "K", "M" and so on. `ucs/sys/string.h`.
#[unsafe(no_mangle)]
pub static ucs_memunits_suffixes: Suffixes = Suffixes([
    c"".as_ptr(),
    c"K".as_ptr(),
    c"M".as_ptr(),
    c"G".as_ptr(),
    c"T".as_ptr(),
    c"P".as_ptr(),
    c"E".as_ptr(),
    core::ptr::null(),
]);
