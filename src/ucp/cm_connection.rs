//! The connection of the connection manager that an endpoint between client and server was made by.
#![forbid(unsafe_code)]

use super::timer::Timer;
use crate::ucs::Status;
use crate::ucs_debug;
use crate::uct::cm::Endpoint;
use std::net::SocketAddr;

/// A connection an endpoint was made by, and its two ends.
pub struct CmConnection {
    pub endpoint: Box<dyn Endpoint>,
    pub remote: SocketAddr,
    /// The end that the application of a client asked for.
    pub from: Option<SocketAddr>,
    /// The device of this side, once it is known.
    pub device: String,
    /// The number of its manager among those of the worker that listens or connects.
    pub manager: usize,
    /// At a client, while no server has replied and another manager could be tried beside this one.
    pub patience: Option<Timer>,
    /// At a client, the connection by another manager that was begun meanwhile. The first that stands is taken.
    pub second: Option<Box<CmConnection>>,
    /// At a client, it was begun beside another.
    pub is_second: bool,
    /// At a client, until its server replies; at either, until the transport has delivered the messages it has.
    pub deadline: Option<Timer>,
    /// The status of a connection that has ended.
    pub gone: Option<Status>,
    /// The peer's close message has come.
    pub close_received: bool,
}

impl CmConnection {
    pub fn new(
        endpoint: Box<dyn Endpoint>,
        remote: SocketAddr,
        from: Option<SocketAddr>,
        manager: usize,
        deadline: Option<Timer>,
    ) -> CmConnection {
        CmConnection {
            endpoint,
            remote,
            from,
            device: String::new(),
            manager,
            patience: None,
            second: None,
            is_second: false,
            deadline,
            gone: None,
            close_received: false,
        }
    }

    /// The attempt by this manager.
    pub fn attempt(&self, manager: usize) -> Option<&CmConnection> {
        let all = [Some(self), self.second.as_deref()];
        all.into_iter().flatten().find(|c| c.manager == manager)
    }

    /// As `attempt`.
    pub fn attempt_mut(&mut self, manager: usize) -> Option<&mut CmConnection> {
        if self.manager == manager {
            return Some(self);
        }
        let second = self.second.as_deref_mut();
        second.filter(|second| second.manager == manager)
    }

    /// The local end, while the connection stands.
    pub fn local(&self) -> Option<SocketAddr> {
        self.endpoint.local_address()
    }
}

impl Drop for CmConnection {
    fn drop(&mut self) {
        // The peer learns at once; it may know already.
        if let Err(e) = self.endpoint.disconnect() {
            ucs_debug!("disconnecting from {}: {e}", self.remote);
        }
    }
}
