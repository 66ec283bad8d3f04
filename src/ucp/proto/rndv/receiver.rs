//! The receiver of a rendezvous message: a tagged receive, or a fetch of data for a handler or a stream.
//!
//! It uses the first scheme that is possible; `UCX_RNDV_SCHEME` restricts the choice (`Rules`). Its states are
//! `ReceiverState`, in brackets:
//!
//! ```text
//!   sender                                     receiver
//!     │ ────────────────── Rts ────────────────► │ [Matched]
//!     │                                          │
//!     │                                          │ the sender's memory is mapped here, and no device puts faster:
//!     │ ◄─────────────── SendAck ─────────────── │   copies, completes
//!     │                                          │
//!     │                                          │ a transport has get, and a key if it needs one:
//!     │                                          │   [Getting]; revoked meanwhile: back to [Matched]
//!     │ ◄─────────────── SendAck ─────────────── │   completes
//!     │                                          │
//!     │                                          │ a put is possible:
//!     │ ◄────── Rtr: address, key ────────────── │   [AwaitPut]
//!     │ ══════════ put, PutDone (each part) ═══► │   completes with the last part
//!     │                                          │
//!     │                                          │ else, or when the put cannot begin:
//!     │ ◄────── Rtr: no address ──────────────── │   [AwaitData]
//!     │ ────────────── Data, Data ... ─────────► │   completes with the last byte
//!     │                                          │
//!     │                                          │ the RTS has the key of memory for parts:
//!     │ ◄────── Rtr: no address, wanted ──────── │   [AwaitData]
//!     │ ────────────── Part, Part ... ─────────► │   copies each
//!     │ ◄──────── PartTaken, PartTaken ... ───── │   completes with the last byte
//!     │                                          │
//!     │ ────────────── DataFailed ─────────────► │ [AwaitPut], [AwaitData]: completes with the status
//! ```

use super::by_parts;
use super::mapped::{Copied, StartedCopy, copy_mapped, mappable, part_for_peer, receive_part};
use super::sender;
use crate::c::{
    UCP_MEM_MAP_PROT_REMOTE_WRITE, UCS_MEMORY_TYPE_HOST, UCT_MD_MEM_ACCESS_LOCAL_READ,
    UCT_MD_MEM_ACCESS_LOCAL_WRITE, ucs_memory_type_t,
};
use crate::ucp::dt::Data;
use crate::ucp::ep::{Capability, DevicePart, Ep, Lane, Pin};
use crate::ucp::mem::Window;
use crate::ucp::op::{
    Arriving, BufferAccess, DataRecvOp, DeviceRead, Op, Operation, ReadEpoch, TagRecvOp,
};
use crate::ucp::proto::control;
use crate::ucp::proto::device_copies;
use crate::ucp::proto::rails::{self, Ends};
use crate::ucp::proto::revocation::MappedEpoch;
use crate::ucp::proto::zcopy::{self, Direction, Transfer};
use crate::ucp::reg::{LocalMemory, Registration};
use crate::ucp::request::{Info, Req};
use crate::ucp::rkey::{Access, RemoteKey};
use crate::ucp::rndv_state::{ReceiverEvent, ReceiverState};
use crate::ucp::rndv_tuner;
use crate::ucp::rts::Rts;
use crate::ucp::worker_core::Core;
use crate::ucs::status::code_of;
use crate::ucs::{Result, Status, tracepoint};
use crate::uct::base::memory_copier::{KeptRoom, PendingCopy};
use crate::uct::internal::EpochGuard;
use crate::wire::header::{AckHdr, AmId, DataHdr, PutDoneHdr, RtrHdr};
use crate::wire::id::{RequestId, RequestName};
use crate::wire::rkey::{READ, WRITE};
use crate::wire::upstream::key::for_tcp_puts;
use crate::{ucs_debug, ucs_error};
use smallvec::smallvec;
use std::rc::Rc;
use std::sync::Arc;

/// Bytes from which on pinned memory is copied so much faster that a round trip to the sender pays.
const PUT_FROM: usize = 64 << 10;

