//! Setting up and taking down connections: connect, greet, retry, disconnect; `accept` has the other side.
//!
//! Two interfaces may connect to each other at the same moment; the attempt of the one with the smaller id wins.
//! Attempts are numbered, so that an abandoned one is recognised when it is accepted late. Nothing but a hello is sent
//! before the welcome, so nothing is lost or doubled whichever attempt wins. A hello is signed (`hello`): it can
//! replace connections of its sender only.
#![forbid(unsafe_code)]

use super::accept::{on_unauth_peer_deadline, resume_accepting};
use super::config::{BindSource, MAX_AM};
use super::conn::{Conn, Phase};
use super::deadlines::NEVER;
use super::ep::NOWHERE;
use super::hello::{HELLO_LEN, Hello, PURPOSE_DATA};
use super::iface::{Face, Once, TcpIface, Timed};
use super::proof;
use super::rx;
use super::upstream::{self, Upstream};
use super::wire::{Frame, Reason, Welcome};
use crate::sys::clock::monotonic_ns;
use crate::sys::poll::{PollFd, poll};
use crate::sys::socket::{Connecting, Options, READABLE, Socket, WRITABLE};
use crate::ucs::{Result, Status};
use crate::uct::internal::UpstreamEvent;
use crate::{ucs_debug, ucs_diag, ucs_error, ucs_warn};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

/// The kernel gets so long to connect.
const CONNECT_NS: u64 = 30_000_000_000;
/// Wait before the first repeated attempt; each later one waits so much longer. With the default
/// number of attempts a dead peer is found within 100 ms.
const RETRY_NS: u64 = 250_000;
/// The other side is connecting: after this we retry ourselves. That detects a peer that ended meanwhile; a slow one
/// defers us again.
const DEFER_NS: u64 = 100_000_000;
/// Time between two checks of a blocked connection.
pub const SILENCE_NS: u64 = 2_000_000_000;
/// Time that a closing interface waits for room, in all and each time, for data whose sends have completed.
const CLOSE_NS: u64 = 1_000_000_000;
const CLOSE_STEP_MS: i32 = 100;
/// Most reads from a peer before its socket is closed, so that it gets no reset.
const LINGER_READS: usize = 64;

/// The connection to interface `peer` at `remote`: the existing one, or a new one that is being set up.
pub fn connect(face: &TcpIface, peer: u64, remote: SocketAddr) -> Result<Rc<Conn>> {
    let known = face.by_peer.borrow().get(&peer).cloned();
    if let Some(conn) = known {
        return Ok(conn);
    }
    let conn = Conn::new(face.new_token(), peer, Some(remote));
    begin(face, &conn, remote)?;
    Ok(conn)
}

/// Lists a new connection and begins the first attempt.
pub fn begin(face: &TcpIface, conn: &Rc<Conn>, remote: SocketAddr) -> Result<()> {
    face.by_peer.borrow_mut().insert(conn.peer, Rc::clone(conn));
    if let Err(e) = start(face, conn) {
        drop_socket(face, conn);
        face.by_peer.borrow_mut().remove(&conn.peer);
        ucs_error!(
            "tcp: cannot connect from {} to {remote}: {e}",
            face.address.ip
        );
        return Err(match e.raw_os_error() {
            Some(_) => Status::from_io(&e),
            None => Status::IO_ERROR,
        });
    }
    Ok(())
}

/// The options of a connection with `peer`.
fn options(face: &TcpIface, peer: IpAddr) -> Options {
    Options {
        unpaced: options_on_host(face, peer).unpaced,
        ..face.settings.options
    }
}

/// Those of them that only a connection with a peer of this host has.
pub fn options_on_host(face: &TcpIface, peer: IpAddr) -> Options {
    Options {
        unpaced: peer == face.address.ip,
        ..Options::default()
    }
}

/// Begins an attempt with a fresh socket.
fn start(face: &TcpIface, conn: &Rc<Conn>) -> io::Result<()> {
    let Some(remote) = conn.remote.get() else {
        return Err(io::ErrorKind::NotConnected.into());
    };
    let s = &face.settings;
    let socket = Socket::stream(remote.ip())?;
    socket.set_options(&options(face, remote.ip()))?;
    if s.bind_source != BindSource::No {
        let bound = socket.bind_source(face.address.ip, face.address.scope);
        match bound {
            Err(e) if s.bind_source == BindSource::Must => return Err(e),
            Err(e) => ucs_debug!("tcp: not bound to {}: {e}", face.address.ip),
            Ok(()) => (),
        }
    }
    let connecting = socket.connect(remote)?;
    ucs_debug!("tcp: connects to {remote}");
    let done = connecting == Connecting::Done || is_connected(&socket);
    conn.set_socket(Some(socket));
    conn.phase.set(Phase::Connecting);
    face.next_attempt();
    // On one host the kernel is often done already, and the peer can work on the hello while this side goes on.
    if done {
        connected(face, conn);
    }
    match conn.phase.get() {
        Phase::Waiting | Phase::Broken(_) => Ok(()),
        _ => watch_socket(face, conn),
    }
}

