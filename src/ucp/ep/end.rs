//! How endpoints end: their peers fail or leave, the application closes them.
//!
//! What waits ends with a status, what the peer waits for is told in last words, and the memory goes
//! when the last call into the endpoint has returned (`Pin`).

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

/// How an endpoint ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Nothing of it is under way.
    Flushed,
    /// What is under way is lost: the peer has to know.
    Forced,
    /// As `Forced`, and no other endpoint of the worker may go on with anything.
    WithWorker,
}

impl Ep {
    /// The peer is gone: everything that waits ends with `status`, the application is told once.
    pub fn fail(&self, status: Status) {
        if self.answers.replace(false) {
            // Nobody hears the rest.
            self.send_queue.replace_queue(VecDeque::new());
        }
        self.end_of_peer(status);
    }

    /// The peer closed its endpoint by force. As `fail`, but the peer's worker lives on and may wait on another
    /// endpoint for operations of this one, so it is notified.
    pub fn peer_left(&self, status: Status) {
        if !self.is_usable() {
            return;
        }
        self.note_losses();
        self.break_off_queue();
        let _pin = Pin::new(self);
        self.end_of_peer(status);
        self.send_queued();
    }

    fn end_of_peer(&self, status: Status) {
        if self.send_queue.failure().is_some() {
            return;
        }
        self.note_losses();
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
            && !self.given_up.get()
            && !self.doomed.get()
        {
            // SAFETY: the user's handler with its argument and its endpoint.
            unsafe {
                cb(
                    params.err_arg,
                    core::ptr::from_ref(self).cast_mut().cast(),
                    status.code(),
                )
            };
        } else if self.retired.get() || self.implicit.get() && !self.exposed.get() {
            // SAFETY: alive, and given up by its user, or never known to one: peers that come and die leave nothing.
            unsafe { Ep::destroy(self, status, End::Flushed) };
        }
    }

