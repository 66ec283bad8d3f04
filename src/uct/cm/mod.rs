//! Connection managers: clients and servers that find each other by socket address. An implementation is a `Manager`,
//! with its `Listener`s and `Endpoint`s.
//!
//! | file | holds |
//! |---|---|
//! | `tcp` | the manager over TCP |
//! | `config` | the variables of all managers |
//! | `handle` | the C objects around managers, listeners and endpoints |
//! | `refuse` | the op table of endpoints that carry no data |
//! | `requests` | the clients that wait for a reply |
//!
//! Everything runs with the worker's async context blocked: handlers come from the async thread or
//! from polling, callers block. Owners are called with no lock of ours held but that, and may call
//! back. UCP uses `Manager` and `Owner` directly; `abi` wraps them for C.

pub(super) mod config;
pub mod handle;
mod refuse;
pub(super) mod requests;
pub mod tcp;

use crate::ucs::Result;
use crate::ucs::async_ctx::{AsyncContext, Blocked};
use core::sync::atomic::{AtomicUsize, Ordering};
use std::net::SocketAddr;
use std::sync::Arc;

/// Identifies a client that waits for a reply; never reused in a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RequestId(pub usize);

/// Numbers of connections and listeners: never used twice.
pub(super) fn next_id() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    // Relaxed: only uniqueness matters.
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// The data of the other side of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Remote<'a> {
    /// The transport's address of the device it is reached by.
    pub device: &'a [u8],
    pub private: &'a [u8],
    /// The other side is a process of upstream UCX: the data are in its format.
    pub is_upstream: bool,
}

/// A connection request of a client.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub id: RequestId,
    /// The local interface that it came by.
    pub device: &'a str,
    pub remote: Remote<'a>,
    pub client: SocketAddr,
    /// The local end of its connection.
    pub server: SocketAddr,
}

/// Who listens.
pub trait Visitor: Send + Sync {
    fn request(&self, request: Request<'_>);
    /// Whether clients of upstream UCX are shown too.
    fn takes_upstream(&self) -> bool {
        false
    }
}

/// Whose endpoint it is. Nothing is called after the endpoint was dropped.
pub trait Owner: Send + Sync {
    /// Whether `pack` gives the private data.
    fn packs(&self) -> bool {
        false
    }
    /// Whether the server may be a process of upstream UCX.
    fn takes_upstream(&self) -> bool {
        false
    }
    /// Fills the private data to send; how many bytes.
    fn pack(&self, device: &str, out: &mut [u8]) -> Result<usize>;
    /// A client's way to the server is known, or there is none. An error gives the connection up.
    fn resolved(&self, device: &str, outcome: Result<()>) -> Result<()>;
    /// A client's answer; exactly once.
    fn connected(&self, answer: Result<Remote<'_>>);
    /// A server's client finished, with private data, or went; at most once.
    fn notified(&self, outcome: Result<&[u8]>);
    /// The other side of an established connection disconnected, or went; at most once.
    fn disconnected(&self);
}

/// A connection manager.
pub trait Manager {
    /// Keeps callbacks out while it lives.
    fn block(&self) -> Blocked<'_>;

    /// For a manager whose connections are between devices of transports: whether this is such a device, `NAME:PORT`.
    /// `None`: its connections have nothing to do with devices.
    fn of_devices(&self) -> Option<fn(&str) -> bool> {
        None
    }

    /// Most bytes of private data.
    fn max_private(&self) -> usize;

    /// Listens at `at`; clients are shown to `visitor`. `BUSY` when the address is taken, `IO_ERROR`
    /// when it cannot be had.
    fn listen(
        &self,
        at: SocketAddr,
        backlog: Option<i32>,
        visitor: Arc<dyn Visitor>,
    ) -> Result<Box<dyn Listener>>;

    /// Begins to connect to the server at `to`, from `from` if given.
    fn connect(
        &self,
        to: SocketAddr,
        from: Option<SocketAddr>,
        owner: Arc<dyn Owner>,
    ) -> Result<Box<dyn Endpoint>>;

    /// Accepts a client with private data, or what the owner packs. The request is used up, also
    /// when this fails: the client is rejected then, unless it went (`CONNECTION_RESET`).
    fn accept(
        &self,
        request: RequestId,
        owner: Arc<dyn Owner>,
        private: &[u8],
    ) -> Result<Box<dyn Endpoint>>;

    /// Turns a client down; `NOT_CONNECTED` when it went before.
    fn reject(&self, request: RequestId) -> Result<()>;

    /// Turns a client down whose request came by another manager before: where the manager can say so, the client gets
    /// `BUSY` and waits for the answer to that one.
    fn turn_away(&self, request: RequestId) -> Result<()> {
        self.reject(request)
    }
}

/// Shows clients that present themselves to its visitor. Dropping it ends that; requests can still be answered.
pub trait Listener {
    /// Where it listens, with the port that it got.
    fn address(&self) -> SocketAddr;
}

/// The client's or the server's end of a connection. Dropping it destroys it.
pub trait Endpoint {
    /// What keeps callbacks out; a copy, since a callback may drop the endpoint.
    fn context(&self) -> AsyncContext;

    /// The local end of the connection, while it has one.
    fn local_address(&self) -> Option<SocketAddr>;

    /// Client: gives the private data and goes on connecting. `BUFFER_TOO_SMALL` when they are too
    /// long, `ALREADY_EXISTS` the second time, `NOT_CONNECTED` when the attempt failed before.
    fn connect(&self, private: &[u8]) -> Result<()>;

    /// Client: tells the server that this side is connected, with a few bytes of private data where the manager carries
    /// some. `NOT_CONNECTED` unless it is.
    fn notify(&self, private: &[u8]) -> Result<()>;

    /// Tells the peer that this side is done. `BUSY` before the connection stands, `NOT_CONNECTED`
    /// when there is none or both sides are done.
    fn disconnect(&self) -> Result<Disconnect>;
}

/// The result of a disconnection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disconnect {
    /// The peer is told.
    Done,
    /// The peer was told before, and has not answered.
    InProgress,
}
