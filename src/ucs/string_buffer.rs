//! The string buffer of the C API: three words that a client owns.
//!
//! Two layouts say "the storage is the client's and must not grow": bit 63 of the capacity since
//! 1.17, bit 0 before. Capacities of our own are even and small, so all cases can be told apart.

use crate::c::ucs_string_buffer_t;
use crate::sys::heap;
use crate::ucs::{Result, Status};
use core::ffi::{CStr, c_char};

const FIXED: usize = 1 << 63;
const FIXED_BEFORE_1_17: usize = 1;
const MIN_CAPACITY: usize = 32;

impl ucs_string_buffer_t {
    /// An empty buffer that grows.
    pub const EMPTY: ucs_string_buffer_t = ucs_string_buffer_t {
        buffer: core::ptr::null_mut(),
        length: 0,
        capacity: 0,
    };
}

/// How many characters fit beside the end, and whether that is all there will ever be.
fn room(buffer: &ucs_string_buffer_t) -> (usize, bool) {
    let capacity = buffer.capacity;
    if capacity & FIXED != 0 {
        (capacity & !FIXED, true)
    } else {
        (
            capacity & !FIXED_BEFORE_1_17,
            capacity & FIXED_BEFORE_1_17 != 0,
        )
    }
}

/// Bytes that may be appended, with a terminator.
pub fn room_left(buffer: &ucs_string_buffer_t) -> usize {
    match room(buffer) {
        (capacity, true) => capacity.saturating_sub(buffer.length),
        (_, false) => usize::MAX,
    }
}

/// Makes room for `extra` characters and a terminator behind the text. Where to write, and how many
/// bytes may be written there, terminator included: fewer than asked for in fixed storage.
///
/// # Safety
/// `buffer` was initialised by the client or by us, and its storage is alive.
pub unsafe fn reserve(
    buffer: &mut ucs_string_buffer_t,
    extra: usize,
) -> Result<(*mut c_char, usize)> {
    let need = buffer
        .length
        .checked_add(extra)
        .and_then(|n| n.checked_add(1))
        .filter(|n| *n < isize::MAX as usize / 2)
        .ok_or(Status::NO_MEMORY)?;
    let (mut capacity, fixed) = room(buffer);
    if need > capacity && !fixed {
        let grown = need.max(capacity * 2).max(MIN_CAPACITY).next_multiple_of(2);
        // SAFETY: storage that is not fixed is null or from this function.
        let block = unsafe { heap::realloc(buffer.buffer.cast(), grown) };
        if block.is_null() {
            return Err(Status::NO_MEMORY);
        }
        buffer.buffer = block.cast();
        buffer.capacity = grown;
        capacity = grown;
    }
    if buffer.buffer.is_null() || buffer.length >= capacity {
        return Err(Status::NO_MEMORY);
    }
    // SAFETY: the text's length is below the storage's capacity.
    let end = unsafe { buffer.buffer.add(buffer.length) };
    Ok((end, (extra + 1).min(capacity - buffer.length)))
}

/// Appends `text`, or as much as fixed storage takes.
///
/// # Safety
/// As `reserve`.
pub unsafe fn append(buffer: &mut ucs_string_buffer_t, text: &[u8]) -> Result<()> {
    // SAFETY: the caller's promise.
    let (end, room) = unsafe { reserve(buffer, text.len()) }?;
    let taken = text.len().min(room - 1);
    // SAFETY: `room` bytes are writable at `end`, and `text` cannot overlap them unless the client
    // passed the buffer's own text; copy allows that.
    unsafe { core::ptr::copy(text.as_ptr().cast(), end, taken) };
    // SAFETY: `taken` is below `room`.
    unsafe { end.add(taken).write(0) };
    buffer.length += taken;
    Ok(())
}

/// The text, with its terminator; empty while nothing was written.
///
/// # Safety
/// As `reserve`.
pub unsafe fn text(buffer: &ucs_string_buffer_t) -> &CStr {
    if buffer.buffer.is_null() || buffer.length == 0 {
        return c"";
    }
    // SAFETY: whoever wrote the text ended it.
    unsafe { CStr::from_ptr(buffer.buffer) }
}

/// A buffer over a client's storage.
pub fn fixed(buffer: *mut c_char, capacity: usize) -> ucs_string_buffer_t {
    ucs_string_buffer_t {
        buffer,
        length: 0,
        capacity: capacity | FIXED,
    }
}

/// Whether the storage is the client's.
pub fn is_fixed(buffer: &ucs_string_buffer_t) -> bool {
    room(buffer).1
}

/// Cuts the text to `length` characters, if it has more.
///
/// # Safety
/// As `reserve`.
pub unsafe fn cut(buffer: &mut ucs_string_buffer_t, length: usize) {
    if length < buffer.length {
        buffer.length = length;
        // SAFETY: inside the text.
        unsafe { buffer.buffer.add(length).write(0) };
    }
}

