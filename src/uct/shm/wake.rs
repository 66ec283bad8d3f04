//! `Wake`: the socket by which an interface is woken, and wakes others. An interface that has no endpoint and never
//! sleeps has none: it is made for the first of both, and its name stands in the interface's segment from then on.

use super::layout::Bells;
use super::segment::Segment;
use crate::sys::dgram::{Name, WakeSocket};
use crate::ucs::Result;
use std::sync::{Arc, OnceLock};

pub struct Wake {
    own: OnceLock<(WakeSocket, Name)>,
    /// Of the interface.
    segment: Arc<Segment>,
}

impl Wake {
    pub fn new(segment: Arc<Segment>) -> Wake {
        Wake {
            own: OnceLock::new(),
            segment,
        }
    }

    /// Where the bells of the interface are.
    pub fn bells(&self) -> Bells {
        // SAFETY: a segment of our own layout, which lives as long as this does.
        unsafe { Bells::new(self.segment.base()) }
    }

    /// The socket that becomes readable when the armed owner is to wake.
    pub fn socket(&self) -> Result<&WakeSocket> {
        if let Some((socket, _)) = self.own.get() {
            return Ok(socket);
        }
        let socket = WakeSocket::bound()?;
        let name = socket.name()?;
        let (socket, _) = self.own.get_or_init(|| {
            self.bells().set_wake_name(name);
            (socket, name)
        });
        Ok(socket)
    }

    /// Wakes the owner, if it has ever had anything to sleep on.
    pub fn poke_owner(&self) -> std::io::Result<()> {
        match self.own.get() {
            Some((socket, name)) => socket.poke(name.bytes()),
            None => Ok(()),
        }
    }
}
