//! Text to C's streams.

use core::ffi::c_char;
use libc::FILE;

/// Writes `text`.
///
/// # Safety
/// `stream` must be open for writing.
pub unsafe fn put(stream: *mut FILE, text: &str) {
    // SAFETY: by the caller's promise; the bytes are counted, not terminated.
    unsafe {
        libc::fwrite(text.as_ptr().cast::<c_char>().cast(), 1, text.len(), stream);
    }
}
