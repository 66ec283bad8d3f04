//! Rendezvous: how a rendezvous message gets to the receiver.
//!
//! The receiver uses the first scheme that is possible: copy from mapped memory; get by a transport; put by the
//! sender's transport, requested by an RTR with an address; fragments, requested by an RTR without one.
//! `UCX_RNDV_SCHEME` restricts the choice (`Rules`).

use super::control;
use super::rails::{self, Part};
use super::revocation::MappedEpoch;
use super::zcopy::{self, Direction, Notification, NotifiedPut, Transfer};
use crate::ucp::dt::Data;
use crate::ucp::ep::{Capability, Ep, Pin, Task};
use crate::ucp::mem::Window;
use crate::ucp::op::{Arriving, DataRecvOp, Op, Operation, SendOp, Stage, TagRecvOp};
use crate::ucp::request::{Info, Request};
use crate::ucp::rkey::{Access, RemoteKey};
use crate::ucp::rndv_tuner;
use crate::ucp::rts::Rts;
use crate::ucp::worker_core::Core;
use crate::ucs::status::code_of;
use crate::ucs::{Result, Status};
use crate::uct::internal::EpochGuard;
use crate::wire::Writer;
use crate::wire::header::{AckHdr, AmId, DataHdr, Header, PutDoneHdr, RtrHdr};
use crate::wire::id::{EpName, RequestId, RequestName};
use crate::wire::rkey::{READ, WRITE};
use crate::{ucs_debug, ucs_error};
use core::ops::Range;
use core::ptr::NonNull;
use std::sync::Arc;

/// The target of a fetched message.
fn arriving(op: &mut Op) -> Option<(&Data, &mut Arriving)> {
    match op {
        Op::TagRecv(r) => Some((&r.data, &mut r.arriving)),
        Op::DataRecv(r) => Some((&r.data, &mut r.arriving)),
        _ => None,
    }
}

/// Fetches a rendezvous message into the request's buffer.
pub fn fetch(worker: &Core, req: &Request, message: &Rts) {
    req.set_info(Info {
        length: message.total,
        ..req.info()
    });
    // SAFETY: the only borrow; nothing below calls the user while it lives.
    let Some((data, state)) = arriving(unsafe { req.op() }) else {
        return;
    };
    if message.total > data.len() {
        ucs_debug!(
            "a message of {} bytes does not fit a receive of {}",
            message.total,
            data.len()
        );
        complete_and_ack(worker, req, message.sender, Err(Status::MESSAGE_TRUNCATED));
        return;
    }
    state.total = message.total;
    state.sender = message.sender;
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
    state.ep = Some(NonNull::from(reply));
    if message.total == 0 {
        complete_and_ack(worker, req, message.sender, Ok(()));
        return;
    }
    if worker.proto().rules.maps {
        match copy_mapped(worker, reply, data, message) {
            Copied::Ended(result) => return complete_and_ack(worker, req, message.sender, result),
            Copied::InDoubt => return request_from_sender(worker, req, reply),
            Copied::NotPossible => {}
        }
    }
    let to = data.contiguous();
    if let Some(local) = to
        && message.address != 0
        && worker.proto().rules.reads
        && let Some(lane) = reply.lane_with(Capability::SingleCopy)
    {
        if worker.proto().rules.tunes {
            let (scheme, transfer) = rndv_tuner::begin(&worker.proto().rndv_tuner, message.total);
            state.timed = Some(transfer);
            if scheme == rndv_tuner::Scheme::Fragments {
                return send_rtr(req, reply, 0, None);
            }
        }
        let transfer = Transfer {
            local,
            len: message.total,
            remote: message.address,
            rkey: 0,
            guard: message.guard,
        };
        reply.add_outstanding(req);
        match zcopy::begin(req, lane, Direction::Get, transfer, usize::MAX) {
            Ok(()) => return,
            Err(e) => ucs_debug!(
                "single copy of {} bytes: {e}; fragments instead",
                message.total
            ),
        }
        reply.remove_outstanding(req.as_ptr());
    }
    request_from_sender(worker, req, reply);
}

/// The result of a copy from mapped memory.
pub enum Copied {
    Ended(Result<()>),
    /// The sender has taken something back meanwhile, perhaps this message.
    InDoubt,
    NotPossible,
}

/// Copies a message whose memory is mapped here: that of a request of this worker, or the peer's by a key of the RTS.
fn copy_mapped(worker: &Core, ep: &Ep, to: &Data, message: &Rts) -> Copied {
    if message.sender.ep.uuid == worker.uuid {
        return copy_within_worker(worker, to, message).map_or(Copied::NotPossible, Copied::Ended);
    }
    copy_part(ep, message, 0..message.total, to, 0)
}

