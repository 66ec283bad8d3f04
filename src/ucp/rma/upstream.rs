//! Memory access by messages with processes of upstream UCX, as initiator and as owner.
//!
//! Upstream names memory by its address alone: a range is looked for among those of which the application was given a key.
//! It has no word for a refusal, so the connection ends by which a bad access comes. Each put and each atomic without
//! a result is confirmed by a message of its own, which flushes wait for.
#![forbid(unsafe_code)]

use super::{software, target};
use crate::ucp::atomic::AtomicOperation;
use crate::ucp::dt::Data;
use crate::ucp::ep::{Ep, PeerGet, Task, TaskStep, UpstreamControl};
use crate::ucp::op::Op;
use crate::ucp::proto::send::{pack_and_send, whole_elements};
use crate::ucp::request::Req;
use crate::ucp::worker_core::Core;
use crate::ucs::{Result, Status};
use crate::wire::Writer;
use crate::wire::header::Header;
use crate::wire::id::RequestId;
use crate::wire::rkey::{READ, WRITE};
use crate::wire::upstream::message::{
    ATOMIC, ATOMIC_REPLY, Atomic, AtomicReply, COMPLETION, Completion, GET, GET_REPLY, Get,
    GetReply, PUT, Put,
};
use crate::{ucs_debug, ucs_error};

