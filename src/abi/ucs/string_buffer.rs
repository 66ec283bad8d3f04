//! `ucs/datastruct/string_buffer.h`.

use super::text_of;
use crate::abi::args::non_null;
use crate::abi::jump::{hidden_name, jump};
use crate::c::prelude::*;
use crate::sys::heap;
use crate::ucs::compat::text;
use crate::ucs::{sockaddr as address, string_buffer};
use core::ptr::null_mut;

/// The text; never null. `ucs/datastruct/string_buffer.h`.
///
/// - `strb` (in): The buffer.
/// - returns: The text, NUL-terminated; valid until the buffer changes.
///
/// # Safety
/// `strb` is null or a live buffer; the answer is valid until the buffer changes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_string_buffer_cstr(strb: *const ucs_string_buffer_t) -> *const c_char {
    non_null!(c"".as_ptr(); strb);
    // SAFETY: the caller's promise.
    unsafe { string_buffer::text(&*strb) }.as_ptr()
}

/// Removes the longest tail made of `charset`, or of white space for null.
/// `ucs/datastruct/string_buffer.h`.
///
/// - `strb` (in,out): The buffer.
/// - `charset` (in): Characters to remove, NUL-terminated; NULL for white space.
///
/// # Safety
/// `strb` is null or a live buffer, `charset` null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_string_buffer_rtrim(
    strb: *mut ucs_string_buffer_t,
    charset: *const c_char,
) {
    non_null!(; strb);
    // SAFETY: the caller's promise.
    let charset = (!charset.is_null()).then(|| unsafe { CStr::from_ptr(charset) });
    // SAFETY: the caller's promise.
    unsafe { string_buffer::trim_end(&mut *strb, charset) };
}

/// Frees the text, unless the storage is the client's. `ucs/datastruct/string_buffer.h`.
///
/// - `strb` (in,out): The buffer.
///
/// # Safety
/// `strb` is null or a live buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_string_buffer_cleanup(strb: *mut ucs_string_buffer_t) {
    non_null!(; strb);
    // SAFETY: the caller's promise.
    unsafe { string_buffer::cleanup(&mut *strb) };
}

unsafe extern "C" {
    fn ferrucx_string_buffer_appendf(strb: *mut ucs_string_buffer_t, fmt: *const c_char, ...);
}

/// Appends formatted text, or as much as fixed storage takes: `(ucs_string_buffer_t *strb, const
/// char *fmt, ...)`. `ucs/datastruct/string_buffer.h`.
///
/// # Safety
/// `strb` is a live buffer; format and arguments agree as for printf.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_string_buffer_appendf() {
    jump!(ferrucx_string_buffer_appendf);
}

/// Makes room for `extra` characters; where to write, and `*room` bytes of room. Null without any.
unsafe extern "C" fn reserve(
    strb: *mut ucs_string_buffer_t,
    extra: usize,
    room: *mut usize,
) -> *mut c_char {
    // SAFETY: the C part passes the client's buffer on.
    match unsafe { string_buffer::reserve(&mut *strb, extra) } {
        Ok((end, n)) => {
            // SAFETY: a local of the C part.
            unsafe { room.write(n) };
            end
        }
        Err(_) => core::ptr::null_mut(),
    }
}

hidden_name!("ferrucx_string_buffer_reserve", reserve);

unsafe extern "C" {
    fn ferrucx_string_buffer_vappendf();
    fn ferrucx_string_buffer_dump();
}

/// The same for a `va_list`: `(ucs_string_buffer_t *strb, const char *fmt, va_list ap)`. `ucs/datastruct/string_buffer.h`.
///
/// # Safety
/// As for `ucs_string_buffer_appendf`.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_string_buffer_vappendf() {
    jump!(ferrucx_string_buffer_vappendf);
}

/// Writes the text to a stream, each line behind a prefix: `(const ucs_string_buffer_t *strb, const char *line_prefix,
/// FILE *stream)`. `ucs/datastruct/string_buffer.h`.
///
/// # Safety
/// `strb` is a live buffer, `line_prefix` a C string, `stream` an open stream.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_string_buffer_dump() {
    jump!(ferrucx_string_buffer_dump);
}

/// Makes an empty buffer that grows. `ucs/datastruct/string_buffer.h`.
///
/// - `strb` (in,out): The buffer.
///
/// # Safety
/// `strb` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_string_buffer_init(strb: *mut ucs_string_buffer_t) {
    non_null!(; strb);
    // SAFETY: checked above; the caller vouches for it.
    unsafe { strb.write(ucs_string_buffer_t::EMPTY) };
}

