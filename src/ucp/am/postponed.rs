//! Receives of rendezvous messages, which begin with the next progress.
//!
//! Mapped memory is copied at once, so such a receive could complete within the call, or its callback could run before
//! the call returns. With upstream neither ever happens, and clients rely on it: ucxx counts an immediate completion
//! twice, MPICH (4.1 to 5.0) writes into the request after the call, and frees a request that it did not get. So the
//! copy waits until the call has returned. Used by `recv`; the worker cancels the rest when it is destroyed.

use crate::ucp::proto::rndv::receiver;
use crate::ucp::request::Request;
use crate::ucp::rts::Rts;
use crate::ucp::worker_core::Core;
use crate::ucs::callbackq::Repeat;
use crate::ucs::{Result, Status};
use core::cell::RefCell;
use core::ffi::{c_uint, c_void};
use core::ptr::NonNull;
use std::collections::VecDeque;

/// Receives that have not begun, in order.
#[derive(Default)]
pub struct Postponed(RefCell<VecDeque<(NonNull<Request>, Rts)>>);

impl Postponed {
    fn next(&self) -> Option<(NonNull<Request>, Rts)> {
        self.0.borrow_mut().pop_front()
    }

    /// The worker ends.
    pub fn cancel_all(&self) {
        while let Some((req, _)) = self.next() {
            // SAFETY: not begun, so not over.
            unsafe { req.as_ref() }.complete(Err(Status::CANCELED));
        }
    }
}

/// Has progress begin the receive; an error means that it will not.
pub fn postpone(worker: &Core, req: NonNull<Request>, message: Rts) -> Result<()> {
    let postponed = &worker.am().postponed;
    if postponed.0.borrow().is_empty() {
        let arg = core::ptr::from_ref(worker).cast_mut().cast();
        // SAFETY: the worker's thread; the queue calls nothing after the worker's end.
        unsafe { worker.queue().add(begin, arg, Repeat::Once) }?;
    }
    postponed.0.borrow_mut().push_back((req, message));
    worker.wakeup.poke_sleepers();
    Ok(())
}

/// Progress callback: begins the receives that are there at its start.
unsafe extern "C" fn begin(worker: *mut c_void) -> c_uint {
    // SAFETY: registered by `postpone` with the worker, which outlives its callbacks.
    let worker = unsafe { &*worker.cast::<Core>() };
    let mut begun = 0;
    // Emptied first: a receive that their completions postpone registers the callback again.
    let waiting = worker.am().postponed.0.take();
    for (req, message) in waiting {
        // SAFETY: not begun, so not over.
        receiver::fetch(worker, unsafe { req.as_ref() }, &message);
        begun += 1;
    }
    begun
}