/// Events of the new socket are reported from now on.
fn watch_socket(face: &TcpIface, conn: &Rc<Conn>) -> io::Result<()> {
    let connecting = conn.phase.get() == Phase::Connecting;
    let events = match connecting {
        true => READABLE | WRITABLE,
        false => READABLE,
    };
    let token = face.new_token();
    face.events.set()?.add(conn.fd(), events, token)?;
    face.known.borrow_mut().insert(token, Rc::clone(conn));
    conn.socket.token.set(token);
    if connecting {
        face.set_watched(conn, true);
        face.set_deadline(conn, monotonic_ns() + CONNECT_NS);
    }
    face.poll_soon();
    Ok(())
}

/// Whether the kernel has connected the socket.
fn is_connected(socket: &Socket) -> bool {
    socket.peer_addr().is_ok()
}

/// The kernel has connected or failed: sends the hello, or retries.
pub fn connected(face: &TcpIface, conn: &Rc<Conn>) {
    if conn.phase.get() != Phase::Connecting {
        return;
    }
    let error = conn.socket.with(Socket::take_error);
    match error {
        Some(Ok(None)) => (),
        Some(Ok(Some(e)) | Err(e)) => return retry(face, conn, &e),
        None => return,
    }
    if let Some(auth) = &face.auth {
        match proof::begin(face, conn, auth) {
            Ok(()) => {
                face.set_deadline(conn, NEVER);
                face.watch(conn, false);
            }
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => (),
            Err(e) => retry(face, conn, &e),
        }
        return;
    }
    let purpose = conn.upstream.as_ref().and_then(|u| u.purpose.get());
    let bytes = match purpose {
        None => hello(face, conn).to_vec(),
        Some(purpose) => upstream::link::opening(face, purpose),
    };
    match conn.socket.with(|s| s.send(&bytes)) {
        // A fresh socket has room for a hello.
        Some(Ok(n)) if n == bytes.len() => {
            conn.phase.set(Phase::Greeting);
            face.set_deadline(conn, NEVER);
            face.watch(conn, false);
            if let Some(purpose) = purpose {
                upstream::link::greeted(face, conn, purpose);
            }
        }
        Some(Ok(_)) => retry(face, conn, &io::ErrorKind::WriteZero.into()),
        Some(Err(e)) if e.kind() == io::ErrorKind::WouldBlock => (),
        Some(Err(e)) => retry(face, conn, &e),
        None => (),
    }
}

/// The greeting of this interface to the one that the connection is for.
pub fn hello(face: &TcpIface, conn: &Conn) -> [u8; HELLO_LEN] {
    face.identity.greet(&Hello {
        purpose: PURPOSE_DATA,
        to: conn.peer,
        attempt: face.attempts(),
        max_am: face.max_am() as u32,
    })
}

/// An attempt failed: another one follows, as long as the settings allow.
pub fn retry(face: &TcpIface, conn: &Rc<Conn>, e: &io::Error) {
    drop_socket(face, conn);
    let tries = conn.tries.get() + 1;
    conn.tries.set(tries);
    if tries > face.settings.max_retries || conn.remote.get().is_none() {
        let to = conn
            .remote
            .get()
            .map_or_else(String::new, |r| r.to_string());
        ucs_error!("tcp: no connection to {to} after {tries} attempts: {e}");
        return abort(face, conn, Status::from_io(e));
    }
    wait(face, conn, RETRY_NS * u64::from(tries));
}

fn wait(face: &TcpIface, conn: &Rc<Conn>, ns: u64) {
    conn.phase.set(Phase::Waiting);
    face.set_deadline(conn, monotonic_ns() + ns);
}

/// The peer reports its own attempt.
pub fn on_defer(face: &TcpIface, conn: &Rc<Conn>) {
    drop_socket(face, conn);
    wait(face, conn, DEFER_NS);
}

/// The peer has accepted our hello.
pub fn on_welcome(face: &TcpIface, conn: &Rc<Conn>, welcome: &Welcome) -> bool {
    if conn.phase.get() != Phase::Greeting || welcome.max_am as usize > MAX_AM {
        return false;
    }
    opened(face, conn, welcome.attempt, welcome.max_am as usize);
    true
}

