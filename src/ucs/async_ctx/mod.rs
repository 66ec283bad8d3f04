//! Async contexts: callbacks for descriptors and timers, kept apart from the code that blocks them.
//!
//! A context belongs to a worker. In thread and signal modes the process's one async thread
//! (`thread.rs`) calls the handlers; in poll mode `poll` does. Either way a handler runs only with
//! its context's lock held, so code under `block()` never meets one. What happens meanwhile is
//! remembered and delivered by the `unblock` that ends the outermost block. No signal is used:
//! signal mode differs from thread mode by name only.
//!
//! A context made before fork() is dead in the child: it answers `UNSUPPORTED` and touches no lock
//! that another thread of the parent may have held.

mod handler;
mod registry;
mod thread;

use crate::c;
use crate::sys::clock;
use crate::sys::lock::{Mutex, ReentrantMutex, ReentrantMutexGuard};
use crate::ucs::fork::{self, Stamp};
use crate::ucs::sync::{AtomicBool, AtomicUsize, Ordering, fence};
use crate::ucs::{Events, Result, Status};
use core::cell::Cell;
use handler::{AsyncHandler, Source};
use std::os::fd::RawFd;
use std::sync::Arc;
use std::time::Duration;

pub use registry::{FIRST_TIMER_ID, modify, remove};

/// A handler's name: the descriptor itself, or a number from `FIRST_TIMER_ID` for a timer.
pub type HandlerId = i32;

/// Called with the handler's id and what happened; for a timer that is `Events::empty()`.
pub type Callback = Box<dyn Fn(HandlerId, Events) + Send + Sync>;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    Signal,
    ThreadSpinlock,
    ThreadMutex,
    Poll,
}

impl core::fmt::Display for Mode {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Mode::Signal => "signal",
            Mode::ThreadSpinlock => "thread_spinlock",
            Mode::ThreadMutex => "thread_mutex",
            Mode::Poll => "poll",
        })
    }
}

impl Mode {
    pub fn from_c(mode: c::ucs_async_mode_t) -> Result<Mode> {
        match mode {
            c::UCS_ASYNC_MODE_SIGNAL => Ok(Mode::Signal),
            c::UCS_ASYNC_MODE_THREAD_SPINLOCK => Ok(Mode::ThreadSpinlock),
            c::UCS_ASYNC_MODE_THREAD_MUTEX => Ok(Mode::ThreadMutex),
            c::UCS_ASYNC_MODE_POLL => Ok(Mode::Poll),
            _ => {
                crate::ucs_error!("async mode {mode} does not exist: the modes are 0 to 3");
                Err(Status::INVALID_PARAM)
            }
        }
    }
}

/// A context; clones are the same context.
#[derive(Clone)]
pub struct AsyncContext(Arc<Inner>);

struct Inner {
    mode: Mode,
    made_by: Stamp,
    /// Held by `block()` and around every callback; counts how deep.
    lock: ReentrantMutex<Cell<u32>>,
    /// What could not be delivered because the lock was held.
    missed: Mutex<Vec<(Arc<AsyncHandler>, Events)>>,
    has_missed: AtomicBool,
    handlers: AtomicUsize,
}

/// While it lives no handler of the context runs. Made by `block`, may nest.
pub struct Blocked<'a> {
    ctx: &'a Inner,
    /// `None` in a child of fork(), where there is nothing to keep out.
    guard: Option<ReentrantMutexGuard<'a, Cell<u32>>>,
}

impl AsyncContext {
    pub fn new(mode: Mode) -> AsyncContext {
        AsyncContext(Arc::new(Inner {
            mode,
            made_by: Stamp::now(),
            lock: ReentrantMutex::new(Cell::new(0)),
            missed: Mutex::default(),
            has_missed: AtomicBool::new(false),
            handlers: AtomicUsize::new(0),
        }))
    }

    pub fn mode(&self) -> Mode {
        self.0.mode
    }

    /// How many handlers are registered; none in a child of fork().
    pub fn handlers(&self) -> usize {
        if self.0.is_foreign() {
            return 0;
        }
        self.0.handlers.load(Ordering::Relaxed)
    }

    /// Calls `callback` whenever `fd` has one of `events`. One handler a descriptor.
    ///
    /// `ALREADY_EXISTS` when the descriptor has a handler, `EXCEEDS_LIMIT` when its number is that
    /// of timers, `IO_ERROR` when it cannot be watched, `UNSUPPORTED` after fork().
    pub fn add_fd(&self, fd: RawFd, events: Events, callback: Callback) -> Result<HandlerId> {
        add_fd(self.0.mode, fd, events, callback, Some(self))
    }

    /// Calls `callback` every `interval`, which is not zero.
    pub fn add_timer(&self, interval: Duration, callback: Callback) -> Result<HandlerId> {
        add_timer(self.0.mode, interval, callback, Some(self))
    }

    /// Removes a handler; see [`remove`].
    pub fn remove(&self, id: HandlerId, sync: bool) -> Result<()> {
        remove(id, sync)
    }

