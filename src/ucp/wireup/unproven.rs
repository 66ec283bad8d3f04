//! Peers whose process does not reply on the local channel: the request is repeated until it does.
//!
//! A process may be stopped, by a debugger for instance, between its message and the request for a proof. If only
//! shared memory reaches it, the endpoint waits for the reply.
#![forbid(unsafe_code)]

use super::{cm, message};
use crate::ucp::timer::{Timer, WorkerCall};
use crate::ucp::worker_core::Core;
use crate::ucs_error;
use crate::uct::local::SILENCE;
use crate::wire::address::Address;
use core::cell::RefCell;
use core::ffi::c_uint;
use std::sync::Arc;
use std::time::Duration;

/// An address that waits for its proof, and the endpoint that is to be connected to it.
#[derive(Clone)]
pub struct Claim {
    pub ep: u64,
    pub origin: Origin,
    pub address: Address,
    pub ticket: u64,
}

/// The origin of an address.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A wire-up message.
    Message,
    /// A client that was accepted.
    Client,
    /// The server that accepted this client.
    Server,
}

/// The claims that a worker repeats.
#[derive(Default)]
pub struct Unproven {
    claims: RefCell<Vec<Claim>>,
    retries: RefCell<Option<Timer>>,
}

/// Time between two requests to a process.
const INTERVAL: Duration = SILENCE.saturating_mul(2);

impl Unproven {
    pub fn stop(&self) {
        self.retries.take();
    }

    /// Whether the endpoint waits for a proof.
    pub fn waits(&self, ep: u64) -> bool {
        self.claims.borrow().iter().any(|claim| claim.ep == ep)
    }
}

/// Schedules another examination of a claim.
pub fn wait(worker: &Core, claim: Claim) {
    let unproven = &worker.wireup().unproven;
    unproven.claims.borrow_mut().push(claim);
    let mut retries = unproven.retries.borrow_mut();
    if retries.is_some() {
        return;
    }
    let call = Arc::new(WorkerCall::new(worker, retry));
    match Timer::start(INTERVAL, move || call.request(1)) {
        Ok(timer) => *retries = Some(timer),
        Err(e) => {
            ucs_error!("a peer whose process does not answer is not asked again: no timer: {e}")
        }
    }
}

/// Progress callback: examines all claims again.
extern "C" fn retry(worker: &Core) -> c_uint {
    worker.wireup().unproven.stop();
    let claims = worker.wireup().unproven.claims.take();
    let count = claims.len() as u32;
    for claim in claims {
        let Some(ep) = worker.ep(claim.ep) else {
            continue;
        };
        if ep.is_connected() || !ep.is_usable() {
            continue;
        }
        match claim.origin {
            Origin::Message => message::retry(worker, ep, claim),
            Origin::Client | Origin::Server => cm::retry(worker, ep, claim),
        }
    }
    count
}
