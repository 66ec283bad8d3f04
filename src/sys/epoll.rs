//! `Epoll`: an epoll instance that owns its descriptor.
//!
//! The async thread and event sets wait here. Every descriptor is made CLOEXEC.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// One ready descriptor: what epoll saw and the word given at registration.
pub type Event = libc::epoll_event;

/// An event with no bits, to fill the array that `wait` writes.
pub const NO_EVENT: Event = Event { events: 0, u64: 0 };

#[derive(Debug)]
pub struct Epoll {
    fd: OwnedFd,
}

impl Epoll {
    pub fn new() -> io::Result<Epoll> {
        // SAFETY: takes no pointer; the result is checked before it is owned.
        let fd = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: epoll_create1 just made this descriptor and nobody else holds it.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(Epoll { fd })
    }

    pub fn raw(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    pub fn add(&self, fd: RawFd, events: u32, word: u64) -> io::Result<()> {
        add(self.raw(), fd, events, word)
    }

    pub fn modify(&self, fd: RawFd, events: u32, word: u64) -> io::Result<()> {
        modify(self.raw(), fd, events, word)
    }

    pub fn delete(&self, fd: RawFd) -> io::Result<()> {
        delete(self.raw(), fd)
    }

    /// Waits for `timeout_ms` (negative: for ever); the filled part of `events`. A signal gives
    /// `Interrupted`.
    pub fn wait<'a>(&self, events: &'a mut [Event], timeout_ms: i32) -> io::Result<&'a [Event]> {
        wait(self.raw(), events, timeout_ms)
    }
}

/// As [`Epoll::add`], on a descriptor that somebody else owns.
pub fn add(epfd: RawFd, fd: RawFd, events: u32, word: u64) -> io::Result<()> {
    ctl(epfd, libc::EPOLL_CTL_ADD, fd, events, word)
}

pub fn modify(epfd: RawFd, fd: RawFd, events: u32, word: u64) -> io::Result<()> {
    ctl(epfd, libc::EPOLL_CTL_MOD, fd, events, word)
}

pub fn delete(epfd: RawFd, fd: RawFd) -> io::Result<()> {
    ctl(epfd, libc::EPOLL_CTL_DEL, fd, 0, 0)
}

pub fn wait(epfd: RawFd, events: &mut [Event], timeout_ms: i32) -> io::Result<&[Event]> {
    let max = events.len().min(i32::MAX as usize) as i32;
    // SAFETY: the pointer and the count describe `events`, which is writable for the whole call.
    let n = unsafe { libc::epoll_wait(epfd, events.as_mut_ptr(), max, timeout_ms) };
    if n < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(&events[..n as usize])
}

fn ctl(epfd: RawFd, op: i32, fd: RawFd, events: u32, word: u64) -> io::Result<()> {
    let mut event = Event { events, u64: word };
    // SAFETY: `event` lives through the call and the kernel copies it.
    match unsafe { libc::epoll_ctl(epfd, op, fd, &mut event) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
