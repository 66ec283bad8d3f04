//! Which transport carries an endpoint's messages, by a cost that their attributes give.
#![forbid(unsafe_code)]

use crate::c::*;
use crate::ucp::allowed;
use crate::ucp::claims;
use crate::ucp::ep::{
    Capability, MessageLane, NO_LANE, OpenedLane, OpenedRail, OpenedRails, WantedRails,
};
use crate::ucp::idle;
use crate::ucp::plan::{Carriers, Thresholds};
use crate::ucp::proto::zcopy::MAX_ENTRIES;
use crate::ucp::worker_core::{Core, OpenIface, bandwidth};
use crate::ucs::{Result, Status};
use crate::uct::api::Transport;
use crate::uct::local::{self, Refusal};
use crate::uct::overlay::Path;
use crate::uct::registry;
use crate::wire::address::{Address, AddressEntry};
use crate::{ucs_debug, ucs_error, ucs_warn};
use core::cmp::Ordering;
use std::rc::Rc;

/// The message size that decides between transports: between latency and bandwidth.
const DECIDING_SIZE: f64 = 1024.0;

/// Seconds for a message of `size` bytes, by the interface's own estimates; shared bandwidth is divided by `processes`.
pub fn duration(attr: &uct_iface_attr, processes: usize, size: f64) -> f64 {
    attr.latency.c + attr.overhead * 2.0 + size / bandwidth(attr, processes)
}

/// The transport of one of the worker's interfaces.
fn transport_of(worker: &Core, iface: &OpenIface) -> &'static dyn Transport {
    worker.context().resources[iface.resource].transport
}

/// Whether the interface reaches the entry's owner.
fn reaches(worker: &Core, iface: &OpenIface, entry: &AddressEntry) -> bool {
    may_reach(worker, iface, entry, Some(&entry.iface))
}

/// Whether the interface reaches the entry's device, and that address on it if one is given.
fn may_reach(
    worker: &Core,
    iface: &OpenIface,
    entry: &AddressEntry,
    address: Option<&[u8]>,
) -> bool {
    let own_len = iface.device_address.len();
    if iface.number != entry.transport
        || !transport_of(worker, iface).fits_device_address(&entry.device, own_len)
        || iface.address.len() != entry.iface.len()
    {
        return false;
    }
    iface.internal().reaches(&entry.device, address)
}

/// A transport endpoint to the entry's owner, by one of the worker's interfaces, which is polled from now on.
fn connect(worker: &Core, iface: &OpenIface, entry: &AddressEntry) -> Result<uct_ep_h> {
    connect_for_messages(worker, iface, entry).map(|(ep, _)| ep)
}

/// The same with the length of the longest piece of a message.
fn connect_for_messages(
    worker: &Core,
    iface: &OpenIface,
    entry: &AddressEntry,
) -> Result<(uct_ep_h, usize)> {
    let (ep, longest) = iface
        .internal()
        .connect_for_messages(&entry.device, &entry.iface)?;
    idle::poll(worker, iface);
    Ok((ep, longest.unwrap_or(iface.attr.cap.am.max_bcopy)))
}

/// An own interface and an entry of a peer's address, by their indices.
pub type Pair = (usize, usize);

/// An own interface that may reach an entry of the peer's address.
struct Candidate {
    /// It supports fewer endpoints than estimated.
    overloaded: bool,
    /// Seconds for a message.
    cost: f64,
    /// The devices are of different networks.
    routed: bool,
    iface: usize,
    entry: usize,
}

impl Candidate {
    fn order(&self, other: &Candidate) -> Ordering {
        let by_cost = self.cost.total_cmp(&other.cost);
        let overloaded = self.overloaded.cmp(&other.overloaded);
        overloaded
            .then(by_cost)
            .then(self.routed.cmp(&other.routed))
    }
}