/// Of a request of this worker. `None` when that cannot be.
fn copy_within_worker(worker: &Core, to: &Data, message: &Rts) -> Option<Result<()>> {
    let total = message.total;
    // The address is taken from the request and not from the message.
    // SAFETY: another request than the receive's; the only borrow of its operation.
    let Op::Send(send) = (unsafe { worker.requests().named(message.sender.id)?.op() }) else {
        return None;
    };
    if send.stage != Stage::RtsSent || send.data.len() != total {
        return None;
    }
    match (to.contiguous(), send.data.contiguous()) {
        // SAFETY: `total` bytes of the sender's buffer, as checked above.
        (_, Some(from)) => Some(unsafe { to.unpack(0, from, total) }),
        (Some(at), None) => {
            // SAFETY: `total` bytes fit the receive, as `fetch` checked.
            unsafe { send.data.pack(0, at, total) };
            Some(Ok(()))
        }
        (None, None) => None,
    }
}

/// Copies some bytes of a message from the peer's region to offset `at` of `to`, where they must fit.
pub fn copy_part(ep: &Ep, message: &Rts, part: Range<usize>, to: &Data, at: usize) -> Copied {
    copy_from_region(ep, message, part, to, at).unwrap_or(Copied::NotPossible)
}

/// As `copy_part`. `None` when the region or the epoch word is not mapped here.
fn copy_from_region(
    ep: &Ep,
    message: &Rts,
    part: Range<usize>,
    to: &Data,
    at: usize,
) -> Option<Copied> {
    if message.region == 0 {
        return None;
    }
    let key = ep.keys.borrow().of_region(message.region)?;
    let epoch_key = match message.guard {
        Some(_) => Some(ep.keys.borrow().of_region(message.epoch_region)?),
        None => None,
    };
    let guard = match (&epoch_key, message.guard) {
        (Some(key), Some(guard)) => Some(MappedEpoch::find(key, guard)?),
        _ => None,
    };
    let address = message.address.checked_add(part.start as u64)?;
    let copy = |from: *mut u8| {
        // SAFETY: mapped here for the part as long as the key is.
        unsafe { to.unpack(at, from, part.len()) }
    };
    let result = touch(ep, &key, to, address, part.len(), READ, copy)?;
    Some(match guard {
        Some(guard) if !guard.is_current() => Copied::InDoubt,
        _ => Copied::Ended(result),
    })
}

/// Calls `f` with memory of the peer that is mapped here; `None` when it is not. `f` must not call the user: memory of
/// this process must not be unmapped meanwhile.
fn touch<R>(
    ep: &Ep,
    key: &RemoteKey,
    here: &Data,
    address: u64,
    length: usize,
    right: u8,
    f: impl FnOnce(*mut u8) -> R,
) -> Option<R> {
    let at = key.mapped_range(address, length, right)?;
    let context = ep.worker().context();
    if key.info.context != context.id {
        return Some(f(at));
    }
    if matches!(here, Data::Generic { .. }) {
        return None;
    }
    let regions = &context.regions;
    regions
        .with(key.info.region, address, length, right, f)
        .ok()
}

/// Requests the data from the sender: by a put if possible, else in fragments. Only a window can be revoked, so other
/// memory is not exposed if the receive may have to be revoked.
fn request_from_sender(worker: &Core, req: &Request, ep: &Ep) {
    // SAFETY: the only borrow; nothing below calls the user while it lives.
    let Some((data, state)) = arriving(unsafe { req.op() }) else {
        return;
    };
    let (mut address, mut key) = (0, None);
    if let Some(to) = data.contiguous()
        && worker.proto().rules.writes
    {
        let gives = !ep.may_revoke() && !state.own;
        if gives && ep.lane_with(Capability::SingleCopy).is_some() {
            address = to as u64;
        } else if gives && let Some(mapped) = mappable(worker, to as u64, state.total, WRITE) {
            (address, key) = (to as u64, Some(mapped));
        } else if ep.lane_with(Capability::PutByKey).is_some()
            && let Ok(window) = Window::open(worker.context(), to, state.total)
        {
            (address, key) = (to as u64, Some(window.key.as_slice().into()));
            state.window = Some(Box::new(window));
        }
    }
    send_rtr(req, ep, address, key);
}

