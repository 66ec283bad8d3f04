//! Connecting to interfaces of upstream's, and accepting them.
//!
//! Both sides may send by the first connection between two interfaces. Who is to send first opens it; the other side, when
//! it is to send, requests that on the same connection. When both open one at the same moment, that of the interface with
//! the smaller address stays. What cannot be settled so goes by a connection of this side's own, in one direction.
#![forbid(unsafe_code)]

use super::super::accept::{self, UnauthPeer};
use super::super::conn::{Conn, Phase};
use super::super::iface::{Face, TcpIface};
use super::super::link;
use super::super::wire;
use super::flush_responder::FlushResponder;
use super::frames::{self, Bad, Device, Frame, Opening, Purpose};
use super::lane;
use super::rx;
use crate::sys::socket::{delay_acks, with_scope};
use crate::ucs::{Result, Status};
use crate::ucs_debug;
use crate::uct::internal::{UpstreamEvent, UpstreamWay};
use core::cell::RefCell;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

/// The number of the first connection between two interfaces.
const SHARED: Purpose = Purpose::Interface { number: 0 };
/// Numbers of connections on which only this side sends begin here: those that upstream gives to its own are lower, and
/// two connections between the same interfaces with the same number would be one.
const FIRST_NUMBER: u64 = 1 << 40;
/// The longest message that upstream sends by default.
const MAX_AM: usize = 64 << 10;

/// Whether connections of upstream's are accepted.
pub fn is_welcome(face: &Face) -> bool {
    face.auth.is_none() && face.base.internal.on_upstream.get().is_some()
}

/// The network address of a device of upstream's that this one may reach.
pub fn ip_of(face: &TcpIface, device: &[u8]) -> Option<IpAddr> {
    let own = face.address.ip;
    match frames::read_device(device)? {
        Device::Ip(ip) => (!face.address.loopback && ip.is_ipv4() == own.is_ipv4()).then_some(ip),
        Device::Loopback { is_ipv4, at } => {
            (face.place == Some(at) && is_ipv4 == own.is_ipv4()).then_some(own)
        }
    }
}

/// The address of this device for upstream, if it can have one.
pub fn device(face: &TcpIface) -> Option<Vec<u8>> {
    let own = face.address.ip;
    match face.address.loopback {
        true => Some(frames::loopback_device(own.is_ipv4(), face.place?)),
        false => Some(frames::device(own)),
    }
}

/// The way to a device of upstream's and the interface there, if this one reaches it.
pub fn reach(face: &Face, device: &[u8], iface: &[u8], latency: u32) -> Option<UpstreamWay> {
    let ip = ip_of(face, device).filter(|_| is_welcome(face))?;
    let at = frames::iface_port(iface).map(|port| with_scope(ip, port, face.address.scope));
    let is_shared = |at| {
        face.from_upstream.borrow().contains_key(&at) || face.by_upstream.borrow().contains_key(&at)
    };
    Some(UpstreamWay {
        is_new: !at.is_some_and(is_shared),
        is_far: !face.is_near(ip),
        latency: latency.max((face.estimate.latency * 1e9) as u32),
    })
}

/// The connection that carries messages to an interface of upstream's.
pub fn connect(face: &Face, device: &[u8], iface: &[u8]) -> Result<Rc<Conn>> {
    let to = ip_of(face, device).zip(frames::iface_port(iface));
    let (ip, port) = to.ok_or(Status::INVALID_ADDR)?;
    reach(face, device, iface, 0).ok_or(Status::UNREACHABLE)?;
    let remote = with_scope(ip, port, face.address.scope);
    let known = face.by_upstream.borrow().get(&remote).cloned();
    if let Some(conn) = known {
        return Ok(conn);
    }
    let theirs = face.from_upstream.borrow_mut().remove(&remote);
    if let Some(conn) = theirs.filter(|conn| ask(face, conn, remote)) {
        let listed = Rc::clone(&conn);
        face.by_upstream.borrow_mut().insert(remote, listed);
        return Ok(conn);
    }
    let conn = Conn::with_upstream(face.new_token(), Some(remote));
    if let Some(upstream) = &conn.upstream {
        let is_own = remote == own_listener(face);
        let purpose = if is_own { one_way(&conn) } else { SHARED };
        upstream.purpose.set(Some(purpose));
        // The cell is empty: this sets it.
        let _ = upstream.device.set(device_at(face, ip));
    }
    let listed = Rc::clone(&conn);
    face.by_upstream.borrow_mut().insert(remote, listed);
    let begun = link::begin(face, &conn, remote);
    if begun.is_err() {
        face.by_upstream.borrow_mut().remove(&remote);
    }
    begun.map(|()| conn)
}

