//! Closes of endpoints between client and server, which end when the other side has disconnected as well: its error
//! handler was called by then, or it closes too. That of an endpoint to a process of upstream's ends, and disconnects, when
//! the other side has acknowledged what was sent.
#![forbid(unsafe_code)]

use crate::ucp::cm_connection::CmConnection;
use crate::ucp::request::Req;
use crate::ucs::Result;
use core::cell::RefCell;
use std::collections::HashMap;

/// A close whose operations are complete.
struct Close {
    request: Req,
    /// Once the endpoint is destroyed.
    connection: Option<Box<CmConnection>>,
}

/// The closes of a worker, by the endpoint's id.
#[derive(Default)]
pub struct Closing(RefCell<HashMap<u64, Close>>);

impl Closing {
    pub fn begin(&self, ep: u64, request: Req) {
        let close = Close {
            request,
            connection: None,
        };
        self.0.borrow_mut().insert(ep, close);
    }

    /// Whether a close of an endpoint waits, or will.
    pub fn waits(&self, ep: u64) -> bool {
        self.0.borrow().contains_key(&ep)
    }

    /// The endpoint is destroyed, and `disconnect` has this side disconnect or wait to; an error is that there is no other
    /// side to wait for. Drops the connection unless a close waits.
    pub fn on_destroyed(
        &self,
        ep: u64,
        mut connection: Box<CmConnection>,
        disconnect: impl FnOnce(&mut CmConnection) -> Result<()>,
    ) {
        let waits = self.waits(ep) && disconnect(&mut connection).is_ok();
        if !waits {
            drop(connection);
            self.end(ep);
        } else if let Some(close) = self.0.borrow_mut().get_mut(&ep) {
            close.connection = Some(connection);
        }
    }

    /// The other side has disconnected, has acknowledged everything, or has had its time. Returns whether a close of a destroyed endpoint has waited for
    /// that.
    pub fn on_disconnected(&self, ep: u64) -> bool {
        let waits = self
            .0
            .borrow()
            .get(&ep)
            .is_some_and(|close| close.connection.is_some());
        if waits {
            self.end(ep);
        }
        waits
    }

    /// The worker ends: nobody is waited for.
    pub fn end_all(&self) {
        loop {
            let next = self.0.borrow().keys().next().copied();
            let Some(ep) = next else { return };
            self.end(ep);
        }
    }

    fn end(&self, ep: u64) {
        let ended = self.0.borrow_mut().remove(&ep);
        if let Some(Close {
            request,
            connection,
        }) = ended
        {
            drop(connection);
            request.complete(Ok(()));
        }
    }
}