/// Lends the target of a fetched message to `f`, as `with_op` does. `None` when the request is of another kind.
pub fn with_arriving<R>(req: Req, f: impl FnOnce(&Data, &mut Arriving) -> R) -> Option<R> {
    req.with_op(|op| match op {
        Op::TagRecv(r) => Some(f(&r.data, &mut r.arriving)),
        Op::DataRecv(r) => Some(f(&r.data, &mut r.arriving)),
        _ => None,
    })
}

/// Fetches a rendezvous message into the request's buffer.
pub fn fetch(worker: &Core, req: Req, message: &Rts) {
    req.set_info(Info {
        length: message.total,
        ..req.info()
    });
    let target = with_arriving(req, |data, state| {
        state.total = message.total;
        state.sender = message.sender;
        state.is_of_host = message.address != 0;
        (data.len(), data.contiguous(), data.device_block())
    });
    let Some((room, to, block)) = target else {
        return;
    };
    if message.total > room {
        ucs_debug!(
            "a message of {} bytes does not fit a receive of {room}",
            message.total
        );
        complete_and_ack(worker, req, message.sender, Err(Status::MESSAGE_TRUNCATED));
        return;
    }
    let Some(reply) = worker.ep_of_peer(message.sender.ep) else {
        ucs_debug!("an RTS came from an endpoint that is closed");
        req.complete(Err(Status::CANCELED));
        return;
    };
    // Upstream's status: the sender failed or was closed before its message was matched.
    if !reply.is_usable() {
        complete_and_ack(worker, req, message.sender, Err(Status::CANCELED));
        return;
    }
    tracepoint::rndv_receive(req.as_ptr().as_ptr().cast(), message.total);
    with_arriving(req, |_, state| state.ep = Some(reply.to_ref()));
    if message.total == 0 {
        complete_and_ack(worker, req, message.sender, Ok(()));
        return;
    }
    if let Some(access) = by_parts::open(worker, reply, message) {
        return ask_for_parts(req, reply, access);
    }
    // A receive does not send to itself, whatever the message says.
    if worker.proto().rules.maps
        && worker.requests().named(message.sender.id) != Some(req)
        && !block.is_some_and(|(_, kind)| is_better_put(worker, req, reply, (message.total, kind)))
    {
        match with_arriving(req, |data, _| copy_mapped(worker, reply, data, message)) {
            Some(Copied::Ended(result)) => {
                worker.counters.fetched.mapped.add(message.total);
                return complete_and_ack(worker, req, message.sender, result);
            }
            Some(Copied::Started(started)) => {
                worker.counters.fetched.mapped.add(message.total);
                return await_copy(req, reply, *started);
            }
            Some(Copied::InDoubt) => return request_from_sender(worker, req, reply),
            Some(Copied::NotPossible) | None => {}
        }
    }
    if let Some(local) = to
        && message.address != 0
        && worker.proto().rules.reads
        && let Some(lane) = reply.lane_with(Capability::SingleCopy)
    {
        if worker.proto().rules.tunes {
            let (scheme, transfer) = rndv_tuner::begin(&worker.proto().rndv_tuner, message.total);
            with_arriving(req, |_, state| state.timed = Some(transfer));
            if scheme == rndv_tuner::Scheme::Fragments {
                return send_rtr(req, reply, 0, None);
            }
        }
        let transfer = by_kernel(message, local);
        if read(req, reply, transfer.len, || zcopy::get(req, lane, transfer)) {
            return;
        }
    } else if let Some(local) = place_for_rdma(reply, to, block)
        && message.region != 0
        && worker.proto().rules.reads
        && let Some((lane, transfer, parts)) = by_device(req, reply, local, message)
        && read(req, reply, transfer.len, || match parts.as_slice() {
            [] => zcopy::get(req, lane, transfer),
            parts => zcopy::begin_parts(req, Direction::Get, transfer, parts, true),
        })
    {
        return;
    }
    // Of memory of a device the sender has sent a key, by which a device copies to whatever memory is here.
    if let Some(local) = block.map(|(at, _)| at).or(to)
        && message.region != 0
        && worker.proto().rules.reads
        && let Some((lane, transfer)) = by_device_copy(req, reply, local, message)
        && read(req, reply, transfer.len, || zcopy::get(req, lane, transfer))
    {
        return;
    }
    // A device puts faster, if one reaches both ends.
    if block.is_some_and(|(_, kind)| reply.device_lane(kind).is_none())
        && read_to_staging(req, reply, message)
    {
        return;
    }
    // One copy is better than two.
    let is_better_put = block.is_some_and(|(_, kind)| reply.device_lane(kind).is_some())
        && with_arriving(req, |_, state| may_expose(worker, reply, state)) == Some(true);
    if !is_better_put
        && let Some((at, _)) = block
        && let Some(access) = by_parts::open_on_device(reply, message, at)
    {
        return ask_for_parts(req, reply, access);
    }
    request_from_sender(worker, req, reply);
}

