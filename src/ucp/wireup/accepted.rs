//! Endpoints of accepted clients that wait for the client's connection.
//!
//! A client sends the addresses of its interfaces. A server does not connect to them: they could be those of a third
//! party. The client connects first, which proves the interface that it owns. Clients of the same host are proven by
//! their process (`claims`) and need no wait, unless the process does not reply (`unproven`).
#![forbid(unsafe_code)]

use crate::ucp::claims::{self, Proven};
use crate::ucp::ep::Ep;
use crate::ucp::wireup::cm;
use crate::ucp::worker_core::Core;
use crate::ucs::Result;
use crate::wire::address::Address;
use core::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// The clients that a worker waits for.
#[derive(Default)]
pub struct Accepted {
    /// Addresses of the clients, by the ids of their local endpoints.
    clients: RefCell<HashMap<u64, Address>>,
    /// Ids of endpoints by the identities of the interfaces that their clients named.
    by_identity: RefCell<HashMap<u64, Vec<u64>>>,
}

impl Accepted {
    /// Whether the endpoint waits for its client.
    pub fn waits(&self, ep: u64) -> bool {
        self.clients.borrow().contains_key(&ep)
    }

    fn wait(&self, ep: u64, address: Address, identities: &[u64]) {
        let mut index = self.by_identity.borrow_mut();
        for identity in identities {
            index.entry(*identity).or_default().push(ep);
        }
        self.clients.borrow_mut().insert(ep, address);
    }

    /// The endpoint does not wait any more; gives its client's address.
    pub fn forget(&self, worker: &Core, ep: u64) -> Option<Address> {
        let address = self.clients.borrow_mut().remove(&ep)?;
        let mut index = self.by_identity.borrow_mut();
        for identity in claims::identities(worker, &address) {
            if let Some(eps) = index.get_mut(&identity) {
                eps.retain(|e| *e != ep);
                if eps.is_empty() {
                    index.remove(&identity);
                }
            }
        }
        Some(address)
    }

    /// The endpoints that wait for this identity.
    fn of(&self, identity: u64) -> Vec<u64> {
        let index = self.by_identity.borrow();
        index.get(&identity).cloned().unwrap_or_default()
    }
}

/// Registers for connections of peers at the worker's interfaces.
pub fn listen(worker: &Core) {
    for iface in &worker.ifaces {
        let worker = worker.to_ref();
        let on_peer = &iface.internal().base.internal.on_peer;
        // A worker listens once.
        let _ = on_peer.set(Box::new(move |identity| peer_connected(&worker, identity)));
    }
}

/// A peer has connected to one of the worker's interfaces: endpoints that wait for it go on with the next progress.
fn peer_connected(worker: &Core, identity: u64) {
    if let Some(cm) = worker.wireup().cm.get() {
        for ep in cm.accepted.of(identity) {
            cm.client_connected(ep);
        }
    }
}

/// Connects an endpoint to its client, by the proven part of the client's address. Also returns `Ok` if it has to wait
/// for the client's connection, or for the reply of a silent process.
pub fn connect(worker: &Core, ep: &Ep, proven: Proven) -> Result<()> {
    let (address, unverified) = claims::connected(worker, proven.address.clone());
    if (proven.is_unanswered || !unverified.is_empty())
        && !super::select::reaches_any(worker, &address)
        && let Some(cm) = worker.wireup().cm.get()
    {
        cm.accepted.wait(ep.id.get(), proven.address, &unverified);
        return cm::limit_wait(worker, ep);
    }
    ep.connect_back(Rc::new(address))
}
