//! The sender of a rendezvous message. Its states are `SenderState`, in brackets:
//!
//! ```text
//!   sender                                     receiver
//!     │ [SendRts]                                │
//!     │ ────────────────── Rts ────────────────► │
//!     │ [RtsSent]                                │
//!     │                                          │ has copied the data, or read them by a transport,
//!     │                                          │ or cannot have them:
//!     │ ◄─────────────── SendAck ─────────────── │
//!     │   completes                              │
//!     │                                          │
//!     │ ◄────── Rtr: address, key ────────────── │ asks for a put:
//!     │ [Put]                                    │
//!     │ ══════════ put, PutDone (each part) ═══► │
//!     │   completes; a put that cannot begin     │
//!     │   leads to [Data]                        │
//!     │                                          │
//!     │ ◄────── Rtr: no address ──────────────── │ asks for fragments:
//!     │ [Data]                                   │
//!     │ ────────────── Data, Data ... ─────────► │
//!     │   completes with the last byte           │
//!     │                                          │
//!     │ ◄────── Rtr: no address, wanted ──────── │ asks for parts in mapped memory:
//!     │ [Data]                                   │
//!     │ ────────────── Part, Part ... ─────────► │
//!     │ ◄──────── PartTaken, PartTaken ... ───── │ has copied a part
//!     │   completes when all are taken           │
//!     │                                          │
//!     │ ────────────── DataFailed ─────────────► │ an Rtr for a send that is over, a put that failed,
//!     │                                          │ an endpoint that is closed while it sends
//! ```

use super::by_parts;
use super::mapped::{self, Offer, write_mapped};
use crate::c::{
    UCP_MEM_MAP_PROT_REMOTE_READ, UCS_MEMORY_TYPE_HOST, UCT_MD_MEM_ACCESS_LOCAL_READ,
    ucs_memory_type_t,
};
use crate::ucp::dt::Data;
use crate::ucp::ep::{Capability, DevicePart, Ep, Lane, Part, Task, TaskStep};
use crate::ucp::mem::Window;
use crate::ucp::op::{Op, RndvMemory, SendOp, Stage};
use crate::ucp::proto::control;
use crate::ucp::proto::rails::{self, Ends};
use crate::ucp::proto::send::send_body;
use crate::ucp::proto::upstream;
use crate::ucp::proto::zcopy::{self, Direction, Notification, NotifiedPut, Transfer};
use crate::ucp::reg::{LocalMemory, Registration};
use crate::ucp::request::Req;
use crate::ucp::rkey::{Access, RemoteKey};
use crate::ucp::rndv_state::{Illegal, SenderEvent, SenderState};
use crate::ucp::worker_core::Core;
use crate::ucs::{Result, Status, tracepoint};
use crate::uct::base::copy::Room;
use crate::wire::header::{AckHdr, AmId, DataHdr, Header, PutDoneHdr, RtrHdr, RtsHdr};
use crate::wire::id::RequestId;
use crate::{ucs_debug, ucs_error};
use std::sync::Arc;

/// Fragments of rendezvous data that go out before others of the endpoint get a turn.
const FRAGMENTS_PER_TURN: usize = 32;

/// Changes the state of a rendezvous. An event of the peer that the state has no transition for changes nothing, and is
/// dropped by the caller.
pub(super) fn advance(send: &mut SendOp, event: SenderEvent) -> bool {
    let next = match send.stage {
        Stage::Rndv(state) => state.on(event),
        _ => Err(Illegal),
    };
    match next {
        Ok(next) => send.stage = Stage::Rndv(next),
        Err(_) => ucs_error!(
            "the peer reports {event} of a message in another state ({}); dropped",
            send.stage
        ),
    }
    next.is_ok()
}

/// As `advance`, of a request.
fn advance_of(req: Req, event: SenderEvent) {
    req.with_op(|op| {
        if let Op::Send(send) = op {
            advance(send, event);
        }
    });
}

