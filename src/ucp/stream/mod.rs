//! Streams: bytes in order between two endpoints.
//!
//! `send`: sends. `recv`: receives. Bytes that no receive has taken are in the endpoint's `Inbox`, or still in the
//! sender's memory (`rndv`); the worker lists the endpoints whose inboxes the application has not polled yet.

pub mod recv;
pub mod rndv;
pub mod send;

use super::ep::Ep;
use super::unexpected;
use super::worker_core::{Core, FloorState};
use core::cell::{Cell, RefCell};
use std::collections::VecDeque;

/// The endpoints of a worker whose streams have something new.
pub struct StreamState {
    ready: RefCell<VecDeque<u64>>,
    /// Number of stale ids.
    gone: Cell<usize>,
    /// Whether the application has received without a copy.
    lends: Cell<bool>,
    /// Endpoints whose remote chunks the next progress copies.
    to_fetch: rndv::ToFetch,
}

impl Core {
    #[inline(always)]
    pub fn stream(&self) -> &StreamState {
        StreamState::of(self)
    }
}

impl StreamState {
    #[allow(clippy::new_without_default)]
    pub fn new() -> StreamState {
        StreamState {
            ready: RefCell::new(VecDeque::new()),
            gone: Cell::new(0),
            lends: Cell::new(false),
            to_fetch: rndv::ToFetch::default(),
        }
    }

    /// Whether something waits for the next progress.
    pub fn wants_progress(&self) -> bool {
        !self.to_fetch.is_empty()
    }

    /// Bytes stand in an endpoint's inbox: lists it, once the application has it.
    #[inline(always)]
    pub fn list(&self, ep: &Ep) {
        if !ep.stream.listed.get() {
            self.list_newly(ep);
        }
    }

    #[inline(never)]
    fn list_newly(&self, ep: &Ep) {
        if ep.stream.has_something() && ep.has_callbacks() {
            ep.stream.listed.set(true);
            self.ready.borrow_mut().push_back(ep.id.get());
        }
    }

    /// Forgets an endpoint. Its id stays in the list until half of the ids are stale.
    pub fn forget(&self, ep: &Ep) {
        if !ep.stream.listed.replace(false) {
            return;
        }
        let mut ready = self.ready.borrow_mut();
        self.gone.set(self.gone.get() + 1);
        if self.gone.get() > ready.len() / 2 {
            let worker = ep.worker();
            ready.retain(|id| worker.ep(*id).is_some_and(|ep| ep.stream.listed.get()));
            self.gone.set(0);
        }
    }

    /// Removes and returns the next listed endpoint; it is listed again when more bytes come. Skips endpoints whose
    /// bytes were taken meanwhile.
    pub fn next<'a>(&self, worker: &'a Core) -> Option<&'a Ep> {
        loop {
            let Some(id) = self.ready.borrow_mut().pop_front() else {
                unexpected::resume_if_paused(worker);
                return None;
            };
            match worker.ep(id) {
                Some(ep) if ep.stream.listed.replace(false) => {
                    if ep.stream.has_something() {
                        return Some(ep);
                    }
                }
                _ => self.gone.set(self.gone.get() - 1),
            }
        }
    }
}
