//! Rendezvous messages that are fetched into memory of the library's own.

use super::rndv::receiver;
use crate::c::*;
use crate::ucp::buffers::zeroed;
use crate::ucp::dt::Data;
use crate::ucp::op::{Arriving, DataRecvOp, Op};
use crate::ucp::request::{Callback, Param, Request, settle};
use crate::ucp::rts::Rts;
use crate::ucp::worker_core::{Core, WorkerRef};
use crate::ucs::{Result, Status};
use crate::ucs_error;
use core::ffi::c_void;

/// Called with the result.
type Then = Box<dyn FnOnce(&Core, Result<Vec<u8>>)>;

/// A fetch in progress.
struct Job {
    worker: WorkerRef,
    bytes: Vec<u8>,
    then: Then,
}

/// Fetches a message; `then` is called once, now or later.
pub fn begin(worker: &Core, message: &Rts, then: impl FnOnce(&Core, Result<Vec<u8>>) + 'static) {
    let Some(mut bytes) = zeroed(message.total) else {
        ucs_error!("no memory for a message of {} bytes", message.total);
        receiver::send_ack(worker, message.sender, Err(Status::NO_MEMORY));
        then(worker, Err(Status::NO_MEMORY));
        return;
    };
    let target = Data::contig(bytes.as_mut_ptr(), bytes.len());
    let job = Box::into_raw(Box::new(Job {
        worker: worker.to_ref(),
        bytes,
        then: Box::new(then),
    }));
    let param = Param {
        // The callback is the only one to learn the end.
        mask: UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
        callback: Callback::Recv(ended, job.cast()),
        ..Param::PLAIN
    };
    let op = Op::DataRecv(DataRecvOp {
        data: target,
        arriving: Arriving {
            own: true,
            ..Arriving::default()
        },
    });
    match Request::create(worker, &param, op) {
        Ok(req) => {
            receiver::fetch(worker, req, message);
            if settle(req, &param).is_ok() {
                // Still ours: the callback does not give it back.
                req.release();
            }
        }
        Err(e) => {
            // SAFETY: made above; nobody else has it.
            let job = unsafe { Box::from_raw(job) };
            receiver::send_ack(worker, message.sender, Err(e));
            (job.then)(worker, Err(e));
        }
    }
}

/// The fetch has completed.
unsafe extern "C" fn ended(
    _request: *mut c_void,
    status: ucs_status_t,
    _length: usize,
    job: *mut c_void,
) {
    // SAFETY: boxed by `begin` for this one call.
    let job = unsafe { Box::from_raw(job.cast::<Job>()) };
    let result = Status::from_code(status).map_or(Ok(job.bytes), Err);
    (job.then)(&job.worker, result);
}
