//! `Epoll`: an epoll instance that owns its descriptor.
//!
//! The async thread and event sets wait here. Every descriptor is made CLOEXEC.
#![forbid(unsafe_code)]

use super::safe_calls;
use core::mem::MaybeUninit;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// One ready descriptor: what epoll saw and the word given at registration.
pub type Event = libc::epoll_event;

/// Room for an event that `wait` writes.
pub const EVENT_ROOM: MaybeUninit<Event> = MaybeUninit::uninit();

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

    /// Waits for `timeout_ms` (negative: for ever); the filled part of `room`. A signal gives
    /// `Interrupted`.
    pub fn wait<'a>(
        &self,
        room: &'a mut [MaybeUninit<Event>],
        timeout_ms: i32,
    ) -> io::Result<&'a [Event]> {
        wait(self.raw(), room, timeout_ms)
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

pub fn wait(epfd: RawFd, room: &mut [MaybeUninit<Event>], timeout_ms: i32) -> io::Result<&[Event]> {
    safe_calls::epoll_wait(epfd, room, timeout_ms)
}

fn ctl(epfd: RawFd, op: i32, fd: RawFd, events: u32, word: u64) -> io::Result<()> {
    safe_calls::epoll_ctl(epfd, op, fd, Event { events, u64: word })
}
