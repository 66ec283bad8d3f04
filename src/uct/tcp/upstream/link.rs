//! Connecting to interfaces of upstream's, and accepting them.
#![forbid(unsafe_code)]

use super::super::accept::{self, UnauthPeer};
use super::super::conn::Conn;
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
use core::cell::RefCell;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

/// Numbers of our connections begin here: those that upstream gives to its own are lower, and two connections between the
/// same interfaces with the same number would be one.
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

/// Whether an address of upstream's leads to a device that this one reaches, and whether both are of one network.
pub fn reach(face: &Face, device: &[u8]) -> Option<bool> {
    let ip = ip_of(face, device)?;
    is_welcome(face).then(|| face.is_near(ip))
}

/// The connection that carries messages to an interface of upstream's.
pub fn connect(face: &Face, device: &[u8], iface: &[u8]) -> Result<Rc<Conn>> {
    let to = ip_of(face, device).zip(frames::iface_port(iface));
    let (ip, port) = to.ok_or(Status::INVALID_ADDR)?;
    reach(face, device).ok_or(Status::UNREACHABLE)?;
    let remote = with_scope(ip, port, face.address.scope);
    let known = face.by_upstream.borrow().get(&remote).cloned();
    if let Some(conn) = known {
        return Ok(conn);
    }
    let token = face.new_token();
    let conn = Conn::with_upstream(token, Some(remote));
    if let Some(upstream) = &conn.upstream {
        let number = FIRST_NUMBER + token;
        upstream.purpose.set(Some(Purpose::Interface { number }));
    }
    let listed = Rc::clone(&conn);
    face.by_upstream.borrow_mut().insert(remote, listed);
    let begun = link::begin(face, &conn, remote);
    if begun.is_err() {
        face.by_upstream.borrow_mut().remove(&remote);
    }
    begun.map(|()| conn)
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

/// The connection was accepted.
pub fn on_ack(face: &TcpIface, conn: &Rc<Conn>) {
    link::opened(face, conn, 0, max_am(face));
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
    let conn = match opening.purpose {
        Purpose::Interface { .. } => Conn::with_upstream(face.new_token(), None),
        Purpose::Endpoint { key } => match lane::expected(face, key) {
            Some(conn) => conn,
            None => {
                accept::garbage(face, from, "it is for an endpoint that is not here");
                return Ok(());
            }
        },
    };
    accept::adopt(face, &conn, peer)?;
    conn.from.set(Some(from.ip()));
    if let Some(upstream) = &conn.upstream {
        // The cell is empty: this sets it.
        let _ = upstream.device.set(match face.address.loopback {
            true => device(face).unwrap_or_default(),
            false => frames::device(from.ip()),
        });
    }
    face.by_peer
        .borrow_mut()
        .insert(conn.peer, Rc::clone(&conn));
    ucs_debug!(
        "tcp: upstream's interface at {} connected from {from}",
        opening.listener
    );
    let for_endpoint = matches!(opening.purpose, Purpose::Endpoint { .. });
    match for_endpoint {
        true => lane::opened(face, &conn),
        false => {
            delay_acks(conn.fd());
            link::opened(face, &conn, 0, max_am(face));
        }
    }
    let mut buf = face.rx_buffer();
    buf.data[..rest.len()].copy_from_slice(&rest);
    buf.end = rest.len();
    conn.rx.buffer.set(Some(buf));
    if !for_endpoint {
        conn.post_upstream(face, Frame::Ack);
    }
    conn.flush(face);
    // The kernel does not report what was read already.
    if !rest.is_empty() {
        face.hold(&conn);
    }
    if face.is_leaving_upstream.get() {
        add_responder(face, &conn);
    }
    Ok(())
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

/// Has flushes on a connection acknowledged, if an interface of upstream's has opened it.
fn add_responder(face: &TcpIface, conn: &Rc<Conn>) {
    if let Some(upstream) = &conn.upstream
        && upstream.device.get().is_some()
        && upstream.key.get().is_none()
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