/// The pairs of own interface and peer's entry that `fits` allows and that reach the peer, the best first. Reachability
/// is tested lazily, as it may need a request to the peer's process.
fn best(
    worker: &Core,
    address: &Address,
    fits: impl Fn(&OpenIface) -> bool,
) -> impl Iterator<Item = Pair> {
    let context = worker.context();
    let (processes, eps) = (context.processes_here, context.expected_eps());
    let mut pairs: Vec<Candidate> = Vec::new();
    for (i, iface) in worker.ifaces.iter().enumerate() {
        if !fits(iface) {
            continue;
        }
        let cost = duration(&iface.attr, processes, DECIDING_SIZE);
        for (e, entry) in address.entries.iter().enumerate() {
            if entry.transport == iface.number {
                pairs.push(Candidate {
                    overloaded: iface.attr.max_num_eps < eps,
                    cost,
                    routed: is_routed(worker, iface, entry),
                    iface: i,
                    entry: e,
                });
            }
        }
    }
    pairs.sort_by(Candidate::order);
    // Processes of one node spread over devices that are equally good.
    let is_best = |p: &&Candidate| p.order(&pairs[0]) == Ordering::Equal;
    let equal = pairs.iter().take_while(is_best).count();
    if equal > 0 {
        pairs[..equal].rotate_left(context.number_here() % equal);
    }
    pairs
        .into_iter()
        .map(|p| (p.iface, p.entry))
        .filter(|(i, e)| reaches(worker, &worker.ifaces[*i], &address.entries[*e]))
}

/// Whether the devices of an own interface and an entry are of different networks.
fn is_routed(worker: &Core, iface: &OpenIface, entry: &AddressEntry) -> bool {
    !transport_of(worker, iface).is_same_network(&iface.device_address, &entry.device)
}

fn is_network(worker: &Core, iface: &OpenIface) -> bool {
    worker.context().resources[iface.resource].device.kind == UCT_DEVICE_TYPE_NET
}

/// The route of the last endpoint to a peer: the next endpoint to it uses it without a new selection.
pub struct Route {
    address: Rc<Address>,
    /// With a transport endpoint that is another's.
    lane: MessageLane,
}

/// The address, shared with other endpoints to that peer if that is easy to see.
pub fn shared(worker: &Core, address: Address) -> Rc<Address> {
    match worker.wireup().route.borrow().as_ref() {
        Some(route) if *route.address == address => Rc::clone(&route.address),
        _ => Rc::new(address),
    }
}

/// Whether messages can go to one of the address's entries.
pub fn reaches_any(worker: &Core, address: &Address) -> bool {
    best(worker, address, carries_messages).next().is_some()
}

pub fn carries_messages(iface: &OpenIface) -> bool {
    let need = UCT_IFACE_FLAG_AM_BCOPY | UCT_IFACE_FLAG_CONNECT_TO_IFACE;
    iface.attr.cap.flags & need == need
}

/// Connects for messages by the cheapest transport that works; `UNREACHABLE` when none does.
pub fn message_lane(worker: &Core, address: &Rc<Address>) -> Result<MessageLane> {
    if let Some(route) = worker.wireup().route.borrow().as_ref()
        && Rc::ptr_eq(&route.address, address)
        && let Ok((ep, max_piece)) = connect_for_messages(
            worker,
            &worker.ifaces[route.lane.iface],
            &address.entries[route.lane.entry],
        )
    {
        return Ok(MessageLane {
            ep,
            max_piece,
            ..route.lane
        });
    }
    for (i, entry) in best(worker, address, carries_messages) {
        let iface = &worker.ifaces[i];
        match connect_for_messages(worker, iface, &address.entries[entry]) {
            Ok(connected) => {
                warn_of_detour(worker, address, iface);
                let lane = lane_of(worker, address, (i, entry), connected);
                let address = Rc::clone(address);
                worker.wireup().route.replace(Some(Route { address, lane }));
                return Ok(lane);
            }
            Err(e) => ucs_debug!("{}: {e}", transport_of(worker, iface).name()),
        }
    }
    Err(Status::UNREACHABLE)
}

