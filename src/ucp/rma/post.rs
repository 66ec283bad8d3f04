//! Posts accesses. The key decided the kind of access when it was unpacked.
//!
//! Mapped memory is read and written before the call returns, unless a device copies.

use super::target::refuse_atomic;
use super::{device, device_copy, software};
use crate::c::{UCS_MEMORY_TYPE_CUDA_MANAGED, UCS_MEMORY_TYPE_HOST};
use crate::ucp::atomic::{Atomic, AtomicOperation, apply};
use crate::ucp::dt::Data;
use crate::ucp::ep::{Capability, Ep, Pin};
use crate::ucp::op::{GetOp, Op, PutOp};
use crate::ucp::proto::device_access;
use crate::ucp::proto::device_copies;
use crate::ucp::proto::postponed;
use crate::ucp::proto::rails;
use crate::ucp::proto::table::{self, Verb};
use crate::ucp::proto::zcopy::{self, Direction, Transfer};
use crate::ucp::reg::LocalMemory;
use crate::ucp::request::{
    Callback, Info, Param, Posted, Req, Request, immediate, must_be_immediate, settle,
};
use crate::ucp::rkey::{Access, MappedBytes, RemoteKey};
use crate::ucs::{Result, Status};
use crate::uct::api::AtomicWord;
use crate::uct::base::copy::{Payload, Room, SMALL};
use crate::uct::base::memory_copier::PendingCopy;
use crate::wire::rkey::{READ, WRITE};

/// The kind of an access: the key's, except after a fence while accesses by messages are in flight. Then it uses
/// messages too, which stay in order.
#[inline]
fn access_of(ep: &Ep, key: &RemoteKey) -> Access {
    if ep.fenced.get() {
        Access::Messages
    } else {
        key.access
    }
}

/// Whether an access would be to memory that is mapped here.
pub fn is_mapped(ep: &Ep, key: &RemoteKey) -> bool {
    matches!(access_of(ep, key), Access::Direct(_))
}

/// Writes remote memory that is mapped here. Returns false when it is not, or the access is not permitted; the general
/// path then reports the error.
#[inline(always)]
pub fn put_mapped(ep: &Ep, from: Payload<'_>, address: u64, key: &RemoteKey) -> bool {
    if ep.fenced.get() || !ep.is_usable() {
        return false;
    }
    let Some(mut remote) = key.writable(address, from.len()) else {
        return false;
    };
    count_mapped(ep, Direction::Put, from.len());
    remote.fill(from);
    true
}

/// As `put_mapped`, reads it.
#[inline(always)]
pub fn get_mapped(ep: &Ep, mut to: Room<'_>, address: u64, key: &RemoteKey) -> bool {
    if ep.fenced.get() || !ep.is_usable() {
        return false;
    }
    let Some(remote) = key.readable(address, to.len()) else {
        return false;
    };
    count_mapped(ep, Direction::Get, to.len());
    to.fill(remote);
    true
}

/// By `copy`'s own sizes, so that counting adds no branch.
#[inline(always)]
fn count_mapped(ep: &Ep, direction: Direction, len: usize) {
    match direction {
        _ if len > SMALL => count(ep, direction, len),
        Direction::Put => ep.sent.short_put.add(1),
        Direction::Get => ep.sent.short_get.add(1),
    }
}

#[inline(always)]
fn count(ep: &Ep, direction: Direction, len: usize) {
    match direction {
        Direction::Put => ep.sent.long.put.add(len),
        Direction::Get => ep.sent.long.get.add(len),
    }
}

/// Applies `op` to a word of remote memory that is mapped here, and writes the old value to `reply`, which may be null
/// if the operation needs none. Returns false as `put_mapped`.
///
/// # Safety
/// `operand` must be readable, `reply` null or readable and writable.
#[inline(always)]
pub unsafe fn atomic_mapped<W: AtomicWord>(
    ep: &Ep,
    op: AtomicOperation,
    operand: *const W,
    reply: *mut W,
    address: u64,
    key: &RemoteKey,
) -> bool {
    if ep.fenced.holds(size_of::<W>()) || !ep.is_usable() {
        return false;
    }
    let Some(at) = key.writable(address, size_of::<W>()) else {
        return false;
    };
    let at: *mut W = at.as_mut_ptr().cast();
    if !at.is_aligned() || !address.is_multiple_of(size_of::<W>() as u64) {
        return false;
    }
    ep.sent.long.atomic.add(size_of::<W>());
    // SAFETY: mapped remote memory inside the key's range, aligned; the user's operand and reply, of any alignment.
    unsafe {
        let value = operand.read_unaligned();
        let old = match op {
            AtomicOperation::Simple(op) => W::fetch(at, op, value),
            // The new value is passed in the reply buffer.
            AtomicOperation::CompareSwap => W::cswap(at, value, reply.read_unaligned()),
        };
        if !reply.is_null() {
            reply.write_unaligned(old);
        }
    }
    true
}

