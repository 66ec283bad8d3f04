//! One request for several operations: over when the last of them is, with the first error.
//!
//! Whoever posts holds a part itself until everything is posted, so that the request cannot end
//! meanwhile. Parts tell their end by the callback of a request of their own, which is given back
//! there.

use super::proto::op::Op;
use super::request::{Callback, Param, Posted, Request, settle};
use super::worker::Worker;
use crate::c::*;
use crate::ucs::{Result, Status};
use core::ffi::c_void;
use core::ptr::NonNull;

/// What is still to come.
pub struct PartsOp {
    left: usize,
    error: Option<Status>,
}

/// Operations being posted under one request.
pub struct Parts(NonNull<Request>);

impl Parts {
    /// Makes the request that `param` describes.
    pub fn begin(w: &Worker, param: &Param) -> Result<Parts> {
        let op = Op::Parts(PartsOp {
            left: 1,
            error: None,
        });
        Request::create(w, param, op).map(Parts)
    }

    /// Posts a part, with the parameters that `f` gets.
    pub fn post(&self, f: impl FnOnce(&Param) -> Result<Posted>) {
        // SAFETY: alive until the last part is over, and one part is the poster's.
        let whole = unsafe { self.0.as_ref() };
        // SAFETY: the only borrow.
        if let Op::Parts(op) = unsafe { whole.op() } {
            op.left += 1;
        }
        let each = Param {
            callback: Callback::Send(part_ended, self.0.as_ptr().cast()),
            ..Param::PLAIN
        };
        match f(&each) {
            Ok(Posted::Request(_)) => {}
            Ok(Posted::Done) => ended(whole, Ok(())),
            Err(e) => ended(whole, Err(e)),
        }
    }

    /// Everything is posted: answers for the whole.
    pub fn posted(self, param: &Param) -> Result<Posted> {
        // SAFETY: alive: the poster's part is not over.
        ended(unsafe { self.0.as_ref() }, Ok(()));
        settle(self.0, param)
    }
}

/// A part with a request of its own is over.
unsafe extern "C" fn part_ended(part: *mut c_void, status: ucs_status_t, whole: *mut c_void) {
    // SAFETY: the part is complete and nobody else's; the whole is alive until its last part.
    unsafe {
        Request::from_user(part).release();
        let result = Status::from_code(status).map_or(Ok(()), Err);
        ended(&*whole.cast::<Request>(), result);
    }
}

fn ended(whole: &Request, result: Result<()>) {
    // SAFETY: the only borrow; it ends before the completion.
    let Op::Parts(op) = (unsafe { whole.op() }) else {
        return;
    };
    op.left -= 1;
    op.error = op.error.or(result.err());
    if op.left == 0 {
        let result = op.error.map_or(Ok(()), Err);
        whole.complete(result);
    }
}
