//! `EventSet`: descriptors watched by epoll, each with a word of the client.
//!
//! The set owns its epoll descriptor, or uses one of the client's and leaves it open.
#![forbid(unsafe_code)]

use crate::sys::epoll::{self, EVENT_ROOM, Epoll};
use crate::ucs::{Events, Result, Status};
use std::os::fd::RawFd;

/// Events taken at a time, the limit that the API publishes.
pub const MAX_WAIT_EVENTS: usize = 100;

pub enum EventSet {
    Own(Epoll),
    Borrowed(RawFd),
}

/// How a wait ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Waited {
    /// This many events were handed over.
    Events(usize),
    /// A signal came first.
    Interrupted,
}

impl EventSet {
    pub fn new() -> Result<EventSet> {
        Epoll::new().map(EventSet::Own).map_err(|e| {
            crate::ucs_error!("cannot make an event set: {e}");
            Status::IO_ERROR
        })
    }

    pub fn fd(&self) -> RawFd {
        match self {
            EventSet::Own(epoll) => epoll.raw(),
            EventSet::Borrowed(fd) => *fd,
        }
    }

    pub fn add(&self, fd: RawFd, events: Events, word: u64) -> Result<()> {
        epoll::add(self.fd(), fd, events.to_epoll(), word).map_err(|e| failed("watch", fd, e))
    }

    pub fn modify(&self, fd: RawFd, events: Events, word: u64) -> Result<()> {
        epoll::modify(self.fd(), fd, events.to_epoll(), word)
            .map_err(|e| failed("change the events of", fd, e))
    }

    pub fn delete(&self, fd: RawFd) -> Result<()> {
        epoll::delete(self.fd(), fd).map_err(|e| failed("stop watching", fd, e))
    }

    /// Waits for at most `max` events (0 takes none) and gives each to `handler`.
    pub fn wait(
        &self,
        max: usize,
        timeout_ms: i32,
        mut handler: impl FnMut(u64, Events),
    ) -> Result<Waited> {
        let mut events = [EVENT_ROOM; MAX_WAIT_EVENTS];
        let room = &mut events[..max.min(MAX_WAIT_EVENTS)];
        let ready = match epoll::wait(self.fd(), room, timeout_ms) {
            Ok(ready) => ready,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {
                return Ok(Waited::Interrupted);
            }
            Err(e) => {
                crate::ucs_error!("cannot wait for events: {e}");
                return Err(Status::IO_ERROR);
            }
        };
        for event in ready {
            handler(event.u64, Events::from_epoll(event.events));
        }
        Ok(Waited::Events(ready.len()))
    }
}

#[cold]
fn failed(what: &str, fd: RawFd, e: std::io::Error) -> Status {
    crate::ucs_error!("cannot {what} descriptor {fd}: {e}");
    Status::IO_ERROR
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::eventfd::EventFd;

    #[test]
    fn a_ready_descriptor_comes_with_its_word() {
        let (set, fd) = (EventSet::new().unwrap(), EventFd::new().unwrap());
        set.add(fd.raw(), Events::READ, 77).unwrap();
        assert_eq!(set.wait(4, 0, |_, _| panic!()), Ok(Waited::Events(0)));
        fd.signal();
        let mut got = Vec::new();
        let alias = EventSet::Borrowed(set.fd());
        let waited = alias.wait(4, -1, |word, events| got.push((word, events)));
        assert_eq!(waited, Ok(Waited::Events(1)));
        assert_eq!(got, [(77, Events::READ)]);
        set.modify(fd.raw(), Events::WRITE, 78).unwrap();
        set.wait(4, -1, |word, events| got.push((word, events)))
            .unwrap();
        assert_eq!(got[1], (78, Events::WRITE));
        set.delete(fd.raw()).unwrap();
        assert_eq!(set.delete(fd.raw()), Err(Status::IO_ERROR));
        assert_eq!(set.wait(4, 0, |_, _| panic!()), Ok(Waited::Events(0)));
    }
}