/// Sends an RTR: for a put to `address` with `key`, or for fragments if `address` is 0.
fn send_rtr(req: &Request, ep: &Ep, address: u64, key: Option<Arc<[u8]>>) {
    // SAFETY: the only borrow; nothing below calls the user while it lives.
    let Some((_, state)) = arriving(unsafe { req.op() }) else {
        return;
    };
    state.written = address != 0;
    let rtr = RtrHdr {
        request: state.sender.id,
        receiver: req.id(),
        length: state.total as u64,
        address,
        ep: ep.name_for_peers(),
    };
    // The sender may have to reply that its send was cancelled.
    ep.send_wireup();
    ep.add_outstanding(req);
    control::post(ep, AmId::Rtr, &rtr, key.as_deref().unwrap_or_default());
}

/// Whether the peer is another worker that maps memory of this one.
fn shares_memory(ep: &Ep) -> bool {
    ep.is_same_host() && ep.remote_uuid.get() != ep.worker().uuid
}

/// The key of the memory that holds the range, if peers on this host can map it and have `right` to it.
fn mappable(worker: &Core, address: u64, length: usize, right: u8) -> Option<Arc<[u8]>> {
    let regions = &worker.context().regions;
    worker
        .proto()
        .mappable
        .key_of(regions, address, length, right)
}

/// Whether the receiver of an RTS could copy from the buffer itself.
pub fn is_mappable(ep: &Ep, data: &Data) -> bool {
    match data.contiguous() {
        Some(_) if ep.remote_uuid.get() == ep.worker().uuid => true,
        Some(at) if shares_memory(ep) => {
            mappable(ep.worker(), at as u64, data.len(), READ).is_some()
        }
        _ => false,
    }
}

/// Whether it could, and is no receiver of this very worker.
pub fn is_mappable_elsewhere(ep: &Ep, data: &Data) -> bool {
    ep.worker().proto().rules.maps
        && ep.remote_uuid.get() != ep.worker().uuid
        && is_mappable(ep, data)
}

/// The access to the data that an RTS offers.
#[derive(Default)]
pub struct Offer<'a> {
    /// Address of the data; 0 if they may not be read.
    pub address: u64,
    /// The key of mapped memory, if they are in that.
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
    let Some(address) = data.contiguous().map(|at| at as u64) else {
        return Offer::default();
    };
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
        mappable(worker, address, data.len(), READ)
    } else {
        None
    };
    match key {
        Some(_) => Offer {
            address,
            key,
            guard,
            epoch_key,
        },
        None if worker.proto().rules.reads => Offer {
            address,
            guard,
            ..Offer::default()
        },
        None => Offer::default(),
    }
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

/// A transport has read the data of a rendezvous message, or failed to.
fn on_get_done(req: &Request, result: Result<()>) {
    // SAFETY: the only borrow, ended before the completion.
    let Some((_, state)) = arriving(unsafe { req.op() }) else {
        return;
    };
    let sender = state.sender;
    let worker = req.worker();
    // SAFETY: an endpoint outlives what a transport does for it.
    let ep = state.ep.map(|ep| unsafe { ep.as_ref() });
    if result == Err(Status::CANCELED)
        && let Some(ep) = ep
        && ep.is_usable()
    {
        ucs_debug!("the sender took something back during a copy; fragments instead");
        ep.remove_outstanding(req.as_ptr());
        return request_from_sender(worker, req, ep);
    }
    // The sender's callback may run in this call, and complete requests of its endpoint.
    let _pin = ep.map(Pin::new);
    if let Some(ep) = ep {
        ep.remove_outstanding(req.as_ptr());
    }
    send_ack(worker, sender, result);
    complete(req, result);
}

/// See `Operation::move_to_another_ep`.
fn move_to_another_ep(req: &Request) -> bool {
    // SAFETY: the only borrow; nothing below calls the user while it lives.
    let Some((_, state)) = arriving(unsafe { req.op() }) else {
        return false;
    };
    let Some(ep) = req.worker().ep_of_peer(state.sender.ep) else {
        return false;
    };
    state.ep = Some(NonNull::from(ep));
    ep.add_outstanding(req);
    true
}

/// Completes a receive that is outstanding.
fn complete(req: &Request, result: Result<()>) {
    // SAFETY: the only borrow, ended before the completion.
    let ep = arriving(unsafe { req.op() }).and_then(|(_, state)| state.ep);
    match ep {
        // SAFETY: an endpoint outlives what waits for its peer.
        Some(ep) => unsafe { ep.as_ref() }.complete_outstanding(req, result),
        None => req.complete(result),
    }
}

