//! Whole writes to descriptors, and files that the kernel makes up.
//!
//! Called by the log, and by all who ask /proc and /sys.
#![forbid(unsafe_code)]

use super::machine;
use super::safe_calls;
use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Standard output and standard error, by number: the program owns them.
pub const STDOUT: i32 = 1;
pub const STDERR: i32 = 2;

/// Whether `text` is of the form `pattern`, as glob(7) has it.
pub fn matches_pattern(pattern: &str, text: &str) -> bool {
    let (Ok(pattern), Ok(text)) = (CString::new(pattern), CString::new(text)) else {
        return false;
    };
    safe_calls::fnmatch(&pattern, &text)
}

/// Writes all of `bytes`, however many calls it takes.
pub fn write_all(fd: i32, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match safe_calls::write(fd, bytes)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            n => bytes = bytes.get(n..).unwrap_or(&[]),
        }
    }
    Ok(())
}

/// From now on `fd` is the file behind `by`, at no moment closed.
pub fn replace(fd: BorrowedFd<'_>, by: BorrowedFd<'_>) -> io::Result<()> {
    safe_calls::dup3(by.as_raw_fd(), fd.as_raw_fd(), libc::O_CLOEXEC)
}

/// Makes reads of `fd` answer `WouldBlock` instead of waiting.
pub fn set_nonblocking(fd: BorrowedFd<'_>) -> io::Result<()> {
    let flags = safe_calls::status_flags(fd.as_raw_fd())?;
    safe_calls::set_status_flags(fd.as_raw_fd(), flags | libc::O_NONBLOCK)
}

/// The text of a file of /proc or /sys. Those have no length to ask for, and few of them have more than a page: two reads
/// do for most.
pub fn read_kernel_text(path: impl AsRef<Path>) -> io::Result<String> {
    const STEP: usize = 4096;
    let mut file = File::open(path)?;
    let mut text = vec![0; STEP];
    let mut len = 0;
    loop {
        match file.read(&mut text[len..]) {
            Ok(0) => break,
            Ok(n) => len += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
        if text.len() - len < STEP / 2 {
            text.resize(text.len() * 2, 0);
        }
    }
    text.truncate(len);
    String::from_utf8(text).map_err(|_| io::ErrorKind::InvalidData.into())
}

/// Opens a file to write, which a variable of the environment names. `PermissionDenied` in a process with raised
/// privileges, whose caller must not choose files.
pub fn open_named_by_variable(options: &OpenOptions, path: impl AsRef<Path>) -> io::Result<File> {
    if machine::secure_execution() {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "a process with raised privileges writes no file that a variable names",
        ));
    }
    options.open(path)
}

/// Holds what stands at a path, without opening it.
pub fn open_place(path: &Path) -> io::Result<OwnedFd> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_PATH | libc::O_NOFOLLOW | libc::O_CLOEXEC)
        .open(path)?;
    Ok(file.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_a_shell() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("*", "anything", true),
            ("", "", true),
            ("", "a", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*_BW", "SM_BW", true),
            ("*_BW", "SM_BWX", false),
            ("a*b*c", "a-b-b-c", true),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[]]", "]", true),
            ("[a", "[a", true),
            ("*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaa", false),
        ] {
            assert_eq!(matches_pattern(pattern, text), expected, "{pattern} {text}");
        }
    }
}
