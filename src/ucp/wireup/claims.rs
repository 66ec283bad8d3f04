//! What a peer's message says of where the peer is, and which of it is proven.
//!
//! An address that the application gives is the application's word. An address in a wire-up message or in the private
//! data of a connection is the sender's, who may name the memory of another process of this host. So a message names a
//! ticket: a number that only the two workers know, and that the process which owns the named memory confirms over its
//! local channel (`uct::local`). And a wire-up message is answered only over a connection that the interface it names
//! has with this worker already: nobody is dialled because a stranger named him.

use crate::c::UCT_DEVICE_TYPE_NET;
use crate::ucp::worker::{OpenIface, Worker};
use crate::ucs_debug;
use crate::uct::base::iface::base_of;
use crate::uct::local::{self, Name, ProcessId};
use crate::wire::address::{Address, Entry};

/// What this worker shows another one as a proof that both are on one host.
pub fn ticket(worker: &Worker, to: u64) -> u64 {
    local::ticket(worker.uuid, to)
}

/// An address that came by a message, less what an answer to it may not use.
pub fn answerable(worker: &Worker, address: Address, ticket: u64) -> Address {
    let mut address = proven(worker, address, ticket);
    address.entries.retain(|entry| {
        let of_entry = |i: &&OpenIface| i.number == entry.transport;
        worker.ifaces.iter().filter(of_entry).any(|i| {
            // SAFETY: an open interface of ours.
            unsafe { (base_of(i.handle).is_connected_to)(i.handle, &entry.iface) }
        })
    });
    address
}

/// An address that its owner sent, less the entries of this host that are not proven to be the owner's.
pub fn proven(worker: &Worker, mut address: Address, ticket: u64) -> Address {
    let is_local = |entry: &Entry| iface(worker, entry).is_none_or(|i| !is_network(worker, i));
    if !address.entries.iter().any(is_local) {
        return address;
    }
    if address.uuid == worker.uuid {
        if ticket != self::ticket(worker, worker.uuid) {
            address.entries.retain(|entry| !is_local(entry));
        }
        return address;
    }
    let owner = owner(worker, &address);
    let proof = owner.map(|owner| local::confirm(owner, address.uuid, worker.uuid, ticket));
    if let Some(Err(e)) = &proof {
        ucs_debug!(
            "worker {:#x} is not proven to be on this host ({e}): messages to it go by the network",
            address.uuid
        );
    }
    let owner: Option<ProcessId> = owner.filter(|_| proof == Some(Ok(()))).map(|o| o.id);
    let is_owners = |entry: &Entry| owner_of(worker, entry).is_some_and(|o| Some(o.id) == owner);
    address
        .entries
        .retain(|entry| !is_local(entry) || is_owners(entry));
    address
}

/// The process of this host that an address names first.
pub fn owner(worker: &Worker, address: &Address) -> Option<Name> {
    address.entries.iter().find_map(|e| owner_of(worker, e))
}

fn owner_of(worker: &Worker, entry: &Entry) -> Option<Name> {
    let iface = iface(worker, entry)?;
    let transport = worker.context().resources[iface.resource].transport;
    transport.address_owner(&entry.iface)
}

/// One of the worker's interfaces of the entry's transport.
fn iface<'a>(worker: &'a Worker, entry: &Entry) -> Option<&'a OpenIface> {
    worker.ifaces.iter().find(|i| i.number == entry.transport)
}

fn is_network(worker: &Worker, iface: &OpenIface) -> bool {
    worker.context().resources[iface.resource].device.kind == UCT_DEVICE_TYPE_NET
}