/// The lane of one of the worker's interfaces, with its limits and thresholds.
fn lane_of(
    worker: &Core,
    address: &Address,
    (i, entry): Pair,
    (ep, max_piece): (uct_ep_h, usize),
) -> MessageLane {
    let iface = &worker.ifaces[i];
    let ops = iface.internal().table();
    let short = iface.attr.cap.flags & UCT_IFACE_FLAG_AM_SHORT != 0;
    let longest = iface.internal().longest_short();
    let max_short = longest.unwrap_or(iface.attr.cap.am.max_short);
    let max_short = max_short.checked_sub(8).filter(|_| short);
    let copies = iface_for(worker, address, Capability::SingleCopy);
    let domain = &worker.context().mds[worker.domain_of(i)];
    let carriers = Carriers {
        message: &iface.attr,
        writes: [Capability::PutByKey, Capability::Rdma]
            .iter()
            .any(|capability| capability.is_of(iface)),
        reads: Capability::Rdma.is_of(iface),
        registration: if iface.needs_registration {
            domain.md.attr().reg_cost.0
        } else {
            0.0
        },
        copies: copies.map(|i| &worker.ifaces[i].attr),
        same_node: !is_network(worker, iface),
        to_itself: address.uuid == worker.uuid,
    };
    let thresholds = Thresholds::new(&worker.context().config, &worker.proto().rules, &carriers);
    let limit = thresholds.rndv.min(thresholds.buffered);
    let max_short = max_short.zip(limit.checked_sub(1)).map(|(a, b)| a.min(b));
    let cap = &iface.attr.cap;
    let in_place = cap.flags & UCT_IFACE_FLAG_AM_ZCOPY != 0;
    MessageLane {
        ep,
        iface: i,
        entry,
        max_short: max_short.unwrap_or(0),
        max_bcopy: cap.am.max_bcopy,
        max_piece,
        max_zcopy: if in_place { cap.am.max_zcopy } else { 0 },
        max_zcopy_header: if in_place { cap.am.max_hdr } else { 0 },
        max_zcopy_entries: cap.am.max_iov.min(MAX_ENTRIES),
        thresholds,
        am_short: max_short.map(|_| iface.internal().base.internal.ops.am_short),
        am_bcopy: ops.ep_am_bcopy,
        am_zcopy: ops.ep_am_zcopy,
    }
}

/// A lane for control messages to the owner of `address` over a connection that is there already.
pub fn connected_lane(worker: &Core, address: &Address) -> Option<MessageLane> {
    let ifaces = worker.ifaces.iter().enumerate();
    let carrying = ifaces.filter(|(_, iface)| carries_messages(iface));
    let mut pairs = carrying.flat_map(|(i, iface)| {
        let entries = address.entries.iter().enumerate();
        entries.map(move |(e, entry)| (i, iface, e, entry))
    });
    pairs.find_map(|(i, iface, e, entry)| {
        let peer = claims::identity(iface, entry)?;
        if !iface.internal().is_connected(peer) {
            return None;
        }
        let (ep, max_piece) = connect_for_messages(worker, iface, entry).ok()?;
        Some(MessageLane {
            ep,
            iface: i,
            entry: e,
            max_bcopy: iface.attr.cap.am.max_bcopy,
            max_piece,
            am_bcopy: iface.internal().table().ep_am_bcopy,
            ..NO_LANE
        })
    })
}

/// The pairs of an own interface and an entry of the peer's by which messages can go: those of one network before others,
/// the best first.
pub fn message_pairs(worker: &Core, address: &Address) -> Vec<Pair> {
    let mut pairs: Vec<Pair> = best(worker, address, carries_messages).collect();
    pairs.sort_by_key(|(i, e)| is_routed(worker, &worker.ifaces[*i], &address.entries[*e]));
    pairs
}

/// Connects by a pair, for messages that have a way of their own to be sent again.
pub fn open_path(
    worker: &Core,
    address: &Address,
    (i, entry): Pair,
    on_room: Box<dyn Fn() -> bool>,
) -> Result<Path> {
    let (iface, entry) = (&worker.ifaces[i], &address.entries[entry]);
    let path = Path::open(iface.internal(), &entry.device, &entry.iface, on_room)?;
    idle::poll(worker, iface);
    Ok(path)
}

/// The lane of an endpoint of the overlay of `failover`, whose messages go by a pair at first: it has buffered messages.
pub fn overlay_lane(
    worker: &Core,
    address: &Address,
    pair: Pair,
    (ep, am_bcopy, max_bcopy): (uct_ep_h, uct_ep_am_bcopy_func_t, usize),
) -> MessageLane {
    let iface = &worker.ifaces[pair.0];
    let carriers = Carriers {
        message: &iface.attr,
        writes: false,
        reads: false,
        registration: 0.0,
        copies: None,
        same_node: !is_network(worker, iface),
        to_itself: address.uuid == worker.uuid,
    };
    MessageLane {
        ep,
        iface: pair.0,
        entry: pair.1,
        max_bcopy,
        max_piece: max_bcopy,
        thresholds: Thresholds::new(&worker.context().config, &worker.proto().rules, &carriers),
        am_bcopy,
        ..NO_LANE
    }
}

/// Makes the transport endpoint of a lane with a capability, if there is such a transport.
pub fn open_lane(worker: &Core, address: &Address, capability: Capability) -> Option<OpenedLane> {
    let capable = |iface: &OpenIface| capability.is_of(iface);
    best(worker, address, capable).find_map(|(iface, entry)| {
        let made = connect(worker, &worker.ifaces[iface], &address.entries[entry]);
        made.ok().map(|ep| OpenedLane { ep, iface, entry })
    })
}

