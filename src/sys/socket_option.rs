//! Options of descriptors that a client owns: set one, close one.

use core::ffi::c_void;
use std::io;
use std::os::fd::RawFd;

/// # Safety
/// `value` is readable for `len` bytes.
pub unsafe fn set(
    fd: RawFd,
    level: i32,
    name: i32,
    value: *const c_void,
    len: u32,
) -> io::Result<()> {
    // SAFETY: the caller's promise is setsockopt's own.
    match unsafe { libc::setsockopt(fd, level, name, value, len) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Closes a descriptor that the caller gives up.
pub fn close(fd: RawFd) -> io::Result<()> {
    // SAFETY: takes no pointer; the caller gives the descriptor up.
    match unsafe { libc::close(fd) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
