//! Text to C's streams.

use crate::sys::stdio;
use libc::FILE;

/// Writes `text`; a stream that does not take it is logged.
///
/// # Safety
/// `stream` must be open for writing.
pub unsafe fn put(stream: *mut FILE, text: &str) {
    // SAFETY: by the caller's promise.
    if let Err(e) = unsafe { stdio::write_stream(stream, text.as_bytes()) } {
        crate::ucs_warn!("cannot print: {e}");
    }
}
