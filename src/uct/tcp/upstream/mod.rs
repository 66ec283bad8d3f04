//! Connections with interfaces of upstream UCX, by its byte formats.
//!
//! A connection of upstream's carries messages one way: each side sends on the socket that it has opened, and gets only
//! acknowledgements there. So there is a connection for each direction, and neither has an identity: whoever reaches the
//! port may send. Only an interface whose user has asked for upstream's messages accepts such connections
//! (`Internal::on_upstream`), and none with a secret does.
//!
//! | file | holds |
//! |---|---|
//! | `frames` | byte formats |
//! | `link` | connecting and accepting |
//! | `rx` | reading frames |
#![forbid(unsafe_code)]

pub mod frames;
pub mod link;
pub mod rx;

use core::cell::{Cell, OnceCell};

/// What a connection with an interface of upstream's has beside the others.
#[derive(Default)]
pub struct Upstream {
    /// Of a connection that the peer has opened: the address of its device, in upstream's format.
    pub device: OnceCell<Vec<u8>>,
    /// Of one that this interface opens: its number, which the peer is told.
    pub number: Cell<u64>,
}
