//! The end of an endpoint, as the peer tells it.

use crate::ucp::ep::Ep;
use crate::ucp::worker::Worker;
use crate::ucs::Status;
use crate::wire::header::{CloseHdr, Header};

/// The peer closed its side: an endpoint that only answered it goes. One of the application stays, as
/// the peer's worker still takes messages.
pub fn received(worker: &Worker, message: &[u8]) -> Option<()> {
    let (h, _) = CloseHdr::split(message)?;
    let key = (h.uuid, h.ep);
    worker.left.borrow_mut().remove(&key);
    let known = worker.by_peer.borrow().get(&key).copied();
    if let Some(ep) = known.and_then(|id| worker.ep(id))
        && ep.hidden.get()
        && !ep.shown.get()
    {
        // SAFETY: in the table, so alive; nobody else knows of it.
        unsafe { Ep::destroy(ep, Status::CONNECTION_RESET) };
        worker.left.borrow_mut().remove(&key);
    }
    Some(())
}
