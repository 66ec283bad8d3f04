//! Flush and close: complete when all operations posted before have been sent, have completed at the transport, and
//! were answered by the peer.
//!
//! A flush is a task of the send queue. At the head, everything before it is with the transport; then the transport is
//! flushed; then the flush waits for the replies of the peer.
#![forbid(unsafe_code)]

use crate::c::*;
use crate::ucp::composite::CompositeRequest;
use crate::ucp::ep::{Capability, End, Ep, EpRef, Pin, Task, TaskStep, TransportFlush, is_flushed};
use crate::ucp::op::{FlushOp, Op, Operation};
use crate::ucp::proto::control;
use crate::ucp::proto::zcopy;
use crate::ucp::request::{
    Info, Param, Posted, Req, Request, immediate, must_be_immediate, settle,
};
use crate::ucp::worker_core::Core;
use crate::ucs::{Result, Status};
use crate::wire::header::{AckHdr, AmId, FenceHdr};

/// Flushes the rails that have carried data, so that the close message does not overtake them. Returns an error of a
/// transport.
fn begin_rails(flush: &TransportFlush, ep: &Ep) -> Option<ucs_status_t> {
    let mut error = None;
    for rail in ep.take_unflushed_rails() {
        let code = flush.begin(rail, UCT_FLUSH_FLAG_REMOTE);
        if Status::from_code(code).is_some() {
            flush.fail(code);
            error = Some(code);
        }
        if zcopy::is_stalled(ep.worker(), rail) {
            // This flush does not cover the stalled part.
            ep.note_rail_use(rail);
        }
    }
    error
}

/// Flushes the rails of an endpoint that is about to end. Returns whether its end has to wait for them.
pub fn rails(ep: &Ep) -> bool {
    let flush = TransportFlush::new(ep, None, false, on_transport_flushed);
    // A rail that failed fails the endpoint by itself.
    begin_rails(&flush, ep);
    let waits = flush.has_begun();
    if waits {
        ep.add_transport_flush(flush);
    }
    waits
}

/// Flushes one endpoint.
pub fn endpoint(ep: &Ep, param: &Param) -> Result<Posted> {
    if let Err(e) = ep.usable() {
        ep.flush_result(Err(e))?;
        return immediate(ep.worker(), param, Info::default());
    }
    begin(ep, param, false)
}

/// Flushes an endpoint, then destroys it.
pub fn close(ep: &Ep, param: &Param) -> Result<Posted> {
    must_be_immediate(param)?;
    ep.close_handle()?;
    begin(ep, param, true)
}

fn begin(ep: &Ep, param: &Param, close: bool) -> Result<Posted> {
    must_be_immediate(param)?;
    let op = Op::Flush(FlushOp {
        ep: ep.to_ref(),
        close,
        fenced: None,
    });
    let req = Request::create(ep.worker(), param, op)?;
    ep.post(Task::Request(req));
    settle(req, param)
}

/// A transport flush has completed or failed.
fn on_transport_flushed(ep: &Ep, req: Option<Req>, status: ucs_status_t) {
    let _pin = Pin::new(ep);
    let failure = Status::from_code(status);
    if failure.is_some() {
        ep.record_losses();
    }
    match (req, failure) {
        (None, None) => {}
        (Some(req), None) => on_sent(ep, req),
        (None, Some(e)) => end_closed(ep, e),
        (Some(req), Some(e)) if req.with_op(|op| op.is_close()) => {
            end_closed(ep, e);
            FlushOp::abort(req, e);
        }
        (Some(req), Some(e)) => {
            FlushOp::abort(req, e);
            end_closed(ep, e);
        }
    }
    ep.recheck_flushes();
}

/// A transport flush of an endpoint has failed. One that is closed ends before the transport's error handler can tell the
/// peer, which may wait for the data of a rail: tells it now.
fn end_closed(ep: &Ep, status: Status) {
    if ep.is_closed() {
        ep.on_used_rail_failed(status);
    }
}

/// Everything was sent. Sends a fence if only the peer can confirm completion, and waits for outstanding requests.
fn on_sent(ep: &Ep, req: Req) {
    // Upstream confirms each access: it has no fences.
    if ep.unfenced.replace(false) && !ep.is_upstream() {
        let fence = FenceHdr {
            sender: ep.name_request(req),
        };
        ep.add_outstanding(req);
        control::post(ep, AmId::Fence, &fence, &[]);
        return;
    }
    FlushOp::try_finish(ep, req);
}

/// Completes a flush.
pub fn finish(ep: &Ep, req: Req) {
    let state = req.with_op(|op| match op {
        Op::Flush(op) => Some((op.close, op.fenced.unwrap_or(Ok(())))),
        _ => None,
    });
    let Some((close, fenced)) = state else { return };
    let result = ep.flush_result(ep.usable().and(fenced));
    if ep.fenced.is_any() {
        settle_fence(ep);
    }
    let waits = close && result.is_ok() && (ep.hooks().awaits_disconnect)(ep, req);
    if close {
        ep.linger();
    }
    if !waits {
        req.complete(result);
    }
}

/// What was posted before a fence may have ended.
#[cold]
fn settle_fence(ep: &Ep) {
    if !ep.has_accesses_under_way() {
        ep.fenced.set(false);
    }
    if !ep.wrote.get() {
        ep.fenced.set_in_order(false);
    }
}

