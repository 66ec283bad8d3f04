//! What the library prints to a C stream, as text.

use libc::FILE;
use std::ffi::c_char;

/// Calls with a stream that writes to memory. No memory for it ends the tool, as everywhere in Rust.
pub fn captured(print: impl FnOnce(*mut FILE)) -> String {
    let mut text: *mut c_char = std::ptr::null_mut();
    let mut length = 0;
    // SAFETY: both live until the stream is closed.
    let stream = unsafe { libc::open_memstream(&mut text, &mut length) };
    assert!(!stream.is_null(), "no memory for a stream");
    print(stream);
    // SAFETY: opened above; from here on `text` and `length` are what was printed.
    unsafe { libc::fclose(stream) };
    // SAFETY: the stream's buffer, whole after fclose.
    let bytes = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), length) };
    let copy = String::from_utf8_lossy(bytes).into_owned();
    // SAFETY: ours since fclose, and not used any more.
    unsafe { libc::free(text.cast()) };
    copy
}
