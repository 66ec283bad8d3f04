//! `ProgressThread`: makes progress for a worker while the program does not (`UCX_PROGRESS_THREAD`). Peers of a program
//! that computes are answered: their accesses to its memory, and transfers in which it takes part.
//!
//! While the program polls, the thread only looks from time to time whether it still does. Otherwise the thread sleeps on
//! the worker's events, as a program does after `ucp_worker_arm`, until the program polls again. It uses the worker under
//! the lock of MULTI mode, which such a worker has.

use super::wakeup;
use super::worker_core::Core;
use crate::sys::eventfd::EventFd;
use crate::sys::poll::{self, PollFd};
use crate::sys::process::spawn_without_signals;
use crate::ucs::Result;
use crate::ucs::sync::{AtomicBool, AtomicU32, Ordering};
use crate::ucs_error;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::thread::JoinHandle;

/// Milliseconds between two looks at a program that polls.
const LOOK_MS: i32 = 1;
/// Most rounds of progress before others get the lock.
const MAX_ROUNDS: u32 = 64;

/// What the thread and the program tell each other.
pub struct Handover {
    /// Wakes the thread.
    event: EventFd,
    /// Calls of progress by the program.
    polls: AtomicU32,
    /// Threads of the program that sleep in `ucp_worker_wait`.
    waiting: AtomicU32,
    ends: AtomicBool,
}

impl Handover {
    pub fn new() -> Result<Handover> {
        Ok(Handover {
            event: EventFd::new()?,
            polls: AtomicU32::new(0),
            waiting: AtomicU32::new(0),
            ends: AtomicBool::new(false),
        })
    }

    pub fn wake(&self) {
        self.event.signal();
    }

    pub fn clear(&self) -> bool {
        self.event.clear()
    }

    pub fn fd(&self) -> RawFd {
        self.event.raw()
    }

    /// The program calls progress. With the lock held, so a plain increment does.
    #[inline]
    pub fn note_poll(&self) {
        let polls = self.polls.load(Ordering::Relaxed).wrapping_add(1);
        self.polls.store(polls, Ordering::Relaxed);
    }

    /// The program waits for events itself as long as the result lives.
    pub fn waits(&self) -> Waits<'_> {
        // Relaxed: a thread that has not seen it makes progress beside the one that waits, which both may do.
        self.waiting.fetch_add(1, Ordering::Relaxed);
        Waits(self)
    }

    fn polls(&self) -> u32 {
        // Relaxed: a hint, whose latest value the next look sees.
        self.polls.load(Ordering::Relaxed)
    }
}

pub struct Waits<'a>(&'a Handover);

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
        self.0.wake();
    }
}

pub struct ProgressThread {
    handover: Arc<Handover>,
    thread: Option<JoinHandle<()>>,
}

impl ProgressThread {
    /// Of a worker that does not move, and drops this before any of its parts goes.
    pub fn start(worker: &Core, handover: Arc<Handover>) -> Result<ProgressThread> {
        let fds = wakeup::thread_descriptors(worker, &handover)?;
        let address = core::ptr::from_ref(worker).expose_provenance();
        let shared = Arc::clone(&handover);
        let thread = spawn_without_signals("ucx_progress", move || {
            // SAFETY: the worker lives until this thread has been joined. What is not atomic is used with its lock held.
            let worker = unsafe { &*core::ptr::with_exposed_provenance::<Core>(address) };
            run(worker, &shared, &fds);
        })
        .inspect_err(|e| ucs_error!("UCX_PROGRESS_THREAD: no thread: {e}"))?;
        Ok(ProgressThread {
            handover,
            thread: Some(thread),
        })
    }
}

impl Drop for ProgressThread {
    fn drop(&mut self) {
        // Release: pairs with the Acquire in `run`.
        self.handover.ends.store(true, Ordering::Release);
        self.handover.wake();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run(worker: &Core, handover: &Handover, fds: &[RawFd]) {
    let mut seen = handover.polls();
    while !handover.ends.load(Ordering::Acquire) {
        let polls = handover.polls();
        if handover.waiting.load(Ordering::Relaxed) > 0 {
            // It wakes this thread when it does not wait any more.
            wait(&[handover.fd()], -1);
            handover.clear();
        } else if polls != seen {
            seen = polls;
            wait(&[handover.fd()], LOOK_MS);
        } else {
            match make_progress(worker, handover, seen) {
                Next::Sleep => wait(fds, -1),
                Next::Look => wait(&[handover.fd()], LOOK_MS),
                Next::GoOn => std::thread::yield_now(),
            }
        }
    }
}

/// What the thread does after some progress.
enum Next {
    /// The events are armed.
    Sleep,
    /// Messages wait until the program takes others, so they are no reason to wake.
    Look,
    /// There is more to do, or the program polls again.
    GoOn,
}

/// Makes progress until there is nothing to do, and arms the worker's events.
fn make_progress(worker: &Core, handover: &Handover, seen: u32) -> Next {
    let _guard = worker.lock.lock();
    for _ in 0..MAX_ROUNDS {
        if handover.polls() != seen {
            return Next::GoOn;
        }
        if worker.progress() == 0 {
            return match wakeup::arm_thread(worker, handover) {
                _ if worker.unexpected.is_paused() => Next::Look,
                Ok(()) => Next::Sleep,
                Err(_) => Next::GoOn,
            };
        }
        // What the program sleeps for may have been done here.
        worker.wakeup.work_came();
    }
    Next::GoOn
}

fn wait(fds: &[RawFd], timeout_ms: i32) {
    let entry = |fd: &RawFd| PollFd {
        fd: *fd,
        events: libc::POLLIN,
        revents: 0,
    };
    let mut fds: Vec<PollFd> = fds.iter().map(entry).collect();
    // A signal is none of this thread's; any other failure is one of no descriptor, and looking again does no harm.
    let _ = poll::poll(&mut fds, timeout_ms);
}
