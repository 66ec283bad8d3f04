//! The end of endpoints: failure, close by the peer, close by the application.
//!
//! Queued and outstanding requests complete with a status, the peer gets replies to its requests and a close message,
//! and the memory is freed when the last call into the endpoint has returned (`Pin`).

use super::{Ep, Task};
use crate::c::*;
use crate::ucp::after_fork;
use crate::ucp::proto::op::Op;
use crate::ucp::proto::{control, rndv, send, zcopy};
use crate::ucp::request::Request;
use crate::ucp::rma::{flush, target};
use crate::ucp::wireup::cm;
use crate::ucp::wireup::message::ReturnPath;
use crate::ucp::worker::Worker;
use crate::ucp::{stream, tag, unexpected};
use crate::ucs::{Result, Status};
use crate::wire::header::{AmId, CloseHdr};
use crate::{ucs_diag, ucs_error};
use core::ffi::c_void;
use std::collections::VecDeque;
use std::rc::Rc;

/// How an endpoint is destroyed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// No operation is in flight.
    Flushed,
    /// Operations in flight are lost: the peer has to know.
    Forced,
    /// As `Forced`, and no other endpoint of the worker continues its operations.
    WithWorker,
}

impl Ep {
    /// The peer is gone: everything queued or outstanding completes with `status`; the error handler is called once.
    pub fn fail(&self, status: Status) {
        if self.drains_replies.replace(false) {
            // Nobody receives the replies.
            self.send_queue.replace_queue(VecDeque::new());
        }
        self.fail_once(status);
    }

    /// The peer closed its endpoint by force. As `fail`, but the peer's worker lives on and may wait on another
    /// endpoint for operations of this one, so it is notified.
    pub fn on_peer_closed(&self, status: Status) {
        if !self.is_usable() {
            return;
        }
        self.record_losses();
        self.abort_queue();
        let _pin = Pin::new(self);
        self.fail_once(status);
        self.send_queued();
    }

    fn fail_once(&self, status: Status) {
        if self.send_queue.failure().is_some() {
            return;
        }
        self.record_losses();
        self.send_queue.fail(status);
        ucs_diag!(
            "endpoint to worker {:#x} failed: {status}",
            self.remote_uuid.get()
        );
        let _pin = Pin::new(self);
        self.abandon(status);
        let params = self.params.get();
        if let Some(cb) = params.err_cb
            && !self.implicit.get()
            && !self.closed_by_app.get()
            && !self.destroyed.get()
        {
            // SAFETY: the user's handler with its argument and its endpoint.
            unsafe {
                cb(
                    params.err_arg,
                    core::ptr::from_ref(self).cast_mut().cast(),
                    status.code(),
                )
            };
        } else if self.lingering.get() || self.implicit.get() && !self.exposed.get() {
            // SAFETY: alive, and closed by the application or never known to it: peers that come and die leave nothing.
            unsafe { Ep::destroy(self, status, End::Flushed) };
        }
    }

    /// The remote endpoint is gone with the messages that it was sending; messages to it may still be received.
    pub fn on_sender_closed(&self, status: Status) {
        let _pin = Pin::new(self);
        // A request that the transport holds completes when the transport gives it back.
        let comes = |req: &Request| {
            // SAFETY: an outstanding request is alive; the only borrow.
            let op = unsafe { req.op() };
            matches!(op, Op::TagRecv(_) | Op::DataRecv(_)) && !req.is_with_transport()
        };
        for req in self.outstanding.take_all(comes) {
            // SAFETY: taken off the list, so not complete.
            unsafe { req.as_ref() }.complete(Err(status));
        }
        self.recheck_flushes();
    }

    /// Completes everything queued or outstanding with `status`.
    pub(super) fn abandon(&self, status: Status) {
        zcopy::abort_stalled(self, status);
        while !self.drains_replies.get() {
            let task = self.send_queue.pop_front();
            match task {
                Some(t) => self.fail_task(&t, status),
                None => break,
            }
        }
        loop {
            // A request that a transport holds completes when the transport gives it back.
            let req = self
                .outstanding
                .take_last(|req| !req.is_with_transport())
                .or_else(|| self.flushes.borrow_mut().pop_front())
                .or_else(|| self.detach_transport_flush());
            match req {
                // SAFETY: an outstanding request is alive.
                Some(r) => flush::abort(unsafe { r.as_ref() }, status),
                None => break,
            }
        }
        stream::recv::end(self, status);
        self.report_replies();
    }

