//! The close message of a remote endpoint.
#![forbid(unsafe_code)]

use crate::ucp::ep::{End, Pin};
use crate::ucp::tag;
use crate::ucp::wireup::cm;
use crate::ucp::worker_core::Core;
use crate::ucs::Status;
use crate::wire::header::{CloseHdr, Header};

/// The remote endpoint was closed. An implicit endpoint is destroyed. An endpoint of the application stays, as the
/// peer's worker still receives messages; but a close by force fails an endpoint with error handling, and in any case
/// the messages that the peer was sending. Between client and server, the end of their connection fails the endpoint.
pub fn on_close(worker: &Core, message: &[u8]) -> Option<()> {
    let (h, _) = CloseHdr::split(message)?;
    worker.endpoints().pairing.take_return_path(h.ep);
    let Some(ep) = worker.paired(h.ep) else {
        return Some(());
    };
    let _pin = Pin::new(ep);
    ep.peer_closed.set(true);
    let gone = cm::on_close_message(ep);
    if ep.is_hidden() {
        ep.destroy(Status::CONNECTION_RESET, End::Flushed);
        worker.endpoints().pairing.take_return_path(h.ep);
    } else if h.forced != 0 {
        // Those that the peer could not send to the end on a rail: it has cut the others.
        for message in worker.proto().reassemblies.take_of_ep(h.ep) {
            tag::recv::sender_gone(worker, &message, Status::CONNECTION_RESET);
        }
        if !ep.handles_errors() {
            ep.on_sender_closed(Status::CONNECTION_RESET);
        } else {
            ep.on_peer_closed(Status::CONNECTION_RESET);
        }
    }
    if let Some(status) = gone {
        ep.on_peer_closed(status);
    }
    Some(())
}
