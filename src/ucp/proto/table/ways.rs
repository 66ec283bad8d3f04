//! How one message or access goes: the names of its protocol and its transport, from the functions that choose them.

use crate::c::*;
use crate::ucp::dt::Data;
use crate::ucp::ep::{Capability, Ep, Lane};
use crate::ucp::op::{MessageKind, Stage};
use crate::ucp::plan::RndvPolicy;
use crate::ucp::proto::device_access;
use crate::ucp::proto::rndv::mapped;
use crate::ucp::proto::send;
use crate::ucp::proto::zcopy::{Direction, most_at_once};
use crate::ucp::reg::LocalMemory;
use crate::ucp::rndv_state::SenderState;

/// Accesses by messages to the owner, whose processor makes them.
pub const BY_MESSAGES: &str = "software emulation";

/// Messages that the receiver copies from the sender's memory.
pub const COPY_FROM_MAPPED: &str = "rendezvous copy from mapped remote memory";

/// The protocol of one message, and its transport.
pub fn message(ep: &Ep, kind: &MessageKind, data: &Data, policy: RndvPolicy) -> (String, String) {
    let lane = ep.lane();
    let name = ep.transport_name();
    let short = data.contiguous().is_some() && data.len() <= lane.max_short;
    if kind.word().is_some() && lane.am_short.is_some() && short && policy != RndvPolicy::Always {
        return ("eager short".to_owned(), name);
    }
    match send::plan(ep, kind, data, policy) {
        Stage::Whole => ("eager copy-in copy-out".to_owned(), name),
        Stage::WholeInPlace => ("eager zero-copy copy-out".to_owned(), name),
        Stage::Rndv(SenderState::SendRts) => rendezvous(ep, data),
        _ => ("multi-frag eager copy-in copy-out".to_owned(), name),
    }
}

/// How the data of a rendezvous message move. The receiver decides it, by the same rules as far as
/// its configuration is the same.
fn rendezvous(ep: &Ep, data: &Data) -> (String, String) {
    let rules = ep.worker().proto().rules;
    let (reads, writes) = match (data.device_block(), data.contiguous()) {
        (Some((_, kind)), _) => {
            let copies = ep.device_lane(kind).or_else(|| ep.rdma_lane(kind));
            (copies, copies)
        }
        (None, None) => (None, None),
        (None, Some(_)) => {
            let copies = ep.lane_with(Capability::SingleCopy);
            let device = ep.lane_with(Capability::Rdma);
            let put = ep.lane_with(Capability::PutByKey);
            (copies.or(device), copies.or(put).or(device))
        }
    };
    let (how, by) = if is_own(ep) && rules.maps {
        ("copy from mapped remote memory", ep.transport_name())
    } else if let Some(lane) = reads.filter(|_| rules.reads) {
        ("zero-copy read from remote", ep.name_of(lane.iface))
    } else if let Some(lane) = writes.filter(|_| rules.writes) {
        ("zero-copy write to remote", ep.name_of(lane.iface))
    } else if mapped::is_stageable(ep, data) {
        (
            "device copy to memory that the peer maps",
            ep.transport_name(),
        )
    } else if mapped::goes_by_parts(ep, data) {
        (
            "pipeline through memory that the peer maps",
            ep.transport_name(),
        )
    } else if let Some(lane) =
        mapped::lane_for_device_parts(ep).filter(|_| mapped::goes_by_device_parts(ep, data))
    {
        ("pipeline through device memory", ep.name_of(lane.iface))
    } else {
        ("fragmented copy-in copy-out", ep.transport_name())
    };
    (format!("(?) rendezvous {how}"), by)
}

/// An access of memory of the peer's that is not mapped here, by a lane with a capability; `None`: by messages.
pub fn access(
    ep: &Ep,
    by: Option<Capability>,
    (remote, direction): (ucs_memory_type_t, Direction),
    data: &Data,
) -> (String, String) {
    let of_block = |(_, kind)| {
        let has_host_bytes = kind == UCS_MEMORY_TYPE_HOST && !data.is_empty();
        let writes = direction == Direction::Put && !ep.puts_by_message(data.len());
        match by? {
            Capability::SingleCopy => ep
                .lane_with(Capability::SingleCopy)
                .filter(|_| has_host_bytes),
            Capability::PutByKey => ep
                .lane_with(Capability::PutByKey)
                .filter(|_| has_host_bytes && writes),
            Capability::DeviceCopy => device_access::lane(ep, data, remote, direction),
            Capability::Rdma => ep.rdma_lane(kind),
        }
    };
    let Some(lane) = data.block().and_then(of_block) else {
        return (BY_MESSAGES.to_owned(), ep.transport_name());
    };
    let by_rdma = by == Some(Capability::Rdma) && data.memory_type() == UCS_MEMORY_TYPE_HOST;
    let way = match direction {
        _ if !by_rdma || data.len() > rdma_buffer(ep, direction) => "zero-copy",
        Direction::Put => "copy-in",
        Direction::Get => "copy-out",
    };
    (way.to_owned(), ep.name_of(lane.iface))
}

/// Most bytes of host memory that an RDMA device accesses through a buffer of its transport; 0 without a device.
pub fn rdma_buffer(ep: &Ep, direction: Direction) -> usize {
    let lane = ep.lane_with(Capability::Rdma);
    let most = |lane: Lane| {
        let attr = &ep.worker().ifaces[lane.iface].attr;
        most_at_once(attr, direction, LocalMemory::Copied)
    };
    lane.map_or(0, most)
}

/// An access of memory of the peer's that is mapped here.
pub fn mapped_access(ep: &Ep, data: &Data) -> (String, String) {
    let way = match device_access::copier(ep, data) {
        Some(_) => "device copy",
        None => "copy",
    };
    (way.to_owned(), ep.transport_name())
}

/// Whether an endpoint leads back to its worker.
fn is_own(ep: &Ep) -> bool {
    ep.remote_uuid.get() == ep.worker().uuid
}

/// Whether the peer copies messages from memory that it maps.
pub fn maps_messages(ep: &Ep) -> bool {
    ep.is_same_host() && ep.worker().proto().rules.maps && !is_own(ep)
}

/// Whether memory of the peer's may be mapped here.
pub fn shares_memory(ep: &Ep) -> bool {
    ep.is_same_host() || is_own(ep)
}
