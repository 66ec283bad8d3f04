//! C's buffered streams, which clients write with printf: ours must keep its place among theirs.

use core::ffi::c_void;
use std::io;

unsafe extern "C" {
    static stdout: *mut libc::FILE;
}

/// Writes text to C's standard output.
pub fn print(text: &str) {
    // SAFETY: libc sets the variable before any code of ours runs; a program that replaces it gives
    // another open stream.
    let stream = unsafe { stdout };
    // SAFETY: an open stream, and readable text of that length.
    unsafe { libc::fwrite(text.as_ptr().cast::<c_void>(), 1, text.len(), stream) };
}

/// Writes all of `bytes` to a C stream, through its buffer, so that it keeps its place among what
/// the program prints there.
///
/// # Safety
/// `stream` must be an open C stream.
pub unsafe fn write_stream(stream: *mut libc::FILE, bytes: &[u8]) -> io::Result<()> {
    // SAFETY: the pointer and the length describe `bytes`; the stream is open by the caller's
    // promise.
    let n = unsafe { libc::fwrite(bytes.as_ptr().cast(), 1, bytes.len(), stream) };
    if n == bytes.len() {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
