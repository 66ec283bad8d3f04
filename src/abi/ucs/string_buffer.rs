//! `ucs/datastruct/string_buffer.h`, as far as clients use it.

use crate::abi::args::non_null;
use crate::abi::jump::{hidden_name, jump};
use crate::c::prelude::*;
use crate::ucs::string_buffer;

/// The text; never null. `ucs/datastruct/string_buffer.h`.
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
