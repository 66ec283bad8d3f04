//! Copies by devices that were started for requests, without a transport: progress asks whether they have ended, and then
//! completes the transfer of the request.
//!
//! Such a copy cannot be called back. So the request holds its buffer until the end of the copy, however the endpoint fares:
//! where the endpoint or the worker ends, that is waited for.
#![forbid(unsafe_code)]

use super::zcopy;
use crate::ucp::ep::Ep;
use crate::ucp::request::Req;
use crate::ucp::worker_core::{Core, RepeatedCall};
use crate::uct::base::memory_copier::PendingCopy;
use core::cell::{Cell, RefCell};
use core::ffi::c_uint;
use std::collections::VecDeque;

/// Copies that end in one progress, so that transports get their turn.
const AT_ONCE: usize = 32;

/// The copies of a worker.
#[derive(Default)]
pub struct DeviceCopies {
    /// In the order in which they were started.
    under_way: RefCell<VecDeque<UnderWay>>,
    /// Which of those behind the first is looked at next.
    turn: Cell<usize>,
    calls: RepeatedCall,
}

struct UnderWay {
    copy: Box<dyn PendingCopy>,
    req: Req,
    /// The id of the endpoint where the request is outstanding.
    ep: Option<u64>,
}

impl DeviceCopies {
    pub fn is_empty(&self) -> bool {
        self.under_way.borrow().is_empty()
    }

    /// Takes one that has ended. Most end in order, so the first is looked at, and of the others one: it may be of another device.
    fn take_ended(&self) -> Option<UnderWay> {
        let mut all = self.under_way.borrow_mut();
        let is_done = |at: usize| all.get(at).is_some_and(|of| of.copy.is_done());
        if is_done(0) {
            return all.pop_front();
        }
        let others = all.len().checked_sub(1).filter(|others| *others > 0)?;
        let at = 1 + self.turn.get() % others;
        self.turn.set(at);
        if is_done(at) { all.remove(at) } else { None }
    }

    fn take_if(&self, is_it: impl FnMut(&UnderWay) -> bool) -> Option<UnderWay> {
        let mut all = self.under_way.borrow_mut();
        let at = all.iter().position(is_it)?;
        all.remove(at)
    }
}

impl UnderWay {
    /// Completes the transfer of the request, when the copy has ended.
    fn end(self) {
        zcopy::end_device_copy(self.req, self.copy.wait());
    }
}

/// The transfer of a request, outstanding at an endpoint or not, completes when a copy has ended.
pub fn begin(req: Req, ep: Option<&Ep>, copy: Box<dyn PendingCopy>) {
    let worker = req.worker();
    let copies = &worker.proto().device_copies;
    zcopy::begin_device_copy(req);
    copies.under_way.borrow_mut().push_back(UnderWay {
        copy,
        req,
        ep: ep.map(|ep| ep.id.get()),
    });
    copies.calls.start(worker, poll);
    worker.wakeup.work_came();
}

/// Progress: completes the transfers whose copies have ended.
extern "C" fn poll(worker: &Core) -> c_uint {
    let copies = &worker.proto().device_copies;
    let mut ended = 0;
    while ended < AT_ONCE
        && let Some(one) = copies.take_ended()
    {
        one.end();
        ended += 1;
    }
    stop_if_empty(worker);
    ended as c_uint
}

fn stop_if_empty(worker: &Core) {
    let copies = &worker.proto().device_copies;
    if copies.is_empty() {
        copies.calls.stop(worker);
    }
}

/// The endpoint ends: waits for the copies of its requests. What they have copied is as good as before.
pub fn end_of(ep: &Ep) {
    let worker = ep.worker();
    let copies = &worker.proto().device_copies;
    let is_of_ep = |one: &UnderWay| one.ep == Some(ep.id.get());
    while let Some(one) = copies.take_if(is_of_ep) {
        one.end();
    }
    stop_if_empty(worker);
}

/// The worker ends: waits for all.
pub fn end_all(worker: &Core) {
    while let Some(one) = worker.proto().device_copies.take_if(|_| true) {
        one.end();
    }
    stop_if_empty(worker);
}
