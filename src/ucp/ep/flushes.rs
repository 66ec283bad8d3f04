//! What an endpoint waits for: requests that the peer answers, flushes that wait for them, and flushes of its transport
//! endpoints.
#![forbid(unsafe_code)]

use super::{Ep, Handle, Pin, TransportFlush};
use crate::ucp::op::Op;
use crate::ucp::request::Req;
use crate::ucs::Result;
use std::rc::Rc;

impl Ep {
    /// A transport flush has begun.
    pub fn add_transport_flush(&self, flush: Rc<TransportFlush>) {
        self.transport_flushes.borrow_mut().push(flush);
    }

    /// The transports have completed a flush: takes it off the list.
    pub(super) fn take_transport_flush(
        &self,
        flush: *const TransportFlush,
    ) -> Option<Rc<TransportFlush>> {
        let mut all = self.transport_flushes.borrow_mut();
        let at = all.iter().position(|one| Rc::as_ptr(one) == flush)?;
        Some(all.swap_remove(at))
    }

    /// Whether the transport has accepted puts that are not confirmed.
    pub(super) fn has_unconfirmed_writes(&self) -> bool {
        let transport_flushes = self.transport_flushes.borrow();
        self.wrote.get()
            || self.unfenced.get()
            || transport_flushes.iter().any(|l| l.confirms_writes())
    }

    /// Whether the transports still have a flush.
    pub(super) fn has_transport_flushes(&self) -> bool {
        !self.transport_flushes.borrow().is_empty()
    }

    /// Detaches the request from a transport flush in progress.
    pub(super) fn detach_transport_flush(&self) -> Option<Req> {
        let all = self.transport_flushes.borrow();
        all.iter().find_map(|l| l.detach())
    }

    /// Whether a flush waits for outstanding requests or for the transport.
    pub fn has_flushes(&self) -> bool {
        let transport_flushes = self.transport_flushes.borrow();
        !self.flushes.borrow().is_empty() || transport_flushes.iter().any(|l| l.is_attached())
    }

    /// Adds a request that waits for the peer. It fails with the endpoint.
    pub fn add_outstanding(&self, req: Req) {
        self.outstanding.add(req);
    }

    /// The peer has replied: completes a request, then flushes that waited for it.
    pub fn complete_outstanding(&self, req: Req, result: Result<()>) {
        let _pin = Pin::new(self);
        self.remove_outstanding(req);
        req.complete(result);
        self.recheck_flushes();
    }

    /// Removes a request that does not wait for the peer any more.
    pub fn remove_outstanding(&self, req: Req) {
        self.outstanding.remove(req);
    }

    /// Completes flushes that wait for nothing any more, and destroys a lingering endpoint.
    #[inline]
    pub fn recheck_flushes(&self) {
        if self.flushes.borrow().is_empty() && self.handle.get() != Handle::Lingering {
            return;
        }
        // No flush completes while a request is outstanding.
        if !self.has_nothing_to_flush() {
            return;
        }
        let _pin = Pin::new(self);
        // A close that is posted in a callback of one waits for the others.
        let mut ended = true;
        while core::mem::take(&mut ended) {
            let count = self.flushes.borrow().len();
            for _ in 0..count {
                // One at a time: the callback of each may close this endpoint.
                let next = self.flushes.borrow_mut().pop_front();
                let Some(req) = next else { break };
                ended |= Op::try_finish(self, req);
            }
        }
        self.destroy_if_idle();
    }

    /// Whether no request waits for the peer.
    pub fn has_no_outstanding(&self) -> bool {
        self.outstanding.is_empty()
    }

    /// Whether no access to the peer's memory is outstanding.
    pub(super) fn has_no_outstanding_accesses(&self) -> bool {
        !self.outstanding.has_accesses()
    }

    /// Whether no outstanding request holds up a flush.
    pub fn has_nothing_to_flush(&self) -> bool {
        !self.outstanding.holds_flushes()
    }

    /// Whether accesses by messages are in flight, which a direct access would overtake.
    pub fn has_accesses_under_way(&self) -> bool {
        self.unfenced.get() || self.has_queue() || !self.has_no_outstanding_accesses()
    }

    /// Adds a flush that completes when no outstanding request holds it up.
    pub fn add_flush(&self, req: Req) {
        let mut all = self.flushes.borrow_mut();
        // The close, of which there is at most one, stays last.
        let close_waits = all.back().is_some_and(|r| r.with_op(|op| op.is_close()));
        let place = all.len() - usize::from(close_waits);
        all.insert(place, req);
    }
}