/// The send is at the head of the send queue.
pub fn step(ep: &Ep, req: Req, send: &mut SendOp, state: SenderState) -> Result<TaskStep> {
    match state {
        SenderState::SendRts => {
            send_rts(ep, req, send)?;
            ep.sent.long.rendezvous.add(send.data.len());
            tracepoint::rndv_send(req.as_ptr().as_ptr().cast(), send.data.len());
            advance(send, SenderEvent::RtsOut);
            ep.add_outstanding(req);
            Ok(TaskStep::Done)
        }
        SenderState::Put { .. } => {
            start_put(ep, req)?;
            Ok(TaskStep::Done)
        }
        SenderState::Data {
            receiver,
            offset,
            length,
        } => {
            if send.memory.as_ref().is_some_and(|m| m.parts.is_some()) {
                return by_parts::step(ep, req, send, (receiver, length));
            }
            if !is_its_turn(ep, req, send) {
                return Ok(TaskStep::More);
            }
            let mut sent = offset;
            let mut end = Ok(TaskStep::More);
            for _ in 0..FRAGMENTS_PER_TURN {
                if sent >= length {
                    break;
                }
                match send_data(ep, send, receiver, sent, length) {
                    Ok(n) => sent += n,
                    Err(e) => {
                        end = Err(e);
                        break;
                    }
                }
            }
            advance(send, SenderEvent::DataOut { offset: sent });
            if sent >= length {
                ep.complete_outstanding(req, Ok(()));
                return Ok(TaskStep::Done);
            }
            end
        }
        SenderState::RtsSent | SenderState::Over => Ok(TaskStep::Done),
    }
}

/// Whether fragments of a message may be sent: of those that are staged, an endpoint sends one at a time. Each holds several
/// buffers of pinned memory, of which few are kept, and to pin one takes as long as to send many fragments.
fn is_its_turn(ep: &Ep, req: Req, send: &SendOp) -> bool {
    if send.data.memory_type() == UCS_MEMORY_TYPE_HOST {
        return true;
    }
    let before = ep.device_transfers().staged_send.get();
    if before != req.id() && sends_data(ep, before) {
        return false;
    }
    ep.device_transfers().staged_send.set(req.id());
    true
}

/// Whether a request of the endpoint has fragments to send.
fn sends_data(ep: &Ep, id: RequestId) -> bool {
    let is_sending = |op: &mut Op| match op {
        Op::Send(send) => {
            core::ptr::eq(&raw const *send.ep, ep)
                && matches!(send.stage, Stage::Rndv(SenderState::Data { .. }))
        }
        _ => false,
    };
    let req = ep.worker().requests().named(id);
    req.is_some_and(|req| req.with_op(is_sending))
}

/// Sends the RTS of a message.
fn send_rts(ep: &Ep, req: Req, send: &mut SendOp) -> Result<()> {
    if ep.is_upstream() {
        return upstream::rts(ep, req, send);
    }
    let mut offer = mapped::offer(ep, &send.data);
    if offer.address != 0
        && offer.key.is_none()
        && let Some(at) = send.data.contiguous()
    {
        offer_to_rdma(ep, send, (at, UCS_MEMORY_TYPE_HOST), &mut offer);
    }
    if let Data::Opaque { .. } = send.data {
        offer_opaque(ep, send, &mut offer)?;
    }
    let plain = RtsHdr::LEN + send.kind.header_len();
    let room = ep.lane().max_bcopy;
    if plain + offer.key().len() + offer.epoch_key.len() > room {
        (offer.key, offer.epoch_key) = (None, &[]);
    }
    let head = plain + offer.key().len() + offer.epoch_key.len();
    if head > ep.lane().max_bcopy {
        return Err(Status::EXCEEDS_LIMIT);
    }
    let rts = RtsHdr {
        sender: ep.name_request(req),
        total: send.data.len() as u64,
        address: offer.address,
        epoch_at: offer.guard.map_or(0, |g| g.at),
        epoch: offer.guard.map_or(0, |g| g.value),
        key: offer.key().len() as u16,
        epoch_key: offer.epoch_key.len() as u16,
        kind: send.kind.id() as u8,
    };
    ep.lane()
        .bcopy(AmId::Rts, |buffer| {
            buffer.fields(head, |w| {
                rts.encode(w);
                w.bytes(offer.key());
                w.bytes(offer.epoch_key);
                send.kind.encode(w, rts.sender);
            });
        })
        .map(drop)
}

