//! Receiving on streams.
//!
//! A receive ends with what is there, in whole elements, or with a full buffer when it waits for
//! all. Bytes that find a waiting receive go straight into its buffer.

use super::{Chunk, Inbox};
use crate::ucp::dt::Data;
use crate::ucp::ep::{Ep, Pin};
use crate::ucp::proto::op::{Op, StreamRecvOp};
use crate::ucp::request::{Info, Param, Posted, Request, immediate, must_be_immediate, settle};
use crate::ucp::unexpected;
use crate::ucp::worker::Worker;
use crate::ucs::{Result, Status};
use crate::wire::header::{Header, StreamHdr};
use crate::{ucs_debug, ucs_error};
use core::ffi::c_void;
use core::ptr::NonNull;

/// Bytes for a stream.
pub fn data(worker: &Worker, message: &[u8]) -> Option<()> {
    let (h, body) = StreamHdr::split(message)?;
    let Some(ep) = worker.open_ep_of_peer(h.uuid, h.ep) else {
        ucs_debug!("{} bytes for a stream that is closed; dropped", body.len());
        return Some(());
    };
    if body.is_empty() {
        return Some(());
    }
    let _pin = Pin::new(ep);
    let direct = if ep.stream.available.get() == 0 {
        fill_first(ep, body)
    } else {
        0
    };
    if direct < body.len() {
        ep.stream.push(worker.buffers.copy(&body[direct..]));
        unexpected::add(worker, body.len() - direct);
    }
    serve(ep);
    worker.stream.list(ep);
    Some(())
}

/// The receive that waits longest.
fn first(inbox: &Inbox) -> Option<&Request> {
    let at = *inbox.waiting.borrow().front()?;
    // SAFETY: a waiting receive is alive.
    Some(unsafe { &*at.as_ptr() })
}

/// How many of `available` bytes a receive takes.
fn share(op: &StreamRecvOp, available: usize) -> usize {
    let wanted = op.data.len() - op.received;
    if op.wait_all {
        wanted.min(available)
    } else {
        let part = match op.unit.is_power_of_two() {
            true => available & (op.unit - 1),
            false => available % op.unit,
        };
        wanted.min(available - part)
    }
}

impl StreamRecvOp {
    /// Puts bytes into the buffer.
    fn put(&mut self, bytes: &[u8]) {
        if self.error.is_none() {
            // SAFETY: `bytes` is readable.
            let put = unsafe { self.data.unpack(self.received, bytes.as_ptr(), bytes.len()) };
            self.error = put.err();
        }
        self.received += bytes.len();
    }

    fn is_done(&self) -> bool {
        self.received > 0 && (!self.wait_all || self.received == self.data.len())
    }
}

/// Puts bytes that just came into the first waiting receive; answers how many it took.
fn fill_first(ep: &Ep, body: &[u8]) -> usize {
    let Some(req) = first(&ep.stream) else {
        return 0;
    };
    // SAFETY: the only borrow; a generic datatype's unpack must not use its own request.
    let Op::StreamRecv(op) = (unsafe { req.op() }) else {
        return 0;
    };
    let n = share(op, body.len());
    op.put(&body[..n]);
    n
}

/// Gives waiting receives what stands in the inbox, and ends those that have enough.
fn serve(ep: &Ep) {
    let inbox = &ep.stream;
    while let Some(req) = first(inbox) {
        // SAFETY: the only borrow, ended before the completion.
        let Op::StreamRecv(op) = (unsafe { req.op() }) else {
            return;
        };
        if !op.is_done() {
            let n = share(op, inbox.available.get());
            inbox.take(n, |part| op.put(part));
            unexpected::sub(ep.worker(), n);
        }
        if !op.is_done() {
            return;
        }
        let (length, result) = (op.received, op.error.map_or(Ok(()), Err));
        inbox.waiting.borrow_mut().pop_front();
        req.set_info(Info { tag: 0, length });
        req.complete(result);
    }
}