/// Sends the bytes of a put from `offset` on as far as they fit; returns their number.
pub fn put(ep: &Ep, data: &Data, offset: usize, address: u64) -> Result<usize> {
    let header = Put {
        address,
        ep: ep.upstream_name()?,
        memory: 0,
    };
    let room = whole_elements(ep.lane().max_bcopy.saturating_sub(Put::LEN));
    let head = (Put::LEN, |w: &mut Writer<'_>| header.encode(w));
    let sent = pack_and_send(ep, PUT, head, (data, offset, room), &[])?;
    ep.outstanding.add_unconfirmed();
    Ok(sent)
}

/// Asks for the bytes of a get.
pub fn get(ep: &Ep, req: Req) -> Result<TaskStep> {
    let wanted = req.with_op(|op| match op {
        Op::Get(get) => Some((get.address, get.data.len())),
        _ => None,
    });
    match wanted {
        None => {}
        // Nobody answers that.
        Some((_, 0)) => req.complete(Ok(())),
        Some((address, length)) => {
            let header = Get {
                address,
                length: length as u64,
                ep: ep.upstream_name()?,
                request: req.id().0,
                memory: 0,
            };
            UpstreamControl::new(GET, &header, &[]).send(ep)?;
            ep.add_outstanding(req);
        }
    }
    Ok(TaskStep::Done)
}

/// Sends an atomic.
pub fn atomic(ep: &Ep, req: Req) -> Result<TaskStep> {
    let posted = req.with_op(|op| match op {
        Op::Amo(amo) => Some((amo.address, amo.atomic)),
        _ => None,
    });
    let Some((address, atomic)) = posted else {
        return Ok(TaskStep::Done);
    };
    let has_result = !atomic.reply.is_none();
    let header = Atomic {
        address,
        ep: ep.upstream_name()?,
        request: if has_result { req.id().0 } else { 0 },
        size: atomic.size,
        operation: atomic.op.number(),
    };
    let size = usize::from(atomic.size);
    let operands = [atomic.value, atomic.swap].map(u64::to_le_bytes);
    let count = if atomic.op == AtomicOperation::CompareSwap {
        2
    } else {
        1
    };
    let operands: Vec<u8> = operands[..count]
        .iter()
        .flat_map(|v| &v[..size])
        .copied()
        .collect();
    UpstreamControl::new(ATOMIC, &header, &operands).send(ep)?;
    if has_result {
        ep.add_outstanding(req);
    } else {
        ep.outstanding.add_unconfirmed();
        ep.unfenced.set(true);
        req.complete(Ok(()));
    }
    Ok(TaskStep::Done)
}

/// A message about memory. `INVALID_PARAM` for a malformed one, `NO_RESOURCE` while too many answers wait, another status if it
/// may not be done.
pub fn on_message(w: &Core, id: u8, message: &[u8], connection: u64) -> Result<()> {
    const MALFORMED: Status = Status::INVALID_PARAM;
    match id {
        PUT => {
            let (h, body) = Put::split(message).ok_or(MALFORMED)?;
            await_answers(w, h.ep)?;
            let region = region_at(w, h.address, body.len(), WRITE);
            target::write(w, region, h.address, body)?;
            confirm(w, h.ep);
        }
        GET => {
            let (h, _) = Get::split(message).ok_or(MALFORMED)?;
            await_answers(w, h.ep)?;
            let length = usize::try_from(h.length).map_err(|_| MALFORMED)?;
            let region = region_at(w, h.address, length, READ);
            if region == 0 {
                return Err(refused(h.address, length));
            }
            let read = PeerGet {
                region,
                address: h.address,
                length,
                request: RequestId(h.request),
                connection,
                rest: None,
            };
            if let Some(ep) = ep_to(w, h.ep) {
                target::serve(ep, read);
            }
        }
        ATOMIC => on_atomic(w, message).unwrap_or(Err(MALFORMED))?,
        GET_REPLY => {
            let (h, body) = GetReply::split(message).ok_or(MALFORMED)?;
            software::got(w, RequestId(h.request), h.offset, Ok(body)).ok_or(MALFORMED)?;
        }
        ATOMIC_REPLY => {
            let (h, body) = AtomicReply::split(message).ok_or(MALFORMED)?;
            let value = number(body).ok_or(MALFORMED)?;
            software::changed(w, RequestId(h.request), Ok(value)).ok_or(MALFORMED)?;
        }
        COMPLETION => {
            let (h, _) = Completion::split(message).ok_or(MALFORMED)?;
            if let Some(ep) = ep_to(w, h.ep) {
                if !ep.outstanding.confirm() {
                    ucs_error!(
                        "a process of upstream UCX confirms an access that was not posted; dropped"
                    );
                }
                ep.recheck_flushes();
            }
        }
        _ => return Err(MALFORMED),
    }
    Ok(())
}

/// An atomic; `None` if it is malformed.
fn on_atomic(w: &Core, message: &[u8]) -> Option<Result<()>> {
    let (h, operands) = Atomic::split(message)?;
    let op = AtomicOperation::from_number(h.operation)?;
    let size = usize::from(h.size);
    let (value, rest) = operands.split_at_checked(size)?;
    let swap = match op {
        AtomicOperation::CompareSwap => number(rest.get(..size)?)?,
        AtomicOperation::Simple(_) => 0,
    };
    let values = [number(value)?, swap];
    if let Err(e) = await_answers(w, h.ep) {
        return Some(Err(e));
    }
    let region = region_at(w, h.address, size, WRITE);
    let before = match target::change(w, region, h.address, (op, h.size), values) {
        Ok(before) => before,
        Err(e) => return Some(Err(e)),
    };
    if h.request == 0 {
        confirm(w, h.ep);
    } else if let Some(ep) = ep_to(w, h.ep) {
        let reply = AtomicReply { request: h.request };
        ep.post(Task::upstream(
            ATOMIC_REPLY,
            &reply,
            &before.to_le_bytes()[..size],
        ));
    }
    Some(Ok(()))
}

/// A word of 4 or 8 bytes.
fn number(bytes: &[u8]) -> Option<u64> {
    match bytes.len() {
        4 => Some(u32::from_le_bytes(bytes.try_into().ok()?).into()),
        8 => Some(u64::from_le_bytes(bytes.try_into().ok()?)),
        _ => None,
    }
}

/// The region of a range that a peer names; 0, which is none, if that was not exported.
fn region_at(w: &Core, address: u64, length: usize, right: u8) -> u64 {
    let regions = &w.context().regions;
    regions.published_at(address, length, right).unwrap_or(0)
}

fn refused(address: u64, length: usize) -> Status {
    ucs_error!("a peer's read of {length} bytes at {address:#x} is refused: no key gives it");
    Status::INVALID_ADDR
}

/// `NO_RESOURCE` while the answers to others that name this endpoint fill its queue: the request may have come by another
/// connection than they go by.
fn await_answers(w: &Core, id: u64) -> Result<()> {
    match w.ep(id).is_some_and(Ep::has_full_replies) {
        true => Err(Status::NO_RESOURCE),
        false => Ok(()),
    }
}

/// The endpoint of this worker that a message is for.
fn ep_to(w: &Core, id: u64) -> Option<&Ep> {
    let ep = w.ep(id).filter(|ep| ep.upstream_peer().is_some());
    if ep.is_none() {
        ucs_debug!("an access by upstream UCX is for an endpoint that is closed");
    }
    ep
}

/// Confirms an access.
fn confirm(w: &Core, id: u64) {
    if let Some(ep) = ep_to(w, id) {
        ep.confirm_to_upstream();
    }
}