/// Asks the sender for the data part by part.
fn ask_for_parts(req: Req, ep: &Ep, parts: BufferAccess) {
    with_arriving(req, |_, state| state.access = Some(Box::new(parts)));
    send_rtr(req, ep, 0, Some(by_parts::WANTED.into()));
}

/// A read of the message by the kernel, which needs no key.
fn by_kernel(message: &Rts, local: *mut u8) -> Transfer {
    Transfer {
        local,
        memory: LocalMemory::Plain,
        len: message.total,
        remote: message.address,
        rkey: 0,
        guard: message.guard,
    }
}

/// Reads a message of the host's memory, which devices do not copy from, to memory that they do. `false` if that cannot begin.
#[cold]
fn read_to_staging(req: Req, ep: &Ep, message: &Rts) -> bool {
    let worker = ep.worker();
    if message.address == 0 || !worker.proto().rules.reads {
        return false;
    }
    let Some(lane) = ep.lane_with(Capability::SingleCopy) else {
        return false;
    };
    let Some(part) = receive_part(ep, message.total) else {
        return false;
    };
    let Some(local) = part.memory().map(|memory| memory.room().0) else {
        return false;
    };
    let transfer = by_kernel(message, local);
    with_arriving(req, |_, state| {
        state.access = Some(Box::new(BufferAccess::Staged(part)));
    });
    let begins = read(req, ep, transfer.len, || zcopy::get(req, lane, transfer));
    if !begins {
        with_arriving(req, |_, state| state.access = None);
    }
    begins
}

/// A device copies a message from memory that is mapped here: it is as a get.
fn await_copy(req: Req, ep: &Ep, StartedCopy { copy, read }: StartedCopy) {
    with_arriving(req, |_, state| {
        state.advance(ReceiverEvent::GetBegins);
        state.access = Some(Box::new(BufferAccess::Copied(read)));
    });
    ep.add_outstanding(req);
    device_copies::begin(req, Some(ep), copy);
}

/// Reads `len` bytes of the sender's memory, as `get` begins to. `false` if that cannot begin.
#[inline]
fn read(req: Req, ep: &Ep, len: usize, get: impl FnOnce() -> Result<()>) -> bool {
    with_arriving(req, |_, state| state.advance(ReceiverEvent::GetBegins));
    ep.add_outstanding(req);
    let Err(e) = get() else {
        ep.worker().counters.fetched.get.add(len);
        return true;
    };
    ucs_debug!("reading {len} bytes of the sender's memory: {e}; another way instead");
    ep.remove_outstanding(req);
    with_arriving(req, |_, state| state.advance(ReceiverEvent::GetFailed));
    false
}

/// A buffer of the host, or of a device that copies nothing from and to the peer: those copy faster.
fn place_for_rdma(
    ep: &Ep,
    to: Option<*mut u8>,
    block: Option<(*mut u8, ucs_memory_type_t)>,
) -> Option<(*mut u8, ucs_memory_type_t)> {
    let of_host = to.map(|at| (at, UCS_MEMORY_TYPE_HOST));
    of_host.or_else(|| block.filter(|(_, kind)| ep.device_lane(*kind).is_none()))
}

