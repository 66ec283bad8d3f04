//! Rendezvous: the receiver fetches an announced message, by a single copy where the pair has one,
//! else it asks for pieces.

use super::control;
use super::copy::{self, Started, Way};
use super::op::{Arriving, Op, SendOp, Stage};
use crate::ucp::dt::Data;
use crate::ucp::ep::Task;
use crate::ucp::request::{Info, Request};
use crate::ucp::worker::Worker;
use crate::ucs::status::code_of;
use crate::ucs::{Result, Status};
use crate::wire::header::{AckHdr, AmId, DataHdr, RtrHdr};
use crate::{ucs_debug, ucs_error};

/// An announced message: who has it and where.
#[derive(Clone, Copy, Debug)]
pub struct Announced {
    /// The sender's worker, endpoint and request.
    pub sender: (u64, u64, u64),
    pub total: usize,
    /// Where it stands at the sender, when it is contiguous.
    pub address: u64,
}

/// Where a fetched message goes.
fn arriving(op: &mut Op) -> Option<(&Data, &mut Arriving)> {
    match op {
        Op::TagRecv(r) => Some((&r.data, &mut r.arriving)),
        Op::DataRecv(r) => Some((&r.data, &mut r.arriving)),
        _ => None,
    }
}

/// Fetches an announced message into the request's buffer.
pub fn fetch(worker: &Worker, req: &Request, message: &Announced) {
    let (uuid, ep, request) = message.sender;
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
        finish(worker, req, message.sender, Err(Status::MESSAGE_TRUNCATED));
        return;
    }
    state.total = message.total;
    state.sender = message.sender;
    let Some(reply) = worker.ep_of_peer(uuid, ep) else {
        ucs_debug!("the endpoint that announced a message is closed");
        req.complete(Err(Status::CANCELED));
        return;
    };
    // As upstream says it: the sender failed or was closed before its message was matched.
    if reply.usable().is_err() {
        req.complete(Err(Status::CANCELED));
        return;
    }
    if message.total == 0 {
        finish(worker, req, message.sender, Ok(()));
        return;
    }
    if let Some(to) = data.contiguous()
        && message.address != 0
    {
        match copy::start(reply, Way::Get, to, message.total, message.address, copied) {
            Started::Done => return finish(worker, req, message.sender, Ok(())),
            Started::UnderWay(copying) => {
                copy::belongs_to(copying, req);
                reply.wait_for_peer(req);
                return;
            }
            Started::Impossible => {}
        }
    }
    let rtr = RtrHdr {
        request,
        receiver: req.id(),
        length: message.total as u64,
    };
    reply.wait_for_peer(req);
    control::post(reply, AmId::Rtr, &rtr, &[]);
}

/// A copy that went on after `fetch` is over.
fn copied(worker: &Worker, req: &Request, result: Result<()>) {
    // SAFETY: the only borrow; nothing below calls the user while it lives.
    let Some((_, state)) = arriving(unsafe { req.op() }) else {
        return;
    };
    let sender = state.sender;
    acknowledge(worker, sender, result);
    match worker.ep_of_peer(sender.0, sender.1) {
        Some(ep) => ep.answer(req, result),
        None => req.complete(result),
    }
}

/// A receive is over: the sender learns it, then the user.
fn finish(worker: &Worker, req: &Request, sender: (u64, u64, u64), result: Result<()>) {
    // A truncated message is the receiver's error; for the sender it is delivered.
    let told = match result {
        Err(Status::MESSAGE_TRUNCATED) => Ok(()),
        r => r,
    };
    acknowledge(worker, sender, told);
    req.complete(result);
}

/// Tells a sender that its request is done.
pub fn acknowledge(worker: &Worker, sender: (u64, u64, u64), result: Result<()>) {
    let Some(ep) = worker.ep_of_peer(sender.0, sender.1) else {
        ucs_debug!("an endpoint that is closed cannot be answered");
        return;
    };
    let ack = AckHdr {
        request: sender.2,
        status: code_of(&result) as u8,
    };
    control::post(ep, AmId::Ack, &ack, &[]);
}

/// The peer asks for the data of an announced message.
pub fn wanted(worker: &Worker, rtr: &RtrHdr) {
    let Some(req) = worker.request(rtr.request) else {
        ucs_debug!("data was asked for of a send that is over");
        return;
    };
    // SAFETY: the only borrow, ended before the task is posted.
    let ep = match unsafe { req.op() } {
        Op::Send(SendOp {
            ep, data, stage, ..
        }) if *stage == Stage::Announced && rtr.length <= data.len() as u64 => {
            *stage = Stage::Data {
                receiver: rtr.receiver,
                offset: 0,
                length: rtr.length as usize,
            };
            *ep
        }
        _ => {
            ucs_error!("data was asked for of a send that was not announced; dropped");
            return;
        }
    };
    // SAFETY: an endpoint outlives its requests.
    unsafe { (*ep).post(Task::Request(req.as_ptr())) };
}

/// A piece of data that was asked for.
pub fn data(worker: &Worker, hdr: &DataHdr, bytes: &[u8]) {
    let Some(req) = worker.request(hdr.receiver) else {
        ucs_debug!("data for a receive that is over");
        return;
    };
    // SAFETY: the only borrow; a generic datatype's unpack must not use its own request.
    let Some((buffer, state)) = arriving(unsafe { req.op() }) else {
        return;
    };
    let offset = hdr.offset as usize;
    if hdr.offset != state.received as u64 || bytes.len() > state.total - state.received {
        ucs_error!("a piece of data is not the next one; dropped");
        return;
    }
    state.received += bytes.len();
    if state.error.is_none() {
        // SAFETY: `bytes` is readable.
        state.error = unsafe { buffer.unpack(offset, bytes.as_ptr(), bytes.len()) }.err();
    }
    if state.received == state.total {
        let result = state.error.map_or(Ok(()), Err);
        match worker.ep_of_peer(state.sender.0, state.sender.1) {
            Some(ep) => ep.answer(req, result),
            None => req.complete(result),
        }
    }
}

/// The peer says that a send is done.
pub fn acknowledged(worker: &Worker, ack: &AckHdr) {
    let Some(req) = worker.request(ack.request) else {
        ucs_debug!("an acknowledgement for a request that is over");
        return;
    };
    // SAFETY: the only borrow, ended before the completion.
    let ep = match unsafe { req.op() } {
        Op::Send(SendOp {
            ep,
            stage: Stage::Announced | Stage::AwaitAck,
            ..
        }) => *ep,
        // It was matched by its first piece while others still wait here: nothing but their
        // departure is left to wait for.
        Op::Send(SendOp {
            kind,
            stage: Stage::Pieces { .. },
            ..
        }) => {
            kind.matched();
            return;
        }
        _ => {
            crate::ucp::rma::software::acknowledged(req, ack);
            return;
        }
    };
    let result = Status::from_code(ack.status as i8).map_or(Ok(()), Err);
    // SAFETY: an endpoint outlives its requests.
    unsafe { (*ep).answer(req, result) };
}