/// Where the interface listens that a connection leads to, as far as it says so.
pub fn listener_of(conn: &Conn) -> Option<SocketAddr> {
    let told = conn.upstream.as_ref().and_then(|u| u.listener.get());
    told.or_else(|| conn.remote.get()).map(plain)
}

/// Addresses of one interface are the same, however they were told.
pub fn plain(at: SocketAddr) -> SocketAddr {
    SocketAddr::new(at.ip().to_canonical(), at.port())
}

/// Of a connection on which only this side sends.
fn one_way(conn: &Conn) -> Purpose {
    let number = FIRST_NUMBER + conn.number;
    Purpose::Interface { number }
}

/// Where this interface listens.
fn own_listener(face: &TcpIface) -> SocketAddr {
    with_scope(face.address.ip, face.port, face.address.scope)
}

fn device_at(face: &TcpIface, ip: IpAddr) -> Vec<u8> {
    match face.address.loopback {
        true => device(face).unwrap_or_default(),
        false => frames::device(ip),
    }
}

/// Asks the interface that listens at `remote` whether this side may send by a connection that it has opened; nothing is
/// sent until it has agreed, as it may be closing the connection.
fn ask(face: &TcpIface, conn: &Conn, remote: SocketAddr) -> bool {
    if let Some(upstream) = &conn.upstream {
        conn.tx.lock().push(|out| rx::take_over(upstream, out));
    }
    if !conn.is_open() || conn.tx.lock().unsent() > 0 {
        return false;
    }
    let mut bytes = Vec::new();
    let listener = SocketAddr::new(face.address.ip, face.port);
    let purpose = SHARED;
    frames::encode(Frame::Request(Opening { purpose, listener }), &mut bytes);
    let sent = conn.socket.with(|s| s.send(&bytes));
    // What the kernel takes a part of would be in the way of all else; the socket has room for more than that.
    let is_sent = matches!(sent, Some(Ok(n)) if n == bytes.len());
    if let (true, Some(upstream)) = (is_sent, &conn.upstream) {
        upstream.purpose.set(Some(SHARED));
        conn.remote.set(Some(remote));
        conn.phase.set(Phase::Asked);
    }
    is_sent
}

/// The connection has ended before the peer has accepted it, or that this side sends by it.
pub fn turned_away(face: &Face, conn: &Rc<Conn>, e: &io::Error) {
    let Some(upstream) = &conn.upstream else {
        return link::retry(face, conn, e);
    };
    if conn.phase.get() == Phase::Asked {
        silent(face, conn);
        conn.acks.owed.take(|_| ());
        conn.bye.set(false);
    }
    let expects_theirs = upstream.purpose.get() == Some(SHARED) && !has_precedence(face, conn);
    if let Some(Purpose::Interface { .. }) = upstream.purpose.get()
        && conn.remote.get() != Some(own_listener(face))
    {
        upstream.purpose.set(Some(one_way(conn)));
    }
    match expects_theirs {
        true => link::on_defer(face, conn),
        false => link::retry(face, conn, e),
    }
}

/// Whether the connection stays that this side opens, when both do.
fn has_precedence(face: &TcpIface, conn: &Conn) -> bool {
    let remote = conn.remote.get();
    remote.is_some_and(|at| face.connects(at.ip(), at.port()).unwrap_or(false))
}

/// No more messages come by the connection.
pub fn silent(face: &Face, conn: &Conn) {
    if let Some(upstream) = &conn.upstream {
        upstream.is_heard.set(false);
    }
    let connection = name(face, conn);
    let key = None;
    let closed = UpstreamEvent::Closed { connection, key };
    // There is no more to end.
    let _ = face.base.internal.upstream(&closed);
}

/// What is sent on a connection first.
pub fn opening(face: &TcpIface, purpose: Purpose) -> Vec<u8> {
    let listener = SocketAddr::new(face.address.ip, face.port);
    Opening { purpose, listener }.encode()
}

