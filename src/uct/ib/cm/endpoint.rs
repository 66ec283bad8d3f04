//! `RdmaEndpoint`: the client's or the server's end of a connection.

use super::conn::Conn;
use crate::ucs::Result;
use crate::ucs::async_ctx::{AsyncContext, Blocked};
use crate::uct::cm::{Disconnect, Endpoint};
use std::net::SocketAddr;
use std::sync::Arc;

pub(super) struct RdmaEndpoint {
    pub conn: Arc<Conn>,
}

impl RdmaEndpoint {
    fn block(&self) -> Blocked<'_> {
        self.conn.shared.ctx.block()
    }
}

impl Endpoint for RdmaEndpoint {
    fn context(&self) -> AsyncContext {
        self.conn.shared.ctx.clone()
    }

    fn local_address(&self) -> Option<SocketAddr> {
        let _blocked = self.block();
        self.conn.state.lock().id.as_ref()?.local()
    }

    fn connect(&self, private: &[u8]) -> Result<()> {
        let _blocked = self.block();
        self.conn.ask(private)
    }

    /// Private data cannot go with it.
    fn notify(&self, _private: &[u8]) -> Result<()> {
        let _blocked = self.block();
        self.conn.notify()
    }

    fn disconnect(&self) -> Result<Disconnect> {
        let _blocked = self.block();
        self.conn.disconnect()
    }
}

impl Drop for RdmaEndpoint {
    fn drop(&mut self) {
        let _blocked = self.block();
        self.conn.close();
    }
}
