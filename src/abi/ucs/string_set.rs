//! `ucs/datastruct/string_set.h`.

use crate::abi::args::non_null;
use crate::abi::jump::{hidden_name, jump};
use crate::c::prelude::*;
use crate::ucs::{status::code_of, string_buffer, string_set};

/// Makes an empty set. `ucs/datastruct/string_set.h`.
///
/// - `sset` (in,out): The set.
///
/// # Safety
/// `sset` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_string_set_init(sset: *mut ucs_string_set_t) {
    non_null!(; sset);
    // SAFETY: checked above; the caller vouches for it.
    unsafe { sset.write(ucs_string_set::EMPTY) };
}

/// Frees the members. `ucs/datastruct/string_set.h`.
///
/// - `sset` (in,out): The set.
///
/// # Safety
/// `sset` is null or a live set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_string_set_cleanup(sset: *mut ucs_string_set_t) {
    non_null!(; sset);
    // SAFETY: the caller's promise.
    unsafe { string_set::cleanup(&mut *sset) };
}

/// Adds a copy of `str` unless it is a member. `ucs/datastruct/string_set.h`.
///
/// - `sset` (in,out): The set.
/// - `str` (in): String, NUL-terminated.
/// - returns: UCS_OK or UCS_ERR_NO_MEMORY.
///
/// # Safety
/// `sset` is null or a live set, `str` null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_string_set_add(
    sset: *mut ucs_string_set_t,
    str: *const c_char,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; sset, str);
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(str) };
    // SAFETY: the caller's promise.
    code_of(&unsafe { string_set::add(&mut *sset, text) })
}

/// Appends the members in byte order, `sep` between them. `ucs/datastruct/string_set.h`.
///
/// - `sset` (in,out): The set.
/// - `strb` (in,out): Gets the text behind what it holds.
/// - `sep` (in): Text between two members, NUL-terminated.
/// - returns: UCS_OK or UCS_ERR_NO_MEMORY.
///
/// # Safety
/// `sset` is null or a live set, `strb` null or a live buffer, `sep` null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_string_set_print_sorted(
    sset: *const ucs_string_set_t,
    strb: *mut ucs_string_buffer_t,
    sep: *const c_char,
) -> ucs_status_t {
    non_null!(UCS_ERR_INVALID_PARAM; sset, strb, sep);
    // SAFETY: the caller's promise.
    let sep = unsafe { CStr::from_ptr(sep) }.to_bytes();
    // SAFETY: the caller's promise.
    let members = unsafe { string_set::sorted(&*sset) };
    // SAFETY: the caller's promise.
    let strb = unsafe { &mut *strb };
    for (i, member) in members.iter().enumerate() {
        for part in [if i == 0 { b"" } else { sep }, member.to_bytes()] {
            // SAFETY: the caller's promise.
            if let Err(status) = unsafe { string_buffer::append(strb, part) } {
                return status.code();
            }
        }
    }
    UCS_OK
}

unsafe extern "C" {
    fn ferrucx_string_set_addf();
}

hidden_name!("ferrucx_string_set_add", ucs_string_set_add);

/// Adds a formatted string: `(ucs_string_set_t *sset, const char *fmt, ...)`. `ucs/datastruct/string_set.h`.
///
/// # Safety
/// `sset` is a live set; format and arguments agree as for printf.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_string_set_addf() {
    jump!(ferrucx_string_set_addf);
}

/// 1 for a member, else 0. `ucs/datastruct/string_set.h`.
///
/// - `sset` (in): The set.
/// - `str` (in): String, NUL-terminated.
/// - returns: 1 or 0.
///
/// # Safety
/// `sset` is null or a live set, `str` null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucs_string_set_contains(
    sset: *const ucs_string_set_t,
    str: *const c_char,
) -> c_int {
    non_null!(0; sset, str);
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(str) };
    // SAFETY: as above.
    c_int::from(unsafe { string_set::contains(&*sset, text) })
}
