//! The addresses in a peer's messages are claims; this file decides which of them are proven.
//!
//! An address that the application gives is trusted. An address in a wire-up message or in the private data of a
//! connection comes from the sender, which may name the memory of another process of this host. So a message carries a
//! ticket: a number that only the two workers know, and that the process which owns the named memory confirms over its
//! local channel (`uct::local`). Of network interfaces, only the one that the message came from is accepted: no process
//! is connected to because another one named it. So the rest of an address belongs to one sender.
#![forbid(unsafe_code)]

use crate::c::UCT_DEVICE_TYPE_NET;
use crate::ucp::worker_core::{Core, OpenIface};
use crate::ucs_debug;
use crate::uct::local::{self, Confirmed, ProcessId, ProcessName};
use crate::wire::address::{Address, AddressEntry};

/// The ticket by which this worker proves to another that both are on one host.
pub fn ticket(worker: &Core, to: u64) -> u64 {
    local::ticket(worker.uuid, to)
}

/// The proven part of a peer's address.
pub struct Proven {
    pub address: Address,
    /// The process has not answered for the entries of this host, but may do so later.
    pub is_unanswered: bool,
    /// Lives until the endpoint is made: the peer's segment came with it.
    pub confirmed: Option<Confirmed>,
}

/// The address of a message, reduced to the entries that a reply may use.
pub fn answerable(worker: &Core, address: Address, ticket: u64) -> Proven {
    let mut proven = proven(worker, address, ticket);
    let entries = &mut proven.address.entries;
    entries.retain(|entry| is_local(worker, entry) || is_senders(worker, entry) == Some(true));
    proven
}

/// Whether the message of the running handler came from the owner of `address`, as far as known: from one of its
/// network interfaces, or from this host.
pub fn is_from(worker: &Core, address: &Address) -> bool {
    let senders = address.entries.iter().filter_map(|e| is_senders(worker, e));
    let mut known = senders.peekable();
    match known.peek() {
        Some(_) => known.any(|is| is),
        None => !worker.ifaces.iter().any(|i| sender(i).is_some()),
    }
}

/// The interface that handles the message of the running handler, if its transport has identities.
pub fn arrival(worker: &Core) -> Option<usize> {
    worker.ifaces.iter().position(|i| sender(i).is_some())
}

/// Whether an endpoint that a message made, by an address that is proven to be its sender's, leads to the owner of
/// `address`.
pub fn is_owner(worker: &Core, proven: &Address, address: &Address) -> bool {
    let given_local = address.entries.iter().any(|e| is_local(worker, e));
    proven.entries.iter().any(|entry| {
        // A network-only address has no entries of this host, whose processes are of one user.
        address.entries.contains(entry) || !given_local && is_local(worker, entry)
    })
}

/// The identity of the sender of the message that this interface handles, if it has identities.
fn sender(iface: &OpenIface) -> Option<u64> {
    iface.internal().sender_identity()
}

/// The identity that an entry names, if it is of the interface's transport and that has identities.
pub fn identity(iface: &OpenIface, entry: &AddressEntry) -> Option<u64> {
    let is_same = iface.number == entry.transport;
    is_same.then(|| iface.internal().peer_identity(&entry.device, &entry.iface))?
}

/// Whether the message that is handled came from the interface of this entry; `None` if unknown.
fn is_senders(worker: &Core, entry: &AddressEntry) -> Option<bool> {
    let of_entry = |i: &&OpenIface| i.number == entry.transport;
    worker.ifaces.iter().filter(of_entry).find_map(|i| {
        let sender = sender(i)?;
        Some(identity(i, entry) == Some(sender))
    })
}

/// Whether the message of the running handler came from the interface of an entry to this one.
pub fn came_by(iface: &OpenIface, entry: &AddressEntry) -> bool {
    let sender = sender(iface);
    iface.number == entry.transport && sender.is_some() && sender == identity(iface, entry)
}

