//! Memory access by messages: the initiator's side.
#![forbid(unsafe_code)]

use super::{device, post, upstream};
use crate::ucp::atomic::Atomic;
use crate::ucp::dt::Data;
use crate::ucp::ep::{Ep, Task, TaskStep};
use crate::ucp::op::{AmoOp, GetOp, Op, Operation, PutOp};
use crate::ucp::proto::device_copies;
use crate::ucp::proto::send::send_body;
use crate::ucp::request::{Param, Posted, Req, Request, must_be_immediate, settle};
use crate::ucp::rkey::RemoteKey;
use crate::ucp::worker_core::Core;
use crate::ucs::{Result, Status};
use crate::ucs_debug;
use crate::wire::Writer;
use crate::wire::header::{AmId, AmoHdr, AmoReplyHdr, GetHdr, GetReplyHdr, Header, PutHdr};
use crate::wire::id::RequestId;

/// Posts an access by messages to the send queue.
fn begin(ep: &Ep, param: &Param, op: Op) -> Result<Posted> {
    must_be_immediate(param)?;
    ep.send_wireup();
    let req = Request::create(ep.worker(), param, op)?;
    ep.post(Task::Request(req));
    settle(req, param)
}

pub fn put(ep: &Ep, param: &Param, data: Data, address: u64, key: &RemoteKey) -> Result<Posted> {
    begin(ep, param, Op::Put(PutOp::new(ep, data, key, address)))
}

pub fn get(ep: &Ep, param: &Param, data: Data, address: u64, key: &RemoteKey) -> Result<Posted> {
    begin(ep, param, Op::Get(GetOp::new(ep, data, key, address)))
}

pub fn atomic(
    ep: &Ep,
    param: &Param,
    atomic: &Atomic,
    address: u64,
    key: &RemoteKey,
) -> Result<Posted> {
    let op = Op::Amo(AmoOp {
        ep: ep.to_ref(),
        atomic: *atomic,
        region: key.info.region,
        address,
    });
    begin(ep, param, op)
}

impl Operation for PutOp {
    fn holds_flushes(&self) -> bool {
        true
    }

    /// Behind the device's own the next access waits in any case, unless it is in parts.
    fn is_memory_access(&self) -> bool {
        self.device.is_none() || self.holds_fences
    }

    fn step(ep: &Ep, req: Req) -> Result<TaskStep> {
        if let Some(step) = device::step(ep, req) {
            return step;
        }
        let sent = req.with_op(|op| -> Result<bool> {
            let Op::Put(put) = op else { return Ok(false) };
            while put.offset < put.data.len() || put.data.is_empty() {
                put.offset += send_put(ep, put)?;
                if put.data.is_empty() {
                    break;
                }
            }
            Ok(true)
        })?;
        if !sent {
            return Ok(TaskStep::Done);
        }
        ep.unfenced.set(true);
        req.complete(Ok(()));
        Ok(TaskStep::Done)
    }

    fn on_transfers_done(req: Req, result: Result<()>) {
        post::on_done(req, result);
    }
}

impl Operation for GetOp {
    fn holds_flushes(&self) -> bool {
        true
    }

    /// As for puts.
    fn is_memory_access(&self) -> bool {
        self.device.is_none() || self.holds_fences
    }

    fn step(ep: &Ep, req: Req) -> Result<TaskStep> {
        if let Some(step) = device::step(ep, req) {
            return step;
        }
        if ep.is_upstream() {
            return upstream::get(ep, req);
        }
        let head = req.with_op(|op| match op {
            Op::Get(get) => Some(GetHdr {
                ep: ep.name_for_peers(),
                region: get.region,
                address: get.address,
                length: get.data.len() as u64,
                request: req.id(),
            }),
            _ => None,
        });
        let Some(head) = head else {
            return Ok(TaskStep::Done);
        };
        control(ep, AmId::Get, &head)?;
        ep.add_outstanding(req);
        Ok(TaskStep::Done)
    }

    fn on_transfers_done(req: Req, result: Result<()>) {
        post::on_done(req, result);
    }
}

impl Operation for AmoOp {
    fn holds_flushes(&self) -> bool {
        true
    }

    fn is_memory_access(&self) -> bool {
        true
    }