/// The transport endpoints of rails beside a message lane, fastest first: of its transport, each by a device of its own at
/// either end, with at least the message lane's bandwidth divided by `wanted.ratio`. RDMA devices have a memory domain each,
/// and a key of each for what they access; others are of one domain. Beside those that share transfers there is one for the
/// memory of each node to which none of the others is as near.
pub fn open_rails(
    worker: &Core,
    address: &Address,
    message: &MessageLane,
    wanted: WantedRails,
) -> OpenedRails {
    let own = &worker.ifaces[message.iface];
    let resources = &worker.context().resources;
    let (processes, transport) = (worker.context().processes_here, transport_of(worker, own));
    let mut used = vec![(message.iface, message.entry)];
    let mut rails = Vec::new();
    if !transport.has_rails(&address.entries[message.entry].device) {
        return OpenedRails::default();
    }
    let least = bandwidth(&own.attr, processes) / wanted.ratio;
    let by_device = Capability::Rdma.is_of(own);
    let fits = |iface: &OpenIface| {
        let capable = match by_device {
            true => Capability::Rdma.is_of(iface),
            false => carries_messages(iface) && Capability::PutByKey.is_of(iface),
        };
        capable && bandwidth(&iface.attr, processes) >= least
    };
    let nearness = worker.context().nearness();
    let mut domains = vec![worker.domain_of(message.iface)];
    for (i, e) in best(worker, address, fits) {
        if rails.len() >= MAX_RAILS {
            break;
        }
        let is_nearer = || {
            by_device
                && bandwidth(&worker.ifaces[i].attr, processes) >= bandwidth(&own.attr, processes)
                && nearness.is_nearer(worker.domain_of(i), &domains)
        };
        if rails.len() >= wanted.most && !is_nearer() {
            continue;
        }
        let (iface, entry) = (&worker.ifaces[i], &address.entries[e]);
        let is_free = |(a, b): &(usize, usize)| {
            *a != i && address.entries[*b].device != address.entries[e].device
        };
        if iface.number != own.number
            || !by_device && resources[iface.resource].md != resources[own.resource].md
            || is_routed(worker, iface, entry)
            || !used.iter().all(is_free)
            || !transport.has_rails(&entry.device)
        {
            continue;
        }
        // Without an identity nobody could tell whether it is connected.
        let Some(identity) = iface.internal().peer_identity(&entry.device, &entry.iface) else {
            continue;
        };
        match connect(worker, iface, entry) {
            Ok(ep) => {
                used.push((i, e));
                domains.push(worker.domain_of(i));
                rails.push(OpenedRail {
                    lane: OpenedLane {
                        ep,
                        iface: i,
                        entry: e,
                    },
                    bandwidth: bandwidth(&iface.attr, processes),
                    identity,
                    by_device,
                });
            }
            Err(e) => ucs_debug!("{}: no rail: {e}", transport.name()),
        }
    }
    // Without a rail here the peer has none either.
    let is_in_reach = |iface: &&OpenIface| {
        let of_rail = |entry: &AddressEntry| {
            reaches(worker, iface, entry) && !is_routed(worker, iface, entry)
        };
        by_device && !rails.is_empty() && fits(iface) && address.entries.iter().any(of_rail)
    };
    let in_reach = worker.ifaces_for_peers().into_iter();
    let in_reach = in_reach.filter(is_in_reach);
    let domain = |iface: &OpenIface| resources[iface.resource].md;
    OpenedRails {
        in_reach: in_reach.map(domain).collect(),
        rails,
    }
}

/// Most rails of an endpoint: upstream's endpoints have 16 lanes.
const MAX_RAILS: usize = 14;

/// The interface that `open_lane` tries first.
pub fn iface_for(worker: &Core, address: &Address, capability: Capability) -> Option<usize> {
    let capable = |iface: &OpenIface| capability.is_of(iface);
    best(worker, address, capable).next().map(|(i, _)| i)
}

/// Whether a peer that nothing reaches was within reach of shared memory, and has closed its interface or ended.
pub fn has_left(worker: &Core, address: &Address) -> bool {
    !refusal(worker, address).is_some_and(Refusal::may_live)
        && worker.ifaces.iter().any(|iface| {
            let left = |entry: &AddressEntry| {
                may_reach(worker, iface, entry, None) && !reaches(worker, iface, entry)
            };
            transport_of(worker, iface).shares_memory() && address.entries.iter().any(left)
        })
}

