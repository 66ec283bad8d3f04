//! `EventFd`: a counter that another thread waits for; wakes the async thread.

use super::retry;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

#[derive(Debug)]
pub struct EventFd {
    fd: OwnedFd,
}

impl EventFd {
    /// A non-blocking, close-on-exec counter at zero.
    pub fn new() -> io::Result<EventFd> {
        // SAFETY: takes no pointer; the result is checked before it is owned.
        let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: eventfd just made this descriptor and nobody else holds it.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(EventFd { fd })
    }

    /// One that another process gave, which may be anything: `EINVAL` for what a write could wait at.
    pub fn received(fd: OwnedFd) -> io::Result<EventFd> {
        // SAFETY: takes no pointer; the descriptor is this process's.
        let flags = unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GETFL) };
        if flags < 0 || flags & libc::O_NONBLOCK == 0 {
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
        let one = 1u64.to_ne_bytes();
        // Nothing but a counter at its limit refuses.
        let _ = retry(|| {
            // SAFETY: eight readable bytes of a local, as an eventfd asks for.
            unsafe { libc::write(self.raw(), one.as_ptr().cast(), one.len()) }
        });
    }

    /// Makes the descriptor unreadable; whether it was readable.
    pub fn clear(&self) -> bool {
        let mut count = [0u8; 8];
        let read = retry(|| {
            // SAFETY: eight writable bytes of a local, as an eventfd asks for.
            unsafe { libc::read(self.raw(), count.as_mut_ptr().cast(), count.len()) }
        });
        matches!(read, Ok(8))
    }
}

impl AsFd for EventFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
