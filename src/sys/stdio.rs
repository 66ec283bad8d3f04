//! C's standard output, which clients write with printf: ours must keep its place among theirs.

use core::ffi::c_void;

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
