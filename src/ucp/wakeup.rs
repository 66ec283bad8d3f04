//! Wake-up: sleeping until there is something to progress.
//!
//! One epoll descriptor contains the interfaces' descriptors and an eventfd of ours. `arm` returns BUSY when an event
//! is pending; after OK, any message or signal makes the descriptor readable.
#![forbid(unsafe_code)]

use super::counters::Counter;
use super::progress_thread::Handover;
#[cfg(all(test, loom))]
use super::progress_thread::model::EventFd;
use super::worker_core::Core;
use crate::c::*;
use crate::sys::epoll::{self, Epoll};
#[cfg(not(all(test, loom)))]
use crate::sys::eventfd::EventFd;
use crate::sys::poll;
use crate::ucs::{Result, Status};
use core::cell::{Cell, OnceCell};
use std::os::fd::RawFd;
use std::sync::Arc;

pub struct Wakeup {
    /// The application's epoll descriptor, or one of ours; made at first use.
    set: OnceCell<Set>,
    /// Exists if the worker has wake-up: `signal` may be called from any thread.
    signal: Option<EventFd>,
    /// Of a worker with a progress thread.
    thread: Option<Arc<Handover>>,
    /// Who may be sleeping since the last `arm`: `PROGRAM`, `THREAD`.
    armed: Cell<u8>,
    /// The progress thread has done something that the program may be about to sleep for.
    thread_worked: Cell<bool>,
    /// How often somebody was woken.
    pub wake_ups: Counter,
}

const PROGRAM: u8 = 1;
const THREAD: u8 = 2;

pub enum Set {
    Ours(Epoll),
    Users(RawFd),
}

/// The events for which interfaces are armed if the application wants any. A send may complete by a message of the
/// peer, and a receive by the completion of a transfer of ours, so each needs both.
const EVERYTHING: u32 = UCT_EVENT_SEND_COMP | UCT_EVENT_RECV;

impl Wakeup {
    /// Of a context with these features.
    pub fn new(features: u64, progress_thread: bool) -> Result<Wakeup> {
        let signal = if features & u64::from(UCP_FEATURE_WAKEUP) == 0 {
            None
        } else {
            Some(EventFd::new()?)
        };
        Ok(Wakeup {
            set: OnceCell::new(),
            signal,
            thread: match progress_thread {
                true => Some(Arc::new(Handover::new()?)),
                false => None,
            },
            armed: Cell::new(0),
            thread_worked: Cell::new(false),
            wake_ups: Counter::default(),
        })
    }

    /// What the progress thread shares with the program, if there is to be one.
    #[inline]
    pub fn thread(&self) -> Option<&Arc<Handover>> {
        self.thread.as_ref()
    }

    /// What `poke` signals, if the worker has wake-up.
    pub fn signal(&self) -> Option<&EventFd> {
        self.signal.as_ref()
    }

    /// Makes the descriptor readable, from any thread.
    pub fn poke(&self) {
        if let Some(signal) = &self.signal {
            signal.signal();
        }
        if let Some(thread) = &self.thread {
            thread.wake();
        }
    }

    /// Progress has something to do: wakes a thread that sleeps while another thread posts.
    #[inline]
    pub fn work_came(&self) {
        if self.armed.get() != 0 {
            self.wake_armed(PROGRAM | THREAD);
        }
    }

    /// As `work_came`, of the progress thread: what the program sleeps for may have been done, or what it will sleep for.
    pub fn thread_worked(&self) {
        self.thread_worked.set(true);
        self.work_came();
    }

    /// Takes what the program has to look at before it sleeps: a signal, or that the progress thread has done something
    /// since the last time, as the program may have looked at its requests before.
    pub fn take_news(&self) -> bool {
        let signalled = self.signal.as_ref().is_some_and(EventFd::clear);
        self.thread_worked.take() || signalled
    }

    /// The program is about to sleep.
    pub fn note_armed(&self) {
        self.armed.update(|armed| armed | PROGRAM);
    }

    /// The program calls progress, which is no longer up to the progress thread.
    #[inline]
    pub fn note_poll(&self) {
        if let Some(thread) = &self.thread {
            thread.note_poll();
            if self.armed.get() & THREAD != 0 {
                self.wake_armed(THREAD);
            }
        }
    }

    /// The progress thread is about to sleep.
    pub fn note_thread_armed(&self) {
        self.armed.update(|armed| armed | THREAD);
    }

    /// Wakes those of `whom` that may be sleeping.
    #[cold]
    fn wake_armed(&self, whom: u8) {
        let armed = self.armed.get();
        self.armed.set(armed & !whom);
        self.wake_ups.add(u64::from(armed & whom != 0));
        if armed & whom & PROGRAM != 0
            && let Some(signal) = &self.signal
        {
            signal.signal();
        }
        if armed & whom & THREAD != 0
            && let Some(thread) = &self.thread
        {
            thread.wake();
        }
    }

    /// As `work_came`, if a thread may be sleeping.
    pub fn poke_sleepers(&self) {
        if self.set.get().is_some() || self.thread.is_some() {
            self.poke();
        }
    }
}

/// The descriptor for the application to wait on. `UNSUPPORTED` when the context was made without
/// wake-up, or when the application gave a descriptor of its own.
pub fn fd(w: &Core) -> Result<RawFd> {
    match set(w)? {
        Set::Ours(e) => Ok(e.raw()),
        Set::Users(_) => {
            crate::ucs_error!(
                "the worker reports its events on the descriptor it was created with, it has none to give"
            );
            Err(Status::UNSUPPORTED)
        }
    }
}

