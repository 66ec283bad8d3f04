//! `TcpEndpoint`: the client's or the server's end of a connection.
#![forbid(unsafe_code)]

use super::conn::Conn;
use crate::ucs::Result;
use crate::ucs::async_ctx::{AsyncContext, Blocked};
use crate::uct::cm::{Disconnect, Endpoint};
use std::net::SocketAddr;
use std::sync::Arc;

pub(super) struct TcpEndpoint {
    pub conn: Arc<Conn>,
}

impl TcpEndpoint {
    fn block(&self) -> Blocked<'_> {
        self.conn.shared.ctx.block()
    }
}

impl Endpoint for TcpEndpoint {
    fn context(&self) -> AsyncContext {
        self.conn.shared.ctx.clone()
    }

    fn local_address(&self) -> Option<SocketAddr> {
        let _blocked = self.block();
        let state = self.conn.state.lock();
        state.socket.as_ref()?.local_addr().ok()
    }

    fn connect(&self, private: &[u8]) -> Result<()> {
        let _blocked = self.block();
        self.conn.ask(private)
    }

    /// With up to `wire::MAX_NOTIFY` bytes of private data.
    fn notify(&self, private: &[u8]) -> Result<()> {
        let _blocked = self.block();
        self.conn.notify(private)
    }

    fn disconnect(&self) -> Result<Disconnect> {
        let _blocked = self.block();
        self.conn.disconnect()
    }
}

impl Drop for TcpEndpoint {
    fn drop(&mut self) {
        let _blocked = self.block();
        self.conn.close();
    }
}
