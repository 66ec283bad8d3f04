//! The interface's progress: failures, completions, receiving, gathered frames, and pending requests.
//!
//! Sockets with recent traffic are read without epoll first, as long as they are few; epoll is called every so many
//! calls for all others. So an idle interface costs a polling program no system calls.
#![forbid(unsafe_code)]

use super::conn::{Conn, Phase};
use super::deadlines::NEVER;
use super::iface::{Face, LISTENER, TIMER, TcpIface};
use super::{accept, link, proof, rx, upstream};
use crate::sys::clock::{cycles, cycles_in, monotonic_ns};
use crate::sys::epoll::EVENT_ROOM;
use crate::sys::socket::{READABLE, WRITABLE};
use crate::ucs::{Result, Status};
use crate::ucs_error;
use std::io;
use std::rc::Rc;

/// Sockets that are read without asking epoll.
const MAX_HOT: usize = 4;
/// Reads in a row without data after which a socket is no longer hot.
const COLD: u32 = 4096;
/// Progress calls between two calls of epoll: when every open socket is hot, and when some are not.
const RARELY: u64 = 64;
const OFTEN: u64 = 8;
/// The same while a busy connection waits for room to send.
const BLOCKED: u64 = 2;
/// Nanoseconds before the next epoll after one without events: a call costs some hundred, and delays other transports
/// of the same progress.
const POLL_PERIOD_NS: u64 = 10_000;
/// Number of epolls without events after which epoll is called as seldom, too.
const MAX_EMPTY_POLLS: u32 = 4096;
/// A caller that makes progress less often than this calls epoll each time.
const SELDOM_NS: u64 = 1_000_000;
/// Calls between two reads of the clock, in case there is no timer.
const CLOCK: u64 = 1024;
/// Events taken from epoll at a time.
const MAX_EVENTS: usize = 256;

/// With `RECEIVE` false, open connections are not read: their senders run out of room.
pub fn progress<const RECEIVE: bool>(face: &Face) -> u32 {
    let tick = face.next_tick();
    let quiet = is_quiet(face);
    if quiet && !poll_is_due(face) {
        return 0;
    }
    // A handler that progresses its own worker would run other handlers inside itself.
    if face.in_progress.replace(true) {
        return 0;
    }
    let mut count = 0;
    if !face.broken.borrow().is_empty() {
        count += report_broken(face);
    }
    if face.has_done() {
        count += face.complete_done();
    }
    if face.has_dirty() {
        face.each_dirty(|conn| conn.on_progress(face));
    }
    face.receiving.set(true);
    let mut received = 0;
    if RECEIVE {
        let held = core::mem::take(&mut *face.held.borrow_mut());
        received = read_hot(face) + read_held(face, held);
        count += received;
    }
    // What has told may be another socket all the same: then it tells again before the next sleep.
    let told = face.event_told.take() && received == 0;
    if told || quiet || time_to_poll(face, tick) {
        count += poll::<RECEIVE>(face);
    }
    face.receiving.set(false);
    if tick.is_multiple_of(CLOCK) {
        look_at_clock(face);
    }
    if count > 0 && face.has_dirty() {
        face.each_dirty(|conn| conn.on_progress_end(face));
    }
    if !face.servable.borrow().is_empty() {
        count += serve_waiting(face);
    }
    if face.has_done() {
        count += face.complete_done();
    }
    face.in_progress.set(false);
    count
}

/// Whether there is no connection, nor anything left of one: only a new connection can bring events.
#[inline]
fn is_quiet(face: &Face) -> bool {
    face.known.borrow().is_empty()
        && face.broken.borrow().is_empty()
        && face.servable.borrow().is_empty()
        && !face.has_done()
        && !face.poll_now.get()
}

