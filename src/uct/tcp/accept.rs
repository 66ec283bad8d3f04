//! The accepting side: connections from the listener to the greeting that tells whose they are.
//!
//! A peer is unauthenticated until its hello is read, which is signed (`hello`): it can replace connections of its sender
//! only. Until then it costs a socket and a few hundred bytes; of too many, the network address with the most loses its oldest.
#![forbid(unsafe_code)]

use super::config::MAX_AM;
use super::conn::{Conn, Phase};
use super::deadlines::NEVER;
use super::hello::{HELLO_LEN, PURPOSE_DATA, Received};
use super::iface::{Face, Once, TcpIface};
use super::link::{abort, drop_idle_timer, drop_socket, opened, options_on_host, retry};
use super::proof::{self, FIRST_LEN};
use super::upstream::{self, link::Greeted};
use super::wire::{self, Bad, Frame, Reason, Welcome};
use crate::sys::clock::monotonic_ns;
use crate::sys::socket::{READABLE, Socket};
use crate::ucs::Status;
use crate::uct::auth::Session;
use crate::{ucs_debug, ucs_diag, ucs_error, ucs_warn};
use core::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

/// The deadline of unauthenticated peers, if there are more than `UNAUTH_PEERS_LOW`. The kernel connects for processes
/// that make no progress for minutes, so a few silent ones may stay for `PATIENT_NS` more.
const HELLO_NS: u64 = 5_000_000_000;
const PATIENT_NS: u64 = 600_000_000_000;
const UNAUTH_PEERS_LOW: usize = 32;
/// Most unauthenticated peers. Beyond it, the oldest one of the network address with the most of them is dropped.
const UNAUTH_PEERS_MAX: usize = 128;
/// Signatures that are checked in one poll: each takes as long as hundreds of messages.
const MAX_GREETINGS: u32 = 4;
/// Connections without a message that one network address may keep when descriptors run out.
const MAX_UNUSED: usize = 128;
/// Connections accepted in one go.
const MAX_ACCEPTS: usize = 64;
/// Pause of accepting when descriptors ran out.
const PAUSE_NS: u64 = 100_000_000;

/// An accepted connection without a valid greeting.
pub struct UnauthPeer {
    /// Taken when it becomes a connection's.
    pub socket: Option<Socket>,
    pub from: SocketAddr,
    pub bytes: [u8; FIRST_LEN],
    pub len: usize,
    /// With a secret: the keys, once it has begun the handshake.
    pub session: Option<Box<Session>>,
    pub deadline: u64,
    /// It was kept beyond its first deadline, as there are few unauthenticated peers.
    pub reprieved: bool,
}

/// Accepts the connections at the listener. Returns their number.
pub fn accept(face: &Face) -> u32 {
    let mut count = 0;
    for _ in 0..MAX_ACCEPTS {
        match face.listener.accept() {
            Ok((socket, from)) => {
                admit(face, socket, from);
                count += 1;
            }
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => break,
            Err(e) => match Status::from_io(&e) {
                // The connecting peer or its network is gone again.
                Status::CONNECTION_RESET | Status::UNREACHABLE => (),
                _ => {
                    pause(face, &e);
                    break;
                }
            },
        }
    }
    count
}

/// Without descriptors or memory: retries later, since the listener stays readable.
fn pause(face: &TcpIface, e: &io::Error) {
    if face.first(Once::Accept) {
        ucs_error!("tcp: connections cannot be accepted, trying again every 100 ms: {e}");
    }
    face.events.stop_listening();
    face.wake_at(monotonic_ns() + PAUSE_NS);
    drop_one_unused(face);
}

