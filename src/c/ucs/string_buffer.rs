//! `ucs/datastruct/string_buffer.h`: types and constants.

use crate::c::prelude::*;

/// A growing C string. 24 bytes in every release; the top bit of the third word says that the
/// storage is the caller's and must not grow (bit 0 of that word before 1.17).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_string_buffer_t {
    /// The characters.
    pub buffer: *mut c_char,
    /// How many, without the NUL.
    pub length: usize,
    /// Bytes of the buffer.
    pub capacity: usize,
}
const _: () = {
    assert!(size_of::<ucs_string_buffer_t>() == 24);
};

/// Maps one character of a string.
///
/// - `ch` (in): The character.
/// - returns: The character in its place; 0 for none.
pub type ucs_string_buffer_translate_cb_t = Option<unsafe extern "C" fn(ch: c_char) -> c_char>;
