//! `Timer`: a call every so often, from the async thread, until it is dropped; `WorkerCall`: how it reaches the worker's
//! thread.
//!
//! Used by the parts of a worker that have to act without events (`keepalive`, `wireup::cm`, `wireup::unproven`).

use super::worker_core::{Core, InProgress, as_callback};
use crate::ucs::Result;
use crate::ucs::async_ctx::{self, HandlerId, Mode};
use crate::ucs::callbackq::{Callback, CallbackQueue, Repeat};
use crate::ucs::sync::{AtomicU32, Ordering};
use crate::ucs_error;
use core::ffi::c_void;
use std::time::Duration;

pub struct Timer(HandlerId);

impl Timer {
    /// Calls `ring` every `interval`, which is not zero.
    pub fn start(interval: Duration, ring: impl Fn() + Send + Sync + 'static) -> Result<Timer> {
        let ring = Box::new(move |_, _| ring());
        async_ctx::add_timer(Mode::ThreadMutex, interval, ring, None).map(Timer)
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        // It may be gone already. Afterwards `ring` does not run any more.
        let _ = async_ctx::remove(self.0, true);
    }
}

/// Has the worker's next progress call a function, and wakes a worker that sleeps. Timers and the connection manager, which
/// use it from the async thread, end before the worker does.
pub struct WorkerCall {
    /// Due calls, as bits of the user's.
    due: AtomicU32,
    worker: usize,
    queue: usize,
    serve: Callback,
}

impl WorkerCall {
    pub fn new(worker: &Core, serve: InProgress) -> WorkerCall {
        WorkerCall {
            due: AtomicU32::new(0),
            worker: core::ptr::from_ref(worker) as usize,
            queue: core::ptr::from_ref(worker.queue()) as usize,
            serve: as_callback(serve),
        }
    }

    /// Makes `what`, which is not zero, due. From any thread.
    pub fn request(&self, what: u32) {
        // AcqRel: pairs with the swap in `take`; one call is queued at a time.
        if self.due.fetch_or(what, Ordering::AcqRel) != 0 {
            return;
        }
        // SAFETY: callers end before the worker, so both are alive.
        unsafe {
            let queue = &*(self.queue as *const CallbackQueue);
            if let Err(e) = queue.add_safe(self.serve, self.worker as *mut c_void, Repeat::Once) {
                ucs_error!("a worker cannot be called from the async thread: {e}");
            }
            let worker = &*(self.worker as *const Core);
            worker.wakeup.poke();
        }
    }

    /// Takes the due calls.
    pub fn take(&self) -> u32 {
        // AcqRel: pairs with `request`.
        self.due.swap(0, Ordering::AcqRel)
    }
}

/// A time as configured: `None` for never.
pub fn limit(seconds: f64) -> Option<Duration> {
    /// Thirty years.
    const LONGEST: f64 = 1e9;
    let finite = seconds.is_finite() && seconds > 0.0;
    finite
        .then(|| Duration::from_secs_f64(seconds.min(LONGEST)))
        .filter(|t| !t.is_zero())
}
