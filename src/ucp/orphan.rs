//! What a child of fork() finds of its parent's workers: endpoints that have failed, and nothing to progress.
//!
//! A message that the child sent, a byte that it read or a farewell on its way out would be its parent's. So
//! whoever makes a worker lists it, and the first thing a child does is to close the gates of all that are
//! listed, which costs those who never fork nothing. What has no endpoint asks `Worker::made_here`, away from
//! the paths of messages. Destroying such a worker is nothing: its parent has it.

use super::worker::Worker;
use crate::sys::process;
use crate::ucs::sync::favour::FavourLock;
use crate::ucs::{Result, Status};
use crate::ucs_warn;
use parking_lot::Mutex;
use parking_lot::lock_api::RawMutex as _;
use std::sync::OnceLock;

/// The workers of this process.
struct Listed(Vec<*const Worker>);

// SAFETY: only addresses pass between threads; they are followed in a child, which has one thread.
unsafe impl Send for Listed {}

static LISTED: Mutex<Listed> = Mutex::new(Listed(Vec::new()));

/// From now on a child of fork() cannot use this worker. It must not move, and be taken off before it goes.
pub fn list(worker: &Worker) {
    static PREPARED: OnceLock<()> = OnceLock::new();
    PREPARED.get_or_init(|| {
        if let Err(e) = process::at_fork(before, in_parent, in_child) {
            ucs_warn!("children of fork() are not kept from the workers of this process: {e}");
        }
    });
    LISTED.lock().0.push(worker);
}

/// The worker goes.
pub fn take_off(worker: &Worker) {
    LISTED.lock().0.retain(|w| !core::ptr::eq(*w, worker));
}

/// Nobody changes the list while the process is copied.
extern "C" fn before() {
    // SAFETY: locked here, unlocked by one of the two that follow, on this thread.
    unsafe { LISTED.raw() }.lock();
}

extern "C" fn in_parent() {
    // SAFETY: locked by `before`.
    unsafe { LISTED.force_unlock() };
}

extern "C" fn in_child() {
    // SAFETY: locked by `before`, and there is no other thread.
    let listed = unsafe { &mut *LISTED.data_ptr() };
    for worker in listed.0.drain(..) {
        // SAFETY: listed, so alive; nobody else runs.
        unsafe { disown(worker) };
    }
    in_parent();
}

/// # Safety
/// `worker` alive, in a process of one thread.
unsafe fn disown(worker: *const Worker) {
    // SAFETY: alive, by the caller's promise.
    let w = unsafe { &*worker };
    w.orphaned.set(true);
    w.queue().silence();
    w.tag.set_resting(true);
    // A table that a thread of the parent was changing is nobody's any more.
    if let Ok(eps) = w.eps.try_borrow() {
        for ep in eps.iter() {
            // SAFETY: in the table, so alive.
            unsafe { &**ep }.gate.fail(Status::UNSUPPORTED);
        }
    }
    if !w.lock.is_held_here() {
        // The thread that may have held it is not here to give it back.
        // SAFETY: nobody holds it or waits for it in this process, and it owns no memory.
        unsafe { (&raw const w.lock).cast_mut().write(FavourLock::default()) };
    }
}

impl Worker {
    /// `UNSUPPORTED`, and a line that says so, in a child of the process that made the worker.
    #[inline]
    pub fn made_here(&self) -> Result<()> {
        if !self.orphaned.get() {
            return Ok(());
        }
        self.made_by.check("a worker").and(Err(Status::UNSUPPORTED))
    }
}