/// Counts an access in the row of its protocol, where the configuration wants that.
pub fn count_protocol(ep: &Ep, direction: Direction, key: &RemoteKey, data: &Data) {
    let access = access_of(ep, key);
    let verb = match (direction, access) {
        (Direction::Put, Access::Direct(_)) => Verb::PutMapped,
        (Direction::Put, _) => Verb::Put,
        (Direction::Get, Access::Direct(_)) => Verb::GetMapped,
        (Direction::Get, _) => Verb::Get,
    };
    let by = match access {
        Access::Direct(_) | Access::Messages => None,
        Access::SingleCopy => Some(Capability::SingleCopy),
        Access::Written(_) => Some(Capability::PutByKey),
        Access::Rdma(_) => Some(Capability::Rdma),
        Access::Device(_) => Some(Capability::DeviceCopy),
    };
    table::count_access(ep, verb, (key.info.mem_type.into(), by), data);
}

/// Writes the buffer to remote memory.
pub fn put(ep: &Ep, param: &Param, data: Data, address: u64, key: &RemoteKey) -> Result<Posted> {
    ep.usable()?;
    key.check(address, data.len(), WRITE)?;
    count(ep, Direction::Put, data.len());
    match access_of(ep, key) {
        Access::Direct(_) => {
            if let Some(copy) = start_copy(ep, param, &data, (address, key), Direction::Put) {
                let op = Op::Put(PutOp::new(ep, data, key, address));
                return await_copy(ep, param, op, copy?);
            }
            let to = key.writable(address, data.len());
            data.copy_out(to.ok_or(Status::INVALID_ADDR)?)?;
            drop(data);
            immediate(ep.worker(), param, Info::default())
        }
        Access::Rdma(rkey) => {
            device::access(ep, param, &data, (address, key, rkey), Direction::Put)
                .unwrap_or_else(|| software::put(ep, param, data, address, key))
        }
        Access::Device(rkey) => {
            device_copy::access(ep, param, &data, (address, key, rkey), Direction::Put)
                .unwrap_or_else(|| software::put(ep, param, data, address, key))
        }
        _ => by_transport(ep, param, &data, address, Direction::Put, key)
            .unwrap_or_else(|| software::put(ep, param, data, address, key)),
    }
}

/// Reads remote memory into the buffer.
pub fn get(ep: &Ep, param: &Param, data: Data, address: u64, key: &RemoteKey) -> Result<Posted> {
    ep.usable()?;
    key.check(address, data.len(), READ)?;
    count(ep, Direction::Get, data.len());
    match access_of(ep, key) {
        Access::Direct(_) => {
            if let Some(copy) = start_copy(ep, param, &data, (address, key), Direction::Get) {
                let op = Op::Get(GetOp::new(ep, data, key, address));
                return await_copy(ep, param, op, copy?);
            }
            let from = key.readable(address, data.len());
            data.unpack(0, from.ok_or(Status::INVALID_ADDR)?)?;
            data.finish()?;
            drop(data);
            immediate(ep.worker(), param, Info::default())
        }
        Access::Rdma(rkey) => {
            device::access(ep, param, &data, (address, key, rkey), Direction::Get)
                .unwrap_or_else(|| software::get(ep, param, data, address, key))
        }
        Access::Device(rkey) => {
            device_copy::access(ep, param, &data, (address, key, rkey), Direction::Get)
                .unwrap_or_else(|| software::get(ep, param, data, address, key))
        }
        _ => by_transport(ep, param, &data, address, Direction::Get, key)
            .unwrap_or_else(|| software::get(ep, param, data, address, key)),
    }
}

/// Has a device start to copy between memory of its own here and memory of another process that is mapped here. `None` where the copy
/// is made within the call.
fn start_copy(
    ep: &Ep,
    param: &Param,
    data: &Data,
    (address, key): (u64, &RemoteKey),
    direction: Direction,
) -> Option<Result<Box<dyn PendingCopy>>> {
    let copier = device_access::copier(ep, data).filter(|_| must_be_immediate(param).is_ok())?;
    let right = match direction {
        Direction::Put => WRITE,
        Direction::Get => READ,
    };
    let mapped = MappedBytes::of(key, address, data.len(), right)?;
    key.pin(&**copier);
    match direction {
        Direction::Put => data.start_copy_out(0, mapped),
        Direction::Get => data.start_unpack(0, mapped),
    }
}

/// An access completes when a device has made its copy.
fn await_copy(ep: &Ep, param: &Param, op: Op, copy: Box<dyn PendingCopy>) -> Result<Posted> {
    let req = Request::create(ep.worker(), param, op)?;
    ep.add_outstanding(req);
    device_copies::begin(req, Some(ep), copy);
    settle(req, param)
}

/// Bytes of one copy by the kernel: so much is done before the call returns if nothing of the endpoint is in flight;
/// more is copied in such steps. A transport that puts by messages gets all at once: over tcp each step would be a
/// message with an acknowledgement.
const KERNEL_COPY_STEP: usize = 256 << 10;

/// Whether a put may go to the transport now. It stays behind queued messages, unless rails may share it: a queue of
/// puts by messages, from before the rails were connected, would never get empty.
fn may_bypass(ep: &Ep, len: usize) -> bool {
    ep.is_clear() || ep.worker().proto().rails.access.may_split(len) && !ep.send_queue.is_held()
}

