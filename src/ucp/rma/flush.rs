//! Flushing and closing: done when everything posted before is out, landed, and answered.
//!
//! A flush takes its place in the endpoint's queue. At the head, everything before it was handed to
//! the transport; then the transport is flushed, then the answers of the peer are awaited.

use crate::c::*;
use crate::ucp::composite::CompositeRequest;
use crate::ucp::ep::{End, Ep, Pin, Step, Task};
use crate::ucp::proto::control;
use crate::ucp::proto::op::{FlushOp, Op};
use crate::ucp::request::{Info, Param, Posted, Request, immediate, must_be_immediate, settle};
use crate::ucp::worker::Worker;
use crate::ucs::{Result, Status};
use crate::wire::header::{AmId, FenceHdr};
use core::cell::{Cell, UnsafeCell};
use core::ptr::NonNull;

/// A transport's flush on its way. It lives until the transport is done with it, which may be after its
/// request has ended with the endpoint.
#[repr(C)]
pub struct Landing {
    comp: UnsafeCell<uct_completion_t>,
    ep: *const Ep,
    /// Who waits; nobody once the request has ended.
    req: Cell<Option<NonNull<Request>>>,
    /// It confirms writes.
    writes: bool,
}

impl Landing {
    fn new(ep: &Ep, req: &Request, writes: bool) -> NonNull<Landing> {
        let made = Box::new(Landing {
            comp: UnsafeCell::new(uct_completion_t {
                func: Some(landed),
                count: 1,
                status: UCS_OK,
            }),
            ep,
            req: Cell::new(Some(req.as_ptr())),
            writes,
        });
        NonNull::from(Box::leak(made))
    }

    /// Takes the request off: it ends without the transport's word.
    pub fn recall(&self) -> Option<NonNull<Request>> {
        self.req.take()
    }

    pub fn is_awaited(&self) -> bool {
        self.req.get().is_some()
    }

    pub fn confirms_writes(&self) -> bool {
        self.writes
    }

    /// # Safety
    /// `this` must be of `new`, freed once, and not with the transport.
    unsafe fn free(this: NonNull<Landing>) {
        // SAFETY: by the caller's promise.
        drop(unsafe { Box::from_raw(this.as_ptr()) });
    }
}

/// Flushes one endpoint.
pub fn endpoint(ep: &Ep, param: &Param) -> Result<Posted> {
    if let Err(e) = ep.usable() {
        ep.flushed_with(Err(e))?;
        return immediate(ep.worker(), param, Info::default());
    }
    begin(ep, param, false)
}

/// Flushes an endpoint, then destroys it.
pub fn close(ep: &Ep, param: &Param) -> Result<Posted> {
    must_be_immediate(param)?;
    ep.give_up();
    begin(ep, param, true)
}

/// Whether a request is a close.
pub fn is_close(req: &Request) -> bool {
    // SAFETY: the only borrow.
    matches!(unsafe { req.op() }, Op::Flush(op) if op.close)
}

fn begin(ep: &Ep, param: &Param, close: bool) -> Result<Posted> {
    must_be_immediate(param)?;
    let op = Op::Flush(FlushOp {
        ep,
        close,
        fenced: None,
    });
    let worker: *const Worker = ep.worker();
    // SAFETY: a worker outlives its endpoints.
    let req = Request::create(unsafe { &*worker }, param, op)?;
    ep.post(Task::Request(req));
    settle(req, param)
}

/// The flush has come to the head of its endpoint's queue: everything before it is out.
pub fn step(ep: &Ep, req: &Request) -> Result<Step> {
    let writes = ep.wrote.replace(false);
    let flags = if writes {
        UCT_FLUSH_FLAG_REMOTE
    } else {
        UCT_FLUSH_FLAG_LOCAL
    };
    let landing = Landing::new(ep, req, writes);
    // SAFETY: a live transport endpoint; the completion lives until the transport is done with it. The
    // transport calls back later, not from inside.
    let code = unsafe {
        match (*(*ep.lane().ep).iface).ops.ep_flush {
            Some(flush) => flush(ep.lane().ep, flags, landing.as_ref().comp.get()),
            None => UCS_OK,
        }
    };
    if code == UCS_INPROGRESS {
        ep.keep_landing(landing);
        return Ok(Step::Done);
    }
    // SAFETY: made above; the transport does not have it.
    unsafe { Landing::free(landing) };
    let Some(e) = Status::from_code(code) else {
        out(ep, req);
        return Ok(Step::Done);
    };
    if writes {
        ep.wrote.set(true);
    }
    if e == Status::NO_RESOURCE || !ep.is_usable() {
        return Err(e);
    }
    // The transport's error handler is about to say the same of the endpoint, behind the peer's last messages; the
    // application's is called before the flush ends.
    if ep.handles_errors()
        // SAFETY: the only borrow.
        && let Op::Flush(op) = unsafe { req.op() }
    {
        op.fenced = Some(Err(e));
    }
    ep.when_settled(req);
    Ok(Step::Done)
}