/// The read of a message by the device of the message lane, if its key is still known, and its parts if rails share it.
/// Into what cannot be registered here it is read through the transport's buffers, unless a device has it.
fn by_device(
    req: Req,
    ep: &Ep,
    (local, kind): (*mut u8, ucs_memory_type_t),
    message: &Rts,
) -> Option<(Lane, Transfer, Vec<DevicePart>)> {
    let lane = ep.rdma_lane(kind)?;
    let key = ep.keys().borrow().of_region(message.region)?;
    let Access::Rdma(rkey) = key.access else {
        return None;
    };
    // Memory of a device has no address in the RTS.
    let remote = match key.is_of_device() {
        true => key.info.address,
        false => message.address,
    };
    key.check(remote, message.total, READ).ok()?;
    let (guard, epoch) = match message.guard {
        Some(guard) => {
            let (guard, key) = with_key(ep, guard, message.epoch_region)?;
            (Some(guard), Some(key))
        }
        None => (None, None),
    };
    let (worker, len) = (ep.worker(), message.total);
    let limits = worker.proto().rails.rendezvous;
    let domains = rails::domains(ep, lane, limits, len);
    let flags = UCT_MD_MEM_ACCESS_LOCAL_READ | UCT_MD_MEM_ACCESS_LOCAL_WRITE;
    let context = worker.context();
    let registration = Registration::of_buffer(context, &domains, (local, len), kind, flags);
    let memory = registration.local_memory(worker.domain_of(lane.iface));
    // Only what is read in place can be followed by the guard.
    let is_in_place = guard.is_some() || kind != UCS_MEMORY_TYPE_HOST;
    if is_in_place && memory == LocalMemory::Copied {
        return None;
    }
    let transfer = Transfer {
        local,
        memory,
        len,
        remote,
        rkey,
        guard,
    };
    let ends = Ends {
        local: &|domain| registration.handle(domain),
        remote: &key,
        epoch: epoch.as_deref(),
        near: None,
    };
    let parts = rails::by_devices(ep, lane, limits, &transfer, &ends);
    with_arriving(req, |_, state| {
        state.access = Some(Box::new(BufferAccess::Registered(registration)));
    });
    Some((lane, transfer, parts))
}

/// The copy of a message by a device, from the memory that its key names.
fn by_device_copy(req: Req, ep: &Ep, local: *mut u8, message: &Rts) -> Option<(Lane, Transfer)> {
    let key = ep.keys().borrow().of_region(message.region)?;
    let Access::Device(rkey) = key.access else {
        return None;
    };
    let lane = ep.device_lane(key.info.mem_type.into())?;
    let (remote, len) = (key.info.address, message.total);
    key.check(remote, len, READ).ok()?;
    let epoch = match message.guard {
        Some(guard) => Some(epoch_of(ep, lane, (guard, message.epoch_region), local)?),
        None => None,
    };
    with_arriving(req, |_, state| {
        state.access = Some(Box::new(BufferAccess::Copied(DeviceRead { key, epoch })));
    });
    let transfer = Transfer {
        local,
        memory: LocalMemory::Device,
        len,
        remote,
        rkey,
        guard: None,
    };
    Some((lane, transfer))
}

/// Where the epoch of a message stands, in a region of the sender's: mapped here, or in memory of a device, which is mapped
/// where that at `near` is.
fn epoch_of(
    ep: &Ep,
    lane: Lane,
    (guard, region): (EpochGuard, u64),
    near: *mut u8,
) -> Option<ReadEpoch> {
    let word = ep.keys().borrow().of_region(region)?;
    if !word.is_of_device() {
        MappedEpoch::find(&word, guard)?;
        return Some(ReadEpoch::Mapped(word, guard));
    }
    let at = (guard.at, size_of::<u64>());
    word.check(at.0, at.1, READ).ok()?;
    let context = ep.worker().context();
    let copier = context.device_memory.copier(word.info.mem_type.into())?;
    Some(ReadEpoch::OnDevice {
        word: zcopy::device_access(lane, &word, at, near.addr()).ok()?,
        copier: Arc::clone(copier),
        value: guard.value,
    })
}

/// Whether the sender has taken something back since it sent the RTS of a message that a device has copied.
fn is_revoked(req: Req) -> bool {
    let revoked = with_arriving(req, |_, state| match state.access.as_deref() {
        Some(BufferAccess::Copied(DeviceRead {
            epoch: Some(epoch), ..
        })) => match epoch {
            ReadEpoch::Mapped(key, guard) => {
                !MappedEpoch::find(key, *guard).is_some_and(|epoch| epoch.is_current())
            }
            ReadEpoch::OnDevice {
                word,
                copier,
                value,
            } => word.read_word(&**copier) != Ok(*value),
        },
        _ => false,
    });
    revoked == Some(true)
}

