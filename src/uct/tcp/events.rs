//! `Events`: the epoll set of an interface. Most interfaces of a process never have a connection; while there is only a
//! listener, that is polled instead. The set is made for the first socket, timer or sleeping thread.
#![forbid(unsafe_code)]

use super::iface::LISTENER;
use crate::sys::epoll::Epoll;
use crate::sys::poll::{PollFd, poll};
use crate::sys::socket::READABLE;
use core::cell::{Cell, OnceCell};
use std::io;
use std::os::fd::RawFd;

pub struct Events {
    set: OnceCell<Epoll>,
    listener: RawFd,
    listens: Cell<bool>,
}

impl Events {
    /// Of an interface with this listener, which must stay open as long.
    pub fn new(listener: RawFd) -> Events {
        Events {
            set: OnceCell::new(),
            listener,
            listens: Cell::new(true),
        }
    }

    /// The set, made if there is none.
    pub fn set(&self) -> io::Result<&Epoll> {
        if let Some(set) = self.set.get() {
            return Ok(set);
        }
        let set = Epoll::new()?;
        if self.listens.get() {
            set.add(self.listener, READABLE, LISTENER)?;
        }
        Ok(self.set.get_or_init(|| set))
    }

    /// The set; while there is none, only the listener can have events.
    pub fn made(&self) -> Option<&Epoll> {
        self.set.get()
    }

    /// Whether a connection waits to be accepted.
    pub fn has_connection_request(&self) -> bool {
        let mut listener = [PollFd {
            fd: self.listener,
            events: READABLE as i16,
            revents: 0,
        }];
        self.listens.get() && poll(&mut listener, 0).is_ok_and(|ready| ready > 0)
    }

    /// Whether connections are accepted.
    pub fn listens(&self) -> bool {
        self.listens.get()
    }

    pub fn stop_listening(&self) {
        if self.listens.replace(false)
            && let Some(set) = self.made()
        {
            let _ = set.delete(self.listener);
        }
    }

    pub fn listen_again(&self) -> io::Result<()> {
        if let Some(set) = self.made() {
            set.add(self.listener, READABLE, LISTENER)?;
        }
        self.listens.set(true);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::epoll::EVENT_ROOM;
    use crate::sys::eventfd::EventFd;

    fn seen(set: &Epoll) -> Vec<u64> {
        let mut room = [EVENT_ROOM; 2];
        let ready = set.wait(&mut room, 0).unwrap();
        ready.iter().map(|e| e.u64).collect()
    }

    #[test]
    fn the_listener_is_in_the_set_while_it_listens() {
        // Any descriptor that is readable does for a listener.
        let listener = EventFd::new().unwrap();
        listener.signal();
        let events = Events::new(listener.raw());
        assert!(events.made().is_none() && events.listens());
        assert_eq!(seen(events.set().unwrap()), [LISTENER]);
        events.stop_listening();
        assert!(seen(events.set().unwrap()).is_empty() && !events.listens());
        events.listen_again().unwrap();
        assert_eq!(seen(events.made().unwrap()), [LISTENER]);
    }

    #[test]
    fn a_set_that_is_made_during_a_pause_has_no_listener() {
        let listener = EventFd::new().unwrap();
        listener.signal();
        let events = Events::new(listener.raw());
        events.stop_listening();
        events.stop_listening();
        assert!(seen(events.set().unwrap()).is_empty());
        events.listen_again().unwrap();
        assert_eq!(seen(events.set().unwrap()), [LISTENER]);
    }
}
