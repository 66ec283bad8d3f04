//! `Endpoint`: the client's or the server's end of a connection. Dropping it destroys it.
#![forbid(unsafe_code)]

use super::conn::Conn;
use crate::ucs::Result;
use crate::ucs::async_ctx::{AsyncContext, Blocked};
use std::net::SocketAddr;
use std::sync::Arc;

pub struct Endpoint {
    pub(super) conn: Arc<Conn>,
}

/// The result of a disconnection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disconnect {
    /// The peer is told.
    Done,
    /// The peer was told before, and has not answered.
    InProgress,
}

impl Endpoint {
    /// What keeps callbacks out; a copy, since a callback may drop the endpoint.
    pub fn context(&self) -> AsyncContext {
        self.conn.shared.ctx.clone()
    }

    fn block(&self) -> Blocked<'_> {
        self.conn.shared.ctx.block()
    }

    /// The local end of the connection, while it has a socket.
    pub fn local_address(&self) -> Option<SocketAddr> {
        let _blocked = self.block();
        let state = self.conn.state.lock();
        state.socket.as_ref()?.local_addr().ok()
    }

    /// Client: gives the private data and goes on connecting. `BUFFER_TOO_SMALL` when they are too
    /// long, `ALREADY_EXISTS` the second time, `NOT_CONNECTED` when the attempt failed before.
    pub fn connect(&self, private: &[u8]) -> Result<()> {
        let _blocked = self.block();
        self.conn.ask(private)
    }

    /// Client: tells the server that this side is connected, with up to `wire::MAX_NOTIFY` bytes of private data.
    /// `NOT_CONNECTED` unless it is.
    pub fn notify(&self, private: &[u8]) -> Result<()> {
        let _blocked = self.block();
        self.conn.notify(private)
    }

    /// Tells the peer that this side is done. `BUSY` before the connection stands, `NOT_CONNECTED`
    /// when there is none or both sides are done.
    pub fn disconnect(&self) -> Result<Disconnect> {
        let _blocked = self.block();
        self.conn.disconnect()
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        let _blocked = self.block();
        self.conn.close();
    }
}
