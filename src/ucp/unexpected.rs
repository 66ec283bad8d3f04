//! What came before it was asked for: how much memory it takes, and what is done when that is too much.
//!
//! Messages and stream bytes that nobody receives are counted. Above the bound (`UCX_UNEXPECTED_MAX_SIZE`)
//! the worker rests: its interfaces stop receiving, so that senders run out of room and wait. It never
//! rests while the application waits for something that may stand behind what it does not want: an
//! operation that is not complete, a probe or a poll that found nothing, active messages, memory that
//! peers may access. Then receiving goes on, up to half of the machine's memory, or twice the bound where that is more. A
//! peer that sends more over a network loses its connection.

use super::worker::Worker;
use crate::c::*;
use crate::sys::machine;
use crate::ucs::config::{AUTO, Config};
use crate::uct::base::iface::base_of;
use crate::{ucs_debug, ucs_diag, ucs_error};
use core::cell::Cell;

/// What a message takes besides its bytes.
pub const MESSAGE: usize = 128;
/// Of the machine's memory, when nothing else is configured.
const SHARE: usize = 4;

pub struct Unexpected {
    limit: usize,
    /// What comes over a network never exceeds this.
    hard_limit: usize,
    bytes: Cell<usize>,
    resting: Cell<bool>,
    /// It was said that the bound is reached.
    said: Cell<bool>,
    /// Operations that are not complete.
    under_way: Cell<usize>,
}

impl Unexpected {
    pub fn new(config: &Config) -> Unexpected {
        let memory = machine::memory_bytes();
        let limit = match config.memunits("UNEXPECTED_MAX_SIZE") {
            AUTO => memory / SHARE,
            bytes => bytes,
        };
        Unexpected {
            limit,
            hard_limit: limit.saturating_mul(2).max(memory / 2),
            bytes: Cell::new(0),
            resting: Cell::new(false),
            said: Cell::new(false),
            under_way: Cell::new(0),
        }
    }

    pub fn is_resting(&self) -> bool {
        self.resting.get()
    }

    fn set_resting(&self, worker: &Worker, resting: bool) {
        self.resting.set(resting);
        worker.tag.set_resting(resting);
    }
}

/// So many bytes more are kept.
#[inline]
pub fn add(worker: &Worker, bytes: usize) {
    let u = &worker.unexpected;
    u.bytes.set(u.bytes.get() + bytes);
    if u.bytes.get() > u.limit {
        too_many(worker);
    }
}

#[cold]
fn too_many(worker: &Worker) {
    rest(worker);
    let u = &worker.unexpected;
    if u.bytes.get() <= u.hard_limit {
        return;
    }
    for iface in &worker.ifaces {
        // SAFETY: an open interface of ours.
        if unsafe { (base_of(iface.handle).internal.reject_sender)(iface.handle) } {
            ucs_error!(
                "{} bytes of messages wait for receives, as much as may (see UCX_UNEXPECTED_MAX_SIZE): the \
                 connection of the peer that sends more is closed",
                u.bytes.get()
            );
        }
    }
}

/// So many bytes were taken.
#[inline(always)]
pub fn sub(worker: &Worker, bytes: usize) {
    let u = &worker.unexpected;
    u.bytes.set(u.bytes.get().saturating_sub(bytes));
    // Well below the bound, not to change with every message.
    if u.resting.get() && u.bytes.get() <= u.limit - u.limit / 8 {
        go_on(worker);
    }
}

/// An operation was begun, which nothing that is kept may hold up.
#[inline]
pub fn begun(worker: &Worker) {
    let u = &worker.unexpected;
    u.under_way.set(u.under_way.get().wrapping_add(1));
    wanting(worker);
}

/// The same where the worker does not rest.
#[inline(always)]
pub fn begun_while_receiving(worker: &Worker) {
    let u = &worker.unexpected;
    debug_assert!(!u.resting.get());
    u.under_way.set(u.under_way.get().wrapping_add(1));
}

/// An operation has ended.
#[inline]
pub fn over(worker: &Worker) {
    let u = &worker.unexpected;
    u.under_way.set(u.under_way.get().wrapping_sub(1));
}

/// The application waits for something that is not here.
#[inline]
pub fn wanting(worker: &Worker) {
    if worker.unexpected.resting.get() {
        go_on(worker);
    }
}

#[cold]
fn rest(worker: &Worker) {
    let u = &worker.unexpected;
    if u.resting.get()
        || u.under_way.get() > 0
        || worker.am.has_handlers()
        || worker.context().regions.any()
        || worker.eps.borrow().iter().any(|ep| {
            // SAFETY: in the table, so alive.
            unsafe { (**ep).has_queue() }
        })
    {
        return;
    }
    u.set_resting(worker, true);
    if !u.said.replace(true) {
        ucs_diag!(
            "{} bytes of messages wait for receives, more than UCX_UNEXPECTED_MAX_SIZE: nothing more is \
             received until some are taken",
            u.bytes.get()
        );
    }
    for iface in &worker.ifaces {
        // SAFETY: an open interface.
        unsafe {
            if let Some(disable) = (*iface.handle).ops.iface_progress_disable {
                disable(iface.handle, UCT_PROGRESS_RECV);
            }
        }
    }
}

#[cold]
fn go_on(worker: &Worker) {
    worker.unexpected.set_resting(worker, false);
    ucs_debug!("receiving goes on");
    for iface in worker.ifaces.iter().filter(|iface| iface.polled.get()) {
        // SAFETY: an open interface.
        unsafe {
            if let Some(enable) = (*iface.handle).ops.iface_progress_enable {
                enable(iface.handle, UCT_PROGRESS_RECV);
            }
        }
    }
}