    /// Completes the request of a task with `status`.
    pub(super) fn fail_task(&self, task: &Task, status: Status) {
        if let Task::Request(req) = task {
            // A send whose data the peer has requested is also outstanding.
            self.remove_outstanding(*req);
            // SAFETY: a queued request is alive.
            flush::abort(unsafe { req.as_ref() }, status);
        }
    }

    /// Destroys a lingering endpoint when nothing is queued or outstanding.
    pub(super) fn destroy_if_idle(&self) {
        if self.lingering.get()
            && self.has_no_outstanding()
            && !self.has_queue()
            && !self.has_in_place()
            && !self.has_flushes()
        {
            // SAFETY: alive, closed by the application, and pinned by the caller.
            unsafe { Ep::destroy(self, Status::CANCELED, End::Flushed) };
        }
    }

    /// Whether the transport reads messages from user buffers.
    pub fn has_in_place(&self) -> bool {
        self.in_place.get() > 0
    }

    /// The transport has accepted a zero-copy message.
    pub fn sends_in_place(&self) {
        self.in_place.set(self.in_place.get() + 1);
    }

    /// The transport has completed a zero-copy message.
    pub fn sent_in_place(&self, req: &Request, result: Result<()>) {
        let _pin = Pin::new(self);
        self.in_place.set(self.in_place.get() - 1);
        req.complete(result);
        self.recheck_flushes();
    }

    /// The application has closed it: no more callbacks.
    pub fn mark_closed(&self) {
        self.closed_by_app.set(true);
        self.worker().stream.forget(self);
    }

    /// The peer is gone. Records whether operations of the application are lost: messages not sent, gets without data.
    /// Unconfirmed puts count too, unless the peer had closed its endpoint: then it had received everything it waited
    /// for.
    pub fn record_losses(&self) {
        let unconfirmed = self.has_unconfirmed_writes() || !self.has_nothing_to_flush();
        let lost = self.send_queue.has_unsent()
            || self.outstanding.has_unflushed()
            || unconfirmed && !self.peer_closed.get();
        self.lost.set(self.lost.get() || lost);
    }

    /// The status of a flush or a close. The peer's death is an error only with error handling, or if operations were
    /// lost: other applications flush and close at the end of a job, when some processes have left already.
    pub fn flush_result(&self, result: Result<()>) -> Result<()> {
        match result {
            Err(Status::ENDPOINT_TIMEOUT | Status::CONNECTION_RESET | Status::UNREACHABLE)
                if !self.handles_errors() && !self.lost.get() =>
            {
                Ok(())
            }
            other => other,
        }
    }

    pub fn is_closed_by_app(&self) -> bool {
        self.closed_by_app.get()
    }

    /// The last flush of a closed endpoint is complete: the endpoint is destroyed when the peer has answered
    /// everything.
    ///
    /// # Safety
    /// `at` must be alive; it may be freed when the calls into it return.
    pub unsafe fn linger(at: *const Ep) {
        // SAFETY: by the caller's promise.
        let ep = unsafe { &*at };
        let _pin = Pin::new(ep);
        ep.lingering.set(true);
        stream::recv::end(ep, Status::CANCELED);
        ep.destroy_if_idle();
    }