/// Receives into `data`, of elements of `unit` bytes; answers the bytes of an immediate end.
pub fn post(
    ep: &Ep,
    param: &Param,
    data: Data,
    unit: usize,
    wait_all: bool,
) -> Result<(Posted, usize)> {
    let worker = ep.worker();
    let inbox = &ep.stream;
    if data.is_empty() {
        return Ok((immediate(worker, param, Info::default())?, 0));
    }
    let mut op = StreamRecvOp {
        ep,
        data,
        received: 0,
        wait_all,
        unit: unit.max(1),
        error: None,
    };
    let available = inbox.available.get();
    let now = share(&op, available);
    let enough = if wait_all {
        now == op.data.len()
    } else {
        now > 0
    };
    if enough && inbox.waiting.borrow().is_empty() {
        inbox.take(now, |part| op.put(part));
        unexpected::sub(worker, now);
        unlist_if_empty(ep);
        if let Some(e) = op.error {
            return Err(e);
        }
        drop(op);
        let info = Info {
            tag: 0,
            length: now,
        };
        return Ok((immediate(worker, param, info)?, now));
    }
    ep.usable()?;
    must_be_immediate(param)?;
    let req = Request::create(worker, param, Op::StreamRecv(op))?;
    inbox.waiting.borrow_mut().push_back(req);
    // A receive in front of it may end, and its callback close the endpoint.
    let _pin = Pin::new(ep);
    serve(ep);
    unlist_if_empty(ep);
    // SAFETY: not given to the user yet, so alive even when complete.
    let length = unsafe { req.as_ref() }.info().length;
    Ok((settle(req, param)?, length))
}

/// An endpoint with nothing to take is not worth telling.
fn unlist_if_empty(ep: &Ep) {
    if ep.stream.available.get() == 0 {
        ep.worker().stream.forget(ep);
    }
}

/// Takes the oldest message's bytes without a copy: where they stand and how many; `None` when there
/// are none. `give_back` frees them.
pub fn lend(ep: &Ep) -> Result<Option<(*const u8, usize)>> {
    let inbox = &ep.stream;
    let front = if inbox.waiting.borrow().is_empty() {
        inbox.chunks.borrow_mut().pop_front()
    } else {
        None
    };
    let Some(chunk) = front else {
        ep.usable()?;
        unexpected::wanting(ep.worker());
        return Ok(None);
    };
    let (at, len) = (chunk.rest().as_ptr(), chunk.rest().len());
    inbox.available.set(inbox.available.get() - len);
    unexpected::sub(ep.worker(), len);
    let Chunk { bytes, .. } = chunk;
    inbox.lent.borrow_mut().insert(at.addr(), bytes);
    unlist_if_empty(ep);
    Ok(Some((at, len)))
}

/// The application is done with what `lend` gave it.
pub fn give_back(ep: &Ep, at: *const c_void) {
    if ep.stream.lent.borrow_mut().remove(&at.addr()).is_none() {
        ucs_error!("{at:p} is not data of this endpoint's stream");
    }
}

/// Takes a receive back; what it has already is told with the end.
pub fn cancel(req: &Request) {
    // SAFETY: the only borrow, ended before the completion.
    let (ep, length) = match unsafe { req.op() } {
        Op::StreamRecv(op) => (op.ep, op.received),
        _ => return,
    };
    // SAFETY: an endpoint outlives its requests.
    let ep = unsafe { &*ep };
    let _pin = Pin::new(ep);
    remove(&ep.stream, req.as_ptr());
    req.set_info(Info { tag: 0, length });
    req.complete(Err(Status::CANCELED));
    serve(ep);
}

fn remove(inbox: &Inbox, req: NonNull<Request>) {
    inbox.waiting.borrow_mut().retain(|r| *r != req);
}

/// The endpoint is at its end: so are the receives that wait.
pub fn end(ep: &Ep, status: Status) {
    while let Some(req) = first(&ep.stream) {
        // SAFETY: the only borrow, ended before the completion.
        let length = match unsafe { req.op() } {
            Op::StreamRecv(op) => op.received,
            _ => 0,
        };
        ep.stream.waiting.borrow_mut().pop_front();
        req.set_info(Info { tag: 0, length });
        req.complete(Err(status));
    }
}
