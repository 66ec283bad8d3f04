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
            deadline,
            gone: None,
            close_received: false,
        }
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
