//! One request for several operations. It completes with the last of them, with the first error.
//!
//! The poster counts as one part until it has posted everything, so the composite cannot complete earlier. Each part
//! has a request of its own, whose callback reports its completion and releases it.

use super::op::{CompositeOp, Op, Operation};
use super::request::{Callback, Param, Posted, Req, Request, settle};
use super::worker_core::Core;
use crate::c::*;
use crate::ucs::{Result, Status};
use core::ffi::c_void;

impl Operation for CompositeOp {}

/// A composite request whose parts are being posted.
pub struct CompositeRequest(Req);

impl CompositeRequest {
    /// Makes the request that `param` describes.
    pub fn begin(w: &Core, param: &Param) -> Result<CompositeRequest> {
        let op = Op::Composite(CompositeOp {
            pending: 1,
            error: None,
        });
        Request::create(w, param, op).map(CompositeRequest)
    }

    /// Posts a part, with the parameters that `f` gets.
    pub fn post_part(&self, f: impl FnOnce(&Param) -> Result<Posted>) {
        // The poster counts as a part, so it is not complete.
        let whole = self.0;
        whole.with_op(|op| {
            if let Op::Composite(op) = op {
                op.pending += 1;
            }
        });
        let each = Param {
            callback: Callback::Send(on_part_done, self.0.user()),
            ..Param::PLAIN
        };
        match f(&each) {
            Ok(Posted::Request(_)) => {}
            Ok(Posted::Done) => part_done(whole, Ok(())),
            Err(e) => part_done(whole, Err(e)),
        }
    }

    /// Ends the posting. The result is that of the whole.
    pub fn finish_posting(self, param: &Param) -> Result<Posted> {
        part_done(self.0, Ok(()));
        settle(self.0, param)
    }
}

/// Completion of a part that has a request of its own.
unsafe extern "C" fn on_part_done(part: *mut c_void, status: ucs_status_t, whole: *mut c_void) {
    // SAFETY: the part is complete and nobody else's; the whole is alive until its last part.
    unsafe {
        Req::from_user(part).release();
        let result = Status::from_code(status).map_or(Ok(()), Err);
        part_done(Req::from_user(whole), result);
    }
}

fn part_done(whole: Req, result: Result<()>) {
    let end = whole.with_op(|op| {
        let Op::Composite(op) = op else { return None };
        op.pending -= 1;
        op.error = op.error.or(result.err());
        (op.pending == 0).then(|| op.error.map_or(Ok(()), Err))
    });
    if let Some(result) = end {
        whole.complete(result);
    }
}
