//! poll(2): which of a few descriptors are ready.
#![forbid(unsafe_code)]

use super::safe_calls;
use std::io;

pub type PollFd = libc::pollfd;

/// Fills `revents`; waits `timeout_ms` (negative: for ever). How many descriptors are ready.
pub fn poll(fds: &mut [PollFd], timeout_ms: i32) -> io::Result<usize> {
    safe_calls::poll(fds, timeout_ms)
}
