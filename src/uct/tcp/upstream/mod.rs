//! Connections with interfaces of upstream UCX, by its byte formats.
//!
//! A connection of upstream's carries messages one way: each side sends on the socket that it has opened, and gets only
//! acknowledgements there. So there is a connection for each direction, and neither has an identity: whoever reaches the
//! port may send. Connections of endpoints that were made by socket address carry messages both ways, and who connects
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

use core::cell::{Cell, OnceCell, RefCell};
use flush_responder::FlushResponder;
use frames::Purpose;

/// What a connection with an interface of upstream's has beside the others.
#[derive(Default)]
pub struct Upstream {
    /// Of a connection that the peer has opened: the address of its device, in upstream's format.
    pub device: OnceCell<Vec<u8>>,
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
    /// What it has brought is being handled.
    pub is_receiving: Cell<bool>,
    /// Of a connection that the peer has opened: acknowledges flushes when this side makes no progress.
    pub responder: RefCell<Option<FlushResponder>>,
}
