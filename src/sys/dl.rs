//! The dynamic linker: where this library's own file is.

use core::ffi::{CStr, c_void};

/// The path under which the object that holds `address` was loaded.
pub fn path_of(address: usize) -> Option<&'static CStr> {
    // SAFETY: Dl_info is plain pointers; all zeros is a value of it.
    let mut info: libc::Dl_info = unsafe { core::mem::zeroed() };
    // SAFETY: the address is only looked up; `info` is writable.
    let found = unsafe { libc::dladdr(address as *const c_void, &mut info) } != 0;
    if !found || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the linker keeps the name as long as the object is loaded; callers ask for their own.
    Some(unsafe { CStr::from_ptr(info.dli_fname) })
}
