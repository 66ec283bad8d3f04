//! What a `Wireup` message does: the peer's endpoint is known from here on, and answers go by an
//! endpoint of ours to its worker, made if there is none that waits for its other half.

use crate::ucp::ep::{Ep, EpParams};
use crate::ucp::wireup::halves::Name;
use crate::ucp::wireup::unproven::{self, Claim, Origin};
use crate::ucp::wireup::{claims, select};
use crate::ucp::worker::Worker;
use crate::ucs::Status;
use crate::wire::address::Address;
use crate::wire::header::{Header, WireupHdr};
use crate::{ucs_diag, ucs_error};
use std::rc::Rc;

/// Handles a `Wireup` message.
pub fn received(worker: &Worker, message: &[u8]) {
    let Some((hdr, blob)) = WireupHdr::split(message) else {
        ucs_error!(
            "a wire-up message of {} bytes is too short; dropped",
            message.len()
        );
        return;
    };
    let address = match Address::unpack(blob) {
        Ok(a) if a.uuid == hdr.uuid => a,
        Ok(_) => {
            ucs_error!("a wire-up message names two workers; dropped");
            return;
        }
        Err(e) => {
            ucs_error!("a wire-up message has an address that is not usable: {e}");
            return;
        }
    };
    let name = (hdr.uuid, hdr.ep);
    if worker.halves.is_paired(name) {
        return;
    }
    // Both sides number the endpoints between them alike. Those between a worker and itself, which
    // it numbers once, are paired each with the next.
    let serial = if hdr.uuid == worker.uuid {
        hdr.serial ^ 1
    } else {
        hdr.serial
    };
    // One that has failed answers nobody, and one to somebody else is not the sender's.
    let suits = |id| {
        worker.ep(id).is_some_and(|ep| {
            ep.is_usable() && ep.address().is_some_and(|to| claims::is_from(worker, to))
        })
    };
    let waiting = worker.halves.take_waiting(hdr.uuid, serial, suits);
    match waiting.and_then(|id| worker.ep(id)) {
        Some(ep) => ep.pair_with(name),
        None if !worker.halves.may_hide(hdr.uuid) => {
            ucs_diag!(
                "worker {:#x} introduces more endpoints than are kept before the application takes them; dropped",
                hdr.uuid
            );
        }
        None => {
            let proven = claims::answerable(worker, address.clone(), hdr.ticket);
            if proven.address.entries.is_empty() && proven.is_silent {
                answer_when_proven(worker, address, &hdr, serial);
                return;
            }
            let address = proven.address;
            if address.entries.is_empty() {
                ucs_diag!(
                    "a wire-up message of worker {:#x} names no interface that it came from: it is not answered",
                    hdr.uuid
                );
                return;
            }
            let back = WayBack {
                address: select::shared(worker, address),
                serial,
                expects_errors: hdr.handles_errors != 0,
            };
            let _ = answer_by(worker, back, hdr.ep);
        }
    }
}

/// Makes an endpoint whose answers wait until the peer's process has confirmed that the address is its own.
fn answer_when_proven(worker: &Worker, address: Address, hdr: &WireupHdr, serial: u32) {
    let ep = Ep::unconnected(worker, EpParams::default());
    // SAFETY: just made.
    let made = unsafe { ep.as_ref() };
    made.remote_uuid.set(hdr.uuid);
    hide(made, serial, hdr.handles_errors != 0, (hdr.uuid, hdr.ep));
    let claim = Claim {
        ep: made.id.get(),
        origin: Origin::Message,
        address: claims::of_this_host(worker, address),
        ticket: hdr.ticket,
    };
    unproven::wait(worker, claim);
}

/// The process of a peer that sent a wire-up message is asked again.
pub fn retry(worker: &Worker, ep: &Ep, claim: Claim) {
    let proven = claims::proven(worker, claim.address.clone(), claim.ticket);
    if proven.is_silent {
        unproven::wait(worker, claim);
    } else if proven.address.entries.is_empty() {
        ep.fail(Status::UNREACHABLE);
    } else if let Err(e) = ep.connect_back(select::shared(worker, proven.address)) {
        ep.fail(e);
    }
}

/// What an endpoint is made of that answers a peer.
pub struct WayBack {
    pub address: Rc<Address>,
    pub serial: u32,
    /// One of the halves asked for error handling.
    pub expects_errors: bool,
}

/// Makes an endpoint that the application does not know of, to answer the peer's endpoint `remote`.
/// Gives its id.
pub fn answer_by(worker: &Worker, back: WayBack, remote: u64) -> Option<u64> {
    let uuid = back.address.uuid;
    match Ep::create_back(worker, back.address) {
        Ok(ep) => {
            // SAFETY: just made.
            let made = unsafe { ep.as_ref() };
            hide(made, back.serial, back.expects_errors, (uuid, remote));
            Some(made.id.get())
        }
        // It has left, as was said.
        Err(Status::CONNECTION_RESET) => None,
        Err(e) => {
            ucs_error!("worker {uuid:#x} cannot be answered: {e}");
            None
        }
    }
}

/// The application does not know of this endpoint, which answers the peer's endpoint `remote`.
fn hide(ep: &Ep, serial: u32, expects_errors: bool, remote: Name) {
    ep.hidden.set(true);
    ep.serial.set(serial);
    ep.expects_errors.set(expects_errors);
    ep.worker().halves.hide(remote.0, serial, ep.id.get());
    ep.pair_with(remote);
}
