//! Single copies by the kernel: the whole of a contiguous buffer, into the peer's memory or out of it.
//!
//! A long copy goes on after the call. It then lives in a `Copying` until the transport says that it is
//! over, and names its request by id only, since that may have ended with its endpoint in between.

use crate::c::*;
use crate::ucp::ep::Ep;
use crate::ucp::request::Request;
use crate::ucp::wireup::select;
use crate::ucp::worker::Worker;
use crate::ucs::{Result, Status};
use core::cell::{Cell, UnsafeCell};
use core::ptr::NonNull;

#[derive(Clone, Copy)]
pub enum Way {
    Put,
    Get,
}

/// How a copy began.
pub enum Started {
    Done,
    /// Nothing was begun: other ways are to be tried.
    Impossible,
    /// The caller says whose it is with `belongs_to`.
    UnderWay(NonNull<Copying>),
}

/// What is done when a copy that went on is over.
pub type Then = fn(&Worker, &Request, Result<()>);

/// A copy that the transport goes on with.
#[repr(C)]
pub struct Copying {
    comp: UnsafeCell<uct_completion_t>,
    worker: *const Worker,
    request: Cell<u64>,
    then: Then,
}

impl Copying {
    fn new(worker: &Worker, then: Then) -> NonNull<Copying> {
        let made = Box::new(Copying {
            comp: UnsafeCell::new(uct_completion_t {
                func: Some(over),
                count: 1,
                status: UCS_OK,
            }),
            worker,
            request: Cell::new(0),
            then,
        });
        NonNull::from(Box::leak(made))
    }
}

/// Names the request that ends with a copy under way.
pub fn belongs_to(copying: NonNull<Copying>, req: &Request) {
    // SAFETY: it lives until the transport is done, which it says in progress only.
    unsafe { copying.as_ref() }.request.set(req.id());
}

/// The transport is done with a copy.
unsafe extern "C" fn over(comp: *mut uct_completion_t) {
    // SAFETY: the completion stands at the head of a leaked `Copying`, and its count is zero for the
    // first time.
    let copying = unsafe { Box::from_raw(comp.cast::<Copying>()) };
    let result = Status::from_code(copying.comp.into_inner().status).map_or(Ok(()), Err);
    // SAFETY: a worker outlives its interfaces, which complete what they have.
    let worker = unsafe { &*copying.worker };
    worker.copies.set(worker.copies.get() - 1);
    if let Some(req) = worker.request(copying.request.get()) {
        (copying.then)(worker, req, result);
    }
}

/// Copies `len` bytes between `local` and the peer's memory at `remote`.
pub fn start(ep: &Ep, way: Way, local: *mut u8, len: usize, remote: u64, then: Then) -> Started {
    let Some((bulk, iface)) = ep.bulk(select::bulk_lane) else {
        return Started::Impossible;
    };
    let worker = ep.worker();
    let cap = &worker.ifaces[iface].attr.cap;
    // SAFETY: a live transport endpoint.
    let ops = unsafe { &(*(*bulk).iface).ops };
    let (op, limit) = match way {
        Way::Put => (ops.ep_put_zcopy, cap.put.max_zcopy),
        Way::Get => (ops.ep_get_zcopy, cap.get.max_zcopy),
    };
    let (Some(op), true) = (op, limit > 0) else {
        return Started::Impossible;
    };
    let copying = Copying::new(worker, then);
    // SAFETY: made above and leaked; a raw place, because the transport counts in it too.
    let comp = unsafe { copying.as_ref() }.comp.get();
    let (mut done, mut under_way, mut refused) = (0, false, UCS_OK);
    while done < len && refused == UCS_OK {
        let length = (len - done).min(limit);
        let iov = uct_iov_t {
            buffer: local.wrapping_add(done).cast(),
            length,
            memh: core::ptr::null_mut(),
            stride: 0,
            count: 1,
        };
        // SAFETY: a live transport endpoint, the user's buffer, remote memory that its owner named.
        match unsafe { op(bulk, &iov, 1, remote + done as u64, 0, comp) } {
            UCS_OK => {}
            UCS_INPROGRESS => {
                under_way = true;
                // SAFETY: alive, the first count is still ours.
                unsafe { (*comp).count += 1 };
            }
            code => refused = code,
        }
        done += length;
    }
    if under_way {
        // SAFETY: alive: what is under way is over in progress only.
        unsafe {
            (*comp).count -= 1;
            (*comp).status = refused;
        }
        worker.copies.set(worker.copies.get() + 1);
        return Started::UnderWay(copying);
    }
    // SAFETY: made above, and the transport does not have it.
    drop(unsafe { Box::from_raw(copying.as_ptr()) });
    if refused == UCS_OK {
        Started::Done
    } else {
        crate::ucs_debug!("single copy of {len} bytes answered {refused}; other ways instead");
        Started::Impossible
    }
}
