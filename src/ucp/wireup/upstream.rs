//! Connections by socket address with processes of upstream UCX, as client and as server.
//!
//! The private data of the connection tell each side the other's endpoint and the address of a lane, by which they then
//! negotiate the lanes of all devices: the server announces itself (pre-request), the client names its lanes, the
//! server those that it has for them, the client acknowledges. Where a lane stays as it was, both name it by the key that
//! they have in common. This side has one lane of its own, by the device of the connection; to further ones of a client it
//! only listens. Upstream may be set not to negotiate, which its private data show; but releases that look the same do.
//!
//! So nothing is sent before the negotiation is over, or the private data said that there may be none. In the latter case a
//! negotiation holds the queue: the messages of this side arrive before the one by which the peer leaves a lane.
#![forbid(unsafe_code)]

use super::cm;
use super::greeting::MODES;
use crate::c::{uct_ep_h, uct_iface_attr};
use crate::sys::random::random_u64;
use crate::ucp::ep::{Ep, MessageLane, NO_LANE};
use crate::ucp::plan::{Carriers, Thresholds};
use crate::ucp::worker_core::Core;
use crate::ucs::{Result, Status};
use crate::uct::internal::UpstreamLanes;
use crate::wire;
use crate::wire::id::{EpId, EpName};
use crate::wire::upstream::Address;
use crate::wire::upstream::address::{Entry, Lane, Offer, for_wireup};
use crate::wire::upstream::message::{WIREUP, Wireup, WireupKind};
use crate::wire::upstream::private::{MESSAGES, Private};
use crate::{ucs_debug, ucs_error};
use core::cell::RefCell;
use std::collections::HashMap;
use std::net::IpAddr;
use std::rc::Rc;

/// Most lanes of a client: what upstream's endpoints have.
const LANES_MAX: usize = 16;
/// Most bytes of a message: upstream receives into buffers of 64 KiB by default, without a look at the length.
const FRAME_MAX: usize = 32 << 10;

/// The endpoints of a worker that are, or may be, connected to one of upstream's by socket address.
#[derive(Default)]
pub struct Connections {
    by_ep: RefCell<HashMap<u64, Connection>>,
    /// Which endpoint has the lane with a key.
    by_key: RefCell<HashMap<u64, u64>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Client,
    Server,
}

struct Connection {
    role: Role,
    /// The interface of its lanes, whose network address is that of this end.
    iface: usize,
    local: IpAddr,
    key: u64,
    /// Lanes that only the client sends by.
    others: Vec<u64>,
    /// What the peer calls the lane.
    number: u8,
    /// The peer's endpoint.
    remote: u64,
    /// Nothing is left to negotiate: messages are sent as soon as the lane is open.
    is_agreed: bool,
    /// The endpoint has the lane.
    is_joined: bool,
}

impl Connections {
    /// Whether an endpoint waits for the end of its negotiation.
    pub fn waits(&self, ep: u64) -> bool {
        let all = self.by_ep.borrow();
        all.get(&ep).is_some_and(|connection| !connection.is_joined)
    }

    /// Whether an endpoint sends by a lane.
    pub fn has_lane(&self, ep: u64) -> bool {
        let all = self.by_ep.borrow();
        all.get(&ep).is_some_and(|connection| connection.is_joined)
    }

    /// Runs `f` with the connection of an endpoint, and nothing that calls back.
    fn with<R>(&self, ep: u64, f: impl FnOnce(&mut Connection) -> R) -> Option<R> {
        self.by_ep.borrow_mut().get_mut(&ep).map(f)
    }
}

fn lanes(worker: &Core, iface: usize) -> Result<&dyn UpstreamLanes> {
    let lanes = worker.ifaces.get(iface);
    let lanes = lanes.and_then(|iface| iface.internal().upstream_lanes());
    lanes.ok_or(Status::UNREACHABLE)
}

