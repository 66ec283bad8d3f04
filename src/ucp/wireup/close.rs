//! The end of an endpoint, as the peer tells it.

use crate::ucp::ep::Ep;
use crate::ucp::worker::Worker;
use crate::ucs::Status;
use crate::wire::header::{CloseHdr, Header};

/// The peer closed its side.
pub fn received(worker: &Worker, message: &[u8]) -> Option<()> {
    let (h, _) = CloseHdr::split(message)?;
    if let Some(ep) = worker.ep_of_peer(h.uuid, h.ep) {
        if ep.hidden.get() && !ep.shown.get() {
            // SAFETY: in the table, so alive; nobody else knows of it.
            unsafe { Ep::destroy(ep, Status::CONNECTION_RESET) };
        } else {
            ep.fail(Status::CONNECTION_RESET);
        }
    }
    Some(())
}