/// A guard with the key by which the device of the message lane reads its word, and those of rails.
fn with_key(ep: &Ep, guard: EpochGuard, region: u64) -> Option<(EpochGuard, Rc<RemoteKey>)> {
    let key = ep.keys().borrow().of_region(region)?;
    let Access::Rdma(rkey) = key.access else {
        return None;
    };
    key.check(guard.at, size_of::<u64>(), READ).ok()?;
    Some((EpochGuard { rkey, ..guard }, key))
}

/// Whether the sender had better put a message into memory of a device, though it is mapped here: a device copies several
/// times faster from memory that is pinned, which the sender's is in its own process only.
fn is_better_put(
    worker: &Core,
    req: Req,
    ep: &Ep,
    (length, kind): (usize, ucs_memory_type_t),
) -> bool {
    length >= PUT_FROM
        && ep.device_lane(kind).is_some()
        && with_arriving(req, |_, state| may_expose(worker, ep, state)) == Some(true)
}

/// Whether the sender may put into memory of a device.
fn may_expose(worker: &Core, ep: &Ep, state: &Arriving) -> bool {
    worker.proto().rules.writes && may_give(ep, state) && !ep.is_upstream()
}

/// Whether memory that cannot be taken back may be given to the sender.
fn may_give(ep: &Ep, state: &Arriving) -> bool {
    !ep.may_revoke() && !state.own
}

/// Requests the data from the sender: by a put if possible, else in fragments. Only a window can be revoked, so other
/// memory is not exposed if the receive may have to be revoked.
fn request_from_sender(worker: &Core, req: Req, ep: &Ep) {
    let access = with_arriving(req, |data, state| {
        let gives = may_give(ep, state);
        let device = data.device_block();
        let device = device.filter(|(_, kind)| ep.device_lane(*kind).is_some());
        if let Some(block) = device {
            let is_possible = may_expose(worker, ep, state);
            let (address, window) = is_possible.then(|| expose(ep, block, state.total))??;
            let key = window.key.as_slice().into();
            state.access = Some(Box::new(BufferAccess::Exposed(window)));
            return Some((address, Some(key)));
        }
        let (to, kind) = data.block().filter(|_| worker.proto().rules.writes)?;
        if kind != UCS_MEMORY_TYPE_HOST {
            if let Some((address, window)) = open_to_rdma(ep, (to, kind), state.total) {
                let key = window.key.as_slice().into();
                state.access = Some(Box::new(BufferAccess::Window(window)));
                return Some((address, Some(key)));
            }
            let part = part_for_peer(ep, state.total, state.is_of_host)?;
            let (address, key) = (part.address(), part.key());
            state.access = Some(Box::new(BufferAccess::Staged(part)));
            return Some((address, Some(key)));
        }
        if ep.is_upstream() {
            let (window, key) = open_to_upstream(worker, ep, (to, state.total))?;
            state.access = Some(Box::new(BufferAccess::Window(window)));
            return Some((to as u64, Some(key.into())));
        }
        if gives && ep.lane_with(Capability::SingleCopy).is_some() {
            return Some((to as u64, None));
        }
        if gives && let Some(mapped) = mappable(worker, to as u64, state.total, WRITE) {
            return Some((to as u64, Some(mapped)));
        }
        let memory = (to, state.total);
        let domains = match ep.lane_with(Capability::PutByKey) {
            Some(writer) => smallvec![worker.domain_of(writer.iface)],
            None => {
                let writer = ep.lane_with(Capability::Rdma)?;
                let limits = worker.proto().rails.rendezvous;
                rails::domains_for_peer(ep, writer, limits, state.total)
            }
        };
        let prot = UCP_MEM_MAP_PROT_REMOTE_WRITE;
        let window = Window::open(worker.context(), &domains, memory, prot).ok()?;
        let key = window.key.as_slice().into();
        state.access = Some(Box::new(BufferAccess::Window(window)));
        Some((to as u64, Some(key)))
    });
    let Some(access) = access else { return };
    let (address, key) = access.unwrap_or((0, None));
    send_rtr(req, ep, address, key);
}

