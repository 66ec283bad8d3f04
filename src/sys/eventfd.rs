//! `EventFd`: a counter that another thread waits for; wakes the async thread.
#![forbid(unsafe_code)]

use super::safe_calls;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

#[derive(Debug)]
pub struct EventFd {
    fd: OwnedFd,
}

impl EventFd {
    /// A non-blocking, close-on-exec counter at zero.
    pub fn new() -> io::Result<EventFd> {
        let fd = safe_calls::eventfd(libc::EFD_CLOEXEC | libc::EFD_NONBLOCK)?;
        Ok(EventFd { fd })
    }

    /// One that another process gave, which may be anything: `EINVAL` for what a write could wait at.
    pub fn received(fd: OwnedFd) -> io::Result<EventFd> {
        let flags = safe_calls::status_flags(fd.as_raw_fd()).unwrap_or(0);
        if flags & libc::O_NONBLOCK == 0 {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        }
        Ok(EventFd { fd })
    }

    /// The same counter by another descriptor.
    pub fn try_clone(&self) -> io::Result<EventFd> {
        Ok(EventFd {
            fd: self.fd.try_clone()?,
        })
    }

    pub fn raw(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    /// Makes the descriptor readable. A counter at its limit is readable already.
    pub fn signal(&self) {
        // Nothing but a counter at its limit refuses.
        let _ = safe_calls::write(self.raw(), &1u64.to_ne_bytes());
    }

    /// Makes the descriptor unreadable; whether it was readable.
    pub fn clear(&self) -> bool {
        matches!(safe_calls::read(self.raw(), &mut [0; 8]), Ok(8))
    }
}

impl AsFd for EventFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
