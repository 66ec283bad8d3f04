//! Wake-up: sleeping until there is something to progress.
//!
//! One epoll descriptor contains the interfaces' descriptors and an eventfd of ours. `arm` returns BUSY when an event
//! is pending; after OK, any message or signal makes the descriptor readable.
//!
//! Whoever comes back from a sleep asks the set once what happened (`look`): interfaces that nothing came for are not asked, and no
//! counter is read that nobody has written. A set of the application's, or one that tells each event once, cannot be asked: then
//! everything may have happened.
#![forbid(unsafe_code)]

use super::counters::Counter;
use super::idle;
use super::progress_thread::Handover;
#[cfg(all(test, loom))]
use super::progress_thread::model::EventFd;
use super::short_sleeps::ShortSleeps;
use super::worker_core::Core;
use crate::c::*;
use crate::sys::clock::cycles;
use crate::sys::epoll::{self, EVENT_ROOM, Epoll};
#[cfg(not(all(test, loom)))]
use crate::sys::eventfd::EventFd;
use crate::sys::{poll, thread};
use crate::ucs::sync::{AtomicBool, Ordering};
use crate::ucs::{Result, Status};
use core::cell::{Cell, OnceCell};
use std::os::fd::RawFd;
use std::sync::Arc;

pub struct Wakeup {
    /// The application's epoll descriptor, or one of ours; made at first use.
    set: OnceCell<Set>,
    /// Exists if the worker has wake-up: `signal` may be called from any thread.
    signal: Option<EventFd>,
    /// The signal was given, and not taken yet. Who finds it given need not write.
    signalled: AtomicBool,
    /// A signal was taken, of which the next `arm` tells.
    signal_taken: Cell<bool>,
    /// Of a worker with a progress thread.
    thread: Option<Arc<Handover>>,
    /// Who may be sleeping since the last `arm`: `PROGRAM`, `THREAD`.
    armed: Cell<u8>,
    /// The thread of the program that has armed and not come back yet; `NOBODY`, `SEVERAL`.
    sleeper: Cell<u64>,
    /// What the last sleeps of the program were like.
    short_sleeps: ShortSleeps,
    /// The progress thread has done something that the program may be about to sleep for.
    thread_worked: Cell<bool>,
    /// How often somebody was woken.
    pub wake_ups: Counter,
}

const PROGRAM: u8 = 1;
const THREAD: u8 = 2;
/// No thread has these numbers.
const NOBODY: u64 = 0;
const SEVERAL: u64 = 1;
/// The word of the signal in a set of ours; an interface has the next of its index.
const SIGNAL: u64 = 0;
/// Members that a look at the set tells at once.
const ROOM: usize = 64;

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
            signalled: AtomicBool::new(false),
            signal_taken: Cell::new(false),
            thread: match progress_thread {
                true => Some(Arc::new(Handover::new()?)),
                false => None,
            },
            armed: Cell::new(0),
            sleeper: Cell::new(NOBODY),
            short_sleeps: ShortSleeps::default(),
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

    fn give_signal(&self) {
        // AcqRel: pairs with `look_at_signal`. Who finds it given has what it did before seen by who takes it.
        if let Some(signal) = &self.signal
            && !self.signalled.swap(true, Ordering::AcqRel)
        {
            signal.signal();
        }
    }

    /// Takes the signal, if it was given or its descriptor is readable: who has given it may not have written yet.
    pub fn look_at_signal(&self, is_readable: bool) {
        let Some(signal) = &self.signal else {
            return;
        };
        let given = self.signalled.swap(false, Ordering::AcqRel);
        let cleared = (given || is_readable) && signal.clear();
        if given || cleared {
            self.signal_taken.set(true);
        }
    }

    /// Makes the descriptor readable, from any thread.
    pub fn poke(&self) {
        self.give_signal();
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
        let signalled = self.signal_taken.take();
        self.thread_worked.take() || signalled
    }

    /// The program is about to sleep.
    pub fn note_armed(&self) {
        self.armed.update(|armed| armed | PROGRAM);
        self.short_sleeps.note_armed(cycles());
        let me = thread::here();
        self.sleeper.update(|sleeper| match sleeper {
            NOBODY => me,
            other if other == me => me,
            _ => SEVERAL,
        });
    }

    /// Whether this thread has armed and is back: what has happened is not known yet.
    #[inline]
    pub fn is_back(&self) -> bool {
        self.sleeper.get() != NOBODY && self.sleeper.get() == thread::here()
    }

    /// Notes that this thread is back. Others that have armed may still be sleeping.
    fn note_back(&self) {
        if self.is_back() {
            self.sleeper.set(NOBODY);
            self.short_sleeps.note_back(cycles());
            self.armed.update(|armed| armed & !PROGRAM);
        }
    }

    /// Whether the set has to be asked before the next sleep.
    fn has_to_look(&self) -> bool {
        // Relaxed: a signal that is not seen has the descriptor readable, or will have.
        self.sleeper.get() != NOBODY || self.signalled.load(Ordering::Relaxed)
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
        if armed & whom & PROGRAM != 0 {
            self.give_signal();
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
        Some(fd) => (Set::Users(fd), Some(w.params.user_data as u64)),
        None => (Set::Ours(Epoll::new()?), None),
    };
    let mut events = libc::EPOLLIN as u32;
    if is_by_edge(w) {
        events |= libc::EPOLLET as u32;
    }
    for (fd, own_word) in members(w, signal)? {
        if let Err(e) = epoll::add(set.raw(), fd, events, word.unwrap_or(own_word)) {
            crate::ucs_error!(
                "the worker's events cannot be added to descriptor {}: {e}",
                set.raw()
            );
            return Err(Status::INVALID_PARAM);
        }
    }
    Ok(w.wakeup.set.get_or_init(|| set))
}

