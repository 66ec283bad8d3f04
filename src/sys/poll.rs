//! poll(2): which of a few descriptors are ready.

use std::io;

pub type PollFd = libc::pollfd;

/// Fills `revents`; waits `timeout_ms` (negative: for ever). How many descriptors are ready.
pub fn poll(fds: &mut [PollFd], timeout_ms: i32) -> io::Result<usize> {
    // SAFETY: the pointer and the count describe `fds`, which is writable for the whole call.
    let n = unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, timeout_ms) };
    if n < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(n as usize)
}
