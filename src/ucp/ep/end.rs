//! The end of endpoints: failure, close by the peer, close by the application.
//!
//! Queued and outstanding requests complete with a status, the peer gets replies to its requests and a close message,
//! and the memory is freed when the last call into the endpoint has returned (`Pin`).

use super::pairing::ReturnPath;
use super::{Connection, ConnectionEvent, Ep, EpParams, Handle, HandleEvent, MadeBy, Serve, Task};
use crate::c::*;
use crate::ucp::after_fork::{self, EpCalls};
use crate::ucp::counters::Sent;
use crate::ucp::op::Op;
use crate::ucp::request::Req;
use crate::ucp::unexpected;
use crate::ucp::worker_core::Core;
use crate::ucs::front_queue::FrontQueue;
use crate::ucs::{Result, Status, tracepoint};
use crate::wire::header::{AmId, CloseHdr, EpFailedHdr};
use crate::wire::id::{EpId, EpName};
use crate::{ucs_diag, ucs_error, ucs_warn};
use core::ffi::c_void;
use core::ops::Deref;
use core::ptr::NonNull;
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
    /// The peer is gone, or the transport to it has failed: everything queued or outstanding completes with `status`; the
    /// error handler is called once.
    pub fn fail(&self, status: Status) {
        let _pin = Pin::new(self);
        if self.may_send() {
            (self.hooks().tell_failure)(self, self.failure_notice());
        }
        match self.connection.get() {
            Connection::Unconnected | Connection::Connecting | Connection::Connected => {
                self.lose_connection(ConnectionEvent::Fail(status), status, None);
            }
            // Nobody receives the replies.
            Connection::Aborting(_) => {
                self.advance(ConnectionEvent::Fail(status));
                self.send_queue.replace_queue(FrontQueue::new());
            }
            Connection::Draining(_) => self.finish_draining(),
            Connection::Failed(_) => {}
        }
    }

    /// The peer closed its endpoint by force. As `fail`, but the peer's worker lives on and may wait for operations of this
    /// endpoint, so it is notified.
    pub fn on_peer_closed(&self, status: Status) {
        if !self.is_usable() {
            return;
        }
        let _pin = Pin::new(self);
        self.lose_connection(ConnectionEvent::Abort(status), status, None);
        self.send_queued();
    }

    /// The remote endpoint has failed: what waits for its replies ends.
    pub fn on_peer_failed(&self, status: Status) {
        let _pin = Pin::new(self);
        // Losses are recorded as those of an endpoint whose peer has not closed.
        match self.is_hidden() {
            true => self.destroy(status, End::Flushed),
            false => self.on_peer_closed(status),
        }
        self.peer_closed.set(true);
    }

    /// A rail that carried data has failed, which the peer need not notice: it hears of it by the message lane.
    pub fn on_used_rail_failed(&self, status: Status) {
        if !self.is_usable() {
            return;
        }
        let _pin = Pin::new(self);
        (self.hooks().tell_failure)(self, None);
        let notice = self.failure_notice();
        self.lose_connection(ConnectionEvent::Abort(status), status, notice);
        self.send_queued();
    }

    /// The message that this endpoint has failed, if the peer may be waiting for it.
    fn failure_notice(&self) -> Option<Task> {
        let is_known = self.wireup_sent.get() || self.remote_ep.get().is_some();
        let may_wait = is_known && !self.peer_closed.get();
        // Upstream's peers see the end of the connection.
        if !may_wait || self.is_upstream() || self.is_loopback() {
            return None;
        }
        let header = EpFailedHdr {
            ep: self.name_for_peers(),
            peer: self.remote_ep.get().map_or(EpId::NONE, |remote| remote.id),
        };
        Some(Task::control(AmId::EpFailed, &header, &[]))
    }

    /// The peer gets `notice` before anything that callbacks send.
    fn lose_connection(&self, event: ConnectionEvent, status: Status, notice: Option<Task>) {
        tracepoint::ep_failed(self.id.get(), status.code());
        self.record_losses();
        self.report_loss(event, status);
        self.end_connection(event);
        if let Some(notice) = notice {
            self.post(notice);
        }
        let _pin = Pin::new(self);
        (self.hooks().abort_postponed)(self, status);
        self.abandon(status);
        let params = self.params.get();
        if let Some(cb) = params.err_cb
            && self.has_callbacks()
        {
            // SAFETY: the user's handler with its argument and its endpoint.
            unsafe {
                cb(
                    params.err_arg,
                    core::ptr::from_ref(self).cast_mut().cast(),
                    status.code(),
                )
            };
        } else if matches!(self.handle.get(), Handle::Lingering | Handle::Hidden) {
            // Peers that come and die leave nothing.
            self.destroy(status, End::Flushed);
        }
    }

    /// Warns of a peer that left without closing its endpoint, or with operations of this one. What the application or
    /// the peer did, and what was logged with its cause, is for diagnosis.
    fn report_loss(&self, event: ConnectionEvent, status: Status) {
        let left = matches!(event, ConnectionEvent::Fail(_))
            && self.connection.get() != Connection::Unconnected
            && matches!(status, Status::CONNECTION_RESET | Status::ENDPOINT_TIMEOUT)
            && (self.handles_errors() && !self.peer_closed.get() || self.lost.get());
        if left {
            ucs_warn!(
                "the peer of {} has ended or cannot be reached any more: {status}; what waits for it ends with this status",
                self.name()
            );
        } else {
            ucs_diag!("{} failed: {status}", self.name());
        }
    }

    /// The remote endpoint is gone with the messages that it was sending; messages to it may still be received.
    pub fn on_sender_closed(&self, status: Status) {
        let _pin = Pin::new(self);
        // A request that the transport holds completes when the transport gives it back.
        let comes = |req: Req| {
            req.with_op(|op| matches!(op, Op::TagRecv(_) | Op::DataRecv(_)))
                && !req.is_with_transport()
        };
        for req in self.outstanding.take_all(comes) {
            req.complete(Err(status));
        }
        self.recheck_flushes();
    }

    /// Completes everything queued or outstanding with `status`.
    pub(super) fn abandon(&self, status: Status) {
        (self.hooks().abort_transfers)(self, status);
        while !self.is_aborting() {
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
                Some(r) => Op::abort(r, status),
                None => break,
            }
        }
        (self.hooks().end_stream)(self, status);
        self.report_replies();
    }

    /// Completes the request of a task with `status`.
    pub(super) fn fail_task(&self, task: &Task, status: Status) {
        if let Task::Request(req) = task {
            // A send whose data the peer has requested is also outstanding.
            self.remove_outstanding(*req);
            Op::abort(*req, status);
        }
    }

    /// Destroys a lingering endpoint when nothing is queued or outstanding.
    pub(super) fn destroy_if_idle(&self) {
        if self.handle.get() == Handle::Lingering
            && self.has_no_outstanding()
            && !self.has_queue()
            && !self.has_in_place()
            && !self.has_flushes()
            && !self.waits_for_rails()
        {
            self.destroy(Status::CANCELED, End::Flushed);
        }
    }

    /// Whether data are on a rail that the close message must not overtake.
    fn waits_for_rails(&self) -> bool {
        // A flush that is under way asks again when it is done.
        self.has_transport_flushes()
            || self.has_unflushed_rails() && (self.hooks().flush_rails)(self)
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
    pub fn sent_in_place(&self, req: Req, result: Result<()>) {
        let _pin = Pin::new(self);
        self.in_place.set(self.in_place.get() - 1);
        req.complete(result);
        self.recheck_flushes();
    }

    /// The application closes it after a flush: no more callbacks. `INVALID_PARAM` if it has closed it before.
    pub fn close_handle(&self) -> Result<()> {
        match self.handle.get().on(HandleEvent::Close) {
            Ok(next) => self.handle.set(next),
            Err(_) => {
                ucs_error!("an endpoint was closed twice");
                return Err(Status::INVALID_PARAM);
            }
        }
        (self.hooks().forget_stream)(self);
        Ok(())
    }

    /// The application takes over an endpoint that the peer has made.
    pub fn take_over(&self, params: EpParams) {
        self.advance_handle(HandleEvent::Create);
        self.made_by.set(MadeBy::Application);
        self.params.set(params);
    }

    /// A message handler gets it as reply endpoint.
    #[inline]
    pub fn expose(&self) {
        if self.handle.get() == Handle::Hidden {
            self.advance_handle(HandleEvent::Expose);
        }
    }

    /// Whether the application does not know it.
    #[inline]
    pub fn is_hidden(&self) -> bool {
        self.handle.get() == Handle::Hidden
    }

    /// Whether the application has closed it.
    pub fn is_closed(&self) -> bool {
        self.handle.get().is_closed()
    }

    /// Whether the application has made it or taken it over.
    pub fn is_of_application(&self) -> bool {
        self.made_by.get() == MadeBy::Application
    }

    /// Whether it only sends replies.
    #[inline]
    pub fn is_reply_only(&self) -> bool {
        self.made_by.get() == MadeBy::ReturnPath
    }

    /// Whether the application's callbacks for it may be called.
    pub fn has_callbacks(&self) -> bool {
        self.handle.get() == Handle::Held && self.is_of_application()
    }

    pub(super) const CALLS: EpCalls = EpCalls {
        disable: Ep::disable_in_child,
        sent: Ep::sent_by,
    };

    /// See `EpCalls`.
    ///
    /// # Safety
    /// There must be a live endpoint at that address.
    unsafe fn sent_by(address: usize) -> (*const Core, *const Sent) {
        // SAFETY: by the caller's promise; the worker never changes, and counters may be read by any thread.
        unsafe {
            let ep = address as *const Ep;
            ((*ep).worker.as_ptr(), &raw const (*ep).sent)
        }
    }

    /// In a forked child: nothing is sent any more.
    ///
    /// # Safety
    /// There must be a live endpoint at that address, and one thread.
    unsafe fn disable_in_child(address: usize) {
        // SAFETY: by the caller's promise.
        let ep = unsafe { &*(address as *const Ep) };
        ep.advance(ConnectionEvent::Fail(Status::UNSUPPORTED));
        ep.send_queue.close_short_route();
    }

    /// Changes the state of the connection. An event that the state has no transition for changes nothing.
    pub(super) fn advance(&self, event: ConnectionEvent) {
        let state = self.connection.get();
        match state.on(event) {
            Ok(next) => self.connection.set(next),
            Err(_) => debug_assert!(false, "{event:?} in {state:?}"),
        }
    }

    /// As `advance`, of the handle.
    fn advance_handle(&self, event: HandleEvent) {
        let state = self.handle.get();
        match state.on(event) {
            Ok(next) => self.handle.set(next),
            Err(_) => debug_assert!(false, "{event:?} in {state:?}"),
        }
    }

    /// Whether operations fail, but replies to the peer are sent.
    fn is_aborting(&self) -> bool {
        matches!(self.connection.get(), Connection::Aborting(_))
    }

    /// The operations of a usable endpoint end, by `Abort` or `Fail`.
    fn end_connection(&self, event: ConnectionEvent) {
        self.advance(event);
        self.send_queue.close_short_route();
        self.send_queue.set_held(false);
        self.send_queue.set_copying(false);
        if self.is_aborting() {
            self.abort_queue();
        }
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

    /// The last flush of a closed endpoint is complete: the endpoint is destroyed when the peer has answered
    /// everything.
    pub fn linger(&self) {
        let _pin = Pin::new(self);
        self.advance_handle(HandleEvent::Flushed);
        (self.hooks().end_stream)(self, Status::CANCELED);
        self.answer_upstream_without_progress();
        self.destroy_if_idle();
    }

    /// The application closes an endpoint. It may make no more progress, and a process of upstream's that closes one too
    /// waits for an answer.
    fn answer_upstream_without_progress(&self) {
        if self.is_upstream() && self.is_of_application() {
            for iface in &self.worker().ifaces {
                iface.internal().upstream_acknowledge_flushes();
            }
        }
    }

    /// Destroys an endpoint: everything queued or outstanding completes with `status`.
    /// It is freed when the last call into it returns: a caller that goes on with it has it pinned.
    pub fn destroy(&self, status: Status, end: End) {
        if self.handle.get() == Handle::Destroyed {
            return;
        }
        self.advance_handle(HandleEvent::Destroy);
        let _pin = Pin::new(self);
        let w = self.worker();
        (self.hooks().forget_stream)(self);
        let usable = self.is_usable();
        if usable {
            self.end_connection(ConnectionEvent::Abort(status));
        }
        // A peer that has heard of a failed rail may have sent requests before.
        let peer_lives = usable || self.is_aborting() && self.rails.has_failed();
        // What an endpoint that is its own peer has sent was received within each send. With its worker a loopback endpoint's
        // peer ends, too.
        let is_over = match end {
            End::Flushed => self.is_paired_with(self.name_for_peers()) && self.delivers_at_once(),
            End::Forced => false,
            End::WithWorker => self.is_loopback(),
        };
        let sends_close = usable && self.is_aborting() && !is_over;
        self.remove_from_tables(peer_lives && !is_over);
        if usable && end == End::Forced {
            self.answer_upstream_without_progress();
            self.hand_over_receives();
        }
        // After a flush they go on, by the path for replies.
        if end != End::Flushed {
            (self.hooks().abort_postponed)(self, status);
        }
        self.abandon(status);
        self.cancel_transports();
        unexpected::sub(w, self.stream.len());
        // Last: the worker may be its own peer, and handle the message at once.
        if sends_close {
            self.send_close(end);
        }
        if self.is_aborting() {
            self.drain();
        }
        // The peer also detects the end by the connection.
        (self.hooks().on_destroyed)(self);
    }

    /// Removes it from all tables: a callback that receives meanwhile sends its replies by another endpoint.
    fn remove_from_tables(&self, peer_lives: bool) {
        let w = self.worker();
        w.endpoints().eps.borrow_mut().remove(self.id.get());
        let (uuid, serial) = (self.remote_uuid.get(), self.serial.get());
        let remote_ep =
            w.endpoints()
                .pairing
                .remove(uuid, serial, self.id.get(), self.remote_ep.get());
        if let Some(id) = self.upstream_id.get().map(EpId) {
            // Its other name, if it has two.
            let told = EpName { uuid, id };
            let pairing = &w.endpoints().pairing;
            pairing.remove(uuid, serial, self.id.get(), Some(told));
        }
        let answers = peer_lives && !self.is_upstream();
        if let (Some(remote_ep), true, Some(address)) = (remote_ep, answers, self.address.get()) {
            // The remote endpoint lives on, and its messages may need replies. So may messages of this endpoint to
            // itself, until the close message has come.
            let path = ReturnPath {
                address: Rc::clone(address),
                serial,
                peer_handles_errors: self.may_revoke(),
                failover: self.uses_failover(),
            };
            w.endpoints().pairing.keep_return_path(remote_ep, path);
        }
    }

    /// A receive that the peer may be writing into does not complete with an endpoint that had no error handling when
    /// it gave access: another endpoint waits for the peer's reply.
    fn hand_over_receives(&self) {
        let is_written = |req: Req| req.with_op(|op| op.is_written_by_peer());
        for req in self.outstanding.take_all(is_written) {
            if !Op::move_to_another_ep(req) {
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
        if !self.has_queue() {
            return;
        }
        let uuid = self.worker().uuid;
        let queue = self.send_queue.replace_queue(FrontQueue::new());
        let mut replies = FrontQueue::new();
        let mut aborted = Vec::new();
        for task in queue {
            match task {
                Task::Control(_) | Task::Upstream(_) => replies.push_back(task),
                Task::Serve(read) => replies.push_back(read.abort_message()),
                Task::Request(req) => {
                    replies.extend(Op::abort_message(uuid, req));
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
        // Upstream's peers see the end of the connection.
        if self.is_upstream() {
            return;
        }
        let forced = end != End::Flushed;
        if !self.wireup_sent.get() {
            let is_needed = match forced {
                true => self.may_revoke(),
                // A peer that has sent a wire-up message may wait for a reply.
                false => {
                    self.remote_ep.get().is_some()
                        && !self.peer_closed.get()
                        && self.is_of_application()
                }
            };
            if !is_needed {
                return;
            }
            self.send_wireup();
        }
        let close = CloseHdr {
            ep: self.name_for_peers(),
            forced: forced.into(),
        };
        self.post(Task::control(AmId::Close, &close, &[]));
    }

    /// The memory and the transport of a destroyed endpoint stay until the queue is sent.
    fn drain(&self) {
        if !self.has_queue() {
            return self.advance(ConnectionEvent::Drained);
        }
        self.advance(ConnectionEvent::Drain);
        self.pins.set(self.pins.get() + 1);
        self.worker()
            .endpoints()
            .draining
            .borrow_mut()
            .insert(self.to_ref());
        self.send_queued();
    }

    /// The queue is sent, or cannot be sent.
    pub fn finish_draining(&self) {
        let this = self.to_ref();
        let drained = self
            .worker()
            .endpoints()
            .draining
            .borrow_mut()
            .remove(&this);
        if drained {
            self.advance(ConnectionEvent::Drained);
            self.send_queue.replace_queue(FrontQueue::new());
            // The pin of `drain`.
            drop(Pin(self.to_ref()));
        }
    }

    /// The worker is destroyed: ends all draining endpoints.
    pub fn abort_draining(worker: &Core) {
        loop {
            let Some(ep) = worker.endpoints().draining.borrow().last().copied() else {
                return;
            };
            ep.finish_draining();
        }
    }

    /// Frees the endpoint.
    ///
    /// # Safety
    /// It is destroyed, and the last pin is gone.
    #[inline(never)]
    unsafe fn free(ep: EpRef) {
        // Completions of the transports may unpin once more, and must not free again.
        ep.pins.set(1);
        if ep.has_queue() {
            ep.send_queue.replace_queue(FrontQueue::new());
        }
        ep.report_replies();
        for lane in ep.lanes() {
            let by_lane = &ep.worker().endpoints().by_lane;
            by_lane.borrow_mut().remove(&lane.ep);
            // SAFETY: a lane of the endpoint, which uses it no more.
            unsafe { close_transport(lane.ep) };
        }
        ep.worker().counters.end(&ep.sent);
        after_fork::unregister_ep(ep.registered.get());
        // SAFETY: boxed in `Ep::make`; nobody else has it, by the caller's promise.
        drop(unsafe { Box::from_raw(ep.as_ptr()) });
    }
}

/// The handle of an endpoint. The endpoint stays where it is, and is alive until it is destroyed and not pinned any more
/// (`Pin`). Whoever destroys it has it leave the tables, and ends the operations that have its handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct EpRef(NonNull<Ep>);

impl Deref for EpRef {
    type Target = Ep;

    #[inline(always)]
    fn deref(&self) -> &Ep {
        // SAFETY: alive, see above; no one has a mutable borrow of an endpoint.
        unsafe { self.0.as_ref() }
    }
}

impl EpRef {
    /// The application's handle.
    pub fn as_ptr(self) -> *mut Ep {
        self.0.as_ptr()
    }
}

impl Ep {
    #[inline(always)]
    pub fn to_ref(&self) -> EpRef {
        EpRef(NonNull::from(self))
    }
}

/// Keeps an endpoint's memory during a call into it.
pub struct Pin(EpRef);

impl Pin {
    pub fn new(ep: &Ep) -> Pin {
        ep.pins.set(ep.pins.get() + 1);
        Pin(ep.to_ref())
    }
}

impl Drop for Pin {
    #[inline]
    fn drop(&mut self) {
        let ep = self.0;
        ep.pins.set(ep.pins.get() - 1);
        if ep.handle.get() == Handle::Destroyed && ep.pins.get() == 0 {
            // SAFETY: the last pin of a destroyed endpoint.
            unsafe { Ep::free(ep) };
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
