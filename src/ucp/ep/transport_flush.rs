//! A flush of the transport endpoints of an endpoint that has not completed.

use super::Ep;
use crate::c::*;
use crate::ucp::request::Req;
use core::cell::{Cell, UnsafeCell};
use core::ptr::NonNull;

/// A transport flush in progress. It lives until the transport completes it, possibly after its request has failed with
/// the endpoint.
#[repr(C)]
pub struct TransportFlush {
    pub comp: UnsafeCell<uct_completion_t>,
    pub ep: *const Ep,
    /// The flush that waits; `None` once it has completed, and if only the end of the endpoint waits.
    req: Cell<Option<Req>>,
    /// It confirms puts.
    writes: bool,
}

impl TransportFlush {
    /// `done` is called when the transports have completed it.
    pub fn new(
        ep: &Ep,
        req: Option<Req>,
        writes: bool,
        done: unsafe extern "C" fn(*mut uct_completion_t),
    ) -> NonNull<TransportFlush> {
        let made = Box::new(TransportFlush {
            comp: UnsafeCell::new(uct_completion_t {
                func: Some(done),
                count: 0,
                status: UCS_OK,
            }),
            ep,
            req: Cell::new(req),
            writes,
        });
        NonNull::from(Box::leak(made))
    }

    /// Flushes a transport endpoint. Returns the transport's status.
    ///
    /// # Safety
    /// `ep` must be live.
    pub unsafe fn begin(&self, ep: uct_ep_h, flags: u32) -> ucs_status_t {
        let comp = self.comp.get();
        let count = |by| {
            // SAFETY: the completion is ours, and lives until all transports are done with it.
            unsafe { (*comp).count += by }
        };
        count(1);
        // SAFETY: by the caller's promise.
        let code = unsafe {
            match (*(*ep).iface).ops.ep_flush {
                Some(ep_flush) => ep_flush(ep, flags, comp),
                None => UCS_OK,
            }
        };
        if code != UCS_INPROGRESS {
            count(-1);
        }
        code
    }

    /// Whether a transport will complete it.
    pub fn has_begun(&self) -> bool {
        // SAFETY: the completion is ours.
        unsafe { (*self.comp.get()).count > 0 }
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

    /// # Safety
    /// `this` must be of `new`, freed once, and not with the transport.
    pub unsafe fn free(this: NonNull<TransportFlush>) {
        // SAFETY: by the caller's promise.
        drop(unsafe { Box::from_raw(this.as_ptr()) });
    }
}