pub fn opened(face: &TcpIface, conn: &Rc<Conn>, attempt: u64, max_am: usize) {
    conn.phase.set(Phase::Open);
    face.set_deadline(conn, NEVER);
    conn.peer_attempt.set(attempt);
    conn.rx.limit.set(max_am);
    if let Some(upstream) = &conn.upstream {
        drop(upstream.rival.take());
    }
    face.opened.set(face.opened.get() + 1);
    conn.flush(face);
    face.poll_soon();
    drop_idle_timer(face);
}

/// Without anyone to wait for, the timer's descriptor is given back.
pub fn drop_idle_timer(face: &TcpIface) {
    if face.unsettled.get() == 0 && face.events.listens() && face.earliest_deadline().is_none() {
        face.drop_timer();
    }
}

/// The peer rejected our hello.
pub fn on_reject(face: &TcpIface, conn: &Rc<Conn>, reason: Reason) {
    let why = match reason {
        Reason::Version => "it speaks another version of the protocol",
        Reason::Unknown => "the interface with this address is gone",
        Reason::Limit => "UCX_TCP_TX_SEG_SIZE or UCX_TCP_RX_SEG_SIZE is beyond what it takes",
        Reason::Other(_) => "for a reason unknown to this version",
        Reason::Secret => {
            "UCX_TCP_AUTH_FILE is set on one side only, or has another secret on the other"
        }
    };
    if reason == Reason::Secret && face.first(Once::Secret) {
        ucs_error!("tcp: the peer does not take the connection: {why}");
    } else if face.first(Once::Rejected) {
        ucs_diag!("tcp: the peer does not take the connection: {why}");
    }
    drop_socket(face, conn);
    abort(face, conn, Status::UNREACHABLE);
}

/// Closes the socket of a connection and drops incomplete frames.
pub fn drop_socket(face: &TcpIface, conn: &Rc<Conn>) {
    if let Some(upstream) = &conn.upstream {
        drop(upstream.responder.take());
    }
    let token = conn.socket.token.replace(0);
    face.known.borrow_mut().remove(&token);
    face.set_watched(conn, false);
    conn.set_socket(None);
    conn.resume_reading();
    conn.rx.clear();
    if !face.events.listens() {
        resume_accepting(face);
    }
}

/// The connection has failed. Progress reports it to its users.
pub fn abort(face: &TcpIface, conn: &Rc<Conn>, status: Status) {
    if matches!(conn.phase.get(), Phase::Broken(_)) {
        return;
    }
    drop_socket(face, conn);
    face.set_deadline(conn, NEVER);
    conn.phase.set(Phase::Broken(status));
    let mut peers = face.by_peer.borrow_mut();
    if peers.get(&conn.peer).is_some_and(|c| Rc::ptr_eq(c, conn)) {
        peers.remove(&conn.peer);
    }
    if conn.upstream.is_some() {
        for all in [&face.by_upstream, &face.from_upstream] {
            all.borrow_mut()
                .retain(|_, listed| !Rc::ptr_eq(listed, conn));
        }
        upstream::lane::forget(face, conn);
    }
    face.broken.borrow_mut().push(Rc::clone(conn));
}

/// Reports a failed connection to its users. Callbacks run here.
pub fn report(face: &Face, conn: &Rc<Conn>) {
    let Phase::Broken(status) = conn.phase.get() else {
        return;
    };
    conn.clear(|owner, comp| face.add_done(owner, comp, Err(status)));
    face.complete_done();
    while let Some(ep) = conn.pop_ep() {
        ep.place.set(NOWHERE);
        if conn.bye.get() {
            ep.end(status);
        } else {
            ep.fail(status);
        }
    }
    if conn.upstream.is_some() {
        let connection = upstream::link::name(face, conn);
        let named = |u: &Upstream| u.key.get().or_else(|| u.asker.get());
        let key = conn.upstream.as_ref().and_then(named);
        let closed = UpstreamEvent::Closed { connection, key };
        // There is no more to end.
        let _ = face.base.internal.upstream(&closed);
    }
    // Pending requests are called: their sends return the status of the failure.
    conn.pending.dispatch();
    ucs_debug!("tcp: {}: connection ended: {status}", face.address.name);
}

