//! The end of an endpoint, as the peer tells it.

use crate::ucp::ep::{End, Ep, Pin};
use crate::ucp::wireup::cm;
use crate::ucp::worker::Worker;
use crate::ucs::Status;
use crate::wire::header::{CloseHdr, Header};

/// The peer closed its side: an endpoint that only answered it goes. One of the application stays, as
/// the peer's worker still takes messages; but a close by force is the end of one with error handling,
/// and of what the peer was sending in any case. Between client and server the end of their connection is it.
pub fn received(worker: &Worker, message: &[u8]) -> Option<()> {
    let (h, _) = CloseHdr::split(message)?;
    let name = (h.uuid, h.ep);
    worker.pairing.take_return_path(name);
    let Some(ep) = worker.paired(h.uuid, h.ep) else {
        return Some(());
    };
    let _pin = Pin::new(ep);
    ep.peer_closed.set(true);
    let gone = cm::last_words(ep);
    if ep.implicit.get() && !ep.exposed.get() {
        // SAFETY: in the table, so alive; nobody else knows of it.
        unsafe { Ep::destroy(ep, Status::CONNECTION_RESET, End::Flushed) };
        worker.pairing.take_return_path(name);
    } else if h.forced != 0 {
        if !ep.handles_errors() {
            ep.sender_left(Status::CONNECTION_RESET);
        } else {
            ep.peer_left(Status::CONNECTION_RESET);
        }
    }
    if let Some(status) = gone {
        ep.peer_left(status);
    }
    Some(())
}