/// Posts a transfer of a contiguous buffer to a transport. `None` when that is not possible now.
fn by_transport(
    ep: &Ep,
    param: &Param,
    data: &Data,
    address: u64,
    direction: Direction,
    key: &RemoteKey,
) -> Option<Result<Posted>> {
    let (lane, rkey) = match (access_of(ep, key), direction) {
        (Access::SingleCopy, _) => (ep.lane_with(Capability::SingleCopy)?, 0),
        (Access::Written(rkey), Direction::Put)
            if !ep.puts_by_message(data.len()) && may_bypass(ep, data.len()) =>
        {
            (ep.lane_with(Capability::PutByKey)?, rkey)
        }
        _ => return None,
    };
    let transfer = Transfer {
        guard: None,
        local: data.contiguous().filter(|_| !data.is_empty())?,
        memory: LocalMemory::Plain,
        len: data.len(),
        remote: address,
        rkey,
    };
    if must_be_immediate(param).is_err() {
        return None;
    }
    let data = Data::contig(transfer.local, transfer.len);
    let op = match direction {
        Direction::Put => Op::Put(PutOp::new(ep, data, key, address)),
        Direction::Get => Op::Get(GetOp::new(ep, data, key, address)),
    };
    let mut rails = None;
    if rkey != 0 {
        ep.send_wireup();
        ep.unfenced.set(true);
        ep.wrote.set(true);
        rails = rails::split(ep, lane, ep.worker().proto().rails.access, transfer.len);
    }
    let req = match Request::create(ep.worker(), param, op) {
        Ok(req) => req,
        Err(e) => return Some(Err(e)),
    };
    ep.add_outstanding(req);
    let step = if rkey == 0 {
        KERNEL_COPY_STEP
    } else {
        usize::MAX
    };
    let begun = match &rails {
        None => zcopy::begin(req, lane, direction, transfer, step),
        Some(parts) => {
            ep.rail_access_begins();
            req.with_op(|op| {
                if let Op::Put(put) = op {
                    put.holds_fences = true;
                }
            });
            zcopy::put_parts(req, transfer, parts)
        }
    };
    match begun {
        Ok(()) if rkey == 0 => {
            Some(settle(req, param).and_then(|posted| told_later(ep, param, posted)))
        }
        Ok(()) => Some(settle(req, param)),
        Err(_) => {
            if rails.is_some() {
                ep.rail_access_ends();
            }
            ep.remove_outstanding(req);
            req.abolish();
            None
        }
    }
}

/// What a call returns whose access the kernel may have done already. With upstream's such an access never ends within
/// the call, and callers of the old functions rely on it: Charm++ notes what the access was for after the call.
fn told_later(ep: &Ep, param: &Param, posted: Posted) -> Result<Posted> {
    if let (Posted::Done, Callback::OldSend(_)) = (&posted, param.callback)
        // Without memory for a request the access is done all the same.
        && let Ok(req) = Request::create(ep.worker(), param, Op::None)
    {
        postponed::end(ep.worker(), req, Ok(()));
        return settle(req, param);
    }
    Ok(posted)
}

/// A transport is done with an access, or gave up.
pub fn on_done(req: Req, result: Result<()>) {
    let whose = req.with_op(|op| match op {
        Op::Put(put) => Some((put.ep, put.holds_fences)),
        Op::Get(get) => Some((get.ep, get.holds_fences)),
        _ => None,
    });
    let Some((ep, holds_fences)) = whose else {
        return;
    };
    let _pin = Pin::new(&ep);
    ep.complete_outstanding(req, result);
    if holds_fences {
        ep.rail_access_ends();
    }
}

/// Posts an atomic operation.
pub fn atomic(
    ep: &Ep,
    param: &Param,
    atomic: &Atomic,
    address: u64,
    key: &RemoteKey,
) -> Result<Posted> {
    ep.usable()?;
    key.check(address, atomic.size.into(), WRITE)?;
    // Whether processors access memory that the driver moves its owner knows.
    let kind = u32::from(key.info.mem_type);
    if !matches!(kind, UCS_MEMORY_TYPE_HOST | UCS_MEMORY_TYPE_CUDA_MANAGED) {
        return Err(refuse_atomic(address));
    }
    if !address.is_multiple_of(atomic.size.into()) {
        crate::ucs_error!(
            "an atomic of {} bytes at remote address {address:#x} is not aligned",
            atomic.size
        );
        return Err(Status::INVALID_PARAM);
    }
    ep.sent.long.atomic.add(atomic.size.into());
    if let Access::Direct(_) = access_of(ep, key) {
        let at = key.pointer(address)?;
        // SAFETY: mapped remote memory, inside the key's range.
        let old = unsafe { apply(at, atomic.op, atomic.size, atomic.value, atomic.swap) }?;
        atomic.reply.put(ep.worker().context(), atomic.size, old)?;
        return immediate(ep.worker(), param, Info::default());
    }
    software::atomic(ep, param, atomic, address, key)
}
