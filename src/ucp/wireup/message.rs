//! The wire-up message: it tells a worker the address and id of a remote endpoint. The remote endpoint is paired with an
//! unpaired endpoint to its worker, or an implicit endpoint is made, by which replies are sent.
#![forbid(unsafe_code)]

use crate::ucp::claims;
use crate::ucp::ep::pairing::ReturnPath;
use crate::ucp::ep::{Ep, MadeBy};
use crate::ucp::failover;
use crate::ucp::wireup::select;
use crate::ucp::wireup::unproven::{self, Claim, Origin};
use crate::ucp::worker_core::Core;
use crate::ucs::Status;
use crate::uct::registry;
use crate::wire::address::Address;
use crate::wire::header::{Header, WireupHdr};
use crate::wire::id::{EpId, EpName};
use crate::{ucs_diag, ucs_error};

/// Handles a `Wireup` message.
pub fn on_wireup(worker: &Core, message: &[u8]) {
    let Some((hdr, blob)) = WireupHdr::split(message) else {
        ucs_error!(
            "a wire-up message of {} bytes is too short; dropped",
            message.len()
        );
        return;
    };
    let address = match Address::unpack(blob, registry::is_known) {
        Ok(a) if a.uuid == hdr.ep.uuid => a,
        Ok(_) => {
            ucs_error!("a wire-up message names two workers; dropped");
            return;
        }
        Err(e) => {
            ucs_error!("a wire-up message has an address that is not usable: {e}");
            return;
        }
    };
    let remote = hdr.ep;
    if worker.endpoints().pairing.is_paired(remote) {
        return;
    }
    // Both sides number the endpoints between them in the same order. Those of a worker to itself have one numbering:
    // each is paired with the next.
    let serial = if hdr.ep.uuid == worker.uuid {
        hdr.serial ^ 1
    } else {
        hdr.serial
    };
    // An endpoint that has failed sends no replies; one to another process is not the sender's.
    let is_suitable = |id| {
        worker.ep(id).is_some_and(|ep| {
            ep.is_usable() && ep.address().is_some_and(|to| claims::is_from(worker, to))
        })
    };
    let unpaired = worker
        .endpoints()
        .pairing
        .take_unpaired(hdr.ep.uuid, serial, is_suitable);
    match unpaired.and_then(|id| worker.ep(id)) {
        Some(ep) => {
            ep.pair_with(remote);
            note_arrival(worker, ep);
        }
        None if !worker.endpoints().pairing.may_add_implicit(hdr.ep.uuid) => {
            ucs_diag!(
                "worker {:#x} introduces more endpoints than are kept before the application takes them; dropped",
                hdr.ep.uuid
            );
        }
        None => {
            let proven = claims::answerable(worker, address, hdr.ticket);
            if proven.address.entries.is_empty() && proven.is_unanswered {
                // Seldom, so that the address is read again instead of being kept for it.
                if let Ok(address) = Address::unpack(blob, registry::is_known) {
                    create_unproven(worker, address, &hdr, serial);
                }
                return;
            }
            let address = proven.address;
            if address.entries.is_empty() {
                ucs_diag!(
                    "a wire-up message of worker {:#x} names no interface that it came from: it is not answered",
                    hdr.ep.uuid
                );
                return;
            }
            let path = ReturnPath {
                address: select::shared(worker, address),
                serial,
                peer_handles_errors: hdr.handles_errors(),
                failover: hdr.uses_failover(),
            };
            let made = create_reply_ep(worker, path, hdr.ep.id, MadeBy::Peer);
            if let Some(ep) = made.and_then(|id| worker.ep(id)) {
                note_arrival(worker, ep);
            }
        }
    }
}

/// The peer has chosen its lane by itself: it leads to the interface that the running handler's message came by.
fn note_arrival(worker: &Core, ep: &Ep) {
    if let Some(iface) = claims::arrival(worker) {
        ep.note_arrival(iface);
    }
}

/// Makes an implicit endpoint whose replies wait until the peer's process has confirmed that the address is its own.
fn create_unproven(worker: &Core, address: Address, hdr: &WireupHdr, serial: u32) {
    let made = Ep::hidden(worker, MadeBy::Peer);
    made.remote_uuid.set(hdr.ep.uuid);
    made.set_failover(hdr.uses_failover());
    pair_hidden(&made, serial, hdr.handles_errors(), hdr.ep);
    let claim = Claim {
        ep: made.id.get(),
        origin: Origin::Message,
        address: claims::of_this_host(worker, address),
        ticket: hdr.ticket,
    };
    unproven::wait(worker, claim);
}

/// Asks the process of a peer that sent a wire-up message again.
pub fn retry(worker: &Core, ep: &Ep, claim: Claim) {
    let proven = claims::proven(worker, claim.address.clone(), claim.ticket);
    if proven.is_unanswered {
        unproven::wait(worker, claim);
    } else if proven.address.entries.is_empty() {
        ep.fail(Status::UNREACHABLE);
    } else if let Err(e) = ep.connect_back(select::shared(worker, proven.address)) {
        ep.fail(e);
    } else {
        failover::paired(ep);
    }
}

/// Makes an implicit endpoint for replies to the remote endpoint with the id `remote`. Returns its id.
pub fn create_reply_ep(
    worker: &Core,
    path: ReturnPath,
    remote: EpId,
    made_by: MadeBy,
) -> Option<u64> {
    let uuid = path.address.uuid;
    match Ep::create_back(worker, &path, made_by) {
        Ok(made) => {
            let remote = EpName { uuid, id: remote };
            pair_hidden(&made, path.serial, path.peer_handles_errors, remote);
            failover::paired(&made);
            Some(made.id.get())
        }
        // The peer has left; `create_back` logged it.
        Err(Status::CONNECTION_RESET) => None,
        Err(e) => {
            ucs_error!("worker {uuid:#x} cannot be answered: {e}");
            None
        }
    }
}

/// Pairs an endpoint that the application does not know with `remote`.
fn pair_hidden(ep: &Ep, serial: u32, peer_handles_errors: bool, remote: EpName) {
    ep.serial.set(serial);
    ep.peer_handles_errors.set(peer_handles_errors);
    ep.worker()
        .endpoints()
        .pairing
        .add_implicit(remote.uuid, serial, ep.id.get());
    ep.pair_with(remote);
}
