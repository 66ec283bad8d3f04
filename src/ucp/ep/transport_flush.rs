//! A flush of the transport endpoints of an endpoint that has not completed.

use super::{Ep, EpRef, Lane};
use crate::c::*;
use crate::ucp::request::Req;
use core::cell::{Cell, UnsafeCell};
use std::rc::Rc;

/// Called with the status when the transports have completed a flush, and with its request unless that has completed
/// already. The flush is off the endpoint's list.
pub type OnFlushed = fn(&Ep, Option<Req>, ucs_status_t);

/// A transport flush in progress. It lives until the transport completes it, possibly after its request has failed with
/// the endpoint, which keeps it in a list.
#[repr(C)]
pub struct TransportFlush {
    comp: UnsafeCell<uct_completion_t>,
    ep: EpRef,
    /// The flush that waits; `None` once it has completed, and if only the end of the endpoint waits.
    req: Cell<Option<Req>>,
    /// It confirms puts.
    writes: bool,
    done: OnFlushed,
}

impl TransportFlush {
    pub fn new(ep: &Ep, req: Option<Req>, writes: bool, done: OnFlushed) -> Rc<TransportFlush> {
        Rc::new(TransportFlush {
            comp: UnsafeCell::new(uct_completion_t {
                func: Some(on_transport_done),
                count: 0,
                status: UCS_OK,
            }),
            ep: ep.to_ref(),
            req: Cell::new(req),
            writes,
            done,
        })
    }

    /// Lends the completion to `f`, which calls no transport.
    fn with_completion<R>(&self, f: impl FnOnce(&mut uct_completion_t) -> R) -> R {
        // SAFETY: the transports use it in their calls and in progress only, on this thread.
        f(unsafe { &mut *self.comp.get() })
    }

    /// Flushes a lane of the endpoint, which then has to keep the flush in its list. Returns the transport's status. The
    /// transports call back later, not from inside.
    pub fn begin(&self, lane: Lane, flags: u32) -> ucs_status_t {
        self.with_completion(|comp| comp.count += 1);
        let code = flush(lane, flags, self.comp.get());
        if code != UCS_INPROGRESS {
            self.with_completion(|comp| comp.count -= 1);
        }
        code
    }

    /// A lane could not be flushed: the whole flush has failed.
    pub fn fail(&self, status: ucs_status_t) {
        self.with_completion(|comp| comp.status = status);
    }

    /// Whether a transport will complete it.
    pub fn has_begun(&self) -> bool {
        self.with_completion(|comp| comp.count > 0)
    }

    /// Detaches the request, which completes without the transport.
    pub fn detach(&self) -> Option<Req> {
        self.req.take()
    }

    pub fn is_attached(&self) -> bool {
        self.req.get().is_some()
    }

    pub fn confirms_writes(&self) -> bool {
        self.writes
    }
}

/// Whether the transport has completed everything on a lane already, as far as this side sees.
pub fn is_flushed(lane: Lane) -> bool {
    flush(lane, UCT_FLUSH_FLAG_LOCAL, core::ptr::null_mut()) == UCS_OK
}

/// `comp`: null, or the completion of a `TransportFlush`.
fn flush(lane: Lane, flags: u32, comp: *mut uct_completion_t) -> ucs_status_t {
    // SAFETY: a lane lives as long as its endpoint; the completion until all transports are done with it.
    unsafe {
        match (*(*lane.ep).iface).ops.ep_flush {
            Some(ep_flush) => ep_flush(lane.ep, flags, comp),
            None => UCS_OK,
        }
    }
}

/// The transports have completed a flush, or failed to.
unsafe extern "C" fn on_transport_done(comp: *mut uct_completion_t) {
    let at = comp.cast::<TransportFlush>().cast_const();
    // SAFETY: the completion stands at the head of its `TransportFlush`, which the endpoint has in its list until now.
    let ep = unsafe { (*at).ep };
    let Some(flush) = ep.take_transport_flush(at) else {
        return;
    };
    let status = flush.with_completion(|comp| comp.status);
    (flush.done)(&ep, flush.detach(), status);
}