/// If one network address has too many connections without messages and local endpoints, closes its oldest.
fn drop_one_unused(face: &TcpIface) {
    let mut by_source: HashMap<IpAddr, (usize, u64)> = HashMap::new();
    for (token, conn) in face.known.borrow().iter() {
        if let Some(from) = conn.unused_from() {
            let source = by_source.entry(from).or_insert((0, *token));
            *source = (source.0 + 1, source.1.min(*token));
        }
    }
    let most = by_source
        .into_values()
        .filter(|(count, _)| *count > MAX_UNUSED)
        .max_by_key(|(count, _)| *count);
    let conn = most.and_then(|(_, token)| face.known.borrow().get(&token).cloned());
    if let Some(conn) = conn {
        abort(face, &conn, Status::EXCEEDS_LIMIT);
    }
}

fn admit(face: &Face, socket: Socket, from: SocketAddr) {
    // It has the listener's options.
    if let Err(e) = socket.set_options(&options_on_host(face, from.ip())) {
        ucs_debug!("tcp: options of a connection from {from}: {e}");
    }
    if face.unauth_peers.borrow().len() >= UNAUTH_PEERS_MAX {
        drop_one_unauth_peer(face);
    }
    let token = face.new_token();
    let added = face
        .events
        .set()
        .and_then(|set| set.add(socket.raw(), READABLE, token));
    if let Err(e) = added {
        return pause(face, &e);
    }
    let deadline = monotonic_ns() + HELLO_NS;
    let unauth_peer = Rc::new(RefCell::new(UnauthPeer {
        socket: Some(socket),
        from,
        bytes: [0; FIRST_LEN],
        len: 0,
        session: None,
        deadline,
        reprieved: false,
    }));
    let listed = Rc::clone(&unauth_peer);
    face.unauth_peers.borrow_mut().insert(token, listed);
    // Its hello has usually come already.
    read_greeting(face, token, &unauth_peer);
    if face.unauth_peers.borrow().contains_key(&token) {
        face.set_unauth_peer_deadline(token, NEVER, deadline);
    }
}

/// Drops the oldest of the network address that has the most: a peer that opens many loses its own.
fn drop_one_unauth_peer(face: &TcpIface) {
    let mut by_source: HashMap<IpAddr, (usize, u64)> = HashMap::new();
    for (token, unauth_peer) in face.unauth_peers.borrow().iter() {
        let source = by_source.entry(unauth_peer.borrow().from.ip());
        source.or_insert((0, *token)).0 += 1;
    }
    let Some((_, token)) = by_source.into_values().max_by_key(|(count, _)| *count) else {
        return;
    };
    if face.first(Once::Silence) {
        ucs_warn!("tcp: too many connections without a greeting: dropping the oldest");
    }
    forget_unauth_peer(face, token);
}

/// Closes the socket of an unauthenticated peer.
pub fn forget_unauth_peer(face: &TcpIface, token: u64) {
    let gone = face.unauth_peers.borrow_mut().remove(&token);
    if let Some(unauth_peer) = gone {
        face.set_unauth_peer_deadline(token, unauth_peer.borrow().deadline, NEVER);
        drop_idle_timer(face);
    }
}

/// The first bytes of a peer.
enum Greeting {
    Ours(core::result::Result<Option<Received>, Bad>),
    Upstream(Greeted),
}

