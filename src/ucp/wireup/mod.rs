//! Connecting endpoints: which transport carries what, and what two workers tell each other.

pub mod close;
pub mod cm;
pub mod describe;
pub mod introduce;
pub mod select;

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
    let made = worker
        .eps
        .borrow()
        .iter()
        .copied()
        .filter(|ep| {
            // SAFETY: in the table, so alive.
            let ep = unsafe { &**ep };
            ep.hidden.get()
                && !ep.answers_only.get()
                && ep.remote_uuid.get() == uuid
                && ep.usable().is_ok()
        })
        // SAFETY: as above.
        .min_by_key(|ep| unsafe { (**ep).serial.get() });
    let serial = worker.serials.borrow().get(&uuid).copied().unwrap_or(0);
    let at = match made.and_then(|ep| NonNull::new(ep.cast_mut())) {
        Some(at) => {
            // SAFETY: in the table, so alive.
            let taken = unsafe { at.as_ref() };
            taken.hidden.set(false);
            taken.params.set(params);
            worker.stream.list(taken);
            at
        }
        None => {
            let at = Ep::create(worker, address, params)?;
            // SAFETY: just made.
            unsafe { at.as_ref() }.serial.set(serial);
            at
        }
    };
    // SAFETY: alive, as above.
    let next = unsafe { at.as_ref() }.serial.get().wrapping_add(1);
    worker.serials.borrow_mut().insert(uuid, serial.max(next));
    Ok(at)
}
