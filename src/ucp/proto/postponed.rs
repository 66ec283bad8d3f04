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

use super::rndv::receiver;
use crate::ucp::ep::Ep;
use crate::ucp::op::Op;
use crate::ucp::request::Req;
use crate::ucp::rts::{OwnSend, Rts};
use crate::ucp::worker_core::Core;
use crate::ucs::{Result, Status};
use crate::wire::id::RequestName;
use core::cell::RefCell;
use std::collections::VecDeque;

/// How an operation goes on.
pub enum NextStep {
    /// Its message is to be fetched.
    Fetch(Rts),
    /// The same of a message of the worker to itself.
    FetchOwn(OwnSend),
    /// It is over, with this result.
    Complete(Result<()>),
}

impl NextStep {
    fn run(self, worker: &Core, req: Req) {
        match self {
            NextStep::Fetch(message) => receiver::fetch(worker, req, &message),
            NextStep::FetchOwn(message) => receiver::fetch_own(worker, req, message),
            NextStep::Complete(result) => req.complete(result),
        }
    }

    /// The sender of the message that is to be fetched.
    fn sender(&self) -> Option<RequestName> {
        match self {
            NextStep::Fetch(message) => Some(message.sender),
            NextStep::FetchOwn(message) => Some(message.sender),
            NextStep::Complete(_) => None,
        }
    }
}

/// Operations that wait for progress, in order.
#[derive(Default)]
pub struct Postponed {
    queue: RefCell<VecDeque<(Req, NextStep)>>,
}

impl Postponed {
    /// Takes the first one that is asked for off the queue.
    fn take(&self, asked: impl Fn(&(Req, NextStep)) -> bool) -> Option<(Req, NextStep)> {
        let mut queue = self.queue.borrow_mut();
        let at = queue.iter().position(asked)?;
        queue.remove(at)
    }

    /// The worker ends.
    pub fn end_all(&self) {
        while let Some((req, next)) = self.take(|_| true) {
            let result = match next {
                NextStep::Fetch(_) | NextStep::FetchOwn(_) => Err(Status::CANCELED),
                NextStep::Complete(result) => result,
            };
            req.complete(result);
        }
    }
}

/// Has progress go on with the operation.
pub fn postpone(worker: &Core, req: Req, next: NextStep) {
    let postponed = &worker.proto().postponed;
    postponed.queue.borrow_mut().push_back((req, next));
    worker.rounds.wait_for_progress();
    worker.wakeup.poke_sleepers();
}

/// Goes on with the operations that are there at its start. Returns how many.
pub fn run(worker: &Core) -> u32 {
    let postponed = &worker.proto().postponed;
    let here = postponed.queue.borrow().len();
    let mut done = 0;
    while done < here {
        let first = postponed.queue.borrow_mut().pop_front();
        let Some((req, next)) = first else { break };
        next.run(worker, req);
        done += 1;
    }
    done as u32
}

/// An endpoint ends: fetches of its messages end with a status, which the senders hear too, if they can be reached.
pub fn abort(ep: &Ep, status: Status) {
    let of_peer = |(_, next): &(Req, NextStep)| {
        next.sender()
            .is_some_and(|sender| ep.is_paired_with(sender.ep))
    };
    while let Some((req, next)) = ep.worker().proto().postponed.take(of_peer) {
        if let Some(sender) = next.sender() {
            receiver::send_ack(ep.worker(), sender, Err(status));
        }
        Op::abort(req, status);
    }
}
