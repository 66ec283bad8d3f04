//! Endpoints of a worker to itself, of which one sends at a time.
//!
//! What such an endpoint sends is received within the call, by handlers that answer by the endpoint of the other
//! half. Where that is another one (between client and server), the answer would find the task that
//! is being sent half done. So it waits in its queue until the task is over, as it does where both
//! halves are one endpoint. Used by the queue of `ep`.

use crate::ucp::worker::Worker;
use core::cell::{Cell, RefCell};
use std::collections::{BTreeSet, VecDeque};

/// What a worker knows of it.
#[derive(Default)]
pub struct Inward {
    /// A task is being sent.
    busy: Cell<bool>,
    /// Those held back are being released.
    releasing: Cell<bool>,
    /// Ids of endpoints whose queues wait for that.
    held: RefCell<VecDeque<u64>>,
    /// The same ids.
    known: RefCell<BTreeSet<u64>>,
}

impl Inward {
    /// Sends a task: other endpoints do not meanwhile.
    pub fn during<R>(&self, send: impl FnOnce() -> R) -> R {
        self.busy.set(true);
        let result = send();
        self.busy.set(false);
        result
    }

    /// Whether the queue of the endpoint has to wait; it is released then.
    pub fn holds_back(&self, ep: u64) -> bool {
        let busy = self.busy.get();
        if busy && self.known.borrow_mut().insert(ep) {
            self.held.borrow_mut().push_back(ep);
        }
        busy
    }

    /// Lets those go on that were held back, also by each other.
    pub fn release(worker: &Worker) {
        let inward = &worker.inward;
        if inward.releasing.replace(true) {
            return;
        }
        loop {
            let next = inward.held.borrow_mut().pop_front();
            let Some(id) = next else { break };
            inward.known.borrow_mut().remove(&id);
            if let Some(ep) = worker.ep(id) {
                ep.send_queued();
            }
        }
        inward.releasing.set(false);
    }
}