/// A new lane of the interface with this network address, for an endpoint that has none. `None` if no interface of the
/// worker has it, or there are to be no connections with upstream.
fn open(worker: &Core, ep: &Ep, role: Role, local: IpAddr) -> Option<Connection> {
    let ifaces = 0..worker.ifaces.len();
    let (iface, key) = ifaces
        .filter_map(|i| Some((i, lanes(worker, i).ok()?.open(local)?)))
        .next()?;
    let by_key = &worker.wireup().upstream.by_key;
    by_key.borrow_mut().insert(key, ep.id.get());
    Some(Connection {
        role,
        iface,
        local,
        key,
        others: Vec::new(),
        number: MESSAGES,
        remote: 0,
        is_agreed: false,
        is_joined: false,
    })
}

/// What a client tells a server that may be upstream's, beside its own private data: its end of a lane.
pub fn offer(worker: &Core, ep: &Ep, local: IpAddr) -> Option<(Offer, Vec<u8>)> {
    let connection = open(worker, ep, Role::Client, local)?;
    let described = lanes(worker, connection.iface)
        .ok()?
        .describe(connection.key);
    let all = &worker.wireup().upstream.by_ep;
    all.borrow_mut().insert(ep.id.get(), connection);
    described
}

/// Reads the private data of a client of upstream's that came by this address.
pub fn read(worker: &Core, private: &[u8]) -> Result<Private> {
    let mut ifaces = 0..worker.ifaces.len();
    let read = ifaces.find_map(|i| lanes(worker, i).ok()?.read(private));
    let read = read.filter(|private| private.err_mode <= MODES);
    read.ok_or_else(|| {
        ucs_error!(
            "the other side of a connection, of upstream UCX, told {} bytes that are no private data, or have no tcp",
            private.len()
        );
        Status::INVALID_ADDR
    })
}

/// A name of the peer's endpoint. The peer's worker is unknown, and ids of several may be the same.
fn name(id: u64) -> Result<EpName> {
    let uuid = random_u64().map_err(|e| Status::from_io(&e))?;
    let id = EpId(id);
    Ok(EpName { uuid, id })
}

/// Server: prepares a new endpoint for the client whose private data are given. Returns those of this side.
pub fn accept(
    worker: &Core,
    ep: &Ep,
    client: &Private,
    from: IpAddr,
    local: IpAddr,
) -> Result<Vec<u8>> {
    ep.set_upstream();
    let Some(mut connection) = open(worker, ep, Role::Server, local) else {
        ucs_error!(
            "the client at {from}, of upstream UCX, came by {local}, which no tcp device of this worker has"
        );
        return Err(Status::UNREACHABLE);
    };
    ep.pair_with_upstream(name(client.ep)?);
    ep.set_upstream_puts(client.takes_puts);
    connection.remote = client.ep;
    connection.number = client.lane;
    // Set so, or a release that does not tell: it may wait for a pre-request, or send none of its own.
    connection.is_agreed = !client.has_index;
    let (iface, key) = (connection.iface, connection.key);
    let all = &worker.wireup().upstream.by_ep;
    all.borrow_mut().insert(ep.id.get(), connection);
    let lanes = lanes(worker, iface)?;
    lanes.meet(key, from, &client.address)?;
    let (offer, address) = lanes.describe(key).ok_or(Status::NOT_CONNECTED)?;
    let answer = Private {
        ep: ep.id.get(),
        client_id: 0,
        address,
        ..*client
    };
    Ok(answer.encode(&offer))
}

/// Server: the client knows the endpoint of this side.
pub fn notified(worker: &Core, ep: &Ep) -> Result<()> {
    cm::limit_wait(worker, ep)?;
    send(worker, ep, WireupKind::PreRequest, None)?;
    settle(worker, ep.id.get());
    Ok(())
}

/// Client: the server is upstream's, and has accepted.
pub fn answered(worker: &Core, ep: &Ep, server: IpAddr, private: &[u8]) -> Result<()> {
    let private = read(worker, private)?;
    ep.set_upstream();
    ep.pair_with_upstream(name(private.ep)?);
    ep.set_upstream_puts(private.takes_puts);
    let told = worker.wireup().upstream.with(ep.id.get(), |connection| {
        connection.remote = private.ep;
        connection.is_agreed = !private.has_index;
        (connection.iface, connection.key)
    });
    let (iface, key) = told.ok_or(Status::UNREACHABLE)?;
    lanes(worker, iface)?.meet(key, server, &private.address)?;
    cm::limit_wait(worker, ep)?;
    settle(worker, ep.id.get());
    Ok(())
}