/// The eventfd of `signal`. `UNSUPPORTED` when the context was made without wake-up.
fn own_signal(w: &Core) -> Result<&EventFd> {
    w.wakeup.signal().ok_or_else(|| {
        crate::ucs_error!(
            "the worker has no event descriptor: UCP_FEATURE_WAKEUP was not asked for"
        );
        Status::UNSUPPORTED
    })
}

/// The descriptor with all members: filled at creation if it is the application's, else at first use.
pub fn set(w: &Core) -> Result<&Set> {
    w.check_process()?;
    let signal = own_signal(w)?;
    if let Some(set) = w.wakeup.set.get() {
        return Ok(set);
    }
    let (set, word) = match w.params.event_fd {
        Some(fd) => (Set::Users(fd), w.params.user_data as u64),
        None => (Set::Ours(Epoll::new()?), 0),
    };
    let mut events = libc::EPOLLIN as u32;
    if w.params.events & UCP_WAKEUP_EDGE != 0 {
        events |= libc::EPOLLET as u32;
    }
    for fd in descriptors(w, signal)? {
        if let Err(e) = epoll::add(set.raw(), fd, events, word) {
            crate::ucs_error!(
                "the worker's events cannot be added to descriptor {}: {e}",
                set.raw()
            );
            return Err(Status::INVALID_PARAM);
        }
    }
    Ok(w.wakeup.set.get_or_init(|| set))
}

/// The members: the signal, and the interfaces if their events are wanted.
fn descriptors(w: &Core, signal: &EventFd) -> Result<Vec<RawFd>> {
    let mut all = vec![signal.raw()];
    if wants_events(w) {
        all.extend(iface_fds(w)?);
    }
    Ok(all)
}

/// What the progress thread sleeps on.
pub fn thread_descriptors(w: &Core, thread: &Handover) -> Result<Vec<RawFd>> {
    let mut all = iface_fds(w)?;
    all.push(thread.fd());
    Ok(all)
}

fn iface_fds(w: &Core) -> Result<Vec<RawFd>> {
    let fds = w.ifaces.iter().map(|iface| iface.internal().event_fd());
    fds.filter_map(Result::transpose).collect()
}

/// Whether the application expects other events than its own signals.
fn wants_events(w: &Core) -> bool {
    w.params.events & !UCP_WAKEUP_EDGE != 0
}

impl Set {
    fn raw(&self) -> RawFd {
        match self {
            Set::Ours(e) => e.raw(),
            Set::Users(fd) => *fd,
        }
    }
}

/// Arms the descriptor. `BUSY` when there is something to look at or to progress first.
pub fn arm(w: &Core) -> Result<()> {
    set(w)?;
    if w.wakeup.take_news() || (w.hooks().wants_progress)(w) {
        return Err(Status::BUSY);
    }
    if wants_events(w) {
        arm_ifaces(w)?;
    }
    w.wakeup.note_armed();
    Ok(())
}

/// The same for the progress thread.
pub fn arm_thread(w: &Core, thread: &Handover) -> Result<()> {
    if thread.clear() || (w.hooks().wants_progress)(w) {
        return Err(Status::BUSY);
    }
    arm_ifaces(w)?;
    w.wakeup.note_thread_armed();
    Ok(())
}

fn arm_ifaces(w: &Core) -> Result<()> {
    if w.unexpected.is_paused() {
        // A receive pause: the interfaces' messages are not received before a message is taken.
        return Ok(());
    }
    // A pending or later event may belong to an idle interface.
    w.rounds.look_soon();
    for iface in &w.ifaces {
        match iface.internal().arm(EVERYTHING) {
            Ok(()) | Err(Status::UNSUPPORTED) => {}
            failed => return failed,
        }
    }
    Ok(())
}

/// The descriptors that `sleep` waits for; not the application's, which may have other members.
pub fn sleepers(w: &Core) -> Result<Vec<RawFd>> {
    match set(w)? {
        Set::Ours(e) if w.params.events & UCP_WAKEUP_EDGE == 0 => Ok(vec![e.raw()]),
        _ => descriptors(w, own_signal(w)?),
    }
}

/// Sleeps until one of the descriptors is readable, for `timeout_ms` at most (negative: for ever).
pub fn sleep(fds: &[RawFd], timeout_ms: i32) -> Result<()> {
    let mut fds: Vec<_> = fds
        .iter()
        .map(|&fd| libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        })
        .collect();
    loop {
        match poll::poll(&mut fds, timeout_ms) {
            Ok(_) => return Ok(()),
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e.into()),
        }
    }
}

/// Makes the descriptor readable, from any thread.
pub fn signal(w: &Core) -> Result<()> {
    w.check_process()?;
    w.wakeup.poke();
    Ok(())
}

/// Waits a little for what `read` reads to change; may return without a change.
pub fn watch(read: impl Fn() -> u8) {
    /// Long enough to spare the caller's loop a few rounds, short enough not to delay it.
    const ROUNDS: usize = 1000;
    let before = read();
    for _ in 0..ROUNDS {
        if read() != before {
            return;
        }
        core::hint::spin_loop();
    }
}
