//! Operations whose call returns before they go on: the next progress fetches the data of a receive, or ends them.
//!
//! Mapped memory is copied at once, so the receive of a rendezvous message could complete within the call, or its callback
//! could run before the call returns. With upstream neither ever happens, and clients rely on it: ucxx counts an immediate
//! completion twice, MPICH (4.1 to 5.0) writes into the request after the call, and frees a request that it did not get.
//! MPICH does so with eager messages too, and then hangs in a receive from any source, with upstream as well. So the
//! callback of a tagged receive that refuses immediate completion waits likewise, as do accesses that the kernel has done
//! within a call of the old functions. Used by the receives of `tag` and `am`, and by `rma`; the worker ends those that wait
//! when it is destroyed.
#![forbid(unsafe_code)]

use super::own;
use super::rndv::receiver;
use crate::ucp::ep::Ep;
use crate::ucp::op::Op;
use crate::ucp::request::Req;
use crate::ucp::rts::Waiting;
use crate::ucp::worker_core::Core;
use crate::ucs::{Result, Status};
use core::cell::RefCell;
use std::collections::VecDeque;

/// Operations that wait for progress, in order.
#[derive(Default)]
pub struct Postponed {
    over: RefCell<VecDeque<(Req, Result<()>)>>,
    fetches: RefCell<VecDeque<(Req, Waiting)>>,
}

impl Postponed {
    fn take_over(&self) -> Option<(Req, Result<()>)> {
        self.over.borrow_mut().pop_front()
    }

    /// Takes the first fetch that is asked for off the queue.
    fn take_fetch(&self, asked: impl Fn(&Waiting) -> bool) -> Option<(Req, Waiting)> {
        let mut fetches = self.fetches.borrow_mut();
        let at = fetches.iter().position(|(_, message)| asked(message))?;
        fetches.remove(at)
    }

    /// The worker ends.
    pub fn end_all(&self) {
        while let Some((req, result)) = self.take_over() {
            req.complete(result);
        }
        while let Some((req, _)) = self.take_fetch(|_| true) {
            req.complete(Err(Status::CANCELED));
        }
    }
}

/// The next progress ends the operation.
pub fn end(worker: &Core, req: Req, result: Result<()>) {
    let over = &worker.proto().postponed.over;
    over.borrow_mut().push_back((req, result));
    wait_for_progress(worker);
}

/// The next progress fetches the data of a receive.
pub fn fetch(worker: &Core, req: Req, message: Waiting) {
    let fetches = &worker.proto().postponed.fetches;
    fetches.borrow_mut().push_back((req, message));
    wait_for_progress(worker);
}

fn wait_for_progress(worker: &Core) {
    worker.rounds.wait_for_progress();
    worker.wakeup.poke_sleepers();
}

/// A progress that operations wait for: what it does. One that ends some polls nothing, since a program that waits for nothing
/// else would only get messages that it has not asked for yet, without end where their sender is faster. Data are fetched after
/// what comes, which may be the end of their sender.
pub fn progress(worker: &Core) -> u32 {
    let postponed = &worker.proto().postponed;
    let mut done = 0;
    // Those that are here at the start: their callbacks may add others.
    let over = postponed.over.borrow().len();
    for _ in 0..over {
        let Some((req, result)) = postponed.take_over() else {
            break;
        };
        req.complete(result);
        done += 1;
    }
    if done > 0 {
        if !postponed.fetches.borrow().is_empty() {
            worker.rounds.wait_for_progress();
        }
        return done;
    }
    done = worker.uct().progress();
    let fetches = postponed.fetches.borrow().len();
    for _ in 0..fetches {
        let Some((req, message)) = postponed.take_fetch(|_| true) else {
            break;
        };
        match message {
            Waiting::Rts(message) => receiver::fetch(worker, req, &message),
            Waiting::Own(message) => own::fetch(worker, req, message),
        }
        done += 1;
    }
    done
}

/// An endpoint ends: fetches of its messages end with a status, which the senders hear too, if they can be reached.
pub fn abort(ep: &Ep, status: Status) {
    let of_peer = |message: &Waiting| ep.is_paired_with(message.sender().ep);
    let worker = ep.worker();
    while let Some((req, message)) = worker.proto().postponed.take_fetch(of_peer) {
        receiver::send_ack(worker, message.sender(), Err(status));
        Op::abort(req, status);
    }
}
