//! One request for several operations. It completes with the last of them, with the first error.
//!
//! The poster counts as one part until it has posted everything, so the composite cannot complete earlier. Each part
//! has a request of its own, whose callback reports its completion and releases it.
#![forbid(unsafe_code)]

use super::op::{CompositeOp, Op, Operation};
use super::request::{Callback, Param, Posted, Req, Request, settle};
use super::worker_core::Core;
use crate::c::*;
use crate::ucs::{Result, Status};

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
            callback: Callback::Part(on_part_done, self.0),
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
fn on_part_done(part: &Request, status: ucs_status_t, whole: Req) {
    part.release();
    part_done(whole, Status::from_code(status).map_or(Ok(()), Err));
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