    /// Destroys an endpoint: everything queued or outstanding completes with `status`.
    ///
    /// # Safety
    /// `at` must be alive; it is freed when the calls into it return.
    pub unsafe fn destroy(at: *const Ep, status: Status, end: End) {
        // SAFETY: by the caller's promise.
        let ep = unsafe { &*at };
        if ep.destroyed.replace(true) {
            return;
        }
        let _pin = Pin::new(ep);
        let w = ep.worker();
        ep.mark_closed();
        let peer = ep.send_queue.failure().is_none();
        let tells = peer && ep.is_connected();
        if tells {
            ep.abort_queue();
        }
        if peer {
            ep.send_queue.fail(status);
        }
        ep.remove_from_tables(peer);
        if peer && end == End::Forced {
            ep.hand_over_receives();
        }
        ep.abandon(status);
        ep.cancel_transports();
        unexpected::sub(w, ep.stream.len());
        // Last: the worker may be its own peer, and handle the message at once.
        if tells {
            ep.send_close(end);
        }
        if ep.drains_replies.replace(false) && ep.has_queue() {
            ep.start_draining();
        }
        // The peer also detects the end by the connection.
        cm::unlink(ep);
    }

    /// Removes it from all tables: a callback that receives meanwhile sends its replies by another endpoint.
    fn remove_from_tables(&self, peer_lives: bool) {
        let w = self.worker();
        w.eps.borrow_mut().remove(self.id.get());
        let (uuid, serial) = (self.remote_uuid.get(), self.serial.get());
        let remote_ep = w
            .pairing
            .remove(uuid, serial, self.id.get(), self.remote_ep.get());
        if let (Some(remote_ep), true, Some(address)) = (remote_ep, peer_lives, self.address.get())
        {
            // The remote endpoint lives on, and its messages may need replies. So may messages of this endpoint to
            // itself, until the close message has come.
            let path = ReturnPath {
                address: Rc::clone(address),
                serial,
                peer_handles_errors: self.may_revoke(),
            };
            w.pairing.keep_return_path(remote_ep, path);
        }
    }

    /// A receive that the peer may be writing into does not complete with an endpoint that had no error handling when
    /// it gave access: another endpoint waits for the peer's reply.
    fn hand_over_receives(&self) {
        for req in self.outstanding.take_all(rndv::is_written_by_peer) {
            // SAFETY: removed from the list, and no callback has run.
            if !rndv::move_to_another_ep(unsafe { req.as_ref() }) {
                self.outstanding.add(req);
            }
        }
    }

    /// Cancels the transports' operations: once the endpoint is closed, the application owns the buffers again.
    fn cancel_transports(&self) {
        for lane in self.lanes() {
            // SAFETY: a live transport endpoint.
            unsafe {
                if let Some(flush) = (*(*lane.ep).iface).ops.ep_flush {
                    flush(lane.ep, UCT_FLUSH_FLAG_CANCEL, core::ptr::null_mut());
                }
            }
        }
    }

    /// Replaces the queue by replies that the peer waits for, and by messages that abort the others. The requests
    /// complete in `abandon`.
    fn abort_queue(&self) {
        let uuid = self.worker().uuid;
        self.drains_replies.set(true);
        let queue = self.send_queue.replace_queue(VecDeque::new());
        let mut replies = VecDeque::new();
        let mut aborted = Vec::new();
        for task in queue {
            match task {
                Task::Control(_) => replies.push_back(task),
                Task::Serve(read) => replies.push_back(target::abort_message(&read)),
                Task::Request(req) => {
                    // SAFETY: a queued request is alive; the borrow ends within the line.
                    replies.extend(send::abort_message(uuid, unsafe { req.as_ref() }));
                    self.remove_outstanding(req);
                    aborted.push(req);
                }
            }
        }
        self.send_queue.replace_queue(replies);
        // `abandon` takes from the end: the first of the queue completes first.
        for req in aborted.into_iter().rev() {
            self.outstanding.add(req);
        }
    }

    /// Sends the close message, if the peer knows this endpoint or has to know of lost operations.
    fn send_close(&self, end: End) {
        let forced = end != End::Flushed;
        if !self.wireup_sent.get() {
            let is_needed = match forced {
                true => self.may_revoke(),
                // A peer that has sent a wire-up message may wait for a reply.
                false => {
                    self.remote_ep.get().is_some()
                        && !self.peer_closed.get()
                        && !self.implicit.get()
                }
            };
            if !is_needed {
                return;
            }
            self.send_wireup();
        }
        let close = CloseHdr {
            uuid: self.worker().uuid,
            ep: self.id.get(),
            forced: forced.into(),
        };
        control::post(self, AmId::Close, &close, &[]);
    }

