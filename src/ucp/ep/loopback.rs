//! Loopback delivery: endpoints of a worker to itself, of which one sends at a time.
//!
//! The receiver runs inside the send, and a message handler may reply by the paired endpoint. If that is another endpoint
//! (between client and server in one process), the reply would be sent in the middle of the first send. So the reply stays
//! in the endpoint's queue until the first send has returned, as it does if the endpoint is paired with itself.
#![forbid(unsafe_code)]

use crate::ucp::worker_core::Core;
use core::cell::{Cell, RefCell};
use std::collections::{BTreeSet, VecDeque};

/// State of a worker's loopback endpoints.
#[derive(Default)]
pub struct Loopback {
    /// A task is being delivered.
    busy: Cell<bool>,
    /// `release` is running.
    releasing: Cell<bool>,
    /// Ids of endpoints whose queues are deferred.
    deferred: RefCell<VecDeque<u64>>,
    /// The same ids.
    known: RefCell<BTreeSet<u64>>,
}

impl Loopback {
    /// Calls `send`, and defers the queues of other endpoints meanwhile.
    pub fn deliver<R>(&self, send: impl FnOnce() -> R) -> R {
        self.busy.set(true);
        let result = send();
        self.busy.set(false);
        result
    }

    /// Whether a task is being delivered.
    #[inline]
    pub fn is_busy(&self) -> bool {
        self.busy.get()
    }

    /// Whether the queue of an endpoint is deferred until `release`.
    pub fn defers(&self, ep: u64) -> bool {
        let busy = self.busy.get();
        if busy && self.known.borrow_mut().insert(ep) {
            self.deferred.borrow_mut().push_back(ep);
        }
        busy
    }

    /// Sends the deferred queues, including those that are deferred meanwhile.
    #[inline]
    pub fn release(worker: &Core) {
        if !worker.endpoints().loopback.deferred.borrow().is_empty() {
            Loopback::release_all(worker);
        }
    }

    #[inline(never)]
    fn release_all(worker: &Core) {
        let loopback = &worker.endpoints().loopback;
        if loopback.releasing.replace(true) {
            return;
        }
        loop {
            let next = loopback.deferred.borrow_mut().pop_front();
            let Some(id) = next else { break };
            loopback.known.borrow_mut().remove(&id);
            if let Some(ep) = worker.ep(id) {
                ep.send_queued();
            }
        }
        loopback.releasing.set(false);
    }
}