/// Acknowledges the sender, then completes a receive.
fn complete_and_ack(worker: &Core, req: &Request, sender: RequestName, result: Result<()>) {
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
    let Some(ep) = worker.ep_of_peer(sender.ep) else {
        ucs_debug!("an endpoint that is closed cannot be answered");
        return;
    };
    let ack = AckHdr {
        request: sender.id,
        status: code_of(&result) as u8,
    };
    control::post(ep, AmId::SendAck, &ack, &[]);
}

/// The RTR of the peer.
pub fn on_rtr(worker: &Core, rtr: &RtrHdr, key: &[u8]) {
    let Some(req) = worker.requests().named(rtr.request) else {
        ucs_debug!("data was asked for of a send that is over");
        refuse_rtr(worker, rtr);
        return;
    };
    // SAFETY: the only borrow, ended before the task is posted.
    let ep = match unsafe { req.op() } {
        Op::Send(send) if send.stage == Stage::RtsSent && rtr.length <= send.data.len() as u64 => {
            let (receiver, length) = (rtr.receiver, rtr.length as usize);
            // SAFETY: an endpoint outlives its requests.
            let ep = unsafe { &*send.ep };
            if rtr.address != 0 && worker.proto().rules.writes && send.data.contiguous().is_some() {
                send.key = ep.key_of_blob(key);
                send.stage = Stage::Write {
                    receiver,
                    address: rtr.address,
                    length,
                    notify: false,
                };
            } else {
                send.stage = Stage::Data {
                    receiver,
                    offset: 0,
                    length,
                };
            }
            ep
        }
        _ => {
            ucs_error!("the peer asked for the data of a send without RTS");
            refuse_rtr(worker, rtr);
            return;
        }
    };
    ep.post(Task::Request(req.as_ptr()));
}

/// Puts the data of a message into the receiver's memory. If that fails, sends them in fragments.
pub fn start_put(ep: &Ep, req: &Request) -> Result<()> {
    // SAFETY: the only borrow, ended before anything that ends the request.
    let Op::Send(send) = (unsafe { req.op() }) else {
        return Ok(());
    };
    let (
        Stage::Write {
            receiver,
            address,
            length,
            ..
        },
        Some(local),
    ) = (send.stage, send.data.contiguous())
    else {
        return Ok(());
    };
    let key = send.key.clone();
    let copy = |to| {
        // SAFETY: mapped here for `length` bytes as long as the key is.
        unsafe { send.data.pack(0, to, length) };
    };
    let copied = key
        .as_ref()
        .and_then(|k| touch(ep, k, &send.data, address, length, WRITE, copy));
    if copied.is_some() {
        on_put_completed(req, Ok(()));
        return Ok(());
    }
    let (lane, rkey) = match key.as_ref().map(|k| k.access) {
        Some(Access::Written(rkey)) => (ep.lane_with(Capability::PutByKey), rkey),
        _ => (ep.lane_with(Capability::SingleCopy), 0),
    };
    let transfer = Transfer {
        local,
        len: length,
        remote: address,
        rkey,
        guard: None,
    };
    let notify = rkey != 0;
    send.stage = Stage::Write {
        receiver,
        address,
        length,
        notify,
    };
    let begun = match lane {
        Some(lane) if notify => {
            let limits = ep.worker().proto().rails.rendezvous;
            let whole = || {
                vec![Part {
                    lane,
                    range: 0..length,
                }]
            };
            let parts = rails::split(ep, lane, limits, length).unwrap_or_else(whole);
            let notified = |part| notified(receiver, transfer, part);
            zcopy::put_notify(req, parts.into_iter().map(notified))
        }
        Some(lane) => zcopy::begin(req, lane, Direction::Put, transfer, usize::MAX),
        None => Err(Status::UNSUPPORTED),
    };
    match begun {
        Ok(()) => Ok(()),
        Err(Status::NO_RESOURCE) if rkey != 0 => Err(Status::NO_RESOURCE),
        Err(e) => {
            ucs_debug!("writing {length} bytes to the peer: {e}; fragments instead");
            // SAFETY: the only borrow.
            if let Op::Send(send) = unsafe { req.op() } {
                send.stage = Stage::Data {
                    receiver,
                    offset: 0,
                    length,
                };
            }
            ep.post(Task::Request(req.as_ptr()));
            Ok(())
        }
    }
}

/// The put of a part, with its notification.
fn notified(receiver: RequestId, transfer: Transfer, part: Part) -> NotifiedPut {
    let done = PutDoneHdr {
        receiver,
        length: part.range.len() as u64,
    };
    let mut body = [0; PutDoneHdr::LEN];
    done.encode(&mut Writer::new(&mut body));
    NotifiedPut {
        lane: part.lane,
        transfer: transfer.part(part.range),
        notification: Notification {
            id: AmId::PutDone,
            body,
        },
    }
}