/// Offers data that have no address for processors, if they are in memory of a device.
fn offer_opaque<'a>(ep: &'a Ep, send: &mut SendOp, offer: &mut Offer<'a>) -> Result<()> {
    if let Some((at, kind)) = send.data.device_block() {
        offer_device_memory(ep, send, (at, kind), offer);
    }
    if offer.key.is_none() && mapped::is_stageable(ep, &send.data) {
        let memory = send.memory.get_or_insert_default();
        if let Some(staged) = mapped::offer_staged(ep, &send.data, &mut memory.staged)? {
            *offer = staged;
        }
    }
    if offer.key.is_none() {
        offer.key = offer_parts(ep, send);
    }
    Ok(())
}

/// The key of the memory by which the data go part by part, if they do.
fn offer_parts(ep: &Ep, send: &mut SendOp) -> Option<Arc<[u8]>> {
    if !by_parts::is_sending(send) {
        let parts = by_parts::offer(ep, &send.data)?;
        send.memory.get_or_insert_default().parts = Some(parts);
    }
    let parts = send.memory.as_ref()?.parts.as_ref()?;
    Some(parts.area.key())
}

/// The message of a send has to wait for others: has a device copy it meanwhile where it is staged.
#[cold]
pub fn stage_ahead(ep: &Ep, send: &mut SendOp) {
    if send.data.device_block().is_none()
        || send.memory.is_some()
        || ep.is_upstream()
        || !mapped::is_stageable(ep, &send.data)
        || ep.rdma_lane(send.data.memory_type()).is_some()
    {
        return;
    }
    // The message reports an error in its turn, when this is tried again.
    if let Ok(Some(staged)) = mapped::stage(ep, &send.data) {
        send.memory.get_or_insert_default().staged = Some(staged);
    }
}

/// Adds the keys by which the receiver's RDMA device reads the data, if there is such a device.
fn offer_to_rdma<'a>(
    ep: &'a Ep,
    send: &mut SendOp,
    (at, kind): (*mut u8, ucs_memory_type_t),
    offer: &mut Offer<'a>,
) {
    let Some(lane) = ep.rdma_lane(kind) else {
        return;
    };
    let context = ep.worker().context();
    let memory = send.memory.get_or_insert_default();
    if memory.offered.is_none() {
        let data = (at, send.data.len());
        let limits = ep.worker().proto().rails.rendezvous;
        let domains = rails::domains_for_peer(ep, lane, limits, data.1);
        let prot = UCP_MEM_MAP_PROT_REMOTE_READ;
        memory.offered = Window::of(context, &domains, data, kind, prot).ok();
    }
    let Some(window) = &memory.offered else {
        return;
    };
    if ep.may_revoke() {
        // The buffer may be given back while it is read, and a read of what is not registered any more would break the
        // connection.
        let epoch = ep.worker().proto().revocation.current(context);
        match epoch.filter(|(_, key)| window.is_remembered() && !key.is_empty()) {
            Some((guard, key)) => (offer.guard, offer.epoch_key) = (Some(guard), key),
            None => return,
        }
    }
    offer.key = Some(window.key.as_slice().into());
}

/// Names memory of a device to the receiver, whose device copies it, or which asks for a put if it cannot be read. Where no
/// device copies it, RDMA devices read it.
fn offer_device_memory<'a>(
    ep: &'a Ep,
    send: &mut SendOp,
    (at, kind): (*mut u8, ucs_memory_type_t),
    offer: &mut Offer<'a>,
) {
    let Some(lane) = ep.device_lane(kind) else {
        if ep.worker().proto().rules.reads {
            offer_to_rdma(ep, send, (at, kind), offer);
        }
        return;
    };
    let (worker, context) = (ep.worker(), ep.worker().context());
    let domain = worker.domain_of(lane.iface);
    if ep.may_revoke() {
        // The copy cannot be called back: the receiver looks at the epoch after it.
        let revocation = &worker.proto().revocation;
        let mapped = revocation.current(context);
        let mapped = mapped.filter(|(_, key)| !key.is_empty());
        let on_device = || revocation.current_on_device(context, domain, (at, kind));
        let Some((guard, key)) = mapped.or_else(on_device) else {
            return;
        };
        (offer.guard, offer.epoch_key) = (Some(guard), key);
    }
    let memory = send.memory.get_or_insert_default();
    if memory.offered.is_none() {
        let data = (at, send.data.len());
        let prot = match worker.proto().rules.reads {
            true => UCP_MEM_MAP_PROT_REMOTE_READ,
            false => 0,
        };
        memory.offered = Window::name(context, &[domain], data, kind, prot).ok();
    }
    let window = memory.offered.as_ref();
    let is_opened = window.is_some_and(|window| window.handle(domain).is_some());
    let named = window.map(|window| window.key.as_slice().into());
    if !is_opened && let Some(key) = offer_parts(ep, send) {
        *offer = Offer {
            key: Some(key),
            ..Offer::default()
        };
        return;
    }
    offer.key = named;
}

