//! The exported `ucs_*` functions, one module a header or a family of them.

pub mod algorithm;
pub mod arch;
pub mod async_fwd;
pub mod callbackq;
pub mod config;
pub mod containers;
pub mod debug;
pub mod event_set;
pub mod log;
pub mod memory;
pub mod memtype_cache;
pub mod mpool;
pub mod names;
pub mod numa;
pub mod opts;
pub mod parser;
pub mod parser_types;
pub mod pgtable;
pub mod profile;
pub mod rcache;
pub mod sock;
pub mod socket;
pub mod spinlock;
pub mod status;
pub mod string;
pub mod string_buffer;
pub mod string_set;
pub mod stubs;
pub mod sys;
pub mod table;
pub mod tables;
pub mod topo;
pub mod vfs;

use core::ffi::{CStr, c_char};

/// A C string as UTF-8, with anything else replaced; empty for null.
///
/// # Safety
/// `text` is null or a C string.
unsafe fn text_of<'a>(text: *const c_char) -> std::borrow::Cow<'a, str> {
    if text.is_null() {
        return "".into();
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(text) }.to_string_lossy()
}

/// Writes as much of `text` as fits into `max` bytes, with a terminator; nothing for `max` 0.
///
/// # Safety
/// `out` is null or writable for `max` bytes.
unsafe fn put_text(out: *mut c_char, max: usize, text: &str) {
    if out.is_null() || max == 0 {
        return;
    }
    let len = text.len().min(max - 1);
    // SAFETY: `len` is below `max`, and the text is ours.
    unsafe { core::ptr::copy_nonoverlapping(text.as_ptr().cast(), out, len) };
    // SAFETY: as above.
    unsafe { out.add(len).write(0) };
}
