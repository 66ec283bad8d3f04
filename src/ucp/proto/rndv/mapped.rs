//! Rendezvous over memory that both sides map: what a sender offers in its RTS, and how a receiver copies from it.
//!
//! Messages are copied whole, and streams in parts.

use crate::c::{UCS_MEMORY_TYPE_HOST, UCT_IFACE_FLAG_GET_ZCOPY};
use crate::ucp::dt::Data;
use crate::ucp::ep::{Capability, Ep, Lane};
use crate::ucp::op::{DeviceRead, Op, ReadEpoch, Stage};
use crate::ucp::proto::revocation::MappedEpoch;
use crate::ucp::rkey::{MappedBytes, RemoteKey};
use crate::ucp::rndv_state::SenderState;
use crate::ucp::rts::Rts;
use crate::ucp::staging::{self, Part, Staged};
use crate::ucp::worker_core::Core;
use crate::ucs::{Result, Status};
use crate::uct::base::copy::{Payload, Room};
use crate::uct::base::memory_copier::PendingCopy;
use crate::uct::internal::EpochGuard;
use crate::wire::Writer;
use crate::wire::header::{Extent, Header, MOST_EXTENTS};
use crate::wire::id::EpName;
use crate::wire::rkey::{READ, WRITE};
use core::convert::Infallible;
use core::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

/// The result of a copy from mapped memory.
pub enum Copied<S = Infallible> {
    Ended(Result<()>),
    /// A device copies.
    Started(S),
    /// The sender has taken something back meanwhile, perhaps this message.
    InDoubt,
    NotPossible,
}

/// A copy by a device that was started.
pub struct StartedCopy {
    pub copy: Box<dyn PendingCopy>,
    pub read: DeviceRead,
}

/// Copies a message whose memory is mapped here: that of a request of this worker, or the peer's by a key of the RTS. Copies
/// by devices, of the latter, are started.
pub fn copy_mapped(worker: &Core, ep: &Ep, to: &Data, message: &Rts) -> Copied<Box<StartedCopy>> {
    let copied = if message.sender.ep.uuid == worker.uuid {
        copy_within_worker(worker, to, message).map_or(Copied::NotPossible, Copied::Ended)
    } else {
        let start = |bytes, read| {
            let copy = to.start_unpack(0, bytes)?;
            Some(copy.map(|copy| Box::new(StartedCopy { copy, read })))
        };
        let whole = 0..message.total;
        copy_from_region(ep, message, whole, (to, 0), start).unwrap_or(Copied::NotPossible)
    };
    match copied {
        Copied::Ended(Ok(())) => Copied::Ended(to.finish()),
        other => other,
    }
}

/// Of a request of this worker. `None` when that cannot be.
fn copy_within_worker(worker: &Core, to: &Data, message: &Rts) -> Option<Result<()>> {
    let total = message.total;
    // The address is taken from the request and not from the message.
    worker.requests().named(message.sender.id)?.with_op(|op| {
        let Op::Send(send) = op else { return None };
        if send.stage != Stage::Rndv(SenderState::RtsSent) || send.data.len() != total {
            return None;
        }
        match (to.room(), send.data.payload()) {
            (_, Some(from)) => Some(to.unpack(0, from)),
            // They fit, as `fetch` checked.
            (Some(mut room), None) => Some(send.data.copy_out(room.part(0, total))),
            (None, None) => None,
        }
    })
}

/// Copies some bytes of a message from the peer's region to offset `at` of `to`, where they must fit.
pub fn copy_part(ep: &Ep, message: &Rts, part: Range<usize>, to: &Data, at: usize) -> Copied {
    let none = |_, _| None;
    copy_from_region(ep, message, part, (to, at), none).unwrap_or(Copied::NotPossible)
}