#[inline]
fn time_to_poll(face: &Face, tick: u64) -> bool {
    let now = cycles();
    let pause = now.wrapping_sub(face.called_at.replace(now));
    // A caller that comes seldom mostly has events.
    if face.poll_now.replace(false) || pause > cycles_in(SELDOM_NS) {
        return true;
    }
    if face.unsettled.get() > 0 {
        // Some peers never reply.
        return face.empty_polls.get() < MAX_EMPTY_POLLS || poll_is_due(face);
    }
    let hot = face.hot.borrow();
    // Room in the socket of a blocked connection is reported by epoll.
    if hot.iter().any(|conn| conn.is_blocked()) {
        return tick.is_multiple_of(BLOCKED);
    }
    let every = if face.known.borrow().len() > hot.len() {
        OFTEN
    } else {
        RARELY
    };
    tick.is_multiple_of(every) && (face.had_events.get() || poll_is_due(face))
}

/// Whether `POLL_PERIOD_NS` have passed since the last periodic epoll; then the next period begins.
fn poll_is_due(face: &Face) -> bool {
    let now = cycles();
    let ends = now.wrapping_sub(face.polled_at.get()) >= cycles_in(POLL_PERIOD_NS);
    if ends {
        face.polled_at.set(now);
    }
    ends
}

#[inline]
fn read_hot(face: &Face) -> u32 {
    let mut count = 0;
    let mut at = 0;
    loop {
        // Handlers may have changed the list, so it is read again each time.
        let Some(conn) = face.hot.borrow().get(at).cloned() else {
            return count;
        };
        let n = if conn.fd() < 0 {
            0
        } else {
            rx::receive(face, &conn)
        };
        count += n;
        if n > 0 {
            conn.rx.misses.set(0);
        } else {
            let misses = conn.rx.misses.get() + 1;
            conn.rx.misses.set(misses);
            if misses > COLD || conn.fd() < 0 {
                cool(face, &conn);
                continue;
            }
        }
        at += 1;
    }
}

/// Reads the connections that were held in the last progress, unless they were read as hot ones.
fn read_held(face: &Face, held: Vec<Rc<Conn>>) -> u32 {
    let mut count = 0;
    for conn in held {
        if conn.fd() >= 0 && !conn.rx.hot.get() {
            count += rx::receive(face, &conn);
        }
    }
    count
}

fn cool(face: &TcpIface, conn: &Rc<Conn>) {
    conn.rx.hot.set(false);
    face.hot.borrow_mut().retain(|c| !Rc::ptr_eq(c, conn));
}

/// The socket had data: it is read without epoll from now on, instead of the least active one.
fn warm(face: &TcpIface, conn: &Rc<Conn>) {
    if conn.rx.hot.get() || conn.fd() < 0 {
        return;
    }
    let mut hot = face.hot.borrow_mut();
    if hot.len() >= MAX_HOT {
        let idle = (0..hot.len()).max_by_key(|i| hot[*i].rx.misses.get());
        if let Some(i) = idle {
            hot.swap_remove(i).rx.hot.set(false);
        }
    }
    conn.rx.hot.set(true);
    conn.rx.misses.set(0);
    hot.push(Rc::clone(conn));
}

/// Calls epoll and handles its events.
fn poll<const RECEIVE: bool>(face: &Face) -> u32 {
    face.greetings.set(0);
    let Some(set) = face.events.made() else {
        // An accept without a connection costs ten times as much as this poll.
        let requested = face.events.has_connection_request();
        face.had_events.set(requested);
        let accepted = if requested { accept::accept(face) } else { 0 };
        return accepted + face.opened.take();
    };
    let mut events = [EVENT_ROOM; MAX_EVENTS];
    let max = face.settings.max_poll.min(MAX_EVENTS);
    let ready = match set.wait(&mut events[..max], 0) {
        Ok(ready) => ready,
        Err(e) if e.kind() == io::ErrorKind::Interrupted => return 0,
        Err(e) => {
            ucs_error!("tcp: epoll: {e}");
            return 0;
        }
    };
    face.had_events.set(!ready.is_empty());
    face.empty_polls.set(match ready {
        [] => face.empty_polls.get().saturating_add(1),
        _ => 0,
    });
    let mut count = 0;
    for event in ready {
        let (token, what) = (event.u64, event.events);
        match token {
            // A new connection is an event: the interface is polled often from now on.
            LISTENER => count += accept::accept(face),
            TIMER => link::on_timer(face),
            _ => count += serve::<RECEIVE>(face, token, what),
        }
    }
    if ready.len() == max {
        face.poll_soon();
    }
    // A caller that got `NO_RESOURCE` before must try again, and not sleep.
    count + face.opened.take()
}

