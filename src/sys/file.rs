//! Whole writes to descriptors, and C's buffered streams as the client gave them.
//!
//! Called by the log and by the functions that print to a `FILE *`.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Standard output and standard error, by number: the program owns them.
pub const STDOUT: i32 = 1;
pub const STDERR: i32 = 2;

/// Writes all of `bytes`, however many calls it takes.
pub fn write_all(fd: i32, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        // SAFETY: the pointer and the length describe `bytes`.
        let n = unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) };
        match usize::try_from(n) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(n) => bytes = bytes.get(n..).unwrap_or(&[]),
            Err(_) => {
                let e = io::Error::last_os_error();
                if e.kind() != io::ErrorKind::Interrupted {
                    return Err(e);
                }
            }
        }
    }
    Ok(())
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

/// From now on `fd` is the file behind `by`, at no moment closed.
pub fn replace(fd: BorrowedFd<'_>, by: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: two open descriptors; the first stays one.
    match unsafe { libc::dup3(by.as_raw_fd(), fd.as_raw_fd(), libc::O_CLOEXEC) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Holds what stands at a path, without opening it.
pub fn open_place(path: &Path) -> io::Result<OwnedFd> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_PATH | libc::O_NOFOLLOW | libc::O_CLOEXEC)
        .open(path)?;
    Ok(file.into())
}