    /// Keeps handlers out until the guard is dropped; what happens meanwhile is delivered then.
    #[inline]
    pub fn block(&self) -> Blocked<'_> {
        Blocked::new(&self.0)
    }

    /// Delivers what is ready now and what was missed, unless this thread blocks the context. How
    /// many callbacks ran.
    pub fn poll(&self) -> usize {
        if self.handlers() == 0 {
            return 0;
        }
        self.0.run_missed() + registry::poll(Some(self))
    }

    /// Gives the context up. Where the async thread has served its last handler, it has ended when this returns, unless
    /// it is the caller.
    pub fn end(self) {
        if !self.0.is_foreign() {
            registry::wait_for_ending();
        }
    }

    /// The word that stands for this context in memory owned by C.
    pub fn into_raw(self) -> usize {
        Arc::into_raw(self.0) as usize
    }

    /// Undoes `into_raw`.
    ///
    /// # Safety
    /// `raw` came from `into_raw` and is used up by this call.
    pub unsafe fn from_raw(raw: usize) -> AsyncContext {
        // SAFETY: the caller hands back the count that into_raw kept.
        AsyncContext(unsafe { Arc::from_raw(raw as *const Inner) })
    }

    /// The context behind C's `ucs_async_context_t`, which keeps its own reference.
    ///
    /// # Safety
    /// `c` is null or was filled by `ucs_async_context_init` or `_create` and not cleaned up.
    pub unsafe fn from_c(c: *const c::ucs_async_context_t) -> Option<AsyncContext> {
        if c.is_null() {
            return None;
        }
        // SAFETY: the caller vouches for the object; its first word is from `into_raw`, or null
        // after a cleanup.
        let raw = unsafe { *c.cast::<usize>() };
        if raw == 0 {
            return None;
        }
        // SAFETY: as above; the object keeps the count that is not given up here.
        let ctx = core::mem::ManuallyDrop::new(unsafe { AsyncContext::from_raw(raw) });
        Some((*ctx).clone())
    }
}

/// As [`AsyncContext::add_fd`]; without a context nothing keeps the callback out.
pub fn add_fd(
    mode: Mode,
    fd: RawFd,
    events: Events,
    callback: Callback,
    ctx: Option<&AsyncContext>,
) -> Result<HandlerId> {
    check_mode(mode, ctx)?;
    registry::add(mode, Source::Fd(fd), events, callback, ctx)
}

/// As [`AsyncContext::add_timer`]; without a context nothing keeps the callback out.
pub fn add_timer(
    mode: Mode,
    interval: Duration,
    callback: Callback,
    ctx: Option<&AsyncContext>,
) -> Result<HandlerId> {
    check_mode(mode, ctx)?;
    let interval_ns = u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX / 2);
    if interval_ns == 0 {
        crate::ucs_error!("the interval of an async timer must not be zero");
        return Err(Status::INVALID_PARAM);
    }
    let next = clock::monotonic_ns().saturating_add(interval_ns);
    let source = Source::Timer {
        interval_ns,
        next_ns: next.into(),
    };
    registry::add(mode, source, Events::empty(), callback, ctx)
}

/// Polls every context of the process, and the handlers that have none.
pub fn poll_all() -> usize {
    registry::poll(None)
}

fn check_mode(mode: Mode, ctx: Option<&AsyncContext>) -> Result<()> {
    let Some(ctx) = ctx else { return Ok(()) };
    fork::check(ctx.0.made_by, "an async context")?;
    if ctx.0.mode != mode {
        crate::ucs_error!(
            "an async handler of mode {mode} cannot join a context of mode {}",
            ctx.0.mode
        );
        return Err(Status::INVALID_PARAM);
    }
    Ok(())
}

impl Inner {
    /// Whether this process is a child of the one that made the context.
    fn is_foreign(&self) -> bool {
        !self.made_by.is_current()
    }

    /// Calls the handler now, or leaves it to whoever holds the lock. Whether it ran.
    fn deliver(&self, handler: &Arc<AsyncHandler>, events: Events) -> bool {
        if self.try_run(|| handler.call(events)) {
            self.run_missed();
            return true;
        }
        self.missed.lock().push((handler.clone(), events));
        self.has_missed.store(true, Ordering::Relaxed);
        // The holder releases the lock, fences, reads the flag; we set the flag, fence, try the
        // lock: one of the two sees the other.
        fence(Ordering::SeqCst);
        self.run_missed() > 0
    }

    /// Runs `body` with handlers kept out, unless somebody (also this thread) keeps them out now.
    fn try_run(&self, body: impl FnOnce()) -> bool {
        let Some(depth) = self.lock.try_lock() else {
            return false;
        };
        if depth.get() > 0 {
            return false;
        }
        depth.set(1);
        body();
        depth.set(0);
        true
    }

    fn is_blocked(&self) -> bool {
        self.lock.try_lock().is_none_or(|depth| depth.get() > 0)
    }

    /// Delivers what was missed, as long as nobody blocks the context.
    fn run_missed(&self) -> usize {
        let mut count = 0;
        while self.has_missed.load(Ordering::Relaxed) {
            let ran = self.try_run(|| {
                self.has_missed.store(false, Ordering::Relaxed);
                let missed = core::mem::take(&mut *self.missed.lock());
                for (handler, events) in missed {
                    handler.call(events);
                    count += 1;
                }
            });
            if !ran {
                break;
            }
            fence(Ordering::SeqCst); // as in Blocked::drop
        }
        count
    }
}

impl<'a> Blocked<'a> {
    #[inline]
    fn new(ctx: &'a Inner) -> Blocked<'a> {
        let guard = (!ctx.is_foreign()).then(|| ctx.lock.lock());
        if let Some(depth) = &guard {
            depth.set(depth.get() + 1);
        }
        Blocked { ctx, guard }
    }
}

impl Drop for Blocked<'_> {
    #[inline]
    fn drop(&mut self) {
        let Some(depth) = self.guard.take() else {
            return;
        };
        depth.set(depth.get() - 1);
        let outermost = depth.get() == 0;
        drop(depth);
        if outermost {
            fence(Ordering::SeqCst); // pairs with the fence in Inner::deliver
            if self.ctx.has_missed.load(Ordering::Relaxed) {
                self.ctx.run_missed();
            }
        }
    }
}

#[cfg(test)]
mod tests;