/// As `copy_part`. `None` when the region or the epoch word is not mapped here. What a device copies is started by `start`, if it
/// can.
fn copy_from_region<S>(
    ep: &Ep,
    message: &Rts,
    part: Range<usize>,
    (to, at): (&Data, usize),
    start: impl FnOnce(MappedBytes, DeviceRead) -> Option<Result<S>>,
) -> Option<Copied<S>> {
    let whole = [Extent {
        address: message.address,
        length: message.total as u64,
    }];
    let (region, extents) = match &message.list {
        Some(list) => (list.region, &list.extents[..]),
        None => (message.region, &whole[..]),
    };
    if region == 0 {
        return None;
    }
    let key = ep.keys().borrow().of_region(region)?;
    let epoch_key = match message.guard {
        Some(_) => Some(ep.keys().borrow().of_region(message.epoch_region)?),
        None => None,
    };
    let guard = match (&epoch_key, message.guard) {
        (Some(key), Some(guard)) => Some(MappedEpoch::find(key, guard)?),
        _ => None,
    };
    let context = ep.worker().context();
    if let Some(copier) = context.device_memory.copier(to.memory_type())
        && part.len() >= staging::SHORTEST
        && key.info.context != context.id
    {
        if message.list.is_some() {
            return None;
        }
        let address = message.address.checked_add(part.start as u64)?;
        // Devices copy from it without a detour.
        key.pin(&**copier);
        if let Some(bytes) = MappedBytes::of(&key, address, part.len(), READ) {
            let epoch = epoch_key.clone().zip(message.guard);
            let read = DeviceRead {
                key: Rc::clone(&key),
                epoch: epoch.map(|(key, guard)| ReadEpoch::Mapped(key, guard)),
            };
            match start(bytes, read) {
                Some(Ok(started)) => return Some(Copied::Started(started)),
                Some(Err(e)) => return Some(Copied::Ended(Err(e))),
                None => {}
            }
        }
    }
    let mut result = Ok(());
    let mut done = 0;
    for (address, length) in part_of(extents, &part) {
        let copy = |from: Payload<'_>| to.unpack(at + done, from);
        result = result.and(read_mapped(ep, &key, to, address?, length, copy)?);
        done += length;
    }
    Some(match guard {
        Some(guard) if !guard.is_current() => Copied::InDoubt,
        _ => Copied::Ended(result),
    })
}

/// Where some bytes of a message are that extents make up, and how many at each place; no address where there can be none.
fn part_of(extents: &[Extent], part: &Range<usize>) -> impl Iterator<Item = (Option<u64>, usize)> {
    let (mut skip, mut left) = (part.start as u64, part.len() as u64);
    extents.iter().filter_map(move |extent| {
        let skipped = skip.min(extent.length);
        skip -= skipped;
        let length = left.min(extent.length - skipped);
        left -= length;
        (length > 0).then(|| (extent.address.checked_add(skipped), length as usize))
    })
}