/// Due deadlines: connection attempts to repeat or to abandon, silent unauthenticated peers, a paused listener.
pub fn on_timer(face: &Face) {
    let now = monotonic_ns();
    face.drop_timer();
    if !face.events.listens() {
        resume_accepting(face);
    }
    while let Some(due) = face.take_due(now) {
        match due {
            Timed::UnauthPeer(token) => on_unauth_peer_deadline(face, token, now),
            Timed::Conn(conn) => on_conn_deadline(face, &conn, now),
        }
    }
    if let Some(next) = face.earliest_deadline() {
        face.wake_at(next);
    }
}

fn on_conn_deadline(face: &Face, conn: &Rc<Conn>, now: u64) {
    match conn.phase.get() {
        Phase::Connecting => {
            // The kernel may have connected long ago, and this process made no progress since.
            connected(face, conn);
            if conn.phase.get() == Phase::Connecting {
                abort(face, conn, Status::ENDPOINT_TIMEOUT);
            }
        }
        Phase::Waiting => {
            if let Err(e) = start(face, conn) {
                retry(face, conn, &e);
            }
        }
        Phase::Open if upstream::lane::is_ending(conn) => {
            upstream::lane::go_on_ending(face, conn, now)
        }
        Phase::Open if conn.is_blocked() || !conn.rx.is_read() => {
            check_silence(face, conn);
            read_a_little(face, conn, now);
            if conn.is_open() {
                face.set_deadline(conn, now + SILENCE_NS);
            }
        }
        _ => (),
    }
}

/// The peer of a connection that is not read (`backpressure`) gets a chance now and then.
fn read_a_little(face: &Face, conn: &Rc<Conn>, now: u64) {
    match conn.read_a_little(face, now) {
        Ok(true) => {
            rx::receive_once(face, conn);
        }
        Ok(false) => {}
        Err(status) => {
            ucs_warn!(
                "tcp: a peer requests replies and has read none for a minute: it is disconnected"
            );
            abort(face, conn, status);
        }
    }
}

/// Checks whether the peer's host still responds; aborts the connection if not. The kernel alone would try for a
/// quarter of an hour while data are in flight.
pub fn check_silence(face: &TcpIface, conn: &Rc<Conn>) {
    let (Some(max), true) = (face.settings.max_silence, conn.is_open()) else {
        return;
    };
    if let Some(Ok(Some(age))) = conn.socket.with(Socket::silence)
        && age >= max
    {
        ucs_diag!(
            "tcp: a peer has acknowledged nothing for {} s: it is disconnected",
            age.as_secs()
        );
        abort(face, conn, Status::ENDPOINT_TIMEOUT);
    }
}

/// The interface closes: sends a close frame to each peer.
pub fn close_all(face: &Face) {
    let conns: Vec<_> = face.known.borrow().values().cloned().collect();
    for conn in conns {
        if conn.is_open() {
            conn.flush(face);
            drain(face, &conn);
            if conn.is_open() && !conn.is_blocked() {
                conn.post_control(face, &Frame::Bye);
                conn.flush(face);
            }
            conn.socket.with(linger);
        }
        abort(face, &conn, Status::CANCELED);
    }
    face.known.borrow_mut().clear();
    face.unauth_peers.borrow_mut().clear();
    face.forget_deadlines();
    face.by_peer.borrow_mut().clear();
    face.by_upstream.borrow_mut().clear();
    face.from_upstream.borrow_mut().clear();
    face.lanes.borrow_mut().clear();
    let broken = core::mem::take(&mut *face.broken.borrow_mut());
    for conn in broken {
        conn.clear(|_, _| ());
    }
    face.hot.borrow_mut().clear();
    face.held.borrow_mut().clear();
    face.take_dirty();
}

/// Waits up to `CLOSE_NS` for a peer that reads: the sends of the queued data have completed.
fn drain(face: &Face, conn: &Rc<Conn>) {
    let end = monotonic_ns() + CLOSE_NS;
    while conn.is_open() && conn.is_blocked() && monotonic_ns() < end {
        let mut fds = [PollFd {
            fd: conn.fd(),
            events: libc::POLLOUT,
            revents: 0,
        }];
        match poll(&mut fds, CLOSE_STEP_MS) {
            Ok(1) if fds[0].revents == libc::POLLOUT => conn.unblock(face),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            _ => return,
        }
    }
}

/// Reads pending data, since closing a socket with unread data resets it, and the peer might lose what we sent last.
fn linger(socket: &Socket) {
    let _ = socket.shutdown_send();
    let mut sink = vec![0; 64 << 10];
    for _ in 0..LINGER_READS {
        match socket.recv(&mut sink) {
            Ok(n) if n > 0 => (),
            _ => return,
        }
    }
}
