//! `Waiting`: what a receiver knows of a message that waits at its sender: an `Rts` or an `OwnSend`.
#![forbid(unsafe_code)]

use crate::uct::internal::EpochGuard;
use crate::wire::header::Extents;
use crate::wire::id::RequestName;
use std::rc::Rc;

/// An RTS: the sender of a message, and the address of its data.
#[derive(Clone, Debug)]
pub struct Rts {
    pub sender: RequestName,
    pub total: usize,
    /// Address of the data at the sender, if contiguous and readable; else 0.
    pub address: u64,
    /// The sender's region of the data, if it can be mapped here; 0 for none.
    pub region: u64,
    /// Where the data are, if they are a list that can be mapped here.
    pub list: Option<Rc<List>>,
    /// The revocation epoch of which the address is valid; none when the sender never revokes it.
    pub guard: Option<EpochGuard>,
    /// The peer's region of the epoch word, if it can be mapped here.
    pub epoch_region: u64,
}

/// Extents of the sender's memory, which make up a message.
#[derive(Debug)]
pub struct List {
    /// The sender's region that has them.
    pub region: u64,
    pub extents: Extents,
}

/// A message of a worker to itself: the data are in the buffer of the send.
#[derive(Clone, Copy, Debug)]
pub struct OwnSend {
    pub sender: RequestName,
    pub total: usize,
}

impl OwnSend {
    /// As an RTS that names no memory.
    pub fn as_rts(self) -> Rts {
        Rts {
            sender: self.sender,
            total: self.total,
            address: 0,
            region: 0,
            list: None,
            guard: None,
            epoch_region: 0,
        }
    }
}

/// A message that waits at its sender. Small: it goes through several hands.
#[derive(Debug)]
pub enum Waiting {
    /// At a peer, or at this worker where it sent an RTS.
    Rts(Box<Rts>),
    Own(OwnSend),
}

impl Waiting {
    pub fn sender(&self) -> RequestName {
        match self {
            Waiting::Rts(message) => message.sender,
            Waiting::Own(message) => message.sender,
        }
    }

    pub fn total(&self) -> usize {
        match self {
            Waiting::Rts(message) => message.total,
            Waiting::Own(message) => message.total,
        }
    }
}
