//! `Handler`: one registration, and the rule that one thread at a time runs it.
//!
//! `remove` marks it before anything else, so a callback never starts after its removal; the
//! condition lets a synchronous removal wait for one that has started.
#![forbid(unsafe_code)]

use super::thread::Loop;
use super::{Callback, HandlerId, Inner};
use crate::sys::lock::{Condvar, Mutex};
use crate::sys::{clock, process};
use crate::ucs::Events;
use crate::ucs::sync::{AtomicU8, AtomicU64, Ordering};
use std::os::fd::RawFd;
use std::sync::Arc;

pub(super) enum Source {
    Fd(RawFd),
    Timer {
        interval_ns: u64,
        /// The next time it is due; whoever moves it on delivers the event. Written under the registry's lock.
        next_ns: AtomicU64,
    },
}

pub(super) struct AsyncHandler {
    pub id: HandlerId,
    /// Unlike the id never used again in this process.
    pub token: u64,
    pub source: Source,
    pub ctx: Option<Arc<Inner>>,
    /// The async thread's loop that watches it; none in poll mode.
    pub watched_by: Option<Arc<Loop>>,
    events: AtomicU8,
    callback: Callback,
    run: Mutex<Run>,
    idle: Condvar,
}

#[derive(Default)]
struct Run {
    removed: bool,
    /// The thread inside the callback.
    runner: Option<u32>,
    /// Events that another thread met meanwhile.
    again: Option<Events>,
}

impl AsyncHandler {
    pub fn new(
        (id, token): (HandlerId, u64),
        source: Source,
        events: Events,
        callback: Callback,
        ctx: Option<Arc<Inner>>,
        watched_by: Option<Arc<Loop>>,
    ) -> AsyncHandler {
        AsyncHandler {
            id,
            token,
            source,
            ctx,
            watched_by,
            events: AtomicU8::new(events.bits()),
            callback,
            run: Mutex::default(),
            idle: Condvar::new(),
        }
    }

    pub fn events(&self) -> Events {
        Events::from_bits_retain(self.events.load(Ordering::Relaxed))
    }

    pub fn set_events(&self, events: Events) {
        self.events.store(events.bits(), Ordering::Relaxed);
    }

    pub fn fd(&self) -> Option<RawFd> {
        match self.source {
            Source::Fd(fd) => Some(fd),
            Source::Timer { .. } => None,
        }
    }

    /// Has a timer be due an interval after `now_ns`. The registry, which orders timers by `due_ns`, calls it under its lock.
    pub fn move_on(&self, now_ns: u64) {
        if let Source::Timer {
            interval_ns,
            next_ns,
        } = &self.source
        {
            next_ns.store(now_ns.saturating_add(*interval_ns), Ordering::Relaxed);
        }
    }

    /// When a timer is due next.
    pub fn due_ns(&self) -> Option<u64> {
        match &self.source {
            Source::Timer { next_ns, .. } => Some(next_ns.load(Ordering::Relaxed)),
            Source::Fd(_) => None,
        }
    }

    /// Delivers to the callback under the rules of its context. Whether a callback ran here.
    pub fn deliver(self: &Arc<AsyncHandler>, events: Events) -> bool {
        match &self.ctx {
            Some(ctx) => ctx.deliver(self, events),
            None => {
                self.call(events);
                true
            }
        }
    }

    /// Runs the callback, unless the handler was removed or runs already.
    pub fn call(&self, mut events: Events) {
        let me = process::tid();
        {
            let mut run = self.run.lock();
            if run.removed {
                return;
            }
            match run.runner {
                None => run.runner = Some(me),
                // The callback polls inside itself: it will be called again by the next poll.
                Some(runner) if runner == me => return,
                Some(_) => {
                    run.again = Some(run.again.unwrap_or_default() | events);
                    return;
                }
            }
        }
        loop {
            (self.callback)(self.id, events);
            let mut run = self.run.lock();
            match run.again.take() {
                Some(more) if !run.removed => events = more,
                _ => {
                    run.runner = None;
                    let removed = run.removed;
                    self.idle.notify_all();
                    drop(run);
                    if !removed {
                        self.rearm();
                    }
                    return;
                }
            }
        }
    }

    /// Lets no callback start from now on; with `sync`, waits for one on another thread.
    pub fn retire(&self, sync: bool) {
        let me = process::tid();
        let mut run = self.run.lock();
        run.removed = true;
        while sync && run.runner.is_some_and(|runner| runner != me) {
            run = self.idle.wait(run);
        }
    }

    /// Level-triggered descriptors are watched one shot at a time, so that an event that waits for
    /// an unblock does not spin the thread.
    fn rearm(&self) {
        if let (Some(watcher), Some(fd)) = (&self.watched_by, self.fd()) {
            watcher.rearm(fd, self.events(), self.token);
        }
    }
}

/// Nanoseconds now, on the clock that timers use.
pub(super) fn now_ns() -> u64 {
    clock::monotonic_ns()
}