/// The opening is sent. One for an endpoint has no answer.
pub fn greeted(face: &TcpIface, conn: &Rc<Conn>, purpose: Purpose) {
    if let Purpose::Endpoint { .. } = purpose {
        lane::opened(face, conn);
    }
}

/// The connection was accepted, or that this side sends by it.
pub fn on_ack(face: &TcpIface, conn: &Rc<Conn>) {
    link::opened(face, conn, 0, max_am(face));
}

/// The peer sends messages by the connection.
pub fn heard(face: &TcpIface, conn: &Rc<Conn>) {
    if let Some(upstream) = &conn.upstream {
        upstream.is_heard.set(true);
    }
    delay_acks(conn.fd());
    if face.is_leaving_upstream.get() {
        add_responder(face, conn);
    }
}

/// The peer wants to send messages by a connection that this side has opened. Returns false if it is none of those.
pub fn on_request(face: &TcpIface, conn: &Rc<Conn>, request: Opening) -> bool {
    let purpose = conn.upstream.as_ref().and_then(|u| u.purpose.get());
    let is_shared = purpose == Some(SHARED) && request.purpose == SHARED;
    if is_shared {
        conn.post_upstream(face, Frame::Ack);
        heard(face, conn);
    }
    is_shared
}

pub fn max_am(face: &TcpIface) -> usize {
    face.max_am().max(MAX_AM)
}

/// The opening of a connection that upstream's greeting begins, and its length; `None` while it is not whole.
pub type Greeted = core::result::Result<Option<(Opening, usize)>, Bad>;

/// Reads the beginning of a connection; `None` if it is none of upstream's that is welcome.
pub fn greeting(face: &Face, bytes: &[u8]) -> Option<Greeted> {
    let greeting = frames::GREETING.to_le_bytes();
    (is_welcome(face) && bytes.starts_with(&greeting)).then(|| Opening::decode(bytes))
}

/// An interface of upstream's has connected: what it sends is handled from now on.
pub fn accept(
    face: &Face,
    peer: &Rc<RefCell<UnauthPeer>>,
    opening: Opening,
    len: usize,
) -> io::Result<()> {
    let (from, rest) = {
        let peer = peer.borrow();
        (peer.from, peer.bytes[len..peer.len].to_vec())
    };
    let shared = shared(face, from, &opening);
    let mine = shared.and_then(|at| face.by_upstream.borrow().get(&at).cloned());
    let mut ack = Some(Frame::Ack);
    let conn = match opening.purpose {
        Purpose::Interface { .. } => match mine {
            Some(conn) if !conn.may_receive() => {
                let purpose = conn.upstream.as_ref().and_then(|u| u.purpose.get());
                if purpose == Some(SHARED) && has_precedence(face, &conn) {
                    return keep_rival(face, &conn, peer);
                }
                link::drop_socket(face, &conn);
                ack = Some(Frame::AckAndRequest);
                conn
            }
            _ => Conn::with_upstream(face.new_token(), None),
        },
        Purpose::Endpoint { key } => match lane::expected(face, key) {
            Some(conn) => {
                ack = None;
                conn
            }
            None => {
                accept::garbage(face, from, "it is for an endpoint that is not here");
                return Ok(());
            }
        },
    };
    if let Err(e) = adopt(face, &conn, peer, ack) {
        if ack == Some(Frame::AckAndRequest) {
            link::retry(face, &conn, &e);
        }
        return Err(e);
    }
    conn.from.set(Some(from.ip()));
    if let Some(upstream) = &conn.upstream {
        // It stays as it is where this side wanted to connect.
        let _ = upstream.device.set(device_at(face, from.ip()));
        upstream.listener.set(Some(opening.listener));
    }
    if let Some(at) = shared {
        // It has none any more that it opened before, also where nothing has told of its end: endpoints that are made from
        // now on send by this one.
        face.from_upstream.borrow_mut().insert(at, Rc::clone(&conn));
        let mut all = face.by_upstream.borrow_mut();
        if all.get(&at).is_some_and(|old| !Rc::ptr_eq(old, &conn)) {
            all.remove(&at);
        }
    }
    face.by_peer
        .borrow_mut()
        .insert(conn.peer, Rc::clone(&conn));
    ucs_debug!(
        "tcp: upstream's interface at {} connected from {from}",
        opening.listener
    );
    match opening.purpose {
        Purpose::Endpoint { .. } => lane::opened(face, &conn),
        Purpose::Interface { .. } => link::opened(face, &conn, 0, max_am(face)),
    }
    let mut buf = face.rx_buffer();
    buf.data[..rest.len()].copy_from_slice(&rest);
    buf.end = rest.len();
    conn.rx.buffer.set(Some(buf));
    conn.flush(face);
    // The kernel does not report what was read already.
    if !rest.is_empty() {
        face.hold(&conn);
    }
    if ack.is_some() {
        heard(face, &conn);
    }
    Ok(())
}