/// Reads the bytes of an unauthenticated peer, up to its hello.
pub fn read_greeting(face: &Face, token: u64, unauth_peer: &Rc<RefCell<UnauthPeer>>) {
    if face.greetings.get() >= MAX_GREETINGS {
        // Epoll reports it again.
        return face.poll_soon();
    }
    if let Some(auth) = &face.auth {
        return proof::read_greeting(face, auth, token, unauth_peer);
    }
    let said = {
        let mut s = unauth_peer.borrow_mut();
        let UnauthPeer {
            socket, bytes, len, ..
        } = &mut *s;
        let Some(socket) = socket else { return };
        match socket.recv(&mut bytes[*len..HELLO_LEN]) {
            Ok(0) => None,
            Ok(n) => {
                *len += n;
                Some(match upstream::link::greeting(face, &bytes[..*len]) {
                    None => Greeting::Ours(Received::decode(&bytes[..*len])),
                    Some(greeted) => Greeting::Upstream(greeted),
                })
            }
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => return,
            Err(_) => None,
        }
    };
    let from = unauth_peer.borrow().from;
    match said {
        Some(Greeting::Ours(Ok(None)) | Greeting::Upstream(Ok(None))) => return,
        Some(Greeting::Upstream(Ok(Some((opening, len))))) => {
            if let Err(e) = upstream::link::accept(face, unauth_peer, opening, len) {
                ucs_error!("tcp: a connection from {from} cannot be kept: {e}");
            }
        }
        Some(Greeting::Upstream(Err(bad))) => {
            garbage(face, from, format_args!("it began with {bad}"));
        }
        Some(Greeting::Ours(Ok(Some(hello)))) => on_hello(face, unauth_peer, &hello),
        Some(Greeting::Ours(Err(Bad::Upstream))) => upstream_peer(face, from),
        Some(Greeting::Ours(Err(Bad::Kind(wire::OPENING)))) => proof::no_secret(face, unauth_peer),
        Some(Greeting::Ours(Err(bad))) => {
            if let Bad::Version(_) = bad {
                send_frame(unauth_peer, &Frame::Reject(Reason::Version));
            }
            garbage(face, from, format_args!("it began with {bad}"));
        }
        None => (),
    }
    forget_unauth_peer(face, token);
}

/// Logs what the user has to change.
pub fn upstream_peer(face: &TcpIface, from: SocketAddr) {
    if face.first(Once::Upstream) {
        ucs_error!(
            "tcp: dropped a connection from {from}: it runs upstream UCX: start both sides with the same \
             library, or this one without UCX_UPSTREAM_PEERS=n and UCX_TCP_AUTH_FILE (not logged again)"
        );
    }
}

pub fn garbage(face: &TcpIface, from: SocketAddr, why: impl core::fmt::Display) {
    if face.first(Once::Garbage) {
        ucs_warn!("tcp: dropped a connection from {from}: {why}");
    }
}

/// Sends one frame to an unauthenticated peer, in a record if there are keys. Returns whether all of it is sent.
pub fn send_frame(unauth_peer: &Rc<RefCell<UnauthPeer>>, frame: &Frame) -> bool {
    let mut bytes = Vec::new();
    wire::encode(frame, &mut bytes);
    let mut s = unauth_peer.borrow_mut();
    if let Some(session) = &mut s.session {
        let sealer = &mut session.sealer;
        if sealer.seal(&bytes).is_err() {
            return false;
        }
        bytes = sealer.pending().to_vec();
        sealer.sent(bytes.len());
    }
    match &s.socket {
        Some(socket) => socket.send(&bytes).is_ok_and(|n| n == bytes.len()),
        None => false,
    }
}

/// The connection that exists with the sender of a hello, and what happens to it.
enum Existing {
    /// There is none, or it has failed.
    None,
    /// The sender connects anew: the old one is aborted.
    Lost(Rc<Conn>),
    /// Our attempt is under way, and the sender's wins.
    Yields(Rc<Conn>),
}