/// Calls `f` with memory of the peer that is mapped here, to read it; `None` when it is not. `f` must not call the user:
/// memory of this process must not be unmapped meanwhile.
fn read_mapped<R>(
    ep: &Ep,
    key: &RemoteKey,
    to: &Data,
    address: u64,
    length: usize,
    f: impl FnOnce(Payload<'_>) -> R,
) -> Option<R> {
    let from = key.readable(address, length)?;
    while_exported(ep, key, to, address, length, READ, || f(from))
}

/// As `read_mapped`, to write it.
pub fn write_mapped<R>(
    ep: &Ep,
    key: &RemoteKey,
    from: &Data,
    address: u64,
    length: usize,
    f: impl FnOnce(Room<'_>) -> R,
) -> Option<R> {
    let to = key.writable(address, length)?;
    while_exported(ep, key, from, address, length, WRITE, || f(to))
}

/// Calls `f`, which accesses mapped memory of a key from or to `here`. Where that memory is this process's own, it is not
/// unmapped meanwhile; `None` when it was already, or when `here` might call the user.
fn while_exported<R>(
    ep: &Ep,
    key: &RemoteKey,
    here: &Data,
    address: u64,
    length: usize,
    right: u8,
    f: impl FnOnce() -> R,
) -> Option<R> {
    let context = ep.worker().context();
    if key.info.context != context.id {
        return Some(f());
    }
    if matches!(here, Data::Opaque { .. }) {
        return None;
    }
    let regions = &context.regions;
    regions
        .with(key.info.region, address, length, right, |_| f())
        .ok()
}

/// Whether the peer is another worker that maps memory of this one.
fn shares_memory(ep: &Ep) -> bool {
    ep.is_same_host() && ep.remote_uuid.get() != ep.worker().uuid
}

/// The key of the memory that holds the range, if peers on this host can map it and have `right` to it.
pub fn mappable(worker: &Core, address: u64, length: usize, right: u8) -> Option<Arc<[u8]>> {
    let regions = &worker.context().regions;
    worker
        .proto()
        .mappable
        .key_of(regions, address, length, right)
}

/// Whether the receiver of an RTS could copy from the buffer itself.
pub fn is_mappable(ep: &Ep, data: &Data) -> bool {
    if ep.remote_uuid.get() == ep.worker().uuid {
        return data.contiguous().is_some();
    }
    shares_memory(ep)
        && span(data).is_some_and(|span| {
            let length = span.end - span.start;
            mappable(ep.worker(), span.start, length as usize, READ).is_some()
        })
}

/// The memory from the first byte of the data to the last. `None` where an RTS cannot name what the data have of it.
fn span(data: &Data) -> Option<Range<u64>> {
    if let Data::Contig { ptr, len } = data {
        let start = *ptr as u64;
        return Some(start..start.checked_add(*len as u64)?);
    }
    let mut span: Option<Range<u64>> = None;
    for (i, (at, length)) in data.extents().enumerate() {
        let start = at as u64;
        let end = start.checked_add(length as u64)?;
        span = match span {
            None => Some(start..end),
            Some(_) if i == MOST_EXTENTS => return None,
            Some(span) => Some(span.start.min(start)..span.end.max(end)),
        };
    }
    span
}

/// Whether it could, and is no receiver of this very worker.
pub fn is_mappable_elsewhere(ep: &Ep, data: &Data) -> bool {
    ep.worker().proto().rules.maps
        && ep.remote_uuid.get() != ep.worker().uuid
        && is_mappable(ep, data)
}

/// Whether a device may copy the data to memory that the peer maps. Not where devices copy between both processes: the
/// receiver may ask for that.
pub fn is_stageable(ep: &Ep, data: &Data) -> bool {
    data.memory_type() != UCS_MEMORY_TYPE_HOST
        && ep.device_transfers().sends.serves(data.len())
        && ep.worker().proto().rules.maps
        && shares_memory(ep)
        && ep.lane_with(Capability::DeviceCopy).is_none()
}

/// Whether a device may copy the data, longer ones, part by part to memory that the peer maps.
pub fn goes_by_parts(ep: &Ep, data: &Data) -> bool {
    data.memory_type() != UCS_MEMORY_TYPE_HOST
        && data.len() > staging::LONGEST
        && ep.worker().proto().rules.maps
        && shares_memory(ep)
        && ep.lane_with(Capability::DeviceCopy).is_none()
}

/// The lane by which the peer's devices get parts of a message from memory of a device here. `None` where none does.
pub fn lane_for_device_parts(ep: &Ep) -> Option<Lane> {
    let worker = ep.worker();
    let is_other = ep.remote_uuid.get() != worker.uuid && !ep.is_upstream();
    let lane = ep.lane_with(Capability::DeviceCopy)?;
    let gets = worker.ifaces[lane.iface].attr.cap.flags & UCT_IFACE_FLAG_GET_ZCOPY != 0;
    (is_other && gets && worker.proto().rules.reads).then_some(lane)
}

/// Whether devices may copy data part by part that the driver does not open to other processes: to memory of a device that it
/// does, and from there.
pub fn goes_by_device_parts(ep: &Ep, data: &Data) -> bool {
    data.len() >= staging::SHORTEST
        && data.device_block().is_some()
        && lane_for_device_parts(ep).is_some()
        && (ep.device_transfers().device_area.get())
            .is_none_or(|area| area.as_ref().is_some_and(|area| area.is_usable()))
}

/// The access to the data that an RTS offers.
#[derive(Default)]
pub struct Offer<'a> {
    /// Address of the data; 0 if they may not be read.
    pub address: u64,
    /// The key of mapped memory, if they are in that; of a list with its extents behind it.
    pub key: Option<Arc<[u8]>>,
    /// The revocation epoch of which the address is valid.
    pub guard: Option<EpochGuard>,
    pub epoch_key: &'a [u8],
}

impl Offer<'_> {
    pub fn key(&self) -> &[u8] {
        self.key.as_deref().unwrap_or_default()
    }
}

pub fn offer<'a>(ep: &'a Ep, data: &Data) -> Offer<'a> {
    let worker = ep.worker();
    let Some(span) = span(data) else {
        return Offer::default();
    };
    let address = data.contiguous().map(|at| at as u64);
    let (guard, epoch_key) = if ep.may_revoke() {
        match worker.proto().revocation.current(worker.context()) {
            Some((guard, key)) => (Some(guard), key),
            None => return Offer::default(),
        }
    } else {
        (None, &[][..])
    };
    let maps =
        worker.proto().rules.maps && shares_memory(ep) && guard.is_none() | !epoch_key.is_empty();
    let key = if maps {
        mappable(worker, span.start, (span.end - span.start) as usize, READ)
    } else {
        None
    };
    match (key, address) {
        (Some(key), _) => Offer {
            address: address.unwrap_or(0),
            key: Some(if address.is_some() {
                key
            } else {
                with_extents(&key, data)
            }),
            guard,
            epoch_key,
        },
        (None, Some(address)) if worker.proto().rules.reads => Offer {
            address,
            guard,
            ..Offer::default()
        },
        _ => Offer::default(),
    }
}