/// Cuts the text at its last character of `charset`, or of white space, if it has one.
///
/// # Safety
/// As `reserve`.
pub unsafe fn cut_at_last(buffer: &mut ucs_string_buffer_t, charset: Option<&CStr>) {
    // SAFETY: the caller's promise.
    let all = unsafe { text(buffer) }.to_bytes();
    if let Some(at) = all.iter().rposition(|c| is_of(*c, charset)) {
        // SAFETY: as above.
        unsafe { cut(buffer, at) };
    }
}

/// The part behind `token` up to a delimiter, which becomes a zero; the first for a null `token`; null behind the last.
///
/// # Safety
/// As `reserve`; `token` is null or an answer of this function.
pub unsafe fn next_token(
    buffer: &mut ucs_string_buffer_t,
    token: *mut c_char,
    delimiters: &[u8],
) -> *mut c_char {
    let end = buffer.buffer.wrapping_add(buffer.length);
    let start = if token.is_null() {
        buffer.buffer
    } else {
        // SAFETY: tokens end with a zero, and lie before `end`.
        unsafe { token.add(CStr::from_ptr(token).count_bytes() + 1) }
    };
    if start >= end {
        return core::ptr::null_mut();
    }
    let mut at = start;
    // SAFETY: inside the text, here and below.
    while at < end && !delimiters.contains(&(unsafe { at.read() } as u8)) {
        at = at.wrapping_add(1);
    }
    if at < end {
        // SAFETY: as above.
        unsafe { at.write(0) };
    }
    start
}

fn is_of(c: u8, charset: Option<&CStr>) -> bool {
    match charset {
        Some(set) => set.to_bytes().contains(&c),
        // C's isspace: vertical tab included.
        None => c.is_ascii_whitespace() || c == 0x0b,
    }
}

/// Removes the longest tail that consists of `charset`, or of white space.
///
/// # Safety
/// As `reserve`.
pub unsafe fn trim_end(buffer: &mut ucs_string_buffer_t, charset: Option<&CStr>) {
    while buffer.length > 0 {
        // SAFETY: inside the text.
        let last = unsafe { buffer.buffer.add(buffer.length - 1) };
        // SAFETY: as above.
        if !is_of(unsafe { last.read() } as u8, charset) {
            break;
        }
        // SAFETY: as above; the storage is writable.
        unsafe { last.write(0) };
        buffer.length -= 1;
    }
}

/// Gives the storage back, unless it is the client's.
///
/// # Safety
/// As `reserve`; the buffer is empty afterwards.
pub unsafe fn cleanup(buffer: &mut ucs_string_buffer_t) {
    if !room(buffer).1 {
        // SAFETY: storage that is not fixed is null or from `reserve`.
        unsafe { heap::free(buffer.buffer.cast()) };
        buffer.buffer = core::ptr::null_mut();
        buffer.capacity = 0;
    }
    buffer.length = 0;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dynamic() -> ucs_string_buffer_t {
        ucs_string_buffer_t {
            buffer: core::ptr::null_mut(),
            length: 0,
            capacity: 0,
        }
    }

    fn text_of(b: &ucs_string_buffer_t) -> &str {
        // SAFETY: buffers of these tests.
        unsafe { text(b) }.to_str().unwrap()
    }

    #[test]
    fn fixed_storage_of_both_layouts_is_never_overrun() {
        for (flag, fits) in [(FIXED | 17, 16), (17, 15)] {
            let mut storage = [b'#' as c_char; 24];
            let mut b = ucs_string_buffer_t {
                buffer: storage.as_mut_ptr(),
                length: 0,
                capacity: flag,
            };
            for _ in 0..3 {
                // SAFETY: the storage is alive and as large as the flag says.
                let _ = unsafe { append(&mut b, b"0123456789") };
            }
            assert_eq!(text_of(&b), &"01234567890123456789"[..fits]);
            assert_eq!(b.capacity, flag);
            // SAFETY: as above.
            unsafe { cleanup(&mut b) };
            assert_eq!(b.buffer, storage.as_mut_ptr());
            assert!(storage[17..].iter().all(|&c| c == b'#' as c_char));
        }
    }

    #[test]
    fn a_growing_buffer_keeps_its_text_and_an_even_capacity() {
        let mut b = dynamic();
        let mut oracle = String::new();
        for i in 0..300 {
            let word = format!("{i},");
            // SAFETY: a buffer of this test.
            unsafe { append(&mut b, word.as_bytes()) }.unwrap();
            oracle += &word;
            assert_eq!(text_of(&b), oracle);
            assert_eq!(b.capacity % 2, 0);
        }
        // SAFETY: a buffer of this test.
        unsafe { trim_end(&mut b, Some(c"9,2")) };
        assert_eq!(text_of(&b), oracle.trim_end_matches(['9', ',', '2']));
        // SAFETY: a buffer of this test.
        unsafe { cleanup(&mut b) };
        assert_eq!(text_of(&b), "");
    }
}
