//! `Epoll`: an epoll instance that owns its descriptor.
//!
//! The async thread and event sets wait here. Every descriptor is made CLOEXEC.
#![forbid(unsafe_code)]

use super::safe_calls;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

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
        safe_calls::epoll().map(|fd| Epoll { fd })
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
    let n = safe_calls::epoll_wait(epfd, events, timeout_ms)?;
    Ok(&events[..n])
}

fn ctl(epfd: RawFd, op: i32, fd: RawFd, events: u32, word: u64) -> io::Result<()> {
    safe_calls::epoll_ctl(epfd, op, fd, Event { events, u64: word })
}
