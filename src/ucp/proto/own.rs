//! Messages of a worker to itself that wait for their receiver without an RTS: it copies from the buffer of the send to its own.
//! The receiver knows them as `OwnSend`.
#![forbid(unsafe_code)]

use super::rndv::receiver::{self, with_arriving};
use super::send;
use crate::ucp::dt::Data;
use crate::ucp::ep::{Ep, EpRef};
use crate::ucp::op::{MessageKind, Op, SendOp, Stage};
use crate::ucp::plan::RndvPolicy;
use crate::ucp::request::Req;
use crate::ucp::rndv_state::SenderState;
use crate::ucp::rts::OwnSend;
use crate::ucp::worker_core::Core;
use crate::ucs::tracepoint;

/// The buffer of a message that waits so; `None` for every other message.
#[inline]
pub fn waits_here(
    ep: &Ep,
    kind: &MessageKind,
    data: &Data,
    policy: RndvPolicy,
) -> Option<(*mut u8, usize)> {
    if !ep.tells_itself() || !waits_at_sender(ep, kind, data, policy) {
        return None;
    }
    Some((data.contiguous()?, data.len()))
}

fn waits_at_sender(ep: &Ep, kind: &MessageKind, data: &Data, policy: RndvPolicy) -> bool {
    let Some(payload) = data.payload() else {
        return false;
    };
    let by = &ep.lane().thresholds;
    (policy == RndvPolicy::Always || payload.len() >= by.rndv.min(by.rndv_mapped))
        && ep.delivers_at_once()
        && ep.is_wireup_sent()
        && ep.worker().proto().rules.maps
        && send::plan(ep, kind, data, policy) == Stage::Rndv(SenderState::SendRts)
}

/// The operation of such a message, which waits from the beginning.
#[inline(always)]
pub fn operation(ep: &Ep, (at, len): (*mut u8, usize), kind: MessageKind) -> Op {
    Op::Send(SendOp {
        ep: ep.to_ref(),
        data: Data::contig(at, len),
        kind,
        stage: Stage::Rndv(SenderState::RtsSent),
        memory: None,
    })
}

/// Such a message of `total` bytes has its request.
pub fn wait(ep: &Ep, req: Req, total: usize) -> OwnSend {
    let sender = ep.name_request(req);
    ep.outstanding.add_message(req);
    ep.sent.long.rendezvous.add(total);
    tracepoint::rndv_send(req.as_ptr().as_ptr().cast(), total);
    OwnSend { sender, total }
}

/// As `receiver::fetch`, of such a message.
pub fn fetch(worker: &Core, req: Req, message: OwnSend) {
    let Some((ep, send)) = copy(worker, req, message) else {
        return receiver::fetch(worker, req, &message.as_rts());
    };
    tracepoint::rndv_receive(req.as_ptr().as_ptr().cast(), message.total);
    worker.counters.fetched.mapped.add(message.total);
    ep.complete_outstanding(send, Ok(()));
    req.complete(Ok(()));
}

/// Copies one from its buffer to another contiguous one. Returns its endpoint and the send. `None` where that is not all there
/// is to do.
fn copy(worker: &Core, req: Req, message: OwnSend) -> Option<(EpRef, Req)> {
    let send = worker.requests().named(message.sender.id)?;
    // A receive does not send to itself, whatever the message says.
    if send == req {
        return None;
    }
    send.with_op(|op| {
        let Op::Send(SendOp {
            ep, data, stage, ..
        }) = op
        else {
            return None;
        };
        let from = data.payload()?;
        let waits = *stage == Stage::Rndv(SenderState::RtsSent);
        if !waits || from.len() != message.total || !ep.is_usable() {
            return None;
        }
        if with_arriving(req, |to, _| to.fill(from.bytes())) != Some(true) {
            return None;
        }
        *stage = Stage::Rndv(SenderState::Over);
        Some((*ep, send))
    })
}
