//! Copies between a user's buffer and a peer's memory that a transport makes by itself (cma, puts of
//! tcp). The completion stands in the request; while a transport has it, nobody else may end the
//! request (`Request::is_with_transport`). What a transport has no room for after the beginning is
//! under way waits at the worker, and progress gives it.

use crate::c::*;
use crate::ucp::dt::Data;
use crate::ucp::ep::{Ep, TransportLane};
use crate::ucp::proto::op::{Op, Stage};
use crate::ucp::proto::rndv;
use crate::ucp::request::{Held, Request};
use crate::ucp::rma;
use crate::ucp::worker::Worker;
use crate::ucs::callbackq::{CallbackId, Repeat};
use crate::ucs::{Result, Status};
use crate::uct::api::{Completion, EpochGuard, Posted};
use crate::uct::base::iface::base_of;
use crate::uct::base::iov::Iov;
use crate::wire::header::AmId;
use core::cell::{Cell, RefCell};
use core::ffi::{c_int, c_uint, c_void};
use core::ptr::NonNull;
use std::collections::VecDeque;

/// Which way the bytes go: into the peer's memory or out of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Put,
    Get,
}

/// What is moved: `len` bytes at `local`, from or to `remote` behind `rkey`. A get with a guard ends with
/// `CANCELED` when the peer may have taken its memory back.
#[derive(Clone, Copy)]
pub struct Piece {
    pub local: *mut u8,
    pub len: usize,
    pub remote: u64,
    pub rkey: uct_rkey_t,
    pub guard: Option<EpochGuard>,
}

impl Piece {
    /// What is left behind the first `done` bytes.
    fn rest(self, done: usize) -> Piece {
        Piece {
            local: self.local.wrapping_add(done),
            len: self.len - done,
            remote: self.remote.wrapping_add(done as u64),
            ..self
        }
    }
}

/// A copy, or what the transport had no room for after its beginning was under way.
#[derive(Clone, Copy)]
struct Moving {
    req: NonNull<Request>,
    lane: TransportLane,
    way: Way,
    piece: Piece,
    step: usize,
}

/// A worker's copies whose rest waits for room, and the progress callback that tries again.
#[derive(Default)]
pub struct Halted {
    copies: RefCell<VecDeque<Moving>>,
    retry: Cell<Option<CallbackId>>,
}

impl Halted {
    pub fn is_empty(&self) -> bool {
        self.copies.borrow().is_empty()
    }
}

/// Begins to move a piece, `step` bytes at a time at most. Its end, now or later, is told to the
/// operation in the request. An error means that nothing was begun; `NO_RESOURCE` that it is worth
/// another try.
pub fn begin(
    req: &Request,
    lane: TransportLane,
    way: Way,
    piece: Piece,
    step: usize,
) -> Result<()> {
    let comp = fresh_completion(req);
    let copy = Moving {
        req: req.as_ptr(),
        lane,
        way,
        piece,
        step,
    };
    let (done, end) = copy.give(comp);
    if done == 0 {
        end?;
    }
    // Where no key is needed the kernel does it.
    let held = match piece.rkey {
        0 => Held::ByKernel,
        _ => Held::ByTransport,
    };
    if end == Err(Status::NO_RESOURCE) {
        // Counted until the rest is given too.
        count(comp, 1);
        halt(req.worker(), copy.behind(done));
    } else {
        note(comp, end);
    }
    // What the transport has not moved yet, it moves in progress.
    req.worker().wakeup.work_came();
    posted(req, held);
    Ok(())
}

impl Moving {
    /// Gives the transport as much as it takes: answers how many bytes, and why not more.
    fn give(&self, comp: *mut uct_completion_t) -> (usize, Result<()>) {
        // SAFETY: a live transport endpoint.
        let ops = unsafe { &(*(*self.lane.ep).iface).ops };
        // SAFETY: a request that is not over.
        let cap = unsafe { &self.req.as_ref().worker().ifaces[self.lane.iface].attr.cap };
        let (op, limit) = match self.way {
            Way::Put => (ops.ep_put_zcopy, cap.put.max_zcopy),
            Way::Get => (ops.ep_get_zcopy, cap.get.max_zcopy),
        };
        let Some(op) = op.filter(|_| limit > 0) else {
            return (0, Err(Status::UNSUPPORTED));
        };
        let Piece {
            len,
            remote,
            rkey,
            guard,
            ..
        } = self.piece;
        let mut done = 0;
        while done < len {
            let length = (len - done).min(limit).min(self.step);
            let iov = block(self.piece.local.wrapping_add(done), length);
            let remote = remote.wrapping_add(done as u64);
            count(comp, 1);
            // SAFETY: a live transport endpoint; the user's buffer and the request's completion stay
            // until the end is told.
            let code = unsafe {
                match guard {
                    None => op(self.lane.ep, &iov, 1, remote, rkey, comp),
                    Some(guard) => get_guarded(self.lane.ep, &iov, remote, rkey, guard, comp),
                }
            };
            if code != UCS_INPROGRESS {
                count(comp, -1);
            }
            if let Some(e) = Status::from_code(code) {
                return (done, Err(e));
            }
            done += length;
        }
        (done, Ok(()))
    }

    fn behind(self, done: usize) -> Moving {
        Moving {
            piece: self.piece.rest(done),
            ..self
        }
    }
}

