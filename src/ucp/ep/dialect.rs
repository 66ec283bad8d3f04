//! The dialect of an endpoint: whose message formats it uses.
//!
//! The engine is the same for both. An endpoint to a process of upstream UCX has no short-send route, and its lane sends
//! upstream's frames; what writes messages asks for the dialect (`proto/upstream`).
#![forbid(unsafe_code)]

use super::{Ep, Task};
use crate::ucp::ep::Control;
use crate::wire::header::AmId;
use crate::wire::upstream::address::for_wireup;
use crate::wire::upstream::message::{self, Wireup, WireupKind};

// Both dialects' wire-up messages are control messages of this id.
const _: () = assert!(AmId::Wireup as u8 == message::WIREUP);

impl Ep {
    /// The peer is a process of upstream's. Before the endpoint is connected.
    pub fn set_upstream(&self) {
        self.upstream.set(true);
    }

    #[inline]
    pub fn is_upstream(&self) -> bool {
        self.upstream.get()
    }

    /// Whether the peer knows control messages of this kind. What only ours know says that an endpoint is closed or a
    /// message cut off; upstream's see the end of the connection.
    pub(super) fn has_message(&self, id: AmId) -> bool {
        !self.is_upstream() || id == AmId::Wireup
    }

    /// The answer to a wire-up request of upstream's endpoint `receiver`.
    pub fn upstream_reply(&self, receiver: u64) -> Task {
        let header = Wireup {
            kind: WireupKind::Reply,
            error_mode: self.params.get().err_mode as u8,
            number: self.serial.get() as u16,
            sender: self.id.get(),
            receiver,
        };
        let address = for_wireup(self.worker().uuid, &[]);
        Task::Control(Box::new(Control {
            id: AmId::Wireup,
            bytes: [&header.encode()[..], &address].concat(),
        }))
    }
}