/// The transport has delivered everything, or given up.
unsafe extern "C" fn landed(comp: *mut uct_completion_t) {
    let Some(at) = NonNull::new(comp.cast::<Landing>()) else {
        return;
    };
    // SAFETY: the completion stands at the head of its `Landing`, which is freed below only; the
    // endpoint outlives what its transport has under way.
    let (ep, req, status) = unsafe { (&*at.as_ref().ep, at.as_ref().recall(), (*comp).status) };
    if status != UCS_OK {
        ep.note_losses();
    }
    ep.forget_landing(at);
    // SAFETY: the transport is done with it.
    unsafe { Landing::free(at) };
    let Some(req) = req else { return };
    let _pin = Pin::new(ep);
    // SAFETY: a flush that nobody recalled is alive.
    let req = unsafe { req.as_ref() };
    match Status::from_code(status) {
        None => out(ep, req),
        Some(e) => break_off(req, e),
    }
    ep.recheck_flushes();
}

/// Everything has left. What only the peer can tell is asked for, what it owes is awaited.
fn out(ep: &Ep, req: &Request) {
    if ep.unfenced.replace(false) {
        let fence = FenceHdr {
            uuid: ep.worker().uuid,
            ep: ep.id.get(),
            request: req.id(),
        };
        ep.wait_for_peer(req);
        control::post(ep, AmId::Fence, &fence, &[]);
        return;
    }
    settled(ep, req);
}

/// The peer has done everything up to the fence.
pub fn fenced(ep: &Ep, req: &Request, result: Result<()>) {
    // SAFETY: the only borrow.
    if let Op::Flush(op) = unsafe { req.op() } {
        op.fenced = Some(result);
    }
    ep.disown(req.as_ptr());
    // In its place among those that wait: a close is the last.
    ep.when_settled(req);
    ep.recheck_flushes();
}

/// Ends a flush if the peer owes nothing that it waits for. A close is the last flush to end, and ends after what a
/// transport that failed has not given back yet. Answers whether it is over.
pub fn settled(ep: &Ep, req: &Request) -> bool {
    let waits = is_close(req) && (ep.has_flushes() || ep.has_in_place());
    let over = ep.owes_no_flush() && !waits;
    if over {
        finish(ep, req);
    } else {
        ep.when_settled(req);
    }
    over
}

/// The flush is over.
pub fn finish(ep: &Ep, req: &Request) {
    // SAFETY: the only borrow.
    let (close, fenced) = match unsafe { req.op() } {
        Op::Flush(op) => (op.close, op.fenced.unwrap_or(Ok(()))),
        _ => return,
    };
    let result = ep.flushed_with(ep.usable().and(fenced));
    if ep.fenced.get() && !ep.has_accesses_under_way() {
        ep.fenced.set(false);
    }
    if close {
        // SAFETY: alive, and given up by its user with the close.
        unsafe { Ep::retire(ep) };
    }
    req.complete(result);
}

/// An operation of an endpoint that is at its end.
pub fn break_off(req: &Request, status: Status) {
    // SAFETY: the only borrow; it ends before the endpoint does.
    let op = unsafe { req.op() };
    let Op::Flush(FlushOp { ep, close, .. }) = op else {
        return req.complete(Err(status));
    };
    let (ep, close) = (*ep, *close);
    // SAFETY: alive until its close ends.
    let result = unsafe { &*ep }.flushed_with(Err(status));
    if close {
        // SAFETY: as above, and given up by its user.
        unsafe { Ep::destroy(ep, status, End::Flushed) };
    }
    req.complete(result);
}

/// Flushes every endpoint of a worker. One that failed before has told so by its error handler.
pub fn worker(w: &Worker, param: &Param) -> Result<Posted> {
    w.check_process()?;
    let eps: Vec<*const Ep> = w.eps.borrow().iter().copied().collect();
    if eps.is_empty() {
        return immediate(w, param, Info::default());
    }
    must_be_immediate(param)?;
    let all = CompositeRequest::begin(w, param)?;
    for ep in eps {
        // SAFETY: in the table, so alive; the flush itself calls no user.
        let ep = unsafe { &*ep };
        // An implicit endpoint has no operations of the application, and may go with the remote endpoint.
        if ep.is_usable() && (!ep.implicit.get() || ep.exposed.get()) {
            all.post_part(|param| endpoint(ep, param));
        }
    }
    all.finish_posting(param)
}

/// Orders memory accesses: everything posted before is done at its target before what comes after.
///
/// Each endpoint has one connection, which keeps the order of its messages, and direct stores are
/// ordered by the processor's fence. Between the two, what follows messages goes by messages. Nothing
/// overtakes a copy by the kernel that is under way: it is waited for, which takes no help of a peer.
pub fn fence(w: &Worker) -> Result<()> {
    w.check_process()?;
    while w.kernel_copies.get() > 0 {
        w.progress();
    }
    for ep in w.eps.borrow().iter() {
        // SAFETY: in the table, so alive; nothing is called while the table is borrowed.
        let ep = unsafe { &**ep };
        if ep.has_accesses_under_way() {
            ep.fenced.set(true);
        }
    }
    core::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst);
    for iface in &w.ifaces {
        // SAFETY: an open interface.
        let code = unsafe {
            match (*iface.handle).ops.iface_fence {
                Some(fence) => fence(iface.handle, 0),
                None => UCS_OK,
            }
        };
        if let Some(e) = Status::from_code(code) {
            return Err(e);
        }
    }
    Ok(())
}
