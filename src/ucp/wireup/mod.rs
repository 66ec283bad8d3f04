//! Wire-up: choice of transports, and the messages by which two workers exchange addresses.
#![forbid(unsafe_code)]

pub mod accepted;
pub mod close;
mod closing;
pub mod cm;
mod connect;
pub mod describe;
mod greeting;
pub mod listener;
pub mod message;
mod second;
pub mod select;
pub mod unproven;
pub mod upstream;

use crate::c::*;
use crate::ucp::claims;
use crate::ucp::ep::{Ep, EpParams, EpRef};
use crate::ucp::failover;
use crate::ucp::interner::Interner;
use crate::ucp::worker_core::{Core, FloorState};
use crate::ucs::Result;
use crate::wire::address::Address;
use cm::Cm;
use core::cell::{Cell, OnceCell, RefCell};
use describe::EpConfig;
use listener::Arrival;
use second::Asked;
use select::Route;
use std::collections::BTreeMap;
use unproven::Unproven;

/// What wire-up keeps for a worker.
#[derive(Default)]
pub struct WireupState {
    /// How the last peer was connected to.
    pub route: RefCell<Option<Route>>,
    /// The log has said why a peer of this host is reached over a network.
    pub told_detour: Cell<bool>,
    /// Configurations of endpoints that were logged, by number.
    pub ep_configs: Interner<EpConfig>,
    pub unproven: Unproven,
    /// Connections by socket address; made when first needed.
    pub cm: OnceCell<Cm>,
    /// Connections by socket address with upstream's processes.
    pub upstream: upstream::Connections,
    /// Clients that may come twice.
    pub asked: Asked,
    /// What the listeners do with clients, by their addresses.
    pub listeners: RefCell<BTreeMap<usize, Arrival>>,
}

impl Core {
    pub fn wireup(&self) -> &WireupState {
        WireupState::of(self)
    }
}

/// The endpoint to the owner of `address` for the application: the implicit endpoint,
/// if there is one, else a new one.
pub fn connect(worker: &Core, address: Address, params: EpParams) -> Result<EpRef> {
    let uuid = address.uuid;
    if uuid == worker.uuid && params.flags & UCP_EP_PARAMS_FLAGS_NO_LOOPBACK == 0 {
        let ep = Ep::create(worker, address, params)?;
        ep.pair_with_itself();
        return Ok(ep);
    }
    let is_suitable = |id| {
        worker.ep(id).is_some_and(|ep| {
            let leads_there = |to: &Address| claims::is_owner(worker, to, &address);
            !ep.is_reply_only() && ep.is_usable() && ep.address().is_some_and(leads_there)
        })
    };
    if let Some(taken) = take_implicit(worker, uuid, params, is_suitable) {
        failover::learn(&taken, &address.entries);
        taken.learn_address(&address);
        return Ok(taken);
    }
    let made = Ep::create(worker, address, params)?;
    await_pairing(&made, uuid);
    Ok(made)
}

/// The implicit endpoint to worker `uuid` that `is_suitable`, which is the application's from now on.
pub fn take_implicit(
    worker: &Core,
    uuid: u64,
    params: EpParams,
    is_suitable: impl Fn(u64) -> bool,
) -> Option<EpRef> {
    let pairing = &worker.endpoints().pairing;
    let taken = worker.ep(pairing.take_implicit(uuid, is_suitable)?)?;
    taken.take_over(params);
    worker.stream().list(taken);
    pairing.count_made(uuid, taken.serial.get());
    Some(taken.to_ref())
}

/// Numbers a new endpoint to worker `uuid`, for the endpoint of that worker that it is to be paired with.
pub fn await_pairing(made: &Ep, uuid: u64) {
    let pairing = &made.worker().endpoints().pairing;
    let serial = pairing.count(uuid);
    made.serial.set(serial);
    pairing.count_made(uuid, serial);
    pairing.add_unpaired(uuid, serial, made.id.get());
}