    /// The remote endpoint is gone with the messages that it was sending; messages to it may still be received.
    pub fn sender_left(&self, status: Status) {
        let _pin = Pin::new(self);
        // What a transport still reads ends when that gives it back.
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

    /// Ends everything that waits for this endpoint.
    pub(super) fn abandon(&self, status: Status) {
        zcopy::abort_stalled(self, status);
        while !self.answers.get() {
            let task = self.send_queue.pop_front();
            match task {
                Some(t) => self.fail_task(&t, status),
                None => break,
            }
        }
        loop {
            // What a transport works at ends when that gives it back.
            let req = self
                .outstanding
                .take_last(|req| !req.is_with_transport())
                .or_else(|| self.flushes.borrow_mut().pop_front())
                .or_else(|| self.recall_landing());
            match req {
                // SAFETY: an outstanding request is alive.
                Some(r) => flush::break_off(unsafe { r.as_ref() }, status),
                None => break,
            }
        }
        stream::recv::end(self, status);
        self.report_replies();
    }

    /// Ends what a task was for.
    pub(super) fn fail_task(&self, task: &Task, status: Status) {
        if let Task::Request(req) = task {
            // Data that the peer asked for waits for the peer too.
            self.disown(*req);
            // SAFETY: a queued request is alive.
            flush::break_off(unsafe { req.as_ref() }, status);
        }
    }

    /// A closed endpoint to which nothing is owed any more goes.
    pub(super) fn go_if_answered(&self) {
        if self.retired.get()
            && self.owes_nothing()
            && !self.has_queue()
            && !self.has_in_place()
            && !self.has_flushes()
        {
            // SAFETY: alive, given up by its user, and pinned by the caller.
            unsafe { Ep::destroy(self, Status::CANCELED, End::Flushed) };
        }
    }

    /// Whether the transport has messages in the application's buffers.
    pub fn has_in_place(&self) -> bool {
        self.in_place.get() > 0
    }

    /// The transport has a message in place.
    pub fn sends_in_place(&self) {
        self.in_place.set(self.in_place.get() + 1);
    }

    /// The transport is done with a message that it had in place.
    pub fn sent_in_place(&self, req: &Request, result: Result<()>) {
        let _pin = Pin::new(self);
        self.in_place.set(self.in_place.get() - 1);
        req.complete(result);
        self.recheck_flushes();
    }

    /// The application has closed it: it is told nothing any more.
    pub fn give_up(&self) {
        self.given_up.set(true);
        self.worker().stream.forget(self);
    }

    /// The peer is gone. Notes whether it takes with it something that the application posted and that cannot have
    /// been done: what was not sent, reads without data. Writes that nobody confirmed count too, unless the peer had closed
    /// its side: then it had all that it waited for.
    pub fn note_losses(&self) {
        let unconfirmed = self.has_unconfirmed_writes() || !self.owes_no_flush();
        let lost = self.send_queue.has_unsent()
            || self.outstanding.has_unanswered()
            || unconfirmed && !self.peer_closed.get();
        self.lost.set(self.lost.get() || lost);
    }

    /// How a flush or a close ends. That the peer is gone concerns those only who handle errors, or who lost
    /// something by it: others flush and close at the end of a job, when some processes have left already.
    pub fn flushed_with(&self, result: Result<()>) -> Result<()> {
        match result {
            Err(Status::ENDPOINT_TIMEOUT | Status::CONNECTION_RESET | Status::UNREACHABLE)
                if !self.handles_errors() && !self.lost.get() =>
            {
                Ok(())
            }
            other => other,
        }
    }

    pub fn is_given_up(&self) -> bool {
        self.given_up.get()
    }

    /// The last flush of a closed endpoint is over: it goes when the peer has answered everything.
    ///
    /// # Safety
    /// `at` must be alive; it may be gone afterwards, at the latest when the calls into it return.
    pub unsafe fn retire(at: *const Ep) {
        // SAFETY: by the caller's promise.
        let ep = unsafe { &*at };
        let _pin = Pin::new(ep);
        ep.retired.set(true);
        stream::recv::end(ep, Status::CANCELED);
        ep.go_if_answered();
    }

    /// Destroys an endpoint: what waits ends with `status`.
    ///
    /// # Safety
    /// `at` must be alive; it is gone afterwards, at the latest when the calls into it return.
    pub unsafe fn destroy(at: *const Ep, status: Status, end: End) {
        // SAFETY: by the caller's promise.
        let ep = unsafe { &*at };
        if ep.doomed.replace(true) {
            return;
        }
        let _pin = Pin::new(ep);
        let w = ep.worker();
        ep.give_up();
        let peer = ep.send_queue.failure().is_none();
        let tells = peer && ep.is_connected();
        if tells {
            ep.break_off_queue();
        }
        if peer {
            ep.send_queue.fail(status);
        }
        ep.leave_tables(peer);
        if peer && end == End::Forced {
            ep.hand_over_receives();
        }
        ep.abandon(status);
        ep.cancel_transports();
        unexpected::sub(w, ep.stream.len());
        // Last: the worker may be its own peer, and handle them at once.
        if tells {
            ep.say_close(end);
        }
        if ep.answers.replace(false) && ep.has_queue() {
            ep.say_farewell();
        }
        // The peer learns of the end by its connection.
        cm::unlink(ep);
    }

    /// Nobody finds it any more: a callback that receives while it ends has the sender answered by another.
    fn leave_tables(&self, peer_lives: bool) {
        let w = self.worker();
        w.eps.borrow_mut().remove(self.id.get());
        let (uuid, serial) = (self.remote_uuid.get(), self.serial.get());
        let remote_ep = w
            .pairing
            .remove(uuid, serial, self.id.get(), self.remote_ep.get());
        if let (Some(remote_ep), true, Some(address)) = (remote_ep, peer_lives, self.address.get())
        {
            // The peer's endpoint lives on, and what it sends may want answers. So may what this one sent to
            // itself, until its last words have come.
            let path = ReturnPath {
                address: Rc::clone(address),
                serial,
                peer_handles_errors: self.may_revoke(),
            };
            w.pairing.keep_return_path(remote_ep, path);
        }
    }

    /// Receives that the peer may be writing into do not end with an endpoint that had no error handling
    /// when it let the peer: another waits for the peer's word.
    fn hand_over_receives(&self) {
        for req in self.outstanding.take_all(rndv::is_written_by_peer) {
            // SAFETY: taken off the list, and no callback has run.
            if !rndv::wait_by_another(unsafe { req.as_ref() }) {
                self.outstanding.add(req);
            }
        }
    }

    /// What the transports work at ends now: once the endpoint is closed the buffers are the user's again.
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

    /// Breaks off what waits in the queue: in its place the peer is told answers that it waits for, and that
    /// nothing more comes of the rest. The requests wait for `abandon`.
    fn break_off_queue(&self) {
        let uuid = self.worker().uuid;
        self.answers.set(true);
        let queue = self.send_queue.replace_queue(VecDeque::new());
        let mut words = VecDeque::new();
        let mut broken = Vec::new();
        for task in queue {
            match task {
                Task::Control(_) => words.push_back(task),
                Task::Serve(read) => words.push_back(target::broken_off(&read)),
                Task::Request(req) => {
                    // SAFETY: a queued request is alive; the borrow ends within the line.
                    words.extend(send::broken_off(uuid, unsafe { req.as_ref() }));
                    self.disown(req);
                    broken.push(req);
                }
            }
        }
        self.send_queue.replace_queue(words);
        // They are taken from the end: the first of the queue ends first.
        for req in broken.into_iter().rev() {
            self.outstanding.add(req);
        }
    }

    /// Tells the peer of the end, if it knows this endpoint, or is to know what it has lost.
    fn say_close(&self, end: End) {
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

    /// Sends what is left of the last words; until they are out the memory and the transport stay.
    fn say_farewell(&self) {
        self.pins.set(self.pins.get() + 1);
        self.farewell.set(true);
        self.worker().farewells.borrow_mut().insert(self);
        self.send_queued();
    }

    /// The last words are out, or nobody hears them.
    pub(super) fn leave(&self) {
        if self.farewell.replace(false) {
            self.send_queue.replace_queue(VecDeque::new());
            let this: *const Ep = self;
            self.worker().farewells.borrow_mut().remove(&this);
            // The pin of `say_farewell`.
            drop(Pin(self));
        }
    }

    /// The worker goes: what is not said by now is left.
    pub fn drop_farewells(worker: &Worker) {
        loop {
            let Some(ep) = worker.farewells.borrow().last().copied() else {
                return;
            };
            // SAFETY: in the list, so pinned.
            unsafe { (*ep).leave() };
        }
    }

    /// Gives back what the transports hold. Called once, by the last pin.
    unsafe fn free(at: *const Ep) {
        // SAFETY: doomed and unpinned: nobody else has it.
        unsafe {
            let ep = &*at;
            // What the transports give back comes here once more, and must not free again.
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

/// Keeps an endpoint's memory while a call into it is under way.
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
        if ep.pins.get() == 0 && ep.doomed.get() {
            // SAFETY: the last pin of a doomed endpoint.
            unsafe { Ep::free(self.0) };
        }
    }
}

/// Destroys a transport endpoint and forgets what it holds of ours.
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
        // Why it is over is known better from the connection it was made by.
        ep.fail(cm::gone(ep).unwrap_or(status));
    } else {
        // Leaving calls no user.
        ep.leave();
        return UCS_OK;
    }
    for message in worker.reassemblies.take_of(uuid) {
        tag::recv::sender_gone(worker, &message, status);
    }
    UCS_OK
}
