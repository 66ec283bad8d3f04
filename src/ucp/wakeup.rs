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
use super::short_sleeps::ShortSleeps;
use super::sleepers::{Asleep, EventFd, Signal, Sleepers};
use super::worker_core::Core;
use crate::c::*;
use crate::sys::clock::cycles;
use crate::sys::epoll::{self, EVENT_ROOM, Epoll};
use crate::sys::{poll, thread};
use crate::ucs::{Result, Status};
use core::cell::{Cell, OnceCell};
use std::os::fd::RawFd;
use std::sync::Arc;

pub struct Wakeup {
    /// The application's epoll descriptor, or one of ours; made at first use.
    set: OnceCell<Set>,
    /// Exists if the worker has wake-up.
    signal: Option<Signal>,
    /// Of a worker with a progress thread.
    thread: Option<Arc<Handover>>,
    sleepers: Sleepers,
    /// What the last sleeps of the program were like.
    short_sleeps: ShortSleeps,
    /// The progress thread has done something that the program may be about to sleep for.
    thread_worked: Cell<bool>,
    /// How often somebody was woken.
    pub wake_ups: Counter,
}

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
            Some(Signal::new()?)
        };
        Ok(Wakeup {
            set: OnceCell::new(),
            signal,
            thread: match progress_thread {
                true => Some(Arc::new(Handover::new()?)),
                false => None,
            },
            sleepers: Sleepers::default(),
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
        self.signal.as_ref().map(Signal::event)
    }

    /// Takes the signal, if it was given or its descriptor is readable.
    pub fn look_at_signal(&self, is_readable: bool) {
        if let Some(signal) = &self.signal {
            signal.take(is_readable);
        }
    }

    /// Makes the descriptor readable, from any thread.
    pub fn poke(&self) {
        if let Some(signal) = &self.signal {
            signal.give();
        }
        if let Some(thread) = &self.thread {
            thread.wake();
        }
    }

    /// Progress has something to do: wakes a thread that sleeps while another thread posts.
    #[inline]
    pub fn work_came(&self) {
        if self.sleepers.any() {
            self.wake(Sleepers::wake_all);
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
        let signalled = self.signal.as_ref().is_some_and(Signal::was_taken);
        self.thread_worked.take() || signalled
    }

    /// The program is about to sleep.
    pub fn note_armed(&self) {
        self.short_sleeps.note_armed(cycles());
        self.sleepers.program_armed(thread::here());
    }

    /// Whether this thread has armed and is back: what has happened is not known yet.
    #[inline]
    pub fn is_back(&self) -> bool {
        self.sleepers.is_back(thread::here)
    }

    /// Notes that this thread is back. Others that have armed may still be sleeping.
    fn note_back(&self) {
        if self.sleepers.program_back(thread::here()) {
            self.short_sleeps.note_back(cycles());
        }
    }

    /// Whether the set has to be asked before the next sleep.
    fn has_to_look(&self) -> bool {
        self.sleepers.is_program_away() || self.is_signalled()
    }

    fn is_signalled(&self) -> bool {
        self.signal.as_ref().is_some_and(Signal::is_given)
    }

    /// The program calls progress, which is no longer up to the progress thread.
    #[inline]
    pub fn note_poll(&self) {
        if let Some(thread) = &self.thread {
            thread.note_poll();
            if self.sleepers.is_progress_thread() {
                self.wake(Sleepers::wake_progress_thread);
            }
        }
    }

    /// The progress thread is about to sleep.
    pub fn note_thread_armed(&self) {
        self.sleepers.progress_thread_armed();
    }

    /// Wakes those of `whom` that may be sleeping.
    #[cold]
    fn wake(&self, whom: fn(&Sleepers) -> Asleep) {
        let asleep = whom(&self.sleepers);
        self.wake_ups.add(u64::from(asleep != Asleep::default()));
        if asleep.program
            && let Some(signal) = &self.signal
        {
            signal.give();
        }
        if asleep.progress_thread
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
        if is_over || !can_come || w.wakeup.is_signalled() {
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
