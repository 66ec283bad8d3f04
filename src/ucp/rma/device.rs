//! Accesses of remote memory by an RDMA device, with a key of its domain. The owner's processor takes no part.
//!
//! What one buffer of the transport holds is copied through it, which costs less than to register the user's memory; such
//! a put is over at once. More goes from and to user memory: by the application's handle of it, or registered for the
//! access. What cannot be registered goes through buffers, one after the other; of memory of a device, by messages. Where the machine has several memory nodes,
//! what is read or written in place goes by the device that is nearest to it, of those with the most bandwidth.
//!
//! On the message lane the device keeps the order of what it sends, and `Iface::fence` has it wait for reads. So only an
//! access in several parts, of which the last may wait for room or go by a rail, holds up what follows a fence.
#![forbid(unsafe_code)]

use crate::c::*;
use crate::ucp::dt::Data;
use crate::ucp::ep::{Capability, DevicePart, Ep, Lane, Task, TaskStep};
use crate::ucp::op::{DeviceAccess, GetOp, Op, PutOp};
use crate::ucp::proto::rails::{self, Ends, Near};
use crate::ucp::proto::zcopy::{self, Direction, Transfer, most_at_once};
use crate::ucp::reg::{LocalMemory, Registration};
use crate::ucp::request::{
    Info, Param, Posted, Req, Request, immediate, must_be_immediate, reached, settle,
};
use crate::ucp::rkey::RemoteKey;
use crate::ucs::{Result, Status};
use crate::ucs_debug;
use smallvec::smallvec;
use std::rc::Rc;

/// Posts an access. `None` where it has to go by messages.
pub fn access(
    ep: &Ep,
    param: &Param,
    data: &Data,
    (address, key, rkey): (u64, &RemoteKey, uct_rkey_t),
    direction: Direction,
) -> Option<Result<Posted>> {
    let lane = ep.lane_with(Capability::Rdma)?;
    let Some(local) = data.contiguous() else {
        return of_device_memory(ep, param, data, (address, key, rkey), direction);
    };
    let transfer = whole((local, data.len()), address, rkey);
    if data.is_empty() {
        return Some(immediate(ep.worker(), param, Info::default()));
    }
    let fits = transfer.len <= at_once(ep, lane, direction, LocalMemory::Copied);
    if fits && direction == Direction::Put && ep.is_clear() {
        match zcopy::put_at_once(lane, &transfer) {
            Ok(()) => {
                ep.wrote.set(true);
                return Some(immediate(ep.worker(), param, Info::default()));
            }
            Err(Status::NO_RESOURCE) => {}
            Err(_) => return None,
        }
    }
    if let Err(e) = must_be_immediate(param) {
        return Some(Err(e));
    }
    let access = match fits {
        true => {
            let device = DeviceAccess {
                rkey,
                memory: LocalMemory::Copied,
                registration: None,
                parts: None,
            };
            (device, false)
        }
        false => {
            let kind = UCS_MEMORY_TYPE_HOST;
            reach(ep, param, lane, &transfer, (key, direction), kind)
        }
    };
    let data = Data::contig(transfer.local, transfer.len);
    Some(queue(ep, param, data, (address, key), direction, access))
}

/// As `access`, from or to memory of a device here, which is never copied through a buffer of the transport.
#[cold]
fn of_device_memory(
    ep: &Ep,
    param: &Param,
    data: &Data,
    (address, key, rkey): (u64, &RemoteKey, uct_rkey_t),
    direction: Direction,
) -> Option<Result<Posted>> {
    let (local, kind) = data.device_block().filter(|_| !data.is_empty())?;
    let known = |domain| param.memory_handle(domain, (local, data.len()));
    let lane = ep.rdma_lane(kind).or_else(|| {
        let lane = ep.lane_with(Capability::Rdma)?;
        known(ep.worker().domain_of(lane.iface)).map(|_| lane)
    })?;
    if let Err(e) = must_be_immediate(param) {
        return Some(Err(e));
    }
    let transfer = whole((local, data.len()), address, rkey);
    let access = reach(ep, param, lane, &transfer, (key, direction), kind);
    if access.0.memory == LocalMemory::Copied {
        return None;
    }
    let data = reached(ep.worker().context(), Data::contig(local, data.len()), kind);
    Some(queue(ep, param, data, (address, key), direction, access))
}

/// Queues an access, which may be in parts.
#[inline(always)]
fn queue(
    ep: &Ep,
    param: &Param,
    data: Data,
    (address, key): (u64, &RemoteKey),
    direction: Direction,
    (device, in_parts): (DeviceAccess, bool),
) -> Result<Posted> {
    let op = match direction {
        Direction::Put => Op::Put(PutOp {
            holds_fences: in_parts,
            device: Some(device),
            ..PutOp::new(ep, data, key, address)
        }),
        Direction::Get => Op::Get(GetOp {
            holds_fences: in_parts,
            device: Some(device),
            ..GetOp::new(ep, data, key, address)
        }),
    };
    Request::create(ep.worker(), param, op).and_then(|req| {
        ep.post(Task::Request(req));
        settle(req, param)
    })
}

/// The transfer of a whole access, through buffers of the transport.
fn whole((local, len): (*mut u8, usize), remote: u64, rkey: uct_rkey_t) -> Transfer {
    Transfer {
        guard: None,
        local,
        memory: LocalMemory::Copied,
        len,
        remote,
        rkey,
    }
}

/// Most bytes of one operation of the lane's transport.
fn at_once(ep: &Ep, lane: Lane, direction: Direction, memory: LocalMemory) -> usize {
    most_at_once(&ep.worker().ifaces[lane.iface].attr, direction, memory)
}