impl Operation for FlushOp {
    fn holds_flushes(&self) -> bool {
        true
    }

    fn is_memory_access(&self) -> bool {
        true
    }

    /// The flush is at the head of the send queue: everything before it was sent.
    fn step(ep: &Ep, req: Req) -> Result<TaskStep> {
        if !ep.wrote.get() && !ep.has_unflushed_rails() && ep.message_lane().is_none_or(is_flushed)
        {
            on_sent(ep, req);
            return Ok(TaskStep::Done);
        }
        let writes = ep.wrote.replace(false);
        // What a device has done is done at the peer.
        let asks_peer = writes && ep.lane_with(Capability::Rdma).is_none();
        let flags = if asks_peer {
            UCT_FLUSH_FLAG_REMOTE
        } else {
            UCT_FLUSH_FLAG_LOCAL
        };
        let flush = TransportFlush::new(ep, Some(req), writes, on_transport_flushed);
        let lane = ep.message_lane();
        let mut code = lane.map_or(UCS_OK, |lane| flush.begin(lane, flags));
        if matches!(code, UCS_OK | UCS_INPROGRESS) {
            code = begin_rails(&flush, ep).unwrap_or(code);
        }
        if flush.has_begun() {
            ep.add_transport_flush(flush);
            return Ok(TaskStep::Done);
        }
        let Some(e) = Status::from_code(code) else {
            on_sent(ep, req);
            return Ok(TaskStep::Done);
        };
        if writes {
            ep.wrote.set(true);
        }
        if e == Status::NO_RESOURCE || !ep.is_usable() {
            return Err(e);
        }
        // The transport's error handler is about to fail the endpoint, after the peer's last messages; the application's
        // error handler runs before the flush completes.
        if ep.handles_errors() {
            req.with_op(|op| {
                if let Op::Flush(op) = op {
                    op.fenced = Some(Err(e));
                }
            });
        }
        ep.add_flush(req);
        Ok(TaskStep::Done)
    }

    /// A close is the last flush to complete, after everything that a failed transport still holds.
    fn try_finish(ep: &Ep, req: Req) -> bool {
        let waits = req.with_op(|op| op.is_close()) && (ep.has_flushes() || ep.has_in_place());
        let over = ep.has_nothing_to_flush() && !waits;
        if over {
            finish(ep, req);
        } else {
            ep.add_flush(req);
        }
        over
    }

    fn abort(req: Req, status: Status) {
        let state = req.with_op(|op| match op {
            Op::Flush(op) => Some((op.ep, op.close)),
            _ => None,
        });
        let Some((ep, close)) = state else { return };
        let result = ep.flush_result(Err(status));
        if close {
            ep.destroy(status, End::Flushed);
        }
        req.complete(result);
    }
}

/// The peer has done everything up to a fence.
pub fn on_fence_ack(worker: &Core, ack: &AckHdr) {
    let Some((req, result)) = control::acknowledged(worker, ack) else {
        return;
    };
    let ep = req.with_op(|op| match op {
        Op::Flush(op) => {
            op.fenced = Some(result);
            Some(op.ep)
        }
        _ => None,
    });
    let Some(ep) = ep else {
        return control::stray_ack();
    };
    ep.remove_outstanding(req);
    // A close stays last.
    ep.add_flush(req);
    ep.recheck_flushes();
}

/// Flushes every endpoint of a worker. Endpoints that have failed are skipped: their error handlers have run.
pub fn worker(w: &Core, param: &Param) -> Result<Posted> {
    w.check_process()?;
    let eps: Vec<EpRef> = w.endpoints().eps.borrow().iter().copied().collect();
    if eps.is_empty() {
        return immediate(w, param, Info::default());
    }
    must_be_immediate(param)?;
    let all = CompositeRequest::begin(w, param)?;
    for ep in eps {
        // An implicit endpoint has no operations of the application, and may go with the remote endpoint.
        if ep.is_usable() && !ep.is_hidden() {
            all.post_part(|param| endpoint(&ep, param));
        }
    }
    all.finish_posting(param)
}

/// Orders memory accesses: all accesses posted before take effect at their targets before all that follow.
///
/// Messages of an endpoint stay in order, and direct stores are ordered by the processor's fence. Accesses that follow
/// accesses by messages also use messages. Copies by the kernel and by devices in flight are waited for, which needs no
/// help of a peer. With `UCX_FENCE_MODE=strong` it is a flush.
pub fn fence(w: &Core) -> Result<Posted> {
    w.check_process()?;
    if w.strong_fences {
        crate::ucs::sync::fence(crate::ucs::sync::Ordering::SeqCst);
        return worker(w, &Param::PLAIN);
    }
    while w.unaided_copies.get() > 0 {
        w.progress();
    }
    for ep in w.endpoints().eps.borrow().iter() {
        if ep.has_accesses_under_way() {
            ep.fenced.set(true);
            ep.hold_for_rails();
        }
        if ep.wrote.get() {
            ep.fenced.set_in_order(true);
        }
    }
    crate::ucs::sync::fence(crate::ucs::sync::Ordering::SeqCst);
    for iface in &w.ifaces {
        iface.internal().fence()?;
    }
    Ok(Posted::Done)
}
