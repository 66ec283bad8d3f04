//! Connecting endpoints to workers of upstream's.
#![forbid(unsafe_code)]

use crate::c::{UCP_ERR_HANDLING_MODE_NONE, UCP_ERR_HANDLING_MODE_PEER};
use crate::ucp::ep::{End, Ep, EpParams, EpRef};
use crate::ucp::idle;
use crate::ucp::wireup;
use crate::ucp::worker_core::Core;
use crate::ucs::{Result, Status};
use crate::uct::internal::{UpstreamLanes, UpstreamWay};
use crate::wire;
use crate::wire::upstream::Address;
use crate::wire::upstream::address::{Entry, Place};
use crate::{ucs_debug, ucs_error};
use core::cell::Cell;
use std::net::SocketAddr;
use std::rc::Rc;

/// The endpoint to the worker whose address `blob` begins with: an implicit endpoint, if there is one, else a new one.
pub fn connect(worker: &Core, blob: &[u8], params: EpParams) -> Result<EpRef> {
    let read = Address::with_entries(blob, Place::Blob);
    let (address, entries) = read.ok_or(Status::INVALID_ADDR)?;
    let uuid = address.uuid;
    let mode = params.err_mode.min(UCP_ERR_HANDLING_MODE_PEER);
    let other_mode = Cell::new(None);
    let is_suitable = |id| {
        let ep = worker.ep(id);
        let suits = ep.filter(|ep| ep.is_upstream() && !ep.is_reply_only() && ep.is_usable());
        suits.is_some_and(|ep| {
            let theirs = ep.peer_handles_errors.get();
            if theirs != (mode != UCP_ERR_HANDLING_MODE_NONE) {
                other_mode.set(Some(u8::from(theirs)));
            }
            other_mode.get().is_none()
        })
    };
    if let Some(taken) = wireup::take_implicit(worker, uuid, params, is_suitable) {
        return Ok(taken);
    }
    if let Some(theirs) = other_mode.get() {
        super::wireup::refuse_mode(mode as u8, theirs);
        return Err(Status::UNSUPPORTED);
    }
    let made = Ep::unconnected(worker, params);
    if let Err(e) = join(worker, &made, &address, &entries) {
        ucs_error!(
            "a worker of {} is unreachable: they are reached over tcp only, not by loopback devices, and without \
             UCX_TCP_AUTH_FILE; its address has {} transports",
            address.release,
            entries.len()
        );
        made.destroy(e, End::Flushed);
        return Err(e);
    }
    made.add_upstream_process(address.release, &interfaces(worker, &entries));
    wireup::await_pairing(&made, uuid);
    Ok(made)
}

/// Where the interfaces listen that an address names, as far as this worker can reach them.
pub fn interfaces(worker: &Core, entries: &[Entry<'_>]) -> Vec<SocketAddr> {
    let ours = worker.ifaces.iter();
    let lanes = ours.filter_map(|iface| iface.internal().upstream_lanes());
    let of_iface = |lanes: &dyn UpstreamLanes| -> Vec<_> {
        let all = entries.iter();
        all.filter_map(|entry| lanes.listener(entry)).collect()
    };
    lanes.flat_map(of_iface).collect()
}

/// Connects a new endpoint to one of the transports of a worker.
pub fn join(worker: &Core, ep: &Ep, to: &Address, entries: &[Entry<'_>]) -> Result<()> {
    let ifaces = worker.ifaces.iter().enumerate();
    let mut pairs: Vec<(UpstreamWay, usize, &Entry<'_>)> = ifaces
        .flat_map(|(i, iface)| {
            let reach = move |entry| {
                let way = iface.internal().upstream_reach(entry)?;
                Some((way, i, entry))
            };
            entries.iter().filter_map(reach)
        })
        .collect();
    pairs.sort_by_key(|(way, i, _)| (*way, *i));
    for (_, i, entry) in pairs {
        let iface = &worker.ifaces[i];
        match iface.internal().upstream_connect(entry) {
            Ok(uct_ep) => {
                idle::poll(worker, iface);
                let lane = wireup::upstream::message_lane(worker, i, uct_ep);
                ep.set_upstream();
                ep.set_upstream_puts(entry.takes_puts);
                let address = wire::address::Address {
                    uuid: to.uuid,
                    entries: Vec::new(),
                };
                return ep.connected(lane, Rc::new(address));
            }
            Err(e) => ucs_debug!("an interface of upstream's cannot be connected to: {e}"),
        }
    }
    Err(Status::UNREACHABLE)
}