/// Makes an empty buffer over the caller's storage, which does not grow. `ucs/datastruct/string_buffer.h`.
///
/// - `strb` (in,out): The buffer.
/// - `buffer` (in): Storage, alive as long as `strb`.
/// - `capacity` (in): Its bytes.
///
/// # Safety
/// `strb` is null or writable, `buffer` has `capacity` bytes for as long as it lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_string_buffer_init_fixed(
    strb: *mut ucs_string_buffer_t,
    buffer: *mut c_char,
    capacity: usize,
) {
    non_null!(; strb, buffer);
    if capacity > 0 {
        // SAFETY: the caller's storage.
        unsafe { buffer.write(0) };
    }
    // SAFETY: checked above; the caller vouches for it.
    unsafe { strb.write(string_buffer::fixed(buffer, capacity)) };
}

/// Empties a buffer and keeps its storage. `ucs/datastruct/string_buffer.h`.
///
/// - `strb` (in,out): The buffer.
///
/// # Safety
/// `strb` is null or a live buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_string_buffer_reset(strb: *mut ucs_string_buffer_t) {
    non_null!(; strb);
    // SAFETY: the caller's promise.
    unsafe { string_buffer::cut(&mut *strb, 0) };
}

/// Characters of the text. `ucs/datastruct/string_buffer.h`.
///
/// - `strb` (in,out): The buffer.
/// - returns: Number of characters.
///
/// # Safety
/// `strb` is null or a live buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_string_buffer_length(strb: *mut ucs_string_buffer_t) -> usize {
    non_null!(0; strb);
    // SAFETY: the caller's promise.
    unsafe { (*strb).length }
}

/// Appends bytes; a buffer that is full keeps what fits.
///
/// # Safety
/// `strb` is a live buffer.
unsafe fn append(strb: *mut ucs_string_buffer_t, text: &[u8]) {
    // SAFETY: the caller's promise. A buffer that is full says so, and there is nobody to tell.
    let _ = unsafe { string_buffer::append(&mut *strb, text) };
}

/// Appends a character so many times. `ucs/datastruct/string_buffer.h`.
///
/// - `strb` (in,out): The buffer.
/// - `c` (in): The character.
/// - `count` (in): How often.
///
/// # Safety
/// `strb` is null or a live buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_string_buffer_appendc(
    strb: *mut ucs_string_buffer_t,
    c: c_int,
    count: usize,
) {
    non_null!(; strb);
    // SAFETY: the caller's promise.
    unsafe { append(strb, &vec![c as u8; count]) };
}

/// Appends bytes as hexadecimal digits, `per_line` on each line. `ucs/datastruct/string_buffer.h`.
///
/// - `strb` (in,out): The buffer.
/// - `data` (in): The bytes.
/// - `size` (in): Their number.
/// - `per_line` (in): Bytes on each line.
///
/// # Safety
/// `strb` is null or a live buffer, `data` has `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_string_buffer_append_hex(
    strb: *mut ucs_string_buffer_t,
    data: *const c_void,
    size: usize,
    per_line: usize,
) {
    non_null!(; strb);
    if size == 0 {
        return;
    }
    // SAFETY: the caller's promise.
    let data = unsafe { core::slice::from_raw_parts(data.cast::<u8>(), size) };
    // SAFETY: as above.
    let dump = text::hex(data, per_line, string_buffer::room_left(unsafe { &*strb }));
    // SAFETY: as above.
    unsafe { append(strb, dump.as_bytes()) };
}

/// Appends the names of the bits that are set, or their numbers where `flag_names` is NULL.
/// `ucs/datastruct/string_buffer.h`.
///
/// - `strb` (in,out): The buffer.
/// - `mask` (in): The bits.
/// - `flag_names` (in): Name of each bit, ended by NULL; NULL for numbers.
///
/// # Safety
/// `strb` is null or a live buffer, `flag_names` null or a C string for each bit that is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_string_buffer_append_flags(
    strb: *mut ucs_string_buffer_t,
    mask: u64,
    flag_names: *mut *const c_char,
) {
    non_null!(; strb);
    let flags = if flag_names.is_null() {
        text::bits(mask, ",")
    } else {
        let set = (0..64).filter(|bit| mask >> bit & 1 == 1);
        // SAFETY: the caller's names.
        let names: Vec<_> = set
            .map(|bit| unsafe { text_of(*flag_names.add(bit)) })
            .collect();
        names.join("|")
    };
    // SAFETY: the caller's promise.
    unsafe { append(strb, flags.as_bytes()) };
}

/// Appends addresses and lengths. `ucs/datastruct/string_buffer.h`.
///
/// - `strb` (in,out): The buffer.
/// - `iov` (in): The blocks.
/// - `iovcnt` (in): Their number.
///
/// # Safety
/// `strb` is null or a live buffer, `iov` has `iovcnt` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_string_buffer_append_iovec(
    strb: *mut ucs_string_buffer_t,
    iov: *const iovec,
    iovcnt: usize,
) {
    non_null!(; strb);
    let blocks = (0..iovcnt).map(|i| {
        // SAFETY: the caller's elements.
        let block = unsafe { iov.add(i).read() };
        match block.iov_base.addr() {
            0 => format!("(nil),{}", block.iov_len),
            address => format!("{address:#x},{}", block.iov_len),
        }
    });
    let text = blocks.collect::<Vec<_>>().join("|");
    // SAFETY: the caller's promise.
    unsafe { append(strb, text.as_bytes()) };
}