/// Why the peer's process, if on this host, refuses access to its memory.
fn refusal(worker: &Core, address: &Address) -> Option<Refusal> {
    local::look(claims::owner(worker, address)?).err()
}

/// Logs for each transport why it does not reach the peer, and the remedy.
#[cold]
pub fn explain(worker: &Core, address: &Address) {
    ucs_error!("worker {:#x} is unreachable:", address.uuid);
    let config = &worker.context().config;
    let (named, others): (Vec<_>, Vec<_>) =
        offered(worker).partition(|(_, transport)| allowed::transport(config, *transport));
    for (number, transport) in named {
        let why = obstacle(worker, address, (number, transport))
            .unwrap_or_else(|| "reaches the peer, but no endpoint could be made".to_owned());
        ucs_error!("  {}: {why}", transport.name());
    }
    if !others.is_empty() {
        let names: Vec<_> = others.iter().map(|(_, of)| of.name()).collect();
        ucs_error!("  {}: UCX_TLS does not name it here", names.join(", "));
    }
}

/// Warns once of a process of this host whose messages go over a network although both sides offer shared memory.
fn warn_of_detour(worker: &Core, address: &Address, used: &OpenIface) {
    if worker.wireup().told_detour.get() || !is_network(worker, used) {
        return;
    }
    let shared = worker.ifaces.iter().find(|iface| {
        let is_theirs =
            |e: &AddressEntry| e.transport == iface.number && e.device == iface.device_address;
        transport_of(worker, iface).shares_memory()
            && carries_messages(iface)
            && address.entries.iter().any(is_theirs)
    });
    let Some(shared) = shared else { return };
    let shared = (shared.number, transport_of(worker, shared));
    if let Some(why) = obstacle(worker, address, shared) {
        worker.wireup().told_detour.set(true);
        ucs_warn!(
            "messages to worker {:#x}, a process of this host, go over {} and not over {}: {why} (not logged again)",
            address.uuid,
            transport_of(worker, used).name(),
            shared.1.name()
        );
    }
}

/// Logs for each transport that an endpoint does not use beside those that it does the reason.
#[cold]
pub fn explain_unused(worker: &Core, address: &Address, used: &[usize]) {
    for (number, transport) in offered(worker) {
        if used.iter().any(|i| worker.ifaces[*i].number == number) {
            continue;
        }
        let why = obstacle(worker, address, (number, transport))
            .unwrap_or_else(|| "reaches the peer too, but is slower".to_owned());
        ucs_debug!("    {} is not used: {why}", transport.name());
    }
}

/// The transports that the log speaks of.
fn offered(worker: &Core) -> impl Iterator<Item = (u8, &'static dyn Transport)> {
    let config = &worker.context().config;
    let all = registry::numbered().into_iter();
    all.filter(|(_, transport)| allowed::is_offered(config, *transport))
}

/// Why messages cannot go to the peer by a transport; `None` if they can.
fn obstacle(
    worker: &Core,
    address: &Address,
    (number, transport): (u8, &dyn Transport),
) -> Option<String> {
    if let Some(why) = worker.context().why_unused(number) {
        return Some(why.to_owned());
    }
    let is_ours = |iface: &&OpenIface| iface.number == number;
    if !worker.ifaces.iter().any(|iface| is_ours(&iface)) {
        let resources = &worker.context().resources;
        let unopened = worker.unopened.iter();
        let unopened = unopened.filter(|(resource, _)| resources[*resource].number == number);
        let reasons: Vec<_> = unopened.map(|(_, why)| why.as_str()).collect();
        return Some(match reasons.is_empty() {
            true => "UCX_SINGLE_NET_DEVICE leaves another device".to_owned(),
            false => reasons.join(", "),
        });
    }
    let mut theirs = address.entries.iter().filter(|e| e.transport == number);
    let Some(first) = theirs.clone().next() else {
        return Some(
            "not open at the peer: is it allowed by its UCX_TLS and UCX_NET_DEVICES?".to_owned(),
        );
    };
    let reaching = theirs.find_map(|entry| {
        let mut ours = worker.ifaces.iter().filter(is_ours);
        ours.find(|iface| reaches(worker, iface, entry))
    });
    match reaching {
        None => Some(transport.unreachable(&first.device, &first.iface)),
        Some(iface) if !carries_messages(iface) => {
            Some("moves bulk data only, needs one of the others beside it".to_owned())
        }
        Some(_) => None,
    }
}
