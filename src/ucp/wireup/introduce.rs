//! What a `Wireup` message does: the peer's endpoint is known from here on, and answers go by an
//! endpoint of ours to its worker, made if there is none that waits for its other half.

use crate::ucp::ep::Ep;
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
            let address = claims::answerable(worker, address, hdr.ticket);
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
            made.hidden.set(true);
            made.serial.set(back.serial);
            made.expects_errors.set(back.expects_errors);
            let id = made.id.get();
            worker.halves.hide(uuid, back.serial, id);
            made.pair_with((uuid, remote));
            Some(id)
        }
        // It has left, as was said.
        Err(Status::CONNECTION_RESET) => None,
        Err(e) => {
            ucs_error!("worker {uuid:#x} cannot be answered: {e}");
            None
        }
    }
}
