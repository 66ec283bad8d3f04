//! The receiver of a rendezvous message: a tagged receive, or a fetch of data for a handler or a stream.
//!
//! It uses the first scheme that is possible; `UCX_RNDV_SCHEME` restricts the choice (`Rules`). Its states are
//! `ReceiverState`, in brackets:
//!
//! ```text
//!   sender                                     receiver
//!     │ ────────────────── Rts ────────────────► │ [Matched]
//!     │                                          │
//!     │                                          │ the sender's memory is mapped here:
//!     │ ◄─────────────── SendAck ─────────────── │   copies, completes
//!     │                                          │
//!     │                                          │ a transport has get:
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
//!     │ ────────────── DataFailed ─────────────► │ [AwaitPut], [AwaitData]: completes with the status
//! ```

use super::mapped::{Copied, copy_mapped, mappable};
use crate::ucp::dt::Data;
use crate::ucp::ep::{Capability, Ep, Pin};
use crate::ucp::mem::Window;
use crate::ucp::op::{Arriving, DataRecvOp, Op, Operation, TagRecvOp};
use crate::ucp::proto::control;
use crate::ucp::proto::zcopy::{self, Direction, Transfer};
use crate::ucp::request::{Info, Request};
use crate::ucp::rndv_state::{ReceiverEvent, ReceiverState};
use crate::ucp::rndv_tuner;
use crate::ucp::rts::Rts;
use crate::ucp::worker_core::Core;
use crate::ucs::status::code_of;
use crate::ucs::{Result, Status};
use crate::wire::header::{AckHdr, AmId, DataHdr, PutDoneHdr, RtrHdr};
use crate::wire::id::RequestName;
use crate::wire::rkey::WRITE;
use crate::{ucs_debug, ucs_error};
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
        state.advance(ReceiverEvent::GetBegins);
        reply.add_outstanding(req);
        match zcopy::begin(req, lane, Direction::Get, transfer, usize::MAX) {
            Ok(()) => return,
            Err(e) => ucs_debug!(
                "single copy of {} bytes: {e}; fragments instead",
                message.total
            ),
        }
        reply.remove_outstanding(req.as_ptr());
        // SAFETY: the only borrow; nothing was begun, so the receive is as it was.
        if let Some((_, state)) = arriving(unsafe { req.op() }) {
            state.advance(ReceiverEvent::GetFailed);
        }
    }
    request_from_sender(worker, req, reply);
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
    let requested = match address {
        0 => ReceiverEvent::DataRequested,
        _ => ReceiverEvent::PutRequested,
    };
    if !state.advance(requested) {
        return;
    }
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
        state.advance(ReceiverEvent::GetFailed);
        ep.remove_outstanding(req.as_ptr());
        return request_from_sender(worker, req, ep);
    }
    state.advance(ReceiverEvent::Got);
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
    let last = state.received + bytes.len() == state.total;
    if !state.advance(ReceiverEvent::Fragment { last }) {
        return;
    }
    state.received += bytes.len();
    if state.error.is_none() {
        // SAFETY: `bytes` is readable.
        state.error = unsafe { buffer.unpack(offset, bytes.as_ptr(), bytes.len()) }.err();
    }
    if last {
        let result = state.error.map_or(Ok(()), Err);
        complete(req, result);
    }
}

/// Data that were asked for will not come.
pub fn on_data_failed(worker: &Core, ack: &AckHdr) {
    let Some((req, result)) = control::acknowledged(worker, ack) else {
        return;
    };
    // SAFETY: the only borrow, ended before the completion.
    match arriving(unsafe { req.op() }) {
        Some((_, state)) if result.is_err() => {
            if state.advance(ReceiverEvent::Failed) {
                complete(req, result);
            }
        }
        _ => control::stray_ack(),
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
    let left = (state.total - state.received) as u64;
    if hdr.length > left {
        ucs_error!("a put of more than its receiver asked for; dropped");
        return;
    }
    let last = hdr.length == left;
    if !state.advance(ReceiverEvent::Put { last }) {
        return;
    }
    state.received += hdr.length as usize;
    if last {
        complete(req, Ok(()));
    }
}

impl Arriving {
    fn is_written_by_peer(&self) -> bool {
        self.state == ReceiverState::AwaitPut && self.window.is_none()
    }

    /// Changes the state. An event of the peer that the state has no transition for changes nothing, and is dropped by
    /// the caller.
    fn advance(&mut self, event: ReceiverEvent) -> bool {
        match self.state.on(event) {
            Ok(next) => self.state = next,
            Err(_) => {
                ucs_error!(
                    "{event:?} of a rendezvous that is in state {:?}; dropped",
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