/// How the devices that do it reach the local memory of a long access: by the application's handle, or registered now. And whether
/// the access is in parts.
fn reach(
    ep: &Ep,
    param: &Param,
    lane: Lane,
    transfer: &Transfer,
    (remote, direction): (&RemoteKey, Direction),
    kind: ucs_memory_type_t,
) -> (DeviceAccess, bool) {
    let (worker, limits) = (ep.worker(), ep.worker().proto().rails.access);
    let (rkey, memory) = (transfer.rkey, (transfer.local, transfer.len));
    let own_domain = worker.domain_of(lane.iface);
    let known = |domain| param.memory_handle(domain, memory);
    let with_rails = !ep.fenced.is_in_order();
    let near = match kind {
        UCS_MEMORY_TYPE_HOST => node(ep, param, memory).filter(|_| with_rails),
        _ => None,
    };
    let near = near.map(|node| Near { node, remote });
    let mut domains = match with_rails {
        true => rails::domains_of_access(ep, lane, limits, transfer.len, near),
        false => smallvec![own_domain],
    };
    domains.retain(|domain| known(*domain).is_none());
    let flags = match direction {
        Direction::Put => UCT_MD_MEM_ACCESS_LOCAL_READ,
        Direction::Get => UCT_MD_MEM_ACCESS_LOCAL_READ | UCT_MD_MEM_ACCESS_LOCAL_WRITE,
    };
    let register =
        |domains: &[usize]| Registration::of_buffer(worker.context(), domains, memory, kind, flags);
    let mut registration = (!domains.is_empty()).then(|| register(&domains));
    let local = |registration: &Option<Registration>, domain| {
        known(domain).or_else(|| registration.as_ref()?.handle(domain))
    };
    let by_lane = |registration: &Option<Registration>| {
        local(registration, own_domain).map_or(LocalMemory::Copied, LocalMemory::Registered)
    };
    let mut memory = by_lane(&registration);
    let ends = Ends {
        local: &|domain| local(&registration, domain),
        remote,
        epoch: None,
        near,
    };
    let by_lane_alone = Transfer {
        memory,
        ..*transfer
    };
    let parts = match with_rails {
        true => rails::by_devices(ep, lane, limits, &by_lane_alone, &ends),
        false => Vec::new(),
    };
    if parts.is_empty() && memory == LocalMemory::Copied && !domains.contains(&own_domain) {
        // The device that is nearer cannot have it registered.
        registration = Some(register(&[own_domain]));
        memory = by_lane(&registration);
    }
    let in_parts = !parts.is_empty() || transfer.len > at_once(ep, lane, direction, memory);
    let device = DeviceAccess {
        rkey,
        memory,
        registration,
        parts: (!parts.is_empty()).then(|| parts.into()),
    };
    (device, in_parts)
}

/// The node of local memory, if devices are of different nodes.
fn node(ep: &Ep, param: &Param, memory: (*mut u8, usize)) -> Option<u32> {
    let context = ep.worker().context();
    if !context.nearness().matters() || !ep.may_have_rails() {
        return None;
    }
    let start = memory.0.addr();
    let range = start..start + memory.1;
    let known = param.memory_node(memory);
    known
        .or_else(|| context.reg_caches.node_of(range.clone()))
        .or_else(|| context.node_of(range))
}

/// The parts of an access, if rails share it and none of them has failed. Otherwise the first lane has the whole memory
/// registered, or copies it.
#[cold]
fn standing_parts(ep: &Ep, req: Req) -> Option<Rc<[DevicePart]>> {
    let parts = req.with_op(|op| match op {
        Op::Put(PutOp { device, .. }) | Op::Get(GetOp { device, .. }) => {
            device.as_ref()?.parts.clone()
        }
        _ => None,
    });
    parts.filter(|parts| !parts.iter().any(|of| ep.is_lost_rail(of.part.lane)))
}

/// The access is at the head of the send queue: gives it to the device. `None` where it goes by messages.
pub fn step(ep: &Ep, req: Req) -> Option<Result<TaskStep>> {
    let (direction, transfer, in_parts) = req.with_op(|op| {
        let (direction, data, address, device, in_parts) = match op {
            Op::Put(p) => (
                Direction::Put,
                &p.data,
                p.address,
                &p.device,
                p.holds_fences,
            ),
            Op::Get(g) => (
                Direction::Get,
                &g.data,
                g.address,
                &g.device,
                g.holds_fences,
            ),
            _ => return None,
        };
        let device = device.as_ref()?;
        let local = data.contiguous().or_else(|| Some(data.device_block()?.0))?;
        let transfer = Transfer {
            memory: device.memory,
            ..whole((local, data.len()), address, device.rkey)
        };
        Some((direction, transfer, in_parts))
    })?;
    let lane = ep.lane_with(Capability::Rdma)?;
    let parts = if in_parts {
        standing_parts(ep, req)
    } else {
        None
    };
    ep.add_outstanding(req);
    if in_parts {
        ep.rail_access_begins();
    }
    let wrote = ep.wrote.get();
    ep.wrote.set(wrote || direction == Direction::Put);
    let begun = match &parts {
        None => zcopy::begin(req, lane, direction, transfer, usize::MAX),
        Some(parts) => zcopy::begin_parts(req, direction, transfer, parts, false),
    };
    let Err(e) = begun else {
        // It was posted before the fence and leaves after it: what follows waits for its reads.
        if ep.fenced.get() && direction == Direction::Get {
            let ordered = ep.worker().ifaces[lane.iface].internal().fence();
            ordered.unwrap_or_else(|e| ucs_debug!("{}: a fence: {e}", ep.name()));
        }
        return Some(Ok(TaskStep::Done));
    };
    ep.wrote.set(wrote);
    if in_parts {
        ep.rail_access_ends();
    }
    ep.remove_outstanding(req);
    Some(Err(e))
}