/// The buffer of a receive as a sender of upstream's puts into it by its tcp, with the key that it knows such memory by.
fn open_to_upstream(
    worker: &Core,
    ep: &Ep,
    memory: (*mut u8, usize),
) -> Option<(Window, &'static [u8])> {
    let process = ep.upstream_process()?;
    let domain = worker.domain_of(ep.lane().iface);
    let prot = UCP_MEM_MAP_PROT_REMOTE_WRITE;
    let window = Window::open(worker.context(), &[domain], memory, prot).ok()?;
    let admitted = window.admit_upstream(worker.context(), &process.interfaces);
    admitted.ok()?;
    Some((window, for_tcp_puts(process.release)))
}

/// Memory of a device as the sender's RDMA device may put into it until the receive ends, with its address.
fn open_to_rdma(
    ep: &Ep,
    (at, kind): (*mut u8, ucs_memory_type_t),
    length: usize,
) -> Option<(u64, Window)> {
    let lane = ep.rdma_lane(kind).filter(|_| !ep.is_upstream())?;
    let limits = ep.worker().proto().rails.rendezvous;
    let domains = rails::domains_for_peer(ep, lane, limits, length);
    let prot = UCP_MEM_MAP_PROT_REMOTE_WRITE;
    let context = ep.worker().context();
    let window = Window::of(context, &domains, (at, length), kind, prot).ok()?;
    Some((at as u64, window))
}

/// Memory of a device as the sender's may put into it, with its address.
fn expose(
    ep: &Ep,
    (at, kind): (*mut u8, ucs_memory_type_t),
    length: usize,
) -> Option<(u64, Window)> {
    let domain = ep.worker().domain_of(ep.device_lane(kind)?.iface);
    let prot = UCP_MEM_MAP_PROT_REMOTE_WRITE;
    let window = Window::of(ep.worker().context(), &[domain], (at, length), kind, prot).ok()?;
    Some((at as u64, window))
}

/// Sends an RTR: for a put to `address` with `key`, or for fragments if `address` is 0, or parts (`by_parts::WANTED`).
fn send_rtr(req: Req, ep: &Ep, address: u64, key: Option<Arc<[u8]>>) {
    let requested = match address {
        0 => ReceiverEvent::DataRequested,
        _ => ReceiverEvent::PutRequested,
    };
    let asked = with_arriving(req, |_, state| {
        let is_due = state.advance(requested);
        is_due.then_some((state.sender.id, state.total))
    });
    let Some(Some((sender, total))) = asked else {
        return;
    };
    let rtr = RtrHdr {
        request: sender,
        receiver: req.id(),
        length: total as u64,
        address,
        ep: ep.name_for_peers(),
    };
    let fetched = &ep.worker().counters.fetched;
    match address {
        0 if key.is_some() => fetched.mapped.add(total),
        0 => fetched.fragments.add(total),
        _ => fetched.put.add(total),
    }
    // The sender may have to reply that its send was cancelled.
    ep.send_wireup();
    ep.add_outstanding(req);
    control::post(ep, AmId::Rtr, &rtr, key.as_deref().unwrap_or_default());
}

/// A transport has read the data of a rendezvous message, or failed to; or a device has copied what came.
fn on_transfers_done(req: Req, result: Result<()>) {
    let found = |_: &Data, state: &mut Arriving| (state.state, state.sender, state.ep);
    let Some((state, sender, ep)) = with_arriving(req, found) else {
        return;
    };
    if state == ReceiverState::Copying {
        with_arriving(req, |_, state| state.advance(ReceiverEvent::Copied));
        return complete(req, result);
    }
    let worker = req.worker();
    let result = match result {
        Ok(()) if is_revoked(req) => Err(Status::CANCELED),
        result => result,
    };
    if result == Err(Status::CANCELED)
        && let Some(ep) = ep
        && ep.is_usable()
    {
        ucs_debug!("the sender took something back during a copy; fragments instead");
        with_arriving(req, |_, state| state.advance(ReceiverEvent::GetFailed));
        ep.remove_outstanding(req);
        return request_from_sender(worker, req, &ep);
    }
    with_arriving(req, |_, state| state.advance(ReceiverEvent::Got));
    // The sender's callback may run in this call, and complete requests of its endpoint.
    let _pin = ep.as_deref().map(Pin::new);
    if let Some(ep) = ep {
        ep.remove_outstanding(req);
    }
    send_ack(worker, sender, result);
    match result {
        Ok(()) => finish_placed(req),
        Err(_) => complete(req, result),
    }
}

