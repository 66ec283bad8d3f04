//! Keepalive of endpoints with error handling: whether their peers live (`UCX_KEEPALIVE_INTERVAL`), and whether
//! connections are established in time (`UCX_WIREUP_TIMEOUT`).
//!
//! Transports report the death of most peers by themselves. A round makes those check that have to ask: tcp sends a few
//! bytes, which the peer's kernel must acknowledge. A worker with such endpoints has timers; due checks run within the
//! worker's progress, for which a sleeping worker is woken.
#![forbid(unsafe_code)]

use super::Ep;
use crate::sys::clock::monotonic_ns;
use crate::ucp::config::TABLE;
use crate::ucp::timer::{Timer, WorkerCall, limit};
use crate::ucp::worker_core::{Core, FloorState};
use crate::ucs::Status;
use crate::ucs::config::{Config, var};
use crate::{ucs_diag, ucs_error};
use core::cell::{Cell, OnceCell, RefCell};
use core::ffi::c_uint;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

pub struct Keepalive {
    /// Between two rounds; `None` for no rounds.
    interval: Option<Duration>,
    /// Endpoints checked in one round.
    most: usize,
    /// For the first sign of a peer; `None` without limit.
    patience: Option<Duration>,
    call: OnceCell<Arc<WorkerCall>>,
    rounds: RefCell<Option<Timer>>,
    looks: RefCell<Option<Timer>>,
    /// Number of checks: the next round continues where the last one ended.
    checks: Cell<usize>,
    /// Endpoints whose transport is not connected, by id, and until when (monotonic nanoseconds).
    connecting: RefCell<BTreeMap<u64, u64>>,
}

/// Due checks, as bits.
const ROUND: u32 = 1;
const LOOK: u32 = 2;
/// Checks within a timeout: a late peer is detected by a fraction of the timeout too late.
const LOOKS: u32 = 4;

impl Keepalive {
    pub fn new(config: &Config) -> Keepalive {
        Keepalive {
            interval: limit(config.time(var!(TABLE, "KEEPALIVE_INTERVAL"))),
            most: config.uint(var!(TABLE, "KEEPALIVE_NUM_EPS")) as usize,
            patience: limit(config.time(var!(TABLE, "WIREUP_TIMEOUT"))),
            call: OnceCell::new(),
            rounds: RefCell::new(None),
            looks: RefCell::new(None),
            checks: Cell::new(0),
            connecting: RefCell::new(BTreeMap::new()),
        }
    }

    /// The timers end.
    pub fn stop(&self) {
        self.rounds.take();
        self.looks.take();
    }

    /// Requests `what` every `interval`, unless `timer` does already.
    fn start(&self, worker: &Core, timer: &RefCell<Option<Timer>>, interval: Duration, what: u32) {
        if timer.borrow().is_some() {
            return;
        }
        let call = self
            .call
            .get_or_init(|| Arc::new(WorkerCall::new(worker, serve)));
        let call = Arc::clone(call);
        match Timer::start(interval, move || call.request(what)) {
            Ok(t) => *timer.borrow_mut() = Some(t),
            Err(e) => ucs_diag!("peers are not checked from time to time: no timer: {e}"),
        }
    }
}

impl Core {
    pub fn keepalive(&self) -> &Keepalive {
        Keepalive::of(self)
    }
}

/// Watches an endpoint with error handling, whose transport is connected or still `connecting`.
pub fn watch(ep: &Ep, connecting: bool) {
    let worker = ep.worker();
    let k = &worker.keepalive();
    if let Some(interval) = k.interval
        && k.most > 0
    {
        k.start(worker, &k.rounds, interval, ROUND);
    }
    if let Some(patience) = k.patience
        && connecting
    {
        let until = monotonic_ns().saturating_add(patience.as_nanos() as u64);
        k.connecting.borrow_mut().insert(ep.id.get(), until);
        let often = (patience / LOOKS).max(Duration::from_millis(1));
        k.start(worker, &k.looks, often, LOOK);
    }
}

/// The transport of an endpoint is connected, or the endpoint has ended.
#[cold]
pub fn on_connected(worker: &Core, ep: u64) {
    let k = &worker.keepalive();
    let none = {
        let mut all = k.connecting.borrow_mut();
        all.remove(&ep);
        all.is_empty()
    };
    if none {
        k.looks.take();
    }
}

/// Performs the due checks, on the worker's thread.
extern "C" fn serve(worker: &Core) -> c_uint {
    let due = worker.keepalive().call.get().map_or(0, |call| call.take());
    let mut count = 0;
    if due & ROUND != 0 {
        count += round(worker);
    }
    if due & LOOK != 0 {
        count += look(worker);
    }
    count
}

/// Checks the next endpoints. Returns their number.
fn round(worker: &Core) -> u32 {
    let k = &worker.keepalive();
    let watched: Vec<u64> = {
        let all = worker.endpoints().eps.borrow();
        all.iter()
            .filter(|ep| ep.is_watched())
            .map(|ep| ep.id.get())
            .collect()
    };
    if watched.is_empty() {
        k.rounds.take();
        return 0;
    }
    let first = k.checks.get();
    let count = k.most.min(watched.len());
    k.checks.set(first.wrapping_add(count));
    for i in 0..count {
        let id = watched[first.wrapping_add(i) % watched.len()];
        if let Some(ep) = worker.ep(id) {
            ep.check_transports();
        }
    }
    count as u32
}

/// Fails the endpoints whose peers exceed the timeout. Returns their number.
fn look(worker: &Core) -> u32 {
    let k = &worker.keepalive();
    let now = monotonic_ns();
    let late: Vec<u64> = {
        let all = k.connecting.borrow();
        let late = all.iter().filter(|(_, until)| **until <= now);
        late.map(|(id, _)| *id).collect()
    };
    let mut count = 0;
    for id in late {
        on_connected(worker, id);
        if let Some(ep) = worker.ep(id) {
            ucs_error!(
                "the peer of {} does not take a connection; UCX_WIREUP_TIMEOUT sets how long to wait",
                ep.name()
            );
            ep.fail(Status::ENDPOINT_TIMEOUT);
            count += 1;
        }
    }
    count
}