/// Sends a fragment of data that the receiver has requested.
fn send_data(
    ep: &Ep,
    send: &SendOp,
    receiver: RequestId,
    offset: usize,
    end: usize,
) -> Result<usize> {
    if ep.is_upstream() {
        return upstream::data(ep, send, receiver, offset, end);
    }
    let head = DataHdr {
        receiver,
        offset: offset as u64,
    };
    send_body(ep, AmId::Data, &head, &send.data, offset, end - offset)
}

/// The RTR of the peer.
pub fn on_rtr(worker: &Core, rtr: &RtrHdr, key: &[u8]) {
    let Some(req) = worker.requests().named(rtr.request) else {
        ucs_debug!("data was asked for of a send that is over");
        refuse_rtr(worker, rtr);
        return;
    };
    let ep = req.with_op(|op| match op {
        Op::Send(send) if rtr.length <= send.data.len() as u64 => {
            let (receiver, length) = (rtr.receiver, rtr.length as usize);
            let is_whole = send.data.contiguous().is_some() || send.data.device_block().is_some();
            let puts = rtr.address != 0 && worker.proto().rules.writes && is_whole;
            let event = if puts {
                SenderEvent::PutRequested {
                    receiver,
                    address: rtr.address,
                    length,
                }
            } else {
                SenderEvent::DataRequested { receiver, length }
            };
            if !advance(send, event) {
                return None;
            }
            let by_parts = rtr.address == 0 && key == by_parts::WANTED;
            if !by_parts && let Some(memory) = &mut send.memory {
                memory.parts = None;
            }
            if puts && let Some(key) = send.ep.key_of_blob(key) {
                send.memory.get_or_insert_default().target = Some(key);
            }
            Some(send.ep)
        }
        _ => {
            ucs_error!("the peer asked for more data than were sent by an RTS");
            None
        }
    });
    match ep {
        Some(ep) => ep.post(Task::Request(req)),
        None => refuse_rtr(worker, rtr),
    }
}

/// Bytes of the message of a request that sent an RTS; 0 where it is over.
pub fn length_of(worker: &Core, id: RequestId) -> u64 {
    let length = |op: &mut Op| match op {
        Op::Send(send) => send.data.len() as u64,
        _ => 0,
    };
    let req = worker.requests().named(id);
    req.map_or(0, |req| req.with_op(length))
}