    /// Starts draining: the memory and the transport stay until the queue is sent.
    fn start_draining(&self) {
        self.pins.set(self.pins.get() + 1);
        self.draining.set(true);
        self.worker().draining.borrow_mut().insert(self);
        self.send_queued();
    }

    /// The queue is sent, or cannot be sent.
    pub(super) fn finish_draining(&self) {
        if self.draining.replace(false) {
            self.send_queue.replace_queue(VecDeque::new());
            let this: *const Ep = self;
            self.worker().draining.borrow_mut().remove(&this);
            // The pin of `start_draining`.
            drop(Pin(self));
        }
    }

    /// The worker is destroyed: ends all draining endpoints.
    pub fn abort_draining(worker: &Worker) {
        loop {
            let Some(ep) = worker.draining.borrow().last().copied() else {
                return;
            };
            // SAFETY: in the list, so pinned.
            unsafe { (*ep).finish_draining() };
        }
    }

    /// Frees the endpoint. Called once, by the last pin.
    unsafe fn free(at: *const Ep) {
        // SAFETY: destroyed and unpinned: nobody else has it.
        unsafe {
            let ep = &*at;
            // Completions of the transports may unpin once more, and must not free again.
            ep.pins.set(1);
            ep.send_queue.replace_queue(VecDeque::new());
            ep.report_replies();
            for lane in ep.lanes() {
                ep.worker().by_lane.borrow_mut().remove(&lane.ep);
                close_transport(lane.ep);
            }
            after_fork::unregister_ep(ep);
            drop(Box::from_raw(at.cast_mut()));
        }
    }
}

/// Keeps an endpoint's memory during a call into it.
pub struct Pin(*const Ep);

impl Pin {
    pub fn new(ep: &Ep) -> Pin {
        ep.pins.set(ep.pins.get() + 1);
        Pin(ep)
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        // SAFETY: pinned, so alive.
        let ep = unsafe { &*self.0 };
        ep.pins.set(ep.pins.get() - 1);
        if ep.pins.get() == 0 && ep.destroyed.get() {
            // SAFETY: the last pin of a destroyed endpoint.
            unsafe { Ep::free(self.0) };
        }
    }
}

/// Destroys a transport endpoint, and purges its pending requests.
///
/// # Safety
/// `ep` must be live, and is gone afterwards.
unsafe fn close_transport(ep: uct_ep_h) {
    unsafe extern "C" fn forget(_req: *mut uct_pending_req_t, _arg: *mut c_void) {}
    // SAFETY: by the caller's promise; every op of our tables is set.
    unsafe {
        let ops = &(*(*ep).iface).ops;
        if let Some(purge) = ops.ep_pending_purge {
            purge(ep, Some(forget), core::ptr::null_mut());
        }
        if let Some(destroy) = ops.ep_destroy {
            destroy(ep);
        }
    }
}

/// A transport endpoint failed: so does the endpoint on top of it.
///
/// # Safety
/// `arg` must be the worker that registered this.
pub unsafe extern "C" fn transport_failed(
    arg: *mut c_void,
    uct_ep: uct_ep_h,
    status: ucs_status_t,
) -> ucs_status_t {
    // SAFETY: registered by the worker with itself.
    let worker = unsafe { &*arg.cast::<Worker>() };
    let status = Status::from_code(status).unwrap_or(Status::CONNECTION_RESET);
    let Some(ep) = worker.by_lane.borrow().get(&uct_ep).copied() else {
        ucs_error!("a transport endpoint that nobody uses failed: {status}");
        return UCS_OK;
    };
    // SAFETY: found by its lane, so not freed; no handler has run yet.
    let ep = unsafe { &*ep };
    let uuid = ep.remote_uuid.get();
    if worker.eps.borrow().get(ep.id.get()).is_some() {
        // The connection manager's status is more precise.
        ep.fail(cm::gone(ep).unwrap_or(status));
    } else {
        // Calls no user function.
        ep.finish_draining();
        return UCS_OK;
    }
    for message in worker.reassemblies.take_of(uuid) {
        tag::recv::sender_gone(worker, &message, status);
    }
    UCS_OK
}