/// Sends a step of the negotiation: the lanes of this side, or its own one.
fn send(worker: &Core, ep: &Ep, kind: WireupKind, all: Option<&[(Vec<u8>, u8)]>) -> Result<()> {
    let told = worker.wireup().upstream.with(ep.id.get(), |connection| {
        let c = connection;
        (c.iface, c.key, c.number, c.remote)
    });
    let (iface, key, number, receiver) = told.ok_or(Status::NOT_CONNECTED)?;
    let lanes = lanes(worker, iface)?;
    let (offer, address) = lanes.describe(key).ok_or(Status::NOT_CONNECTED)?;
    let own = [(address, number)];
    let told = all.unwrap_or(&own).iter();
    let told: Vec<Lane<'_>> = told
        .map(|(address, number)| Lane {
            address,
            number: *number,
        })
        .collect();
    let address = match kind {
        WireupKind::Ack => for_wireup(worker.uuid, &[], &[]),
        _ => for_wireup(worker.uuid, &[offer], &told),
    };
    let header = Wireup {
        kind,
        error_mode: ep.params.get().err_mode as u8,
        number: 0,
        sender: ep.id.get(),
        receiver,
    };
    let body = [&header.encode()[..], &address].concat();
    lanes.send(key, WIREUP, &body)
}

/// A lane that the peer names: where it leads, its address, and what the peer calls it.
type Named<'a> = (IpAddr, Lane<'a>);

/// Handles a message of a negotiation, which came by the lane with this key.
pub fn on_wireup(
    worker: &Core,
    key: u64,
    header: &Wireup,
    address: &Address,
    entries: &[Entry<'_>],
) {
    let connections = &worker.wireup().upstream;
    let id = connections.by_key.borrow().get(&key).copied();
    let Some(ep) = id.and_then(|id| worker.ep(id)) else {
        return;
    };
    let Some((role, iface)) = connections.with(ep.id.get(), |c| (c.role, c.iface)) else {
        return;
    };
    if header.receiver != ep.id.get() {
        ucs_debug!(
            "{} of upstream UCX is for another endpoint than its lane",
            header.kind
        );
        return;
    }
    let named: Vec<Named<'_>> = match lanes(worker, iface) {
        Ok(lanes) => entries
            .iter()
            .filter_map(|entry| Some((lanes.ip_of(entry)?, entry)))
            .flat_map(|(ip, entry)| entry.lanes().map(move |lane| (ip, lane)))
            .take(LANES_MAX)
            .collect(),
        Err(_) => return,
    };
    if let WireupKind::PreRequest | WireupKind::Request | WireupKind::Reply = header.kind {
        let interfaces = lanes(worker, iface).map_or_else(
            |_| Vec::new(),
            |lanes| {
                let all = named.iter();
                let listener = |(ip, lane): &Named<'_>| lanes.listener_at(*ip, lane.address);
                all.filter_map(listener).collect()
            },
        );
        ep.add_upstream_process(address.release, &interfaces);
    }
    let done = match (header.kind, role) {
        (WireupKind::PreRequest, Role::Client) => on_pre_request(worker, ep, &named),
        (WireupKind::Request, Role::Server) => on_request(worker, ep, address, &named),
        (WireupKind::Reply, Role::Client) => on_reply(worker, ep, &named),
        (WireupKind::Ack, Role::Server) => {
            connections.with(ep.id.get(), |connection| connection.is_agreed = true);
            Ok(())
        }
        (WireupKind::Removed, _) => Err(Status::CONNECTION_RESET),
        (kind, _) => {
            ucs_debug!("{kind} of upstream UCX, which needs no answer");
            Ok(())
        }
    };
    match done {
        Ok(()) => settle(worker, ep.id.get()),
        Err(e) => ep.fail(e),
    }
}

