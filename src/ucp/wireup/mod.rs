//! Connecting endpoints: which transport carries what, and what two workers tell each other.

pub mod accepted;
pub mod claims;
pub mod close;
pub mod cm;
pub mod describe;
pub mod halves;
pub mod introduce;
pub mod select;
pub mod unproven;

use crate::c::*;
use crate::ucp::ep::{Ep, EpParams};
use crate::ucp::worker::Worker;
use crate::ucs::Result;
use crate::wire::address::Address;
use core::ptr::NonNull;

/// The endpoint to the owner of `address` for the application: the one that the peer's introduction
/// made, if there is one that nobody took yet, else a new one.
pub fn connect(worker: &Worker, address: Address, params: EpParams) -> Result<NonNull<Ep>> {
    let uuid = address.uuid;
    if uuid == worker.uuid && params.flags & UCP_EP_PARAMS_FLAGS_NO_LOOPBACK == 0 {
        let ep = Ep::create(worker, address, params)?;
        // SAFETY: just made.
        unsafe { ep.as_ref() }.pair_with_itself();
        return Ok(ep);
    }
    let suits = |id| {
        worker.ep(id).is_some_and(|ep| {
            let leads_there = |to: &Address| claims::is_owner(worker, to, &address);
            !ep.answers_only.get() && ep.is_usable() && ep.address().is_some_and(leads_there)
        })
    };
    let halves = &worker.halves;
    if let Some(taken) = halves.take_hidden(uuid, suits).and_then(|id| worker.ep(id)) {
        taken.hidden.set(false);
        taken.params.set(params);
        worker.stream.list(taken);
        halves.counted(uuid, taken.serial.get());
        return Ok(NonNull::from(taken));
    }
    let serial = halves.count(uuid);
    let at = Ep::create(worker, address, params)?;
    // SAFETY: just made.
    let made = unsafe { at.as_ref() };
    made.serial.set(serial);
    halves.counted(uuid, serial);
    halves.wait(uuid, serial, made.id.get());
    Ok(at)
}
