//! The end of remote endpoints: by close messages, and by messages that tell of a failure.
#![forbid(unsafe_code)]

use super::select;
use crate::ucp::ep::{End, Ep, MadeBy, Pin, Task};
use crate::ucp::tag;
use crate::ucp::wireup::cm;
use crate::ucp::worker_core::Core;
use crate::ucs::Status;
use crate::wire::header::{CloseHdr, EpFailedHdr, Header};
use crate::wire::id::EpName;

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
        tag::recv::end_messages(worker, h.ep);
        if !ep.handles_errors() {
            ep.on_sender_closed(Status::CONNECTION_RESET);
        } else {
            ep.on_peer_closed(Status::CONNECTION_RESET);
        }
    }
    if let Some(status) = gone {
        ep.on_peer_closed(status);
        cm::disconnect(ep);
    }
    Some(())
}

/// An endpoint to that worker has failed. The messages end whose senders have no other endpoint here that would hear
/// of their end. The others may still come, by connections of their own.
pub fn end_unattended_messages(worker: &Core, uuid: u64, status: Status) {
    let is_unattended = |sender: EpName| {
        let hears = |ep: &Ep| ep.is_connected() && ep.is_usable();
        !worker.paired(sender).is_some_and(hears) && !worker.failover().receives_from(sender)
    };
    let reassemblies = &worker.proto().reassemblies;
    for message in reassemblies.take_of_senders(uuid, is_unattended) {
        tag::recv::sender_gone(worker, &message, status);
    }
}

/// The remote endpoint has failed by its transport, of which the transport of this one need not know: replies to this one
/// may be lost. It fails too, with error handling or without.
pub fn on_ep_failed(worker: &Core, message: &[u8]) -> Option<()> {
    let (h, _) = EpFailedHdr::split(message)?;
    worker.endpoints().pairing.take_return_path(h.ep);
    let is_of_sender = |ep: &&Ep| ep.remote_uuid.get() == h.ep.uuid;
    let named = worker.ep(h.peer.0).filter(is_of_sender);
    let found = named.or_else(|| worker.paired(h.ep));
    let _pin = found.map(Pin::new);
    tag::recv::end_messages(worker, h.ep);
    if let Some(ep) = found {
        ep.on_peer_failed(Status::CONNECTION_RESET);
    }
    Some(())
}

/// Sends a message of an endpoint that has failed by another lane, if there is a connection to the peer already: where
/// the peer has ended nothing is tried.
pub fn send_by_another_lane(ep: &Ep, message: Task) {
    let worker = ep.worker();
    let Some((address, lane)) = ep.shared_address().and_then(|address| {
        let lane = select::connected_lane(worker, address)?;
        Some((address.clone(), lane))
    }) else {
        return;
    };
    let carrier = Ep::hidden(worker, MadeBy::ReturnPath);
    if carrier.connected(lane, address).is_ok() {
        carrier.post(message);
    }
    carrier.destroy(Status::CANCELED, End::Flushed);
}