/// A negotiation begins: what is sent from now on goes by the lanes that come of it.
fn begin(worker: &Core, ep: &Ep) {
    let connections = &worker.wireup().upstream;
    let is_joined = connections.with(ep.id.get(), |connection| {
        connection.is_agreed = false;
        connection.is_joined
    });
    if is_joined == Some(true) {
        ep.hold_queue(true);
    }
}

/// Client: the server asks for the lanes of this side.
fn on_pre_request(worker: &Core, ep: &Ep, named: &[Named<'_>]) -> Result<()> {
    begin(worker, ep);
    let number = named.first().map_or(MESSAGES, |(_, lane)| lane.number);
    let connections = &worker.wireup().upstream;
    connections.with(ep.id.get(), |connection| connection.number = number);
    send(worker, ep, WireupKind::Request, None)
}

/// Client: the server tells its lanes.
fn on_reply(worker: &Core, ep: &Ep, named: &[Named<'_>]) -> Result<()> {
    let connections = &worker.wireup().upstream;
    let told = connections.with(ep.id.get(), |c| (c.iface, c.key));
    let (iface, key) = told.ok_or(Status::NOT_CONNECTED)?;
    let lanes = lanes(worker, iface)?;
    if let Some((ip, lane)) = named.first()
        && !named
            .iter()
            .any(|(_, lane)| lanes.leads_to(key, lane.address))
    {
        lanes.meet(key, *ip, lane.address)?;
    }
    send(worker, ep, WireupKind::Ack, None)?;
    connections.with(ep.id.get(), |connection| connection.is_agreed = true);
    Ok(())
}

/// Server: the client tells its lanes.
fn on_request(worker: &Core, ep: &Ep, of: &Address, named: &[Named<'_>]) -> Result<()> {
    if named.is_empty() {
        ucs_error!(
            "a client of {} names no lane that leads to this worker",
            of.release
        );
        return Err(Status::UNREACHABLE);
    }
    begin(worker, ep);
    let connections = &worker.wireup().upstream;
    let told = connections.with(ep.id.get(), |c| {
        let keys: Vec<u64> = c.others.iter().copied().chain([c.key]).collect();
        (c.iface, c.local, c.key, keys)
    });
    let (iface, local, key, mut keys) = told.ok_or(Status::NOT_CONNECTED)?;
    let lanes = lanes(worker, iface)?;
    let of_lane = |keys: &[u64], lane: &Lane<'_>| {
        let mut keys = keys.iter().copied();
        keys.find(|key| lanes.leads_to(*key, lane.address))
    };
    let mut is_own_free = !named
        .iter()
        .any(|(_, lane)| lanes.leads_to(key, lane.address));
    let mut reply = Vec::new();
    let mut moved = Vec::new();
    for (ip, lane) in named {
        let ours = match of_lane(&keys, lane) {
            Some(known) => {
                let (_, address) = lanes.describe(known).ok_or(Status::NOT_CONNECTED)?;
                reply.push((address, lane.number));
                continue;
            }
            None if core::mem::take(&mut is_own_free) => key,
            None => {
                let made = lanes.open(local).ok_or(Status::UNREACHABLE)?;
                connections.by_key.borrow_mut().insert(made, ep.id.get());
                connections.with(ep.id.get(), |connection| connection.others.push(made));
                keys.push(made);
                made
            }
        };
        let address = lanes.name_for(ours, *ip, lane.address)?;
        reply.push((address, lane.number));
        moved.push((ours, *ip, lane.address));
    }
    // By the lane that the client reads until it has the reply.
    send(worker, ep, WireupKind::Reply, Some(&reply))?;
    for (ours, ip, address) in moved {
        lanes.meet(ours, ip, address)?;
    }
    Ok(())
}

/// A lane can carry messages.
pub fn on_lane_open(worker: &Core, key: u64) {
    let id = worker.wireup().upstream.by_key.borrow().get(&key).copied();
    if let Some(id) = id {
        settle(worker, id);
    }
}

/// A lane has ended. An endpoint that has it hears of that by its interface.
pub fn on_lane_closed(worker: &Core, key: u64) {
    let connections = &worker.wireup().upstream;
    let id = connections.by_key.borrow_mut().remove(&key);
    let is_lost = id.and_then(|id| connections.with(id, |c| c.key == key && !c.is_joined));
    if let (Some(true), Some(ep)) = (is_lost, id.and_then(|id| worker.ep(id))) {
        ep.fail(Status::CONNECTION_RESET);
    } else if let Some(id) = id {
        cm::ends_close(worker, id);
    }
}

/// The peer of a closed endpoint has all that was sent to it.
pub fn on_lane_acknowledged(worker: &Core, key: u64) {
    let id = worker.wireup().upstream.by_key.borrow_mut().remove(&key);
    if let Some(id) = id {
        cm::ends_close(worker, id);
    }
}

/// If all is agreed and the lane is open, the endpoint sends.
fn settle(worker: &Core, id: u64) {
    let connections = &worker.wireup().upstream;
    let Some(ep) = worker.ep(id) else { return };
    let told = connections.with(id, |c| (c.is_agreed, c.is_joined, c.iface, c.key));
    let Some((true, is_joined, iface, key)) = told else {
        return;
    };
    if !lanes(worker, iface).is_ok_and(|lanes| lanes.is_open(key)) {
        return;
    }
    cm::settled(ep);
    if is_joined {
        return ep.hold_queue(false);
    }
    if let Err(e) = join(worker, ep, iface, key) {
        ep.fail(e);
    }
}

fn join(worker: &Core, ep: &Ep, iface: usize, key: u64) -> Result<()> {
    let remote = ep.upstream_peer().ok_or(Status::NOT_CONNECTED)?;
    let uct_ep = lanes(worker, iface)?.join(key)?;
    let connections = &worker.wireup().upstream;
    connections.with(ep.id.get(), |connection| connection.is_joined = true);
    let address = wire::address::Address {
        uuid: remote.uuid,
        entries: Vec::new(),
    };
    ep.connected(message_lane(worker, iface, uct_ep), Rc::new(address))
}

/// An endpoint ends, or its peer is none of upstream's: its lanes are closed that it does not close itself. With `asks` the
/// peer has to acknowledge what was sent by its own one. Returns whether it is asked for that.
pub fn unlink(worker: &Core, ep: u64, asks: bool) -> bool {
    let connections = &worker.wireup().upstream;
    let found = {
        let mut by_ep = connections.by_ep.borrow_mut();
        // Few processes have any.
        if by_ep.is_empty() {
            return false;
        }
        by_ep.remove(&ep)
    };
    let Some(connection) = found else {
        return false;
    };
    let lanes = lanes(worker, connection.iface);
    let is_asked =
        asks && connection.is_joined && lanes.is_ok_and(|lanes| lanes.ask(connection.key));
    let keys = connection.others.iter().chain([&connection.key]);
    for key in keys {
        let is_own = connection.is_joined && *key == connection.key;
        if !(is_own && is_asked) {
            connections.by_key.borrow_mut().remove(key);
        }
        if let (false, Ok(lanes)) = (is_own, lanes) {
            lanes.close(*key);
        }
    }
    is_asked
}

/// The lane for messages to a process of upstream's.
pub fn message_lane(worker: &Core, iface: usize, ep: uct_ep_h) -> MessageLane {
    let of = &worker.ifaces[iface];
    let max_bcopy = of.attr.cap.am.max_bcopy.min(FRAME_MAX);
    MessageLane {
        ep,
        iface,
        max_bcopy,
        max_piece: max_bcopy,
        thresholds: thresholds(worker, &of.attr),
        am_bcopy: of.internal().base.internal.ops.upstream_send,
        ..NO_LANE
    }
}

/// From which lengths on messages go by rendezvous.
fn thresholds(worker: &Core, by: &uct_iface_attr) -> Thresholds {
    let carriers = Carriers {
        message: by,
        writes: false,
        reads: false,
        registration: 0.0,
        copies: None,
        same_node: false,
        to_itself: false,
    };
    Thresholds::new(&worker.context().config, &worker.proto().rules, &carriers)
}