/// Keeps what is left of a copy until there is room.
fn halt(worker: &Worker, rest: Moving) {
    let halted = &worker.halted;
    halted.copies.borrow_mut().push_back(rest);
    if halted.retry.get().is_none() {
        let arg = core::ptr::from_ref(worker).cast_mut().cast();
        // SAFETY: the worker's thread; removed when nothing waits, at the latest with the endpoints.
        let id = unsafe { worker.queue().add(resume, arg, Repeat::Always) };
        halted.retry.set(id.ok());
    }
}

/// Nothing waits: progress need not ask.
fn rest_if_empty(worker: &Worker) {
    if worker.halted.is_empty()
        && let Some(id) = worker.halted.retry.take()
    {
        // SAFETY: the worker's thread.
        let _ = unsafe { worker.queue().remove(id) };
    }
}

/// Progress: gives the transports more of the copies that wait for room.
unsafe extern "C" fn resume(worker: *mut c_void) -> c_uint {
    // SAFETY: registered by `halt` with the worker, which outlives its callbacks.
    let worker = unsafe { &*worker.cast::<Worker>() };
    let mut moved = 0;
    // Each once; what the end of one runs may take others away.
    let waiting = worker.halted.copies.borrow().len();
    for _ in 0..waiting {
        let Some(copy) = worker.halted.copies.borrow_mut().pop_front() else {
            break;
        };
        // SAFETY: a request that is not over.
        let comp = unsafe { copy.req.as_ref() }.completion();
        let (done, end) = copy.give(comp);
        moved += u32::from(done > 0);
        if end == Err(Status::NO_RESOURCE) {
            let rest = copy.behind(done);
            worker.halted.copies.borrow_mut().push_back(rest);
        } else {
            given(comp, end);
        }
    }
    rest_if_empty(worker);
    moved
}

/// What waits for room on an endpoint ends with `status`.
pub fn give_up(ep: &Ep, status: Status) {
    let worker = ep.worker();
    loop {
        let mut all = worker.halted.copies.borrow_mut();
        let Some(at) = all.iter().position(|copy| ep.has_lane(copy.lane.ep)) else {
            break;
        };
        let copy = all.remove(at);
        drop(all);
        if let Some(copy) = copy {
            // SAFETY: a request that is not over.
            given(unsafe { copy.req.as_ref() }.completion(), Err(status));
        }
    }
    rest_if_empty(worker);
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
    ep.sends_in_place();
    posted(req, Held::ByTransport);
    Ok(())
}

/// Writes a message into memory that its receiver gave for it, and tells it so by the message `id` behind. The end is
/// told as that of `begin`, and the errors are its.
pub fn put_told(
    req: &Request,
    lane: TransportLane,
    piece: Piece,
    id: AmId,
    told: &[u8],
) -> Result<()> {
    let iov = block(piece.local, piece.len);
    let comp = fresh_completion(req);
    count(comp, 1);
    // SAFETY: a live transport endpoint and a live key; the user's buffer and the request's completion stay until
    // the end is told.
    let put = unsafe {
        let put_told = base_of((*lane.ep).iface).internal.put_told;
        Iov::from_c(&iov, 1).and_then(|iov| {
            let (remote, rkey) = (piece.remote, piece.rkey);
            put_told(lane.ep, iov, remote, rkey, id as u8, told, Completion(comp))
        })
    };
    if put != Ok(Posted::InProgress) {
        count(comp, -1);
    }
    put?;
    posted(req, Held::ByTransport);
    Ok(())
}

/// A get that C's op table has no place for.
///
/// # Safety
/// As the op `ep_get_zcopy`.
unsafe fn get_guarded(
    ep: uct_ep_h,
    iov: &uct_iov_t,
    remote: u64,
    rkey: uct_rkey_t,
    guard: EpochGuard,
    comp: *mut uct_completion_t,
) -> ucs_status_t {
    // SAFETY: an endpoint of this library, by the caller's promise.
    let posted = unsafe {
        let get = base_of((*ep).iface).internal.get_guarded;
        Iov::from_c(iov, 1).and_then(|iov| get(ep, iov, remote, rkey, guard, Completion(comp)))
    };
    match posted {
        Ok(Posted::Done) => UCS_OK,
        Ok(Posted::InProgress) => UCS_INPROGRESS,
        Err(e) => e.code(),
    }
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

/// Everything was given to the transport, or waits for room; perhaps it is done.
fn posted(req: &Request, held: Held) {
    req.hand_to_transport(held);
    given(req.completion(), Ok(()));
}

/// No more is given: takes the one off that was counted for that.
fn given(comp: *mut uct_completion_t, end: Result<()>) {
    note(comp, end);
    count(comp, -1);
    // SAFETY: a request's own completion, which is not over.
    if unsafe { (*comp).count } == 0 {
        // SAFETY: as above; no transport has it.
        unsafe { over(comp) };
    }
}

/// Keeps an error for the end.
fn note(comp: *mut uct_completion_t, end: Result<()>) {
    if let Err(e) = end {
        // SAFETY: a request's own completion.
        unsafe { (*comp).status = e.code() };
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
        Op::Send(send) if send.stage == Stage::WholeInPlace => {
            // SAFETY: an endpoint outlives its requests.
            unsafe { (*send.ep).sent_in_place(req, result) };
        }
        Op::Send(_) => rndv::written(req, result),
        Op::Put(_) | Op::Get(_) => rma::post::moved(req, result),
        _ => {}
    }
}