/// Puts the data of a message into the receiver's memory. If that fails, sends them in fragments.
fn start_put(ep: &Ep, req: Req) -> Result<()> {
    let wanted = req.with_op(|op| {
        let Op::Send(send) = op else { return None };
        let Stage::Rndv(SenderState::Put {
            receiver,
            address,
            length,
            ..
        }) = send.stage
        else {
            return None;
        };
        let block = send.data.device_block();
        let local = match block {
            Some((at, _)) => at,
            None => send.data.contiguous()?,
        };
        let copy = |to: Room<'_>| send.data.pack(0, to);
        let key = send.memory.as_ref().and_then(|m| m.target.clone());
        let copied = key
            .as_ref()
            .filter(|_| block.is_none())
            .and_then(|k| write_mapped(ep, k, &send.data, address, length, copy));
        let kind = block.map(|(_, kind)| kind);
        Some((
            receiver,
            address,
            length,
            (local, kind),
            key,
            copied.is_some(),
        ))
    });
    let Some((receiver, address, length, (local, kind), key, is_copied)) = wanted else {
        return Ok(());
    };
    if is_copied {
        on_put_completed(req, Ok(()));
        return Ok(());
    }
    let plain = LocalMemory::Plain;
    let access = key.as_ref().map(|k| k.access);
    let (lane, rkey, memory) = match access {
        Some(Access::Device(rkey)) => {
            let kind = key.as_ref().map(|k| k.info.mem_type.into());
            let lane = kind.and_then(|kind| ep.device_lane(kind));
            (lane, rkey, LocalMemory::Device)
        }
        Some(Access::Rdma(rkey)) => {
            let lane = ep.rdma_lane(kind.unwrap_or(UCS_MEMORY_TYPE_HOST));
            let memory = lane.map_or(plain, |lane| register(ep, req, lane, (local, length), kind));
            // Memory of a device is not copied by the processor.
            let is_reached = kind.is_none() || matches!(memory, LocalMemory::Registered(_));
            (lane.filter(|_| is_reached), rkey, memory)
        }
        // Nothing else reaches memory of a device.
        _ if kind.is_some() => (None, 0, plain),
        Some(Access::Written(rkey)) => (ep.lane_with(Capability::PutByKey), rkey, plain),
        _ => (ep.lane_with(Capability::SingleCopy), 0, plain),
    };
    let transfer = Transfer {
        local,
        memory,
        len: length,
        remote: address,
        rkey,
        guard: None,
    };
    let notify = matches!(access, Some(Access::Written(_)));
    advance_of(req, SenderEvent::PutBegins { notify });
    let begun = match lane {
        Some(lane) if notify => {
            let limits = ep.worker().proto().rails.rendezvous;
            let parts = rails::parts(ep, lane, limits, length);
            let notified = |part| notified(ep, receiver, transfer, part);
            zcopy::put_notify(req, parts.into_iter().map(notified))
        }
        Some(lane) if memory == LocalMemory::Device => zcopy::put(req, lane, transfer),
        Some(lane) => match parts_of_put(ep, req, lane, &transfer, key.as_deref()).as_slice() {
            [] => zcopy::begin(req, lane, Direction::Put, transfer, usize::MAX),
            parts => zcopy::begin_parts(req, Direction::Put, transfer, parts, false),
        },
        None => Err(Status::UNSUPPORTED),
    };
    match begun {
        Ok(()) => Ok(()),
        Err(Status::NO_RESOURCE) if rkey != 0 => Err(Status::NO_RESOURCE),
        Err(e) => {
            ucs_debug!("writing {length} bytes to the peer: {e}; fragments instead");
            advance_of(req, SenderEvent::PutRefused);
            ep.post(Task::Request(req));
            Ok(())
        }
    }
}

/// The parts of a put that RDMA devices share; none if there is one.
fn parts_of_put(
    ep: &Ep,
    req: Req,
    lane: Lane,
    transfer: &Transfer,
    key: Option<&RemoteKey>,
) -> Vec<DevicePart> {
    let Some(remote) = key.filter(|key| matches!(key.access, Access::Rdma(_))) else {
        return Vec::new();
    };
    let local = |domain| {
        req.with_op(|op| match op {
            Op::Send(send) => {
                let memory = send.memory.as_deref()?;
                let offered = memory.offered.as_ref().and_then(|w| w.handle(domain));
                offered.or_else(|| memory.registration.as_ref()?.handle(domain))
            }
            _ => None,
        })
    };
    let ends = Ends {
        local: &local,
        remote,
        epoch: None,
        near: None,
    };
    let limits = ep.worker().proto().rails.rendezvous;
    rails::by_devices(ep, lane, limits, transfer, &ends)
}

