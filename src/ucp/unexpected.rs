//! Accounting of unexpected messages, and the receive pause.
//!
//! Unexpected messages and stream bytes are counted. Above the limit (`UCX_UNEXPECTED_MAX_SIZE`) the worker pauses
//! receiving: its interfaces stop, so that senders run out of buffers and wait. It does not pause while the application
//! needs something that may stand behind the unexpected messages: an incomplete operation, a probe or a poll that found
//! nothing, active messages, memory that peers may access. Then it receives up to the hard limit: half of the machine's
//! memory, or twice the limit where that is more. The connection of a peer that exceeds it over a network is closed.
#![forbid(unsafe_code)]

use super::worker_core::Core;
use crate::c::*;
use crate::sys::machine;
use crate::ucp::config::TABLE;
use crate::ucs::config::{AUTO, Config, var};
use crate::{ucs_debug, ucs_diag, ucs_error};
use core::cell::Cell;

/// Bytes of memory that a message takes besides its payload.
pub const MESSAGE: usize = 128;
/// Without a configured limit, one part in `SHARE` of the machine's memory.
const SHARE: usize = 4;

pub struct Unexpected {
    limit: usize,
    /// Messages of a network never take more.
    hard_limit: usize,
    bytes: Cell<usize>,
    paused: Cell<bool>,
    /// The time at which operations begin is noted.
    timed: Cell<bool>,
    /// Paused or timed.
    begins_slowly: Cell<bool>,
    /// Whether the log line about the limit was written.
    warned: Cell<bool>,
    /// Incomplete operations.
    ops_in_flight: Cell<usize>,
}

impl Unexpected {
    pub fn new(config: &Config) -> Unexpected {
        let memory = machine::memory_bytes();
        let limit = match config.memunits(var!(TABLE, "UNEXPECTED_MAX_SIZE")) {
            AUTO => memory / SHARE,
            bytes => bytes,
        };
        Unexpected {
            limit,
            hard_limit: limit.saturating_mul(2).max(memory / 2),
            bytes: Cell::new(0),
            paused: Cell::new(false),
            timed: Cell::new(false),
            begins_slowly: Cell::new(false),
            warned: Cell::new(false),
            ops_in_flight: Cell::new(0),
        }
    }

    /// Bytes that unexpected messages take now.
    pub fn bytes_held(&self) -> usize {
        self.bytes.get()
    }

    pub fn is_paused(&self) -> bool {
        self.paused.get()
    }

    /// From now on `begin_op` says that the time has to be noted.
    pub fn set_timed(&self) {
        self.timed.set(true);
        self.begins_slowly.set(true);
    }

    pub fn notes_times(&self) -> bool {
        self.timed.get()
    }

    fn set_paused(&self, worker: &Core, paused: bool) {
        self.paused.set(paused);
        self.begins_slowly.set(paused || self.timed.get());
        (worker.hooks().on_pause)(worker, paused);
    }
}

/// Counts `bytes` that were stored.
#[inline]
pub fn add(worker: &Core, bytes: usize) {
    let u = &worker.unexpected;
    u.bytes.set(u.bytes.get() + bytes);
    worker.counters.unexpected.add(bytes);
    if u.bytes.get() > u.limit {
        above_limit(worker);
    }
}

#[cold]
fn above_limit(worker: &Core) {
    pause(worker);
    let u = &worker.unexpected;
    if u.bytes.get() <= u.hard_limit {
        return;
    }
    for iface in &worker.ifaces {
        if iface.internal().reject_sender() {
            ucs_error!(
                "{} bytes of messages wait for receives, as much as may (see UCX_UNEXPECTED_MAX_SIZE): the \
                 connection of the peer that sends more is closed",
                u.bytes.get()
            );
        }
    }
}

/// Counts `bytes` that were released.
#[inline(always)]
pub fn sub(worker: &Core, bytes: usize) {
    let u = &worker.unexpected;
    u.bytes.set(u.bytes.get().saturating_sub(bytes));
    // Hysteresis: not a change with every message.
    if u.paused.get() && u.bytes.get() <= u.limit - u.limit / 8 {
        resume(worker);
    }
}

/// An operation begins; receiving resumes, since its messages may stand behind unexpected ones. Whether the time has to be
/// noted.
#[inline]
#[must_use]
pub fn begin_op(worker: &Core) -> bool {
    let u = &worker.unexpected;
    u.ops_in_flight.set(u.ops_in_flight.get().wrapping_add(1));
    u.begins_slowly.get() && begin_slowly(worker)
}

#[cold]
fn begin_slowly(worker: &Core) -> bool {
    resume_if_paused(worker);
    worker.unexpected.timed.get()
}

/// As `begin_op`, outside a receive pause.
#[inline(always)]
pub fn begin_unpaused(worker: &Core) {
    let u = &worker.unexpected;
    debug_assert!(!u.paused.get());
    u.ops_in_flight.set(u.ops_in_flight.get().wrapping_add(1));
}

/// An operation has completed.
#[inline]
pub fn end_op(worker: &Core) {
    let u = &worker.unexpected;
    u.ops_in_flight.set(u.ops_in_flight.get().wrapping_sub(1));
}

/// The application waits for something that has not come.
#[inline]
pub fn resume_if_paused(worker: &Core) {
    if worker.unexpected.paused.get() {
        resume(worker);
    }
}

#[cold]
fn pause(worker: &Core) {
    let u = &worker.unexpected;
    if u.paused.get() || u.ops_in_flight.get() > 0 || (worker.hooks().awaits_messages)(worker) {
        return;
    }
    u.set_paused(worker, true);
    if !u.warned.replace(true) {
        ucs_diag!(
            "{} bytes of messages wait for receives, more than UCX_UNEXPECTED_MAX_SIZE: nothing more is \
             received until some are taken",
            u.bytes.get()
        );
    }
    for iface in &worker.ifaces {
        iface.internal().disable_progress(UCT_PROGRESS_RECV);
    }
}

#[cold]
fn resume(worker: &Core) {
    worker.unexpected.set_paused(worker, false);
    ucs_debug!("receiving goes on");
    for iface in worker.ifaces.iter().filter(|iface| iface.polled.get()) {
        iface.internal().enable_progress(UCT_PROGRESS_RECV);
    }
}