/// The members with their words: the signal, and the interfaces if their events are wanted.
fn members(w: &Core, signal: &EventFd) -> Result<Vec<(RawFd, u64)>> {
    let mut all = vec![(signal.raw(), SIGNAL)];
    if wants_events(w) {
        for (iface, word) in w.ifaces.iter().zip(SIGNAL + 1..) {
            let fd = iface.internal().event_fd()?;
            iface.is_watched.set(fd.is_some());
            all.extend(fd.map(|fd| (fd, word)));
        }
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

/// Whether the set tells each event once.
fn is_by_edge(w: &Core) -> bool {
    w.params.events & UCP_WAKEUP_EDGE != 0
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

    /// Whether it tells what has happened, any number of times.
    fn can_be_asked(&self, w: &Core) -> bool {
        matches!(self, Set::Ours(_)) && !is_by_edge(w)
    }
}

/// Arms the descriptor. `BUSY` when there is something to look at or to progress first.
pub fn arm(w: &Core) -> Result<()> {
    let set = set(w)?;
    let came_for_idle = w.wakeup.has_to_look() && look(w, set) && !w.unexpected.is_paused();
    if came_for_idle {
        w.rounds.look_soon();
    }
    if w.wakeup.take_news() || (w.hooks().wants_progress)(w) || came_for_idle {
        return Err(Status::BUSY);
    }
    if wants_events(w) {
        if !w.is_shared() && finds_message(w) {
            return Err(Status::BUSY);
        }
        arm_ifaces(w, set.can_be_asked(w))?;
    }
    w.wakeup.note_armed();
    w.rounds.come_soon();
    Ok(())
}

/// Looks for messages before a sleep that may be short. Not with a lock held, which another thread waits for.
fn finds_message(w: &Core) -> bool {
    let sleeps = &w.wakeup.short_sleeps;
    let Some(time) = sleeps.time_to_look() else {
        return false;
    };
    let begun = cycles();
    loop {
        let mut can_come = false;
        for iface in w.ifaces.iter().filter(|iface| iface.polled.get()) {
            match iface.internal().has_message() {
                Some(true) => {
                    sleeps.note_look(true);
                    return true;
                }
                found => can_come |= found.is_some(),
            }
        }
        let is_over = cycles().wrapping_sub(begun) >= time;
        if is_over || !can_come || w.wakeup.signalled.load(Ordering::Relaxed) {
            sleeps.note_look(false);
            return false;
        }
        core::hint::spin_loop();
    }
}

/// The program is back from a sleep, and progress begins: interfaces that are not polled otherwise are if something came for
/// them. Returns how many things happened.
#[cold]
#[inline(never)]
pub fn come_back(w: &Core) -> u32 {
    if let Some(set) = w.wakeup.set.get() {
        look(w, set);
    }
    idle::serve(w)
}

/// Finds out what has happened since the program armed. Whether something has come for an interface that is idle.
fn look(w: &Core, set: &Set) -> bool {
    w.wakeup.note_back();
    let mut room = [EVENT_ROOM; ROOM];
    let told = match set {
        Set::Ours(epoll) if set.can_be_asked(w) => epoll.wait(&mut room, 0).ok(),
        _ => None,
    };
    // More than that may have happened if there is no room for more.
    let told = told.filter(|told| told.len() < ROOM);
    let came = |word: u64| told.is_none_or(|told| told.iter().any(|event| event.u64 == word));
    w.wakeup.look_at_signal(came(SIGNAL));
    if !wants_events(w) {
        return false;
    }
    let mut came_for_idle = false;
    for (iface, word) in w.ifaces.iter().zip(SIGNAL + 1..) {
        if !iface.is_watched.get() || came(word) {
            iface.internal().event_came();
            iface.has_event.set(!iface.polled.get());
            came_for_idle |= iface.has_event.get() && iface.is_watched.get() && told.is_some();
        }
    }
    w.rounds.have_looked();
    came_for_idle
}

/// The same for the progress thread.
pub fn arm_thread(w: &Core, thread: &Handover) -> Result<()> {
    if thread.clear() || (w.hooks().wants_progress)(w) {
        return Err(Status::BUSY);
    }
    // A pending or later event may belong to an idle interface.
    w.rounds.look_soon();
    arm_ifaces(w, false)?;
    w.wakeup.note_thread_armed();
    Ok(())
}

/// `asked`: by the program, whose set was asked what came before and tells what will come.
fn arm_ifaces(w: &Core, asked: bool) -> Result<()> {
    if w.unexpected.is_paused() {
        // A receive pause: the interfaces' messages are not received before a message is taken.
        return Ok(());
    }
    for iface in &w.ifaces {
        let armed = match asked && iface.is_watched.get() {
            true => iface.internal().arm_watched(EVERYTHING),
            false => iface.internal().arm(EVERYTHING),
        };
        match armed {
            Ok(()) | Err(Status::UNSUPPORTED) => {}
            failed => {
                w.rounds.look_soon();
                return failed;
            }
        }
    }
    Ok(())
}

/// The descriptors that `sleep` waits for; not the application's, which may have other members.
pub fn sleepers(w: &Core) -> Result<Vec<RawFd>> {
    match set(w)? {
        set @ Set::Ours(e) if set.can_be_asked(w) => Ok(vec![e.raw()]),
        _ => {
            let all = members(w, own_signal(w)?)?;
            Ok(all.into_iter().map(|(fd, _)| fd).collect())
        }
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
