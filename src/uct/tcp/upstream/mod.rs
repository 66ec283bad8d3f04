//! Connections with interfaces of upstream UCX, by its byte formats.
//!
//! Upstream numbers the connections between two interfaces, from 0 on. Of the first, both sides send on whichever was
//! opened, so that the kernel acknowledges messages along with the answers (`link`). Others carry messages one way, and
//! this side opens those with numbers that upstream does not give. None has an identity: whoever reaches the port may
//! send. Connections of endpoints that were made by socket address carry messages both ways, and who connects
//! names the other's endpoint by its key. Only an interface whose user has asked for upstream's messages accepts such
//! connections (`Internal::on_upstream`), and none with a secret does.
//!
//! | file | holds |
//! |---|---|
//! | `frames` | byte formats |
//! | `link` | connecting and accepting |
//! | `lane` | connections of endpoints, by key |
//! | `rx` | reading frames |
//! | `flush_responder` | acknowledges flushes when the owner makes no progress |
#![forbid(unsafe_code)]

pub mod flush_responder;
pub mod frames;
pub mod lane;
pub mod link;
pub mod rx;

use crate::sys::socket::Socket;
use core::cell::{Cell, OnceCell, RefCell};
use flush_responder::FlushResponder;
use frames::Purpose;
use std::net::SocketAddr;

/// What a connection with an interface of upstream's has beside the others.
#[derive(Default)]
pub struct Upstream {
    /// The address of the peer's device, in upstream's format; of a lane only where the peer has opened it.
    pub device: OnceCell<Vec<u8>>,
    /// Where the interface that has opened it says that it listens.
    pub listener: Cell<Option<SocketAddr>>,
    /// The peer sends messages by it.
    pub is_heard: Cell<bool>,
    /// The connection that the peer has opened at the same time, which it closes, as this one stays.
    pub rival: RefCell<Option<Socket>>,
    /// Of one that this interface opens: what the peer is told it is for.
    pub purpose: Cell<Option<Purpose>>,
    /// Of an endpoint's: our key.
    pub key: Cell<Option<u64>>,
    /// It has been opened, and the worker does not know yet.
    pub is_news: Cell<bool>,
    /// It is known where it leads.
    pub is_met: Cell<bool>,
    /// The peer connects anew: nothing is sent any more.
    pub is_left: Cell<bool>,
    /// The endpoint is closed: the connection ends with what is still to be sent, at this time at the latest.
    pub end: Cell<Option<u64>>,
    /// The key by which the worker hears that the peer has all that was sent before the end.
    pub asker: Cell<Option<u64>>,
    /// What it has brought is being handled.
    pub is_receiving: Cell<bool>,
    /// Of a connection by which the peer sends messages: acknowledges flushes when this side makes no progress.
    pub responder: RefCell<Option<FlushResponder>>,
}
