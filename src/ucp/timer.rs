//! `Timer`: a call every so often, from the async thread, until it is dropped; `WorkerCall`: how it reaches the worker's
//! thread.
//!
//! Used by the parts of a worker that have to act without events (`keepalive`, `wireup::cm`, `wireup::unproven`).
#![forbid(unsafe_code)]

use super::worker_core::{Core, InProgress, Remote};
use crate::ucs::Result;
use crate::ucs::async_ctx::{self, HandlerId, Mode};
use crate::ucs::sync::{AtomicU32, Ordering};
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
    worker: Remote,
    serve: InProgress,
}

impl WorkerCall {
    pub fn new(worker: &Core, serve: InProgress) -> WorkerCall {
        WorkerCall {
            due: AtomicU32::new(0),
            worker: worker.remote(),
            serve,
        }
    }

    /// Makes `what`, which is not zero, due. From any thread.
    pub fn request(&self, what: u32) {
        // AcqRel: pairs with the swap in `take`; one call is queued at a time.
        if self.due.fetch_or(what, Ordering::AcqRel) != 0 {
            return;
        }
        self.worker.call_in_progress(self.serve);
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