/// A key with the extents of a list behind it.
fn with_extents(key: &[u8], data: &Data) -> Arc<[u8]> {
    let mut bytes = Vec::with_capacity(key.len() + MOST_EXTENTS * Extent::LEN);
    bytes.extend_from_slice(key);
    for (at, length) in data.extents() {
        let extent = Extent {
            address: at as u64,
            length: length as u64,
        };
        let end = bytes.len();
        bytes.resize(end + Extent::LEN, 0);
        extent.encode(&mut Writer::new(&mut bytes[end..]));
    }
    bytes.into()
}

/// Memory of this process that the peer writes, for a message that a device copies from there: it maps the memory, or a transport puts
/// what is in memory that the peer's processors access (`is_of_host`).
pub fn part_for_peer(ep: &Ep, length: usize, is_of_host: bool) -> Option<Part> {
    let worker = ep.worker();
    if ep.is_upstream() || ep.remote_uuid.get() == worker.uuid {
        return None;
    }
    let may_write = match ep.is_same_host() {
        true => worker.proto().rules.maps,
        false => is_of_host,
    };
    may_write.then(|| receive_part(ep, length))?
}

/// Memory for such a message, however it gets there.
pub fn receive_part(ep: &Ep, length: usize) -> Option<Part> {
    let worker = ep.worker();
    let writer = match ep.is_same_host() {
        true => None,
        false => Some(worker.domain_of(ep.lane_with(Capability::PutByKey)?.iface)),
    };
    ep.device_transfers()
        .receives
        .take(worker.context(), length, writer)
}

/// Has a device start to copy data that processors cannot access to memory that the peer maps. `None` where there is no such
/// memory.
pub fn stage(ep: &Ep, data: &Data) -> Result<Option<Staged>> {
    let Some(part) = ep
        .device_transfers()
        .sends
        .take(ep.worker().context(), data.len(), None)
    else {
        return Ok(None);
    };
    let copy = part.start_copy(data, 0).transpose()?;
    Ok(copy.map(|copy| Staged::new(copy, part)))
}

/// Offers data there, once they have been copied: `NO_RESOURCE` before, and the endpoint sends nothing until then. `None` where
/// there is no such memory.
pub fn offer_staged<'a>(
    ep: &'a Ep,
    data: &Data,
    staged: &mut Option<Staged>,
) -> Result<Option<Offer<'a>>> {
    let worker = ep.worker();
    let (guard, epoch_key) = if ep.may_revoke() {
        match worker.proto().revocation.current(worker.context()) {
            Some((guard, key)) if !key.is_empty() => (Some(guard), key),
            _ => return Ok(None),
        }
    } else {
        (None, &[][..])
    };
    if staged.is_none() {
        *staged = stage(ep, data)?;
    }
    let Some(staged) = staged else {
        return Ok(None);
    };
    let Some(part) = staged.ready()? else {
        ep.wait_for_copy();
        return Err(Status::NO_RESOURCE);
    };
    Ok(Some(Offer {
        address: part.address(),
        key: Some(part.key()),
        guard,
        epoch_key,
    }))
}

/// Caches the key of an RTS. Returns its region, 0 for none.
pub fn learn_key(worker: &Core, ep: EpName, blob: &[u8]) -> u64 {
    if blob.is_empty() {
        return 0;
    }
    let Some(ep) = worker.ep_of_peer(ep) else {
        return 0;
    };
    let key = ep.key_of_blob(blob);
    key.map_or(0, |key| key.info.region)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_list_is_found_in_its_extents() {
        let of = |extents: &[(u64, u64)], part: Range<usize>| {
            let extents: Vec<_> = extents
                .iter()
                .map(|&(address, length)| Extent { address, length })
                .collect();
            part_of(&extents, &part).collect::<Vec<_>>()
        };
        let list = [(100, 4), (50, 0), (200, 2), (10, 4)];
        let at = |address, length| (Some(address), length);
        assert_eq!(of(&list, 0..10), [at(100, 4), at(200, 2), at(10, 4)]);
        assert_eq!(of(&list, 1..3), [at(101, 2)]);
        assert_eq!(of(&list, 3..7), [at(103, 1), at(200, 2), at(10, 1)]);
        assert_eq!(of(&list, 6..10), [at(10, 4)]);
        assert_eq!(of(&list, 9..10), [at(13, 1)]);
        assert_eq!(of(&list, 4..4), []);
        // What a peer may name.
        assert_eq!(of(&[(u64::MAX, 4)], 0..4), [at(u64::MAX, 4)]);
        assert_eq!(of(&[(u64::MAX, 4)], 1..4), [(None, 3)]);
        assert_eq!(of(&[(0, u64::MAX)], 5..6), [at(5, 1)]);
    }
}