/// The put has completed, or is ordered before all later messages.
pub fn on_put_completed(req: &Request, result: Result<()>) {
    // SAFETY: the only borrow, ended before the completion.
    let (ep, receiver, length, notify) = match unsafe { req.op() } {
        Op::Send(SendOp {
            ep,
            stage:
                Stage::Write {
                    receiver,
                    length,
                    notify,
                    ..
                },
            ..
        }) => (*ep, *receiver, *length, *notify),
        _ => return,
    };
    // SAFETY: an endpoint outlives its requests.
    let ep = unsafe { &*ep };
    match result {
        _ if notify => {}
        Ok(()) => {
            let done = PutDoneHdr {
                receiver,
                length: length as u64,
            };
            control::post(ep, AmId::PutDone, &done, &[]);
        }
        Err(e) => {
            control::post(ep, AmId::DataFailed, &data_failed(receiver, e), &[]);
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

/// A fragment of requested data.
pub fn on_data(worker: &Core, hdr: &DataHdr, bytes: &[u8]) {
    let Some(req) = worker.requests().named(hdr.receiver) else {
        ucs_debug!("data for a receive that is over");
        return;
    };
    // SAFETY: the only borrow; a generic datatype's unpack must not use its own request.
    let Some((buffer, state)) = arriving(unsafe { req.op() }) else {
        return;
    };
    let offset = hdr.offset as usize;
    if hdr.offset != state.received as u64 || bytes.len() > state.total - state.received {
        ucs_error!("a fragment of data is not the next one; dropped");
        return;
    }
    state.received += bytes.len();
    if state.error.is_none() {
        // SAFETY: `bytes` is readable.
        state.error = unsafe { buffer.unpack(offset, bytes.as_ptr(), bytes.len()) }.err();
    }
    if state.received == state.total {
        let result = state.error.map_or(Ok(()), Err);
        complete(req, result);
    }
}

/// The receiver has matched a message, or has its data.
pub fn on_send_ack(worker: &Core, ack: &AckHdr) {
    let Some((req, result)) = control::acknowledged(worker, ack) else {
        return;
    };
    // SAFETY: the only borrow, ended before the completion.
    let Op::Send(send) = (unsafe { req.op() }) else {
        return control::stray_ack();
    };
    match send.stage {
        Stage::RtsSent | Stage::AwaitAck => {
            // SAFETY: an endpoint outlives its requests.
            unsafe { (*send.ep).complete_outstanding(req, result) };
        }
        // Its first fragment was matched while others are still queued: it completes when they are sent.
        Stage::Fragments { .. } => send.kind.matched(),
        _ => control::stray_ack(),
    }
}

/// Data that were asked for will not come.
pub fn on_data_failed(worker: &Core, ack: &AckHdr) {
    match control::acknowledged(worker, ack) {
        // SAFETY: the only borrow, ended before the completion.
        Some((req, Err(e))) if arriving(unsafe { req.op() }).is_some() => complete(req, Err(e)),
        Some(_) => control::stray_ack(),
        None => {}
    }
}

/// A part of the data was put into the buffer.
pub fn on_put_done(worker: &Core, hdr: &PutDoneHdr) {
    let Some(req) = worker.requests().named(hdr.receiver) else {
        ucs_debug!("a put for a receive that is over");
        return;
    };
    // SAFETY: the only borrow, ended before the completion.
    let Some((_, state)) = arriving(unsafe { req.op() }) else {
        return;
    };
    if !state.written || hdr.length > (state.total - state.received) as u64 {
        ucs_error!("a put that its receiver did not ask for; dropped");
        return;
    }
    state.received += hdr.length as usize;
    if state.received == state.total {
        complete(req, Ok(()));
    }
}

impl Arriving {
    fn is_written_by_peer(&self) -> bool {
        self.written && self.window.is_none()
    }
}

impl Operation for TagRecvOp {
    fn is_written_by_peer(&self) -> bool {
        self.arriving.is_written_by_peer()
    }

    fn move_to_another_ep(req: &Request) -> bool {
        move_to_another_ep(req)
    }

    fn on_transfers_done(req: &Request, result: Result<()>) {
        on_get_done(req, result);
    }
}

impl Operation for DataRecvOp {
    fn is_written_by_peer(&self) -> bool {
        self.arriving.is_written_by_peer()
    }

    fn move_to_another_ep(req: &Request) -> bool {
        move_to_another_ep(req)
    }

    fn on_transfers_done(req: &Request, result: Result<()>) {
        on_get_done(req, result);
    }
}
