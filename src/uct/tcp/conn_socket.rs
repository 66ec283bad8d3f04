//! `ConnSocket`: the socket of a connection, its entry in the interface's epoll set, and what it needs to decrypt.
//!
//! `fd` is the socket's descriptor, -1 without a socket. A socket has a token as long as the interface's table lists it.
#![forbid(unsafe_code)]

use super::sealed::Security;
use crate::sys::socket::Socket;
use core::cell::{Cell, RefCell};
use std::os::fd::RawFd;

pub struct ConnSocket {
    socket: RefCell<Option<Socket>>,
    fd: Cell<RawFd>,
    /// The key of the interface's table of sockets; 0 without a socket.
    pub token: Cell<u64>,
    /// Epoll reports that it is writable: it is connecting, or its send buffer is full.
    pub watched: Cell<bool>,
    /// The progress call in which the peer was last pinged.
    pub pinged_at: Cell<u64>,
    pub security: Security,
}

impl Default for ConnSocket {
    fn default() -> ConnSocket {
        ConnSocket {
            socket: RefCell::new(None),
            fd: Cell::new(-1),
            token: Cell::new(0),
            watched: Cell::new(false),
            pinged_at: Cell::new(u64::MAX),
            security: Security::default(),
        }
    }
}

impl ConnSocket {
    #[inline]
    pub fn fd(&self) -> RawFd {
        self.fd.get()
    }

    /// Replaces the socket, by one that is not encrypted yet. Returns the old one.
    pub fn replace(&self, socket: Option<Socket>) -> Option<Socket> {
        self.fd.set(socket.as_ref().map_or(-1, Socket::raw));
        self.security.clear();
        self.socket.replace(socket)
    }

    /// Runs `f` with the socket, if there is one.
    pub fn with<R>(&self, f: impl FnOnce(&Socket) -> R) -> Option<R> {
        self.socket.borrow().as_ref().map(f)
    }
}