#[cold]
fn look_at_clock(face: &Face) {
    if face.next_deadline.get() != NEVER && monotonic_ns() >= face.next_deadline.get() {
        link::on_timer(face);
    }
}

fn serve<const RECEIVE: bool>(face: &Face, token: u64, what: u32) -> u32 {
    // Gone when an earlier event of the same round closed it.
    let known = face.known.borrow().get(&token).cloned();
    let Some(conn) = known else {
        let unauth_peer = face.unauth_peers.borrow().get(&token).cloned();
        if let Some(unauth_peer) = unauth_peer {
            accept::read_greeting(face, token, &unauth_peer);
        }
        return 0;
    };
    match conn.phase.get() {
        Phase::Connecting => {
            link::connected(face, &conn);
            return 0;
        }
        Phase::Proving => return proof::receive(face, &conn),
        _ => {}
    }
    let mut count = 0;
    if what & (READABLE | WRITABLE) != what {
        // The peer is gone: pending data are read to the end.
        conn.resume_reading();
    }
    if what & !WRITABLE != 0 && !conn.rx.hot.get() && (RECEIVE || !conn.is_open()) {
        count = rx::receive(face, &conn);
        if count > 0 && conn.is_open() {
            warm(face, &conn);
        }
    }
    if what & WRITABLE != 0 && conn.socket.token.get() == token {
        conn.unblock(face);
        // Room is an event: a sender that waits for it must not sleep.
        count += 1;
    }
    count
}

fn report_broken(face: &Face) -> u32 {
    let list = core::mem::take(&mut *face.broken.borrow_mut());
    let n = list.len() as u32;
    for conn in list {
        cool(face, &conn);
        link::report(face, &conn);
    }
    n
}

/// Calls the pending requests of connections that have room.
fn serve_waiting(face: &Face) -> u32 {
    let list = core::mem::take(&mut *face.servable.borrow_mut());
    let mut count = 0;
    for conn in list {
        conn.servable.set(false);
        if conn.is_open() {
            upstream::lane::report(face, &conn);
        }
        if conn.has_room() {
            count += conn.pending.dispatch();
        }
        conn.offer_room(face);
    }
    count
}

/// The descriptor is readable.
pub fn event_came(face: &Face) {
    if is_quiet(face) {
        face.poll_soon();
    } else {
        face.event_told.set(true);
    }
}

/// Sends gathered frames, and arms the descriptor for all later events. `BUSY` when an event is pending.
pub fn arm(face: &Face) -> Result<()> {
    prepare_to_sleep(face)?;
    let mut events = [EVENT_ROOM; 1];
    match face.events.set()?.wait(&mut events, 0) {
        Ok([]) => Ok(()),
        _ => {
            face.poll_soon();
            Err(Status::BUSY)
        }
    }
}

/// The same where somebody waits for the descriptor, who is told of a pending event at once.
pub fn arm_watched(face: &Face) -> Result<()> {
    prepare_to_sleep(face)?;
    match face.event_told.get() {
        false => Ok(()),
        true => Err(Status::BUSY),
    }
}

/// Sends gathered frames. `BUSY` when progress has something to do that no event tells.
fn prepare_to_sleep(face: &Face) -> Result<()> {
    let conns: Vec<_> = face.take_dirty();
    for conn in conns {
        conn.flush(face);
    }
    let servable = face.servable.borrow().iter().any(|c| c.has_room());
    let failed = !face.broken.borrow().is_empty();
    let held = !face.held.borrow().is_empty();
    match servable || face.has_done() || failed || held || face.lacks_timer() {
        false => Ok(()),
        true => Err(Status::BUSY),
    }
}