/// How the lane's device reaches the memory of a put: registered now, for rails too, unless that was done before.
fn register(
    ep: &Ep,
    req: Req,
    lane: Lane,
    memory: (*mut u8, usize),
    kind: Option<ucs_memory_type_t>,
) -> LocalMemory {
    let domain = ep.worker().domain_of(lane.iface);
    let of = |registration: &Registration| registration.local_memory(domain);
    let known = |memory: &RndvMemory| {
        let offered = memory.offered.as_ref().and_then(|w| w.handle(domain));
        let offered = offered.map(LocalMemory::Registered);
        offered.or_else(|| memory.registration.as_ref().map(of))
    };
    let made = req.with_op(|op| match op {
        Op::Send(send) => send.memory.as_deref().and_then(known),
        _ => None,
    });
    if let Some(made) = made {
        return made;
    }
    let (worker, flags) = (ep.worker(), UCT_MD_MEM_ACCESS_LOCAL_READ);
    let limits = worker.proto().rails.rendezvous;
    let domains = rails::domains(ep, lane, limits, memory.1);
    let kind = kind.unwrap_or(UCS_MEMORY_TYPE_HOST);
    let registration = Registration::of_buffer(worker.context(), &domains, memory, kind, flags);
    let made = of(&registration);
    req.with_op(|op| {
        if let Op::Send(send) = op
            && let Some(memory) = &mut send.memory
        {
            memory.registration = Some(registration);
        }
    });
    made
}

/// The put of a part, with its notification.
fn notified(ep: &Ep, receiver: RequestId, transfer: Transfer, part: Part) -> NotifiedPut {
    let length = part.range.len() as u64;
    let done = PutDoneHdr { receiver, length };
    NotifiedPut {
        lane: part.lane,
        transfer: transfer.part(part.range),
        notification: match ep.is_upstream() {
            true => upstream::put_done(receiver, length),
            false => Notification::new(AmId::PutDone as u8, PutDoneHdr::LEN, |w| done.encode(w)),
        },
    }
}

/// The put has completed, or is ordered before all later messages.
pub fn on_put_completed(req: Req, result: Result<()>) {
    let put = req.with_op(|op| {
        let Op::Send(send) = op else { return None };
        let Stage::Rndv(SenderState::Put {
            receiver,
            length,
            notify,
            ..
        }) = send.stage
        else {
            return None;
        };
        advance(send, SenderEvent::PutCompleted);
        Some((send.ep, receiver, length, notify))
    });
    let Some((ep, receiver, length, notify)) = put else {
        return;
    };
    match result {
        Ok(()) if notify => {}
        Ok(()) => {
            let done = PutDoneHdr {
                receiver,
                length: length as u64,
            };
            control::post(&ep, AmId::PutDone, &done, &[]);
        }
        // After the failure of a rail, the receiver hears of it by the message lane.
        Err(e) => {
            control::post(&ep, AmId::DataFailed, &data_failed(receiver, e), &[]);
        }
    }
    ep.complete_outstanding(req, result);
}

/// Tells a receiver that its data will not come.
pub fn data_failed(receiver: RequestId, status: Status) -> AckHdr {
    AckHdr {
        request: receiver,
        status: status.code() as u8,
    }
}

/// Replies to an RTR for a send that does not exist any more.
fn refuse_rtr(worker: &Core, rtr: &RtrHdr) {
    let Some(ep) = worker.ep_of_peer(rtr.ep) else {
        ucs_debug!("an endpoint that is closed cannot be answered");
        return;
    };
    let refusal = data_failed(rtr.receiver, Status::CANCELED);
    control::post(ep, AmId::DataFailed, &refusal, &[]);
}

/// The receiver has matched a message, or has its data.
pub fn on_send_ack(worker: &Core, ack: &AckHdr) {
    let Some((req, result)) = control::acknowledged(worker, ack) else {
        return;
    };
    let ep = req.with_op(|op| {
        let Op::Send(send) = op else {
            control::stray_ack();
            return None;
        };
        let is_over = match send.stage {
            Stage::Rndv(_) => advance(send, SenderEvent::Acknowledged),
            Stage::AwaitAck => {
                // A receiver that answers sends that as well, often as much as it got.
                if let Some(iface) = send.ep.carrier() {
                    iface.internal.more_expected.set(Some(send.data.len()));
                }
                true
            }
            // Its first fragment was matched while others are still queued: it completes when they are sent.
            Stage::Fragments { .. } => {
                send.kind.matched();
                false
            }
            _ => {
                control::stray_ack();
                false
            }
        };
        is_over.then_some(send.ep)
    });
    if let Some(ep) = ep {
        ep.complete_outstanding(req, result);
    }
}
