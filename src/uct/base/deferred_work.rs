//! `DeferredWork`: work that an owner defers until its next progress. A program may make none for long: then one thread of
//! the process does the work, a few milliseconds late. It starts with the first owner that needs it and ends with the last.
#![forbid(unsafe_code)]

use super::loan::Sleep;
use crate::sys::lock::Mutex;
use crate::ucs::service::Service;
use crate::ucs::sync::{self, AtomicBool, Ordering};
use std::io;
use std::sync::Arc;
use std::thread::Thread;
use std::time::Duration;

/// Period of the thread. Work that was there one period before is done.
const PERIOD: Duration = Duration::from_millis(1);
/// The period for work that cannot be done at the moment.
const STALLED_PERIOD: Duration = Duration::from_millis(20);
/// Idle periods before the thread sleeps, or uses the longer period.
const IDLE_PERIODS: u32 = 100;

/// What the thread knows of an owner, which it excludes by a `Loan`.
pub trait DeferredWork: Send + Sync {
    /// Number of times that work began to wait.
    fn batch(&self) -> u32;
    /// Whether work waits: a hint.
    fn waits(&self) -> bool;
    /// Does what can be done. Returns whether anything was.
    fn run(&self) -> bool;
}

/// State of the thread, shared with the owners.
struct ThreadState {
    /// Each with its batch in the last period.
    entries: Mutex<Vec<(Arc<dyn DeferredWork>, u32)>>,
    sleep: Sleep,
    end: AtomicBool,
}

static THREAD: Service<ThreadState> = Service::new();

/// An entry in the thread's list, removed when dropped.
pub struct Registration {
    work: Arc<dyn DeferredWork>,
    state: Arc<ThreadState>,
    thread: Thread,
}

/// Adds an owner. Fails where no thread can be started, or owners cannot be excluded.
pub fn register(work: Arc<dyn DeferredWork>) -> io::Result<Registration> {
    if !sync::can_barrier() {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let make = || {
        Ok(ThreadState {
            entries: Mutex::new(Vec::new()),
            sleep: Sleep::default(),
            end: AtomicBool::new(false),
        })
    };
    let add = |state: &Arc<ThreadState>, thread: &Thread| {
        state.entries.lock().push((Arc::clone(&work), 0));
        Registration {
            work,
            state: Arc::clone(state),
            thread: thread.clone(),
        }
    };
    THREAD.join("ucx_deferred", make, run, add)
}

impl Registration {
    /// The owner has deferred something, where nothing waited.
    #[inline]
    pub fn wake(&self) {
        if self.state.sleep.must_wake() {
            self.thread.unpark();
        }
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let remove = |state: &Arc<ThreadState>| {
            // In a child of fork() this may be another thread's.
            Arc::ptr_eq(state, &self.state) && {
                let mut entries = state.entries.lock();
                entries.retain(|(work, _)| !Arc::ptr_eq(work, &self.work));
                entries.is_empty()
            }
        };
        THREAD.remove_user(remove, |state, thread| {
            // Relaxed: `unpark` orders.
            state.end.store(true, Ordering::Relaxed);
            thread.unpark();
        });
    }
}

/// What a check of all owners has found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    /// Something was deferred or done since the last one.
    Activity,
    /// Work waits that cannot be done.
    Stalled,
    Nothing,
}

fn run(state: &ThreadState) {
    let mut idle = 0;
    // Relaxed: `unpark` orders.
    while !state.end.load(Ordering::Relaxed) {
        let found = check(state);
        idle = if found == Found::Activity {
            0
        } else {
            idle + 1
        };
        if idle > IDLE_PERIODS && found == Found::Nothing {
            if state.sleep.begin(|| check(state) != Found::Nothing) {
                std::thread::park();
                state.sleep.end();
            }
            idle = 0;
        } else {
            std::thread::park_timeout(if idle > IDLE_PERIODS {
                STALLED_PERIOD
            } else {
                PERIOD
            });
        }
    }
}

/// Checks all owners and does work that was there one period before.
fn check(state: &ThreadState) -> Found {
    let mut found = Found::Nothing;
    for (work, last) in state.entries.lock().iter_mut() {
        let batch = work.batch();
        let waits = work.waits();
        if core::mem::replace(last, batch) != batch || waits && work.run() {
            found = Found::Activity;
        } else if waits && found == Found::Nothing {
            found = Found::Stalled;
        }
    }
    found
}