/// All data of a message have been read from the sender, or put by it: completes the receive, when a device has copied them if
/// they are not in the buffer.
fn finish_placed(req: Req) {
    let copy = with_arriving(req, |data, state| match state.access.as_deref() {
        Some(BufferAccess::Staged(part)) => data.start_unpack(0, part.memory()?),
        _ => None,
    });
    complete_after(req, copy.flatten().transpose());
}

/// Completes a receive whose data are all here when a copy has ended, if one was started.
pub fn complete_after(req: Req, copy: Result<Option<Box<dyn PendingCopy>>>) {
    match copy {
        Ok(None) => complete(req, Ok(())),
        Err(e) => complete(req, Err(e)),
        Ok(Some(copy)) => {
            let ep = with_arriving(req, |_, state| {
                state.advance(ReceiverEvent::CopyBegins);
                state.ep
            });
            device_copies::begin(req, ep.flatten().as_deref(), copy);
        }
    }
}

/// See `Operation::move_to_another_ep`.
fn move_to_another_ep(req: Req) -> bool {
    let moved = with_arriving(req, |_, state| {
        let ep = req.worker().ep_of_peer(state.sender.ep)?;
        state.ep = Some(ep.to_ref());
        Some(ep)
    });
    if let Some(Some(ep)) = moved {
        ep.add_outstanding(req);
    }
    moved.flatten().is_some()
}

/// Completes a receive that is outstanding.
fn complete(req: Req, result: Result<()>) {
    match with_arriving(req, |_, state| state.ep).flatten() {
        Some(ep) => ep.complete_outstanding(req, result),
        None => req.complete(result),
    }
}

/// Acknowledges the sender, then completes a receive.
fn complete_and_ack(worker: &Core, req: Req, sender: RequestName, result: Result<()>) {
    // A truncated message is the receiver's error; for the sender it is delivered.
    let notify = match result {
        Err(Status::MESSAGE_TRUNCATED) => Ok(()),
        r => r,
    };
    send_ack(worker, sender, notify);
    req.complete(result);
}

/// Tells a sender that its request is done.
pub fn send_ack(worker: &Core, sender: RequestName, result: Result<()>) {
    if let Some(ep) = ep_of_sender(worker, sender) {
        post_ack(ep, sender.id, result);
    }
}

/// Tells a synchronous sender that its message is matched.
pub fn send_match(worker: &Core, sender: RequestName) {
    match ep_of_sender(worker, sender) {
        // Upstream has another message for this.
        Some(ep) if ep.is_upstream() => ep.post_upstream_match(sender.id),
        Some(ep) => post_ack(ep, sender.id, Ok(())),
        None => {}
    }
}

pub(super) fn ep_of_sender(worker: &Core, sender: RequestName) -> Option<&Ep> {
    let ep = worker.ep_of_peer(sender.ep);
    if ep.is_none() {
        ucs_debug!("an endpoint that is closed cannot be answered");
    }
    ep
}

fn post_ack(ep: &Ep, request: RequestId, result: Result<()>) {
    let ack = AckHdr {
        request,
        status: code_of(&result) as u8,
    };
    // A message to the worker itself would be received within the send.
    if ep.tell_itself(|worker| sender::on_send_ack(worker, &ack)) {
        return;
    }
    control::post(ep, AmId::SendAck, &ack, &[]);
}

