//! Copies between a user's buffer and a peer's memory that a transport makes by itself (cma, puts of
//! tcp). The completion stands in the request; while a transport has it, nobody else may end the
//! request (`Request::is_with_transport`).

use crate::c::*;
use crate::ucp::dt::Data;
use crate::ucp::ep::{Ep, TransportLane};
use crate::ucp::proto::op::{Op, Stage};
use crate::ucp::proto::rndv;
use crate::ucp::request::{Held, Request};
use crate::ucp::rma;
use crate::ucs::{Result, Status};
use crate::wire::header::AmId;
use core::ffi::c_int;

/// Which way the bytes go: into the peer's memory or out of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Put,
    Get,
}

/// What is moved: `len` bytes at `local`, from or to `remote` behind `rkey`.
#[derive(Clone, Copy)]
pub struct Piece {
    pub local: *mut u8,
    pub len: usize,
    pub remote: u64,
    pub rkey: uct_rkey_t,
}

/// Begins to move a piece, `step` bytes at a time at most. Its end, now or later, is told to the operation in the request. An error
/// means that nothing was begun; `NO_RESOURCE` that it is worth another try.
pub fn begin(
    req: &Request,
    lane: TransportLane,
    way: Way,
    piece: Piece,
    step: usize,
) -> Result<()> {
    // SAFETY: a live transport endpoint.
    let ops = unsafe { &(*(*lane.ep).iface).ops };
    let cap = &req.worker().ifaces[lane.iface].attr.cap;
    let (op, limit) = match way {
        Way::Put => (ops.ep_put_zcopy, cap.put.max_zcopy),
        Way::Get => (ops.ep_get_zcopy, cap.get.max_zcopy),
    };
    let op = op.filter(|_| limit > 0).ok_or(Status::UNSUPPORTED)?;
    let comp = fresh_completion(req);
    let mut done = 0;
    while done < piece.len {
        let length = (piece.len - done).min(limit).min(step);
        let iov = block(piece.local.wrapping_add(done), length);
        let remote = piece.remote.wrapping_add(done as u64);
        count(comp, 1);
        // SAFETY: a live transport endpoint; the user's buffer and the request's completion stay
        // until the end is told.
        let code = unsafe { op(lane.ep, &iov, 1, remote, piece.rkey, comp) };
        match code {
            UCS_INPROGRESS => {}
            UCS_OK => count(comp, -1),
            code => {
                count(comp, -1);
                let e = Status::from_code(code).unwrap_or(Status::IO_ERROR);
                if done == 0 {
                    return Err(e);
                }
                // SAFETY: the request's own completion.
                unsafe { (*comp).status = e.code() };
                break;
            }
        }
        done += length;
    }
    // Where no key is needed the kernel does it.
    let held = match piece.rkey {
        0 => Held::ByKernel,
        _ => Held::ByTransport,
    };
    posted(req, held);
    Ok(())
}

/// Sends a whole message: `header`, and the bytes of a contiguous buffer behind it. `NO_RESOURCE` when
/// it has to be tried again. The end is told as that of `begin`.
pub fn send(req: &Request, ep: &Ep, id: AmId, header: &[u8], data: &Data) -> Result<()> {
    let lane = ep.lane();
    let (Some(op), Some(at)) = (lane.am_zcopy, data.contiguous()) else {
        return Err(Status::UNSUPPORTED);
    };
    let iov = block(at, data.len());
    let comp = fresh_completion(req);
    count(comp, 1);
    let length = header.len() as u32;
    // SAFETY: a live transport endpoint, which copies the header; the user's buffer and the request's
    // completion stay until the end is told.
    let code = unsafe {
        op(
            lane.ep,
            id as u8,
            header.as_ptr().cast(),
            length,
            &iov,
            1,
            0,
            comp,
        )
    };
    if code != UCS_INPROGRESS {
        count(comp, -1);
    }
    if let Some(e) = Status::from_code(code) {
        return Err(e);
    }
    posted(req, Held::ByTransport);
    Ok(())
}

/// One block of memory as transports take it.
fn block(at: *mut u8, length: usize) -> uct_iov_t {
    uct_iov_t {
        buffer: at.cast(),
        length,
        memh: core::ptr::null_mut(),
        stride: 0,
        count: 1,
    }
}

/// The request's completion, with one counted that `posted` takes off: the end comes once.
fn fresh_completion(req: &Request) -> *mut uct_completion_t {
    let comp = req.completion();
    // SAFETY: the request's own completion, in nobody's hands.
    unsafe {
        comp.write(uct_completion_t {
            func: Some(over),
            count: 1,
            status: UCS_OK,
        })
    };
    comp
}

/// Everything was given to the transport, and perhaps is done.
fn posted(req: &Request, held: Held) {
    let comp = req.completion();
    req.hand_to_transport(held);
    count(comp, -1);
    // SAFETY: the request's own completion.
    if unsafe { (*comp).count } == 0 {
        // SAFETY: as above; no transport has it.
        unsafe { over(comp) };
    }
}

fn count(comp: *mut uct_completion_t, by: c_int) {
    // SAFETY: a completion of a request that is not over.
    unsafe { (*comp).count += by };
}

/// Everything has moved, or the transport gave up.
unsafe extern "C" fn over(comp: *mut uct_completion_t) {
    // SAFETY: the completion of a request that is alive until its end is told here.
    let (req, status) = unsafe { (Request::of_completion(comp), (*comp).status) };
    req.back_from_transport();
    let result = Status::from_code(status).map_or(Ok(()), Err);
    // SAFETY: the only borrow, ended before the operation goes on.
    match unsafe { req.op() } {
        Op::TagRecv(_) | Op::DataRecv(_) => rndv::read(req, result),
        Op::Send(send) if send.stage == Stage::WholeInPlace => req.complete(result),
        Op::Send(_) => rndv::written(req, result),
        Op::Put(_) | Op::Get(_) => rma::post::moved(req, result),
        _ => {}
    }
}
