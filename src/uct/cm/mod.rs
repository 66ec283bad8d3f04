//! The connection manager: clients and servers that find each other by socket address over TCP.
//!
//! | file | holds |
//! |---|---|
//! | `manager` | `Manager`: what is shared by listeners and endpoints, and the deadline of unauthenticated peers |
//! | `listener` | accepting sockets |
//! | `conn`, `step` | one connection: its state, and how bytes and the end of the stream move it |
//! | `proof` | with a secret: the hand-shake, and messages in records |
//! | `endpoint` | what a client or a server may ask of a connection |
//! | `handle` | the C objects around these |
//! | `refuse` | the op table of endpoints that carry no data |
//! | `wire`, `config` | byte format, variables |
//!
//! Everything runs with the worker's async context blocked: handlers come from the async thread or
//! from polling, callers block. Owners are called with no lock of ours held but that, and may call
//! back. UCP uses `Manager` and `Owner` directly; `abi` wraps them for C.

mod config;
mod conn;
mod endpoint;
pub mod handle;
mod listener;
mod manager;
mod proof;
mod refuse;
mod step;
pub mod wire;

pub use config::TABLE;
pub use endpoint::{Disconnect, Endpoint};
pub use listener::Listener;
pub use manager::Manager;

use crate::ucs::Result;
use std::net::SocketAddr;

/// Identifies a client that waits for a reply; never reused in a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RequestId(pub usize);

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