/// Where the interface listens that opens a connection on which both sides may send; not if it says that it is elsewhere
/// than where it connects from: it would get messages for others.
fn shared(face: &TcpIface, from: SocketAddr, opening: &Opening) -> Option<SocketAddr> {
    let listener = opening.listener;
    let at = with_scope(listener.ip(), listener.port(), face.address.scope);
    let is_there = listener.ip() == from.ip() && at != own_listener(face);
    (opening.purpose == SHARED && is_there).then_some(at)
}

/// This side's own connection is to stay. The peer must not see the end of its own before it has accepted that.
fn keep_rival(face: &Face, conn: &Conn, peer: &Rc<RefCell<UnauthPeer>>) -> io::Result<()> {
    let socket = peer.borrow_mut().socket.take();
    if let (Some(socket), Some(upstream)) = (socket, &conn.upstream) {
        face.events.set()?.delete(socket.raw())?;
        upstream.rival.replace(Some(socket));
    }
    Ok(())
}

/// Takes the peer's socket, and accepts before anything else is sent.
fn adopt(
    face: &TcpIface,
    conn: &Rc<Conn>,
    peer: &Rc<RefCell<UnauthPeer>>,
    ack: Option<Frame>,
) -> io::Result<()> {
    accept::adopt(face, conn, peer)?;
    let Some(ack) = ack else {
        return Ok(());
    };
    let mut bytes = Vec::new();
    frames::encode(ack, &mut bytes);
    let sent = conn.socket.with(|s| s.send(&bytes));
    let error = match sent {
        // A fresh socket has room for it.
        Some(Ok(n)) if n == bytes.len() => return Ok(()),
        Some(Err(e)) => e,
        _ => io::ErrorKind::WriteZero.into(),
    };
    link::drop_socket(face, conn);
    Err(error)
}

/// From now on flushes are acknowledged also while this side makes no progress.
pub fn acknowledge_flushes(face: &TcpIface) {
    if !face.is_leaving_upstream.replace(true) {
        let all: Vec<_> = face.known.borrow().values().cloned().collect();
        for conn in &all {
            add_responder(face, conn);
        }
    }
}

/// Has flushes on a connection acknowledged, if an interface of upstream's sends by it, or an endpoint by a lane that is
/// closed here.
pub fn add_responder(face: &TcpIface, conn: &Rc<Conn>) {
    if let Some(upstream) = &conn.upstream
        && (upstream.is_heard.get() || lane::is_ending(conn))
        && upstream.responder.borrow().is_none()
        && conn.is_open()
    {
        let is_done = rx::is_done(face, conn);
        let responder = FlushResponder::new(conn.fd(), conn.rx.limit.get(), is_done);
        upstream.responder.replace(responder);
    }
}

/// A control frame in upstream's format; `None` for one that it does not have.
pub fn translated(frame: &wire::Frame) -> Option<Frame> {
    Some(match *frame {
        wire::Frame::Ping => Frame::Keepalive,
        wire::Frame::Bye => Frame::Fin,
        wire::Frame::Flush { seq } => Frame::Flush { number: seq as u32 },
        wire::Frame::FlushAck { seq } => Frame::FlushAck { number: seq as u32 },
        _ => return None,
    })
}

/// Tells a connection apart from those of other interfaces too.
pub fn name(face: &TcpIface, conn: &Conn) -> u64 {
    face.identity.id.wrapping_add(conn.peer)
}

/// Ends the connection with this name, if it is one of this interface.
pub fn reject(face: &TcpIface, connection: u64) {
    let is_named = |conn: &&Rc<Conn>| conn.upstream.is_some() && name(face, conn) == connection;
    let named = face.known.borrow().values().find(is_named).cloned();
    if let Some(conn) = named {
        link::abort(face, &conn, Status::INVALID_ADDR);
    }
}
