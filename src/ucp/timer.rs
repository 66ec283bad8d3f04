//! `Timer`: a call every so often, from the async thread, until it is dropped.
//!
//! Used by the parts of a worker that have to act when nothing comes (`keepalive`, `wireup::cm`): what they give
//! may only leave a note for the worker's thread.

use crate::ucs::Result;
use crate::ucs::async_ctx::{self, HandlerId, Mode};
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
        // One that is gone already is what is wanted. Afterwards `ring` does not run any more.
        let _ = async_ctx::remove(self.0, true);
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