/// A fragment of requested data.
pub fn on_data(worker: &Core, hdr: &DataHdr, bytes: &[u8]) {
    let Some(req) = worker.requests().named(hdr.receiver) else {
        ucs_debug!("data for a receive that is over");
        return;
    };
    let end = with_arriving(req, |buffer, state| {
        let Some(offset) = state.place(hdr.offset, bytes.len()) else {
            ucs_error!("a fragment of data was not asked for, or came before; dropped");
            return None;
        };
        let last = state.received == state.total;
        if state.error.is_none() {
            state.error = buffer.unpack_bytes(offset, bytes).err();
        }
        last.then(|| state.error.map_or_else(|| buffer.start_finish(), Err))
    });
    if let Some(Some(copy)) = end {
        complete_after(req, copy);
    }
}

/// Data that were asked for will not come.
pub fn on_data_failed(worker: &Core, ack: &AckHdr) {
    let Some((req, result)) = control::acknowledged(worker, ack) else {
        return;
    };
    if result.is_ok() {
        return control::stray_ack();
    }
    match with_arriving(req, |_, state| state.advance(ReceiverEvent::Failed)) {
        Some(true) => complete(req, result),
        Some(false) => {}
        None => control::stray_ack(),
    }
}

/// A part of the data was put into the buffer.
pub fn on_put_done(worker: &Core, hdr: &PutDoneHdr) {
    on_part_put(worker, hdr.receiver, Some(hdr.length));
}

/// So many bytes of the data were put into the buffer, or what was left of them.
pub fn on_part_put(worker: &Core, receiver: RequestId, length: Option<u64>) {
    let Some(req) = worker.requests().named(receiver) else {
        ucs_debug!("a put for a receive that is over");
        return;
    };
    let last = with_arriving(req, |_, state| {
        let left = (state.total - state.received) as u64;
        let length = length.unwrap_or(left);
        if length > left {
            ucs_error!("a put of more than its receiver asked for; dropped");
            return false;
        }
        let last = length == left;
        if !state.advance(ReceiverEvent::Put { last }) {
            return false;
        }
        state.received += length as usize;
        last
    });
    if last == Some(true) {
        finish_placed(req);
    }
}

impl Arriving {
    /// Counts a fragment that has come, and returns where it belongs. `None`, and nothing changes, when it is not wanted.
    /// Those of several lanes come in any order.
    pub(super) fn place(&mut self, offset: u64, len: usize) -> Option<usize> {
        let offset = usize::try_from(offset).ok()?;
        let left = self.total.checked_sub(offset)?;
        if len > left {
            return None;
        }
        if offset == self.received && self.ahead.is_none() {
            let last = len == left;
            self.advance(ReceiverEvent::Fragment { last })
                .then(|| self.received += len)?;
            return Some(offset);
        }
        let mut ahead = self.ahead.take().unwrap_or_default();
        let reached = ahead.add(self.received, offset..offset + len);
        if !ahead.is_empty() {
            self.ahead = Some(ahead);
        }
        let received = reached?;
        let last = received == self.total;
        self.advance(ReceiverEvent::Fragment { last })
            .then(|| self.received = received)?;
        Some(offset)
    }

    fn is_written_by_peer(&self) -> bool {
        self.state == ReceiverState::AwaitPut
            && !matches!(
                self.access.as_deref(),
                Some(BufferAccess::Window(_) | BufferAccess::Staged(_))
            )
    }

    /// Changes the state. An event of the peer that the state has no transition for changes nothing, and is dropped by
    /// the caller.
    fn advance(&mut self, event: ReceiverEvent) -> bool {
        match self.state.on(event) {
            Ok(next) => self.state = next,
            Err(_) => {
                ucs_error!(
                    "the peer reports {event} of a rendezvous in another state ({}); dropped",
                    self.state
                );
                return false;
            }
        }
        true
    }
}

impl Operation for TagRecvOp {
    fn is_written_by_peer(&self) -> bool {
        self.arriving.is_written_by_peer()
    }

    fn move_to_another_ep(req: Req) -> bool {
        move_to_another_ep(req)
    }

    fn on_transfers_done(req: Req, result: Result<()>) {
        on_transfers_done(req, result);
    }
}

impl Operation for DataRecvOp {
    fn is_written_by_peer(&self) -> bool {
        self.arriving.is_written_by_peer()
    }

    fn move_to_another_ep(req: Req) -> bool {
        move_to_another_ep(req)
    }

    fn on_transfers_done(req: Req, result: Result<()>) {
        on_transfers_done(req, result);
    }
}