/// The address of an accepted client, without network interfaces that have not connected to this worker: a client
/// connects first, so that no third party is connected to. The second part are the identities that may still connect.
pub fn connected(worker: &Core, mut address: Address) -> (Address, Vec<u64>) {
    let mut unverified = Vec::new();
    address.entries.retain(|entry| {
        if is_local(worker, entry) {
            return true;
        }
        let Some(peer) = identity_of(worker, entry) else {
            return false;
        };
        let of_entry = |i: &&OpenIface| i.number == entry.transport;
        let mut ours = worker.ifaces.iter().filter(of_entry);
        let is_connected = ours.any(|iface| iface.internal().is_connected(peer));
        if !is_connected {
            unverified.push(peer);
        }
        is_connected
    });
    (address, unverified)
}

/// The identities that an address names.
pub fn identities(worker: &Core, address: &Address) -> impl Iterator<Item = u64> {
    address
        .entries
        .iter()
        .filter_map(|e| identity_of(worker, e))
}

fn identity_of(worker: &Core, entry: &AddressEntry) -> Option<u64> {
    let of_entry = |i: &&OpenIface| i.number == entry.transport;
    worker
        .ifaces
        .iter()
        .filter(of_entry)
        .find_map(|i| identity(i, entry))
}

/// An address that its owner sent, less the entries of this host that are not proven to be the owner's.
pub fn proven(worker: &Core, mut address: Address, ticket: u64) -> Proven {
    let is_local = |entry: &AddressEntry| is_local(worker, entry);
    let unconfirmed = |address, is_unanswered| Proven {
        address,
        is_unanswered,
        confirmed: None,
    };
    if !has_local(worker, &address) {
        return unconfirmed(address, false);
    }
    if address.uuid == worker.uuid {
        if ticket != self::ticket(worker, worker.uuid) {
            address.entries.retain(|entry| !is_local(entry));
        }
        return unconfirmed(address, false);
    }
    let owner = owner(worker, &address);
    let workers = (address.uuid, worker.uuid);
    let segment = segment(worker, &address);
    let proof = owner.map(|owner| local::confirm(owner, workers, ticket, segment));
    let mut is_unanswered = false;
    if let Some(Err(e)) = &proof {
        ucs_debug!(
            "worker {:#x} is not proven to be on this host ({e}): messages to it go by the network",
            address.uuid
        );
        is_unanswered = e.is_temporary();
    }
    let confirmed = proof.and_then(Result::ok);
    let owner: Option<ProcessId> = owner.filter(|_| confirmed.is_some()).map(|o| o.id);
    let is_owners =
        |entry: &AddressEntry| owner_of(worker, entry).is_some_and(|o| Some(o.id) == owner);
    address
        .entries
        .retain(|entry| !is_local(entry) || is_owners(entry));
    Proven {
        address,
        is_unanswered,
        confirmed,
    }
}

/// An address less the entries of networks.
pub fn of_this_host(worker: &Core, mut address: Address) -> Address {
    address.entries.retain(|entry| is_local(worker, entry));
    address
}

/// Whether an address has entries of this host.
pub fn has_local(worker: &Core, address: &Address) -> bool {
    address.entries.iter().any(|entry| is_local(worker, entry))
}

/// The process of this host that an address names first.
pub fn owner(worker: &Core, address: &Address) -> Option<ProcessName> {
    address.entries.iter().find_map(|e| owner_of(worker, e))
}

fn owner_of(worker: &Core, entry: &AddressEntry) -> Option<ProcessName> {
    let iface = iface(worker, entry)?;
    let transport = worker.context().resources[iface.resource].transport;
    transport.address_owner(&entry.iface)
}

/// The first segment that an address names; 0 for none.
fn segment(worker: &Core, address: &Address) -> u32 {
    let mut segments = address.entries.iter().filter_map(|entry| {
        let transport = worker.context().resources[iface(worker, entry)?.resource].transport;
        Some(transport.address_segment(&entry.iface)).filter(|serial| *serial != 0)
    });
    segments.next().unwrap_or(0)
}

/// One of the worker's interfaces of the entry's transport.
fn iface<'a>(worker: &'a Core, entry: &AddressEntry) -> Option<&'a OpenIface> {
    worker.ifaces.iter().find(|i| i.number == entry.transport)
}

/// Of this host, or of a transport that this worker has not.
fn is_local(worker: &Core, entry: &AddressEntry) -> bool {
    let is_network =
        |i: &OpenIface| worker.context().resources[i.resource].device.kind == UCT_DEVICE_TYPE_NET;
    !iface(worker, entry).is_some_and(is_network)
}
