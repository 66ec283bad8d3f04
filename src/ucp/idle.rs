//! Idle interfaces: no endpoint uses them and no event has come. They are polled seldom, so that a message of another
//! interface does not wait for them. The first endpoint or event makes an interface active. Until one is, no message can
//! wait, and the first connection is to be found soon.
#![forbid(unsafe_code)]

use super::worker_core::{Core, OpenIface};
use crate::c::*;
use crate::sys::clock;
use core::cell::Cell;

/// Calls of progress between two reads of the clock, which take as long as polling an interface.
const CALLS: u32 = 16;
/// Time between two rounds. It doubles, `MOST_DOUBLINGS` times, while rounds find nothing: polling a network interface is a system
/// call of a few hundred nanoseconds, and where processes share a processor each of them makes those calls. The simulation
/// has no clock.
const PATIENCE_NS: u64 = if cfg!(test) { 0 } else { 50_000 };
const MOST_DOUBLINGS: u32 = 5;
/// The same while all interfaces are idle.
const ALL_IDLE_NS: u64 = if cfg!(test) { 0 } else { 5_000 };

/// The schedule of what a worker's progress does seldom: to poll idle interfaces, and to go on with operations that wait for it.
#[derive(Default)]
pub struct Rounds {
    /// Whether there are idle interfaces, and whether there are others.
    wanted: Cell<bool>,
    any_active: Cell<bool>,
    /// Calls until the next look at the clock, about.
    left: Cell<u32>,
    /// The same where operations wait for the next progress, which comes before; else 0.
    held: Cell<u32>,
    /// The last round, in cycles.
    last: Cell<u64>,
    /// How often the time between rounds has doubled.
    doublings: Cell<u32>,
}

impl Rounds {
    /// The next progress polls the idle interfaces too.
    pub fn look_soon(&self) {
        self.come_soon();
        self.last.set(0);
        self.doublings.set(0);
    }

    /// The next progress does what is done seldom, as far as it is time.
    pub fn come_soon(&self) {
        let left = match self.held.get() {
            0 => &self.left,
            _ => &self.held,
        };
        left.set(1);
    }

    /// It is known what has come for the idle interfaces.
    pub fn have_looked(&self) {
        self.last.set(clock::cycles());
    }

    /// What a round found decides when the next one is.
    fn note_news(&self, news: u32) {
        let doublings = match news {
            0 => (self.doublings.get() + 1).min(MOST_DOUBLINGS),
            _ => 0,
        };
        self.doublings.set(doublings);
    }

    /// The next progress goes on with operations that wait for it.
    pub fn wait_for_progress(&self) {
        if self.held.get() == 0 {
            self.held.set(self.left.get().max(1));
        }
        self.left.set(1);
    }

    /// Called once in each progress: whether it has more to do than to poll what is active.
    #[inline(always)]
    pub fn are_due(&self) -> bool {
        let left = self.left.get().wrapping_sub(1);
        self.left.set(left);
        left == 0
    }

    /// Called when it has: whether operations wait for it.
    pub fn take_waiting(&self) -> bool {
        let held = self.held.take();
        if held != 0 {
            self.left.set(held);
        }
        held != 0
    }

    /// No progress has more to do.
    pub fn stop(&self) {
        self.wanted.set(false);
        self.held.set(0);
        self.left.set(0);
    }

    /// Whether the idle interfaces are to be polled now.
    pub fn is_time(&self) -> bool {
        if !self.wanted.get() {
            return false;
        }
        self.left.set(CALLS);
        let now = clock::cycles();
        let period = match self.any_active.get() {
            true => PATIENCE_NS << self.doublings.get(),
            false => ALL_IDLE_NS,
        };
        let over = now.wrapping_sub(self.last.get()) >= clock::cycles_in(period);
        if over {
            self.last.set(now);
        }
        over
    }
}

/// Whether the interface has to be polled at all.
fn has_something(iface: &OpenIface) -> bool {
    iface.internal().base.internal.polls
}

/// Which interfaces of the worker are idle has changed.
pub fn update(worker: &Core) {
    let is_idle = |iface: &OpenIface| !iface.polled.get() && has_something(iface);
    let rounds = &worker.rounds;
    rounds.wanted.set(worker.ifaces.iter().any(is_idle));
    rounds.left.set(rounds.left.get().clamp(1, CALLS));
    let is_active = |iface: &OpenIface| iface.polled.get();
    rounds.any_active.set(worker.ifaces.iter().any(is_active));
    rounds.doublings.set(0);
}

/// From now on every progress polls the interface.
pub fn poll(worker: &Core, iface: &OpenIface) {
    if iface.polled.replace(true) {
        return;
    }
    iface
        .internal()
        .enable_progress(UCT_PROGRESS_SEND | UCT_PROGRESS_RECV);
    update(worker);
}

/// Looks at the idle interfaces; returns how many things happened.
#[cold]
pub fn round(worker: &Core) -> u32 {
    let news = progress_idle(worker, |_| true);
    worker.rounds.note_news(news);
    news
}

/// The same for those that something may have come for.
#[cold]
pub fn serve(worker: &Core) -> u32 {
    progress_idle(worker, |iface| iface.has_event.get())
}

fn progress_idle(worker: &Core, is_due: impl Fn(&OpenIface) -> bool) -> u32 {
    let mut count = 0;
    // Messages stay with the transport during a receive pause.
    if worker.unexpected.is_paused() {
        return count;
    }
    let idle = worker.ifaces.iter().filter(|iface| !iface.polled.get());
    for iface in idle.filter(|iface| is_due(iface)) {
        iface.has_event.set(false);
        let news = iface.internal().progress();
        if news > 0 {
            poll(worker, iface);
        }
        count += news;
    }
    count
}