/// A hello was received: the connection is accepted, deferred as our attempt wins, or rejected.
pub fn on_hello(face: &Face, unauth_peer: &Rc<RefCell<UnauthPeer>>, received: &Received) {
    let peer = unauth_peer.borrow().from;
    let (hello, from) = (&received.hello, received.from);
    let reject = |reason| {
        send_frame(unauth_peer, &Frame::Reject(reason));
    };
    if hello.to != face.identity.id || hello.purpose != PURPOSE_DATA {
        if face.first(Once::WrongTarget) {
            ucs_warn!(
                "tcp: dropped a connection from {peer}: it is for an interface that is not here"
            );
        }
        return reject(Reason::Unknown);
    }
    if hello.max_am as usize > MAX_AM {
        return reject(Reason::Limit);
    }
    let to_self = from == face.identity.id;
    let known = face.by_peer.borrow().get(&from).cloned();
    let old = match known {
        Some(conn) if !to_self => match conn.phase.get() {
            Phase::Open if hello.attempt <= conn.peer_attempt.get() => return,
            Phase::Open => Existing::Lost(conn),
            Phase::Connecting | Phase::Proving | Phase::Greeting if face.identity.id < from => {
                send_frame(unauth_peer, &Frame::Defer);
                return;
            }
            Phase::Broken(_) => Existing::None,
            _ => Existing::Yields(conn),
        },
        _ => Existing::None,
    };
    let welcome = Welcome {
        attempt: face.attempts(),
        max_am: face.max_am() as u32,
    };
    face.greetings.set(face.greetings.get() + 1);
    // The sender goes on while the signature is checked.
    if !send_frame(unauth_peer, &Frame::Welcome(welcome)) {
        return;
    }
    if !received.is_signed() {
        return garbage(
            face,
            peer,
            "its greeting is not signed by the interface that it names",
        );
    }
    let (conn, made) = match old {
        Existing::Yields(conn) => {
            drop_socket(face, &conn);
            (conn, false)
        }
        Existing::Lost(conn) => {
            ucs_diag!("tcp: {peer} connects anew: its old connection is lost");
            abort(face, &conn, Status::CONNECTION_RESET);
            (Conn::new(face.new_token(), from, None), true)
        }
        Existing::None => (Conn::new(face.new_token(), from, None), true),
    };
    if let Err(e) = adopt(face, &conn, unauth_peer) {
        ucs_error!("tcp: a connection from {peer} cannot be kept: {e}");
        if !made {
            retry(face, &conn, &e);
        }
        return;
    }
    conn.from.set(Some(peer.ip()));
    if made && !to_self {
        face.by_peer.borrow_mut().insert(from, Rc::clone(&conn));
    }
    opened(face, &conn, hello.attempt, hello.max_am as usize);
    face.base.internal.peer_connected(from);
}

/// Moves the socket of an unauthenticated peer to a connection.
pub fn adopt(
    face: &TcpIface,
    conn: &Rc<Conn>,
    unauth_peer: &Rc<RefCell<UnauthPeer>>,
) -> io::Result<()> {
    let (socket, session) = {
        let mut s = unauth_peer.borrow_mut();
        (s.socket.take(), s.session.take())
    };
    let Some(socket) = socket else {
        return Err(io::ErrorKind::NotConnected.into());
    };
    let token = face.new_token();
    face.events.set()?.modify(socket.raw(), READABLE, token)?;
    face.known.borrow_mut().insert(token, Rc::clone(conn));
    conn.socket.token.set(token);
    conn.set_socket(Some(socket));
    if let Some(session) = session.filter(|s| s.encrypted) {
        conn.seal(*session);
    }
    Ok(())
}

/// Accepts again after a pause, when a descriptor is free or the time is over.
pub fn resume_accepting(face: &TcpIface) {
    if let Err(e) = face.events.listen_again() {
        ucs_debug!("tcp: connections still cannot be accepted: {e}");
        face.wake_at(monotonic_ns() + PAUSE_NS);
        return;
    }
    face.poll_soon();
}

/// The deadline of an unauthenticated peer.
pub fn on_unauth_peer_deadline(face: &TcpIface, token: u64, now: u64) {
    let (few, unauth_peer) = {
        let all = face.unauth_peers.borrow();
        (all.len() <= UNAUTH_PEERS_LOW, all.get(&token).cloned())
    };
    let Some(unauth_peer) = unauth_peer else {
        return;
    };
    if few && !unauth_peer.borrow().reprieved {
        let mut s = unauth_peer.borrow_mut();
        s.reprieved = true;
        s.deadline = now + PATIENT_NS;
        return face.set_unauth_peer_deadline(token, NEVER, s.deadline);
    }
    if face.first(Once::Silence) {
        ucs_warn!("tcp: dropped a connection that said nothing for a long time");
    }
    forget_unauth_peer(face, token);
}
