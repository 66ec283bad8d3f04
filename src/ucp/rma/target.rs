//! Memory access by messages: the owner's side. Only ranges that were exported are touched, and
//! only as their protection allows.

use super::post::{Operation, apply};
use crate::ucp::dt::Data;
use crate::ucp::ep::{Ep, Step, Task};
use crate::ucp::mem::resolve;
use crate::ucp::proto::control;
use crate::ucp::proto::op::{GetServeOp, Op};
use crate::ucp::proto::send::body_piece;
use crate::ucp::request::{Param, Request};
use crate::ucp::worker::Worker;
use crate::ucs::{Result, Status};
use crate::ucs_error;
use crate::wire::header::{
    AckHdr, AmId, AmoHdr, AmoReplyHdr, FenceHdr, GetHdr, GetReplyHdr, Header, PutHdr,
};
use crate::wire::rkey::{READ, WRITE};

/// Memory that a peer names, checked.
fn memory(w: &Worker, region: u64, address: u64, length: usize, right: u8) -> Result<*mut u8> {
    match resolve(w.context(), region, address, length) {
        Some((at, rights)) if rights & right != 0 => Ok(at),
        found => {
            let why = if found.is_some() {
                "its protection forbids it"
            } else {
                "that range was not exported"
            };
            ucs_error!("a peer's access of {length} bytes at {address:#x} is refused: {why}");
            Err(Status::INVALID_ADDR)
        }
    }
}

/// The endpoint that answers go by.
fn reply_ep(w: &Worker, uuid: u64, ep: u64) -> Option<&Ep> {
    let found = w.ep_of_peer(uuid, ep);
    if found.is_none() {
        ucs_error!("a memory access by an endpoint that was not introduced; dropped");
    }
    found
}

/// A write. A refusal is told by the next fence.
pub fn put(w: &Worker, message: &[u8]) -> Option<()> {
    let (h, body) = PutHdr::split(message)?;
    match memory(w, h.region, h.address, body.len(), WRITE) {
        // SAFETY: inside an exported region of this process.
        Ok(at) => unsafe { core::ptr::copy_nonoverlapping(body.as_ptr(), at, body.len()) },
        Err(e) => refuse(w, h.uuid, h.ep, e),
    }
    Some(())
}

fn refuse(w: &Worker, uuid: u64, ep: u64, status: Status) {
    if let Some(ep) = reply_ep(w, uuid, ep)
        && ep.refused.get().is_none()
    {
        ep.refused.set(Some(status));
    }
}

/// A read: answered in pieces, from the endpoint's queue.
pub fn get(w: &Worker, message: &[u8]) -> Option<()> {
    let (h, _) = GetHdr::split(message)?;
    let length = usize::try_from(h.length).ok()?;
    let ep = reply_ep(w, h.uuid, h.ep)?;
    let served = memory(w, h.region, h.address, length, READ).and_then(|at| {
        let op = Op::GetServe(GetServeOp {
            data: Data::contig(at, length),
            offset: 0,
            request: h.request,
        });
        Request::create(w, &Param::PLAIN, op)
    });
    match served {
        Ok(req) => {
            // Nobody holds it: it is given back when it is done.
            // SAFETY: just made.
            unsafe { req.as_ref() }.release();
            ep.post(Task::Request(req));
        }
        Err(e) => {
            let reply = GetReplyHdr {
                request: h.request,
                offset: 0,
                status: e.code() as u8,
            };
            control::post(ep, AmId::GetReply, &reply, &[]);
        }
    }
    Some(())
}

/// Sends the next pieces of a read.
pub fn serve(ep: &Ep, req: &Request) -> Result<Step> {
    // SAFETY: the only borrow; it ends before the completion.
    let Op::GetServe(get) = (unsafe { req.op() }) else {
        return Ok(Step::Done);
    };
    loop {
        let head = GetReplyHdr {
            request: get.request,
            offset: get.offset as u64,
            status: 0,
        };
        get.offset += body_piece(ep, AmId::GetReply, &head, &get.data, get.offset, usize::MAX)?;
        if get.offset >= get.data.len() {
            break;
        }
    }
    req.complete(Ok(()));
    Ok(Step::Done)
}

/// An atomic.
pub fn amo(w: &Worker, message: &[u8]) -> Option<()> {
    let (h, _) = AmoHdr::split(message)?;
    let op = Operation::from_number(h.op)?;
    if !matches!(h.size, 4 | 8) {
        return None;
    }
    let done = memory(w, h.region, h.address, h.size.into(), WRITE)
        // SAFETY: inside an exported region of this process; alignment is checked.
        .and_then(|at| unsafe { apply(at, op, h.size, h.value, h.compare) });
    if h.request == 0 {
        if let Err(e) = done {
            refuse(w, h.uuid, h.ep, e);
        }
        return Some(());
    }
    let reply = AmoReplyHdr {
        request: h.request,
        value: done.unwrap_or(0),
        status: done.err().map_or(0, |e| e.code() as u8),
    };
    control::post(reply_ep(w, h.uuid, h.ep)?, AmId::AmoReply, &reply, &[]);
    Some(())
}

/// Asks for word when everything before it is done: it is, since messages come in order.
pub fn fence(w: &Worker, message: &[u8]) -> Option<()> {
    let (h, _) = FenceHdr::split(message)?;
    let ep = reply_ep(w, h.uuid, h.ep)?;
    let ack = AckHdr {
        request: h.request,
        status: ep.refused.take().map_or(0, |e| e.code() as u8),
    };
    control::post(ep, AmId::Ack, &ack, &[]);
    Some(())
}
