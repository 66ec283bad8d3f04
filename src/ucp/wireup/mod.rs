//! Connecting endpoints: which transport carries what, and what two workers tell each other.

pub mod close;
pub mod introduce;
pub mod select;

use crate::ucp::ep::{Ep, EpParams};
use crate::ucp::worker::Worker;
use crate::ucs::Result;
use crate::wire::address::Address;
use core::ptr::NonNull;

/// The endpoint to the owner of `address` for the application: the one that the peer's introduction
/// made, if there is one that nobody took yet, else a new one.
pub fn connect(worker: &Worker, address: Address, params: EpParams) -> Result<NonNull<Ep>> {
    let made = worker
        .eps
        .borrow()
        .iter()
        .copied()
        // SAFETY: in the table, so alive.
        .filter(|ep| unsafe { (**ep).hidden.get() && (**ep).remote_uuid == address.uuid })
        // SAFETY: as above. The oldest half is paired first, as the peer does.
        .min_by_key(|ep| unsafe { (**ep).id.get() as u32 });
    match made.and_then(|ep| NonNull::new(ep.cast_mut())) {
        Some(ep) => {
            // SAFETY: in the table, so alive.
            let taken = unsafe { ep.as_ref() };
            taken.hidden.set(false);
            taken.params.set(params);
            Ok(ep)
        }
        None => Ep::create(worker, address, params),
    }
}
