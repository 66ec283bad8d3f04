//! Wire-up messages of upstream's workers: each asks which endpoint of ours belongs to one of its own.
#![forbid(unsafe_code)]

use super::connect;
use crate::ucp::ep::{End, Ep, EpRef, MadeBy};
use crate::ucp::wireup;
use crate::ucp::worker_core::Core;
use crate::ucs::Status;
use crate::uct::internal::UpstreamMessage;
use crate::wire::id::{EpId, EpName};
use crate::wire::upstream::Address;
use crate::wire::upstream::address::{Entry, Place};
use crate::wire::upstream::message::{Wireup, WireupKind};
use crate::{ucs_debug, ucs_diag, ucs_error};
use std::net::SocketAddr;

/// Handles a wire-up message.
pub fn on_wireup(worker: &Core, message: &UpstreamMessage<'_>) -> Option<()> {
    let (header, blob) = Wireup::split(message.body)?;
    let (address, entries) = Address::with_entries(blob, Place::Wireup)?;
    if let Some(key) = message.key {
        wireup::upstream::on_wireup(worker, key, &header, &address, &entries);
        return Some(());
    }
    // It is answered only where it comes from.
    // Releases write the same device at different lengths.
    let is_there = |entry: &Entry<'_>| {
        let device = message.device.unwrap_or_default();
        !entry.device.is_empty() && device.starts_with(entry.device)
    };
    let there = || -> Vec<_> { entries.iter().copied().filter(is_there).collect() };
    let known = || {
        let ep = worker.ep(header.receiver)?;
        let is_of_it = ep.is_upstream() && ep.remote_uuid.get() == address.uuid;
        (is_of_it && ep.is_usable()).then_some(ep)
    };
    match header.kind {
        WireupKind::Request if header.receiver == 0 => {
            let interfaces = connect::interfaces(worker, &entries);
            on_request(worker, &header, &address, &there(), &interfaces);
        }
        WireupKind::Reply => match known() {
            Some(ep) => on_reply(ep, &header, address.uuid),
            None => ucs_debug!("a wire-up reply of upstream UCX is for no endpoint of this worker"),
        },
        WireupKind::Check if known().is_none() => {
            tell_removed(worker, header.sender, &address, &there());
        }
        WireupKind::Removed => {
            if let Some(ep) = known() {
                ep.fail(Status::CONNECTION_RESET);
            }
        }
        kind => {
            ucs_debug!("{kind} of upstream UCX, which needs no answer");
        }
    }
    Some(())
}

/// A worker has answered a request of an endpoint.
fn on_reply(ep: &Ep, header: &Wireup, uuid: u64) {
    let id = EpId(header.sender);
    if agrees(ep, header.error_mode) {
        ep.named_by_upstream(EpName { uuid, id });
    }
}

/// Whether the modes of error handling at both ends agree. If not, the endpoint fails, as upstream's does.
fn agrees(ep: &Ep, theirs: u8) -> bool {
    let ours = ep.upstream_error_mode();
    let is_agreed = !ep.is_of_application() || ours == theirs;
    if !is_agreed {
        refuse_mode(ours, theirs);
        // The answer that it gets says it to the peer.
        ep.on_peer_closed(Status::UNSUPPORTED);
    }
    is_agreed
}

/// Logs that the modes of error handling of two endpoints differ.
pub fn refuse_mode(ours: u8, theirs: u8) {
    ucs_error!(
        "an endpoint to a process of upstream UCX has error handling mode {ours} and the endpoint there mode {theirs}; \
         upstream wants the same at both sides: create both with the same err_mode"
    );
}

/// Most endpoints whose last messages have no room yet while another is made for such an answer. Who gets none asks again.
const DRAINING_MAX: usize = 1024;

/// Tells a worker that asks for an endpoint that it is not there.
fn tell_removed(worker: &Core, asker: u64, of: &Address, there: &[Entry<'_>]) {
    if worker.endpoints().draining.borrow().len() >= DRAINING_MAX {
        return;
    }
    let messenger = Ep::hidden(worker, MadeBy::Peer);
    match connect::join(worker, &messenger, of, there) {
        Ok(()) => messenger.post(messenger.upstream_removed(asker)),
        Err(e) => ucs_diag!(
            "worker {:#x} of upstream UCX, which asks for an endpoint that is gone, cannot be answered: {e}",
            of.uuid
        ),
    }
    messenger.destroy(Status::CANCELED, End::Flushed);
}

/// A worker has an endpoint to this one: pairs it with one of ours, else with a new one to a transport `there`, and
/// answers.
fn on_request(
    worker: &Core,
    header: &Wireup,
    of: &Address,
    there: &[Entry<'_>],
    interfaces: &[SocketAddr],
) {
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
        ep.add_upstream_process(of.release, interfaces);
        // Both ask: the request of the worker with the smaller uuid is the one that is answered.
        if !ep.is_wireup_sent() || uuid < worker.uuid {
            ep.named_by_upstream(remote);
            // An endpoint that the application does not have is as the peer wants it.
            let mode = match ep.is_of_application() {
                true => ep.upstream_error_mode(),
                false => header.error_mode,
            };
            ep.post(ep.upstream_reply(header.sender, mode));
        }
        agrees(&ep, header.error_mode);
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