    fn step(ep: &Ep, req: Req) -> Result<TaskStep> {
        if ep.is_upstream() {
            return upstream::atomic(ep, req);
        }
        let head = req.with_op(|op| match op {
            Op::Amo(amo) => Some(AmoHdr {
                ep: ep.name_for_peers(),
                region: amo.region,
                address: amo.address,
                value: amo.atomic.value,
                compare: amo.atomic.swap,
                request: if amo.atomic.reply.is_none() {
                    RequestId::NONE
                } else {
                    req.id()
                },
                op: amo.atomic.op.number(),
                size: amo.atomic.size,
            }),
            _ => None,
        });
        let Some(head) = head else {
            return Ok(TaskStep::Done);
        };
        control(ep, AmId::Amo, &head)?;
        if head.request != RequestId::NONE {
            ep.add_outstanding(req);
        } else {
            ep.unfenced.set(true);
            req.complete(Ok(()));
        }
        Ok(TaskStep::Done)
    }
}

/// Sends the next bytes of a put; returns their number.
fn send_put(ep: &Ep, put: &PutOp) -> Result<usize> {
    let address = put.address + put.offset as u64;
    if ep.is_upstream() {
        return upstream::put(ep, &put.data, put.offset, address);
    }
    let head = PutHdr {
        ep: ep.name_for_peers(),
        region: put.region,
        address,
    };
    send_body(ep, AmId::Put, &head, &put.data, put.offset, usize::MAX)
}

/// Sends a header without payload.
fn control<H: Header>(ep: &Ep, id: AmId, header: &H) -> Result<()> {
    let mut buf = [0u8; 128];
    let mut w = Writer::new(&mut buf);
    header.encode(&mut w);
    let len = w.len();
    ep.lane().control(id, &buf[..len])
}

/// Bytes of a read.
pub fn on_get_reply(worker: &Core, message: &[u8]) -> Option<()> {
    let (h, body) = GetReplyHdr::split(message)?;
    let bytes = Status::from_code(h.status as i8).map_or(Ok(body), Err);
    got(worker, h.request, h.offset, bytes)
}

/// Bytes of a read, or why none come. `None` if it did not ask for them.
pub fn got(worker: &Core, request: RequestId, offset: u64, bytes: Result<&[u8]>) -> Option<()> {
    let Some(req) = worker.requests().named(request) else {
        ucs_debug!("bytes of a read that is over");
        return Some(());
    };
    // All its bytes have come, or come by a transport.
    if req.is_with_transport() {
        return None;
    }
    let end = req.with_op(|op| {
        let Op::Get(get) = op else { return None };
        let result = match bytes {
            Err(e) => Err(e),
            Ok(body) => {
                // Fragments of several lanes come in any order.
                let offset = usize::try_from(offset).ok()?;
                let room = get.data.len().checked_sub(offset)?;
                if body.len() > room.min(get.data.len() - get.received) {
                    return None;
                }
                let done = get.data.unpack_bytes(offset, body);
                get.received += body.len();
                if done.is_ok() && get.received < get.data.len() {
                    return Some(None);
                }
                done.and_then(|()| get.data.start_finish())
            }
        };
        Some(Some((get.ep, result)))
    })?;
    match end {
        None => {}
        Some((ep, Ok(Some(copy)))) => device_copies::begin(req, Some(&ep), copy),
        Some((ep, result)) => ep.complete_outstanding(req, result.map(drop)),
    }
    Some(())
}

/// The result of an atomic.
pub fn on_amo_reply(worker: &Core, message: &[u8]) -> Option<()> {
    let (h, _) = AmoReplyHdr::split(message)?;
    let value = Status::from_code(h.status as i8).map_or(Ok(h.value), Err);
    changed(worker, h.request, value)
}

/// The value before an atomic, or why there is none.
pub fn changed(worker: &Core, request: RequestId, value: Result<u64>) -> Option<()> {
    let Some(req) = worker.requests().named(request) else {
        ucs_debug!("the result of an atomic that is over");
        return Some(());
    };
    let (ep, reply, size) = req.with_op(|op| match op {
        Op::Amo(amo) => Some((amo.ep, amo.atomic.reply, amo.atomic.size)),
        _ => None,
    })?;
    let result = value.and_then(|value| reply.put(worker.context(), size, value));
    ep.complete_outstanding(req, result);
    Some(())
}