/// Appends a socket address. `ucs/datastruct/string_buffer.h`.
///
/// - `strb` (in,out): The buffer.
/// - `sa` (in): The address.
///
/// # Safety
/// `strb` is null or a live buffer, `sa` null or a socket address.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_string_buffer_append_saddr(
    strb: *mut ucs_string_buffer_t,
    sa: *const sockaddr,
) {
    non_null!(; strb);
    // SAFETY: the caller's promise.
    let text = match unsafe { address::read_ip(sa) } {
        Some(addr) => address::format(&addr),
        None => address::NOT_IP.to_owned(),
    };
    // SAFETY: as above.
    unsafe { append(strb, text.as_bytes()) };
}

/// Cuts the text at the last character of `delim`, or of white space for NULL, which goes too.
/// `ucs/datastruct/string_buffer.h`.
///
/// - `strb` (in,out): The buffer.
/// - `delim` (in): Characters to cut at, NUL-terminated; NULL for white space.
///
/// # Safety
/// `strb` is null or a live buffer, `delim` null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_string_buffer_rbrk(
    strb: *mut ucs_string_buffer_t,
    delim: *const c_char,
) {
    non_null!(; strb);
    // SAFETY: the caller's promise.
    let delim = (!delim.is_null()).then(|| unsafe { CStr::from_ptr(delim) });
    // SAFETY: as above.
    unsafe { string_buffer::cut_at_last(&mut *strb, delim) };
}

/// The next part of the text between `delimiters`: the first one for `token` NULL, else the one behind `token`; NULL
/// behind the last. A zero takes the place of the delimiter. `ucs/datastruct/string_buffer.h`.
///
/// - `strb` (in,out): The buffer.
/// - `token` (in): The part before, or NULL for the first one.
/// - `delimiters` (in): Characters between parts, NUL-terminated.
/// - returns: The next part, or NULL.
///
/// # Safety
/// `strb` is null or a live buffer, `token` null or the answer before, `delimiters` a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_string_buffer_next_token(
    strb: *mut ucs_string_buffer_t,
    token: *mut c_char,
    delimiters: *const c_char,
) -> *mut c_char {
    non_null!(null_mut(); strb, delimiters);
    // SAFETY: the caller's promise.
    let delimiters = unsafe { CStr::from_ptr(delimiters) }.to_bytes();
    // SAFETY: as above.
    unsafe { string_buffer::next_token(&mut *strb, token, delimiters) }
}

/// Takes the text out, for `ucs_free`; the buffer is empty. NULL where it was empty. Of the caller's storage it is a
/// copy, and stays there too. `ucs/datastruct/string_buffer.h`.
///
/// - `strb` (in,out): The buffer.
/// - returns: The text, or NULL.
///
/// # Safety
/// `strb` is null or a live buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_string_buffer_extract_mem(
    strb: *mut ucs_string_buffer_t,
) -> *mut c_char {
    non_null!(null_mut(); strb);
    // SAFETY: the caller's promise.
    let buffer = unsafe { &mut *strb };
    if string_buffer::is_fixed(buffer) {
        // SAFETY: as above.
        return heap::strdup(unsafe { string_buffer::text(buffer) });
    }
    core::mem::replace(buffer, ucs_string_buffer_t::EMPTY).buffer
}

/// Replaces each character by what `cb` answers; those for which it answers 0 go. `ucs/datastruct/string_buffer.h`.
///
/// - `strb` (in,out): The buffer.
/// - `cb` (in): Maps one character.
///
/// # Safety
/// `strb` is null or a live buffer, `cb` may be called.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_string_buffer_translate(
    strb: *mut ucs_string_buffer_t,
    cb: ucs_string_buffer_translate_cb_t,
) {
    non_null!(; strb);
    let Some(cb) = cb else {
        return crate::abi::args::missing(crate::abi::args::function!(), "cb");
    };
    // SAFETY: the caller's promise.
    let text = unsafe { (*strb).buffer };
    let mut kept = 0;
    // SAFETY: as above.
    for i in 0..unsafe { (*strb).length } {
        // SAFETY: inside the text; the caller's function.
        let new = unsafe { cb(text.add(i).read()) };
        if new != 0 {
            // SAFETY: inside the text.
            unsafe { text.add(kept).write(new) };
            kept += 1;
        }
    }
    // SAFETY: the caller's promise.
    unsafe { string_buffer::cut(&mut *strb, kept) };
}
