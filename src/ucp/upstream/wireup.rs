//! Wire-up messages of upstream's workers: each asks which endpoint of ours belongs to one of its own.
#![forbid(unsafe_code)]

use super::connect;
use crate::ucp::ep::{End, Ep, EpRef, MadeBy};
use crate::ucp::wireup;
use crate::ucp::worker_core::Core;
use crate::uct::internal::UpstreamMessage;
use crate::wire::id::{EpId, EpName};
use crate::wire::upstream::Address;
use crate::wire::upstream::address::{Entry, Place};
use crate::wire::upstream::message::{Wireup, WireupKind};
use crate::{ucs_debug, ucs_diag};

/// Handles a wire-up message.
pub fn on_wireup(worker: &Core, message: &UpstreamMessage<'_>) -> Option<()> {
    let (header, blob) = Wireup::split(message.body)?;
    let (address, entries) = Address::with_entries(blob, Place::Wireup)?;
    if let Some(key) = message.key {
        wireup::upstream::on_wireup(worker, key, &header, &address, &entries);
        return Some(());
    }
    match header.kind {
        WireupKind::Request if header.receiver == 0 => {
            // It is answered only where it comes from.
            // Releases write the same device at different lengths.
            let is_there = |entry: &Entry<'_>| {
                let device = message.device.unwrap_or_default();
                !entry.device.is_empty() && device.starts_with(entry.device)
            };
            let there: Vec<_> = entries.into_iter().filter(is_there).collect();
            on_request(worker, &header, &address, &there);
        }
        WireupKind::Reply => on_reply(worker, &header, address.uuid),
        kind => {
            ucs_debug!("{kind} of upstream UCX, which needs no answer");
        }
    }
    Some(())
}

/// A worker has answered a request of ours.
fn on_reply(worker: &Core, header: &Wireup, uuid: u64) {
    let id = EpId(header.sender);
    match worker.ep(header.receiver) {
        Some(ep) if ep.is_upstream() && ep.remote_uuid.get() == uuid => {
            ep.named_by_upstream(EpName { uuid, id });
        }
        _ => ucs_debug!("a wire-up reply of upstream UCX is for no endpoint of this worker"),
    }
}

/// A worker has an endpoint to this one: pairs it with one of ours, else with a new one to a transport `there`, and
/// answers.
fn on_request(worker: &Core, header: &Wireup, of: &Address, there: &[Entry<'_>]) {
    let uuid = of.uuid;
    let id = EpId(header.sender);
    let remote = EpName { uuid, id };
    let pairing = &worker.endpoints().pairing;
    if pairing.is_paired(remote) {
        return;
    }
    let serial = u32::from(header.number);
    let is_suitable = |id| {
        let ep = worker.ep(id);
        ep.is_some_and(|ep| ep.is_upstream() && ep.is_usable())
    };
    let unpaired = pairing.take_unpaired(uuid, serial, is_suitable);
    let ep = match unpaired.and_then(|id| worker.ep(id)) {
        Some(ep) => Some(ep.to_ref()),
        None => make(worker, of, serial, there),
    };
    if let Some(ep) = ep {
        ep.peer_handles_errors.set(header.error_mode != 0);
        // Both ask: the request of the worker with the smaller uuid is the one that is answered.
        if ep.is_wireup_sent() && uuid > worker.uuid {
            return;
        }
        ep.named_by_upstream(remote);
        ep.post(ep.upstream_reply(header.sender));
    }
}

/// Makes an implicit endpoint to a worker.
fn make(worker: &Core, of: &Address, serial: u32, there: &[Entry<'_>]) -> Option<EpRef> {
    let uuid = of.uuid;
    if there.is_empty() {
        ucs_diag!(
            "a wire-up message of upstream UCX does not name the device that it came from: it is not answered"
        );
        return None;
    }
    let pairing = &worker.endpoints().pairing;
    if !pairing.may_add_implicit(uuid) {
        ucs_diag!(
            "worker {uuid:#x} introduces more endpoints than are kept before the application takes them; dropped"
        );
        return None;
    }
    let made = Ep::hidden(worker, MadeBy::Peer);
    if let Err(e) = connect::join(worker, &made, of, there) {
        ucs_diag!("worker {uuid:#x} of upstream UCX cannot be answered: {e}");
        made.destroy(e, End::Flushed);
        return None;
    }
    made.serial.set(serial);
    pairing.add_implicit(uuid, serial, made.id.get());
    Some(made)
}
