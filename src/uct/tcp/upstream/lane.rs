//! Lanes: connections between an endpoint of this interface and one of upstream's, which carry messages both ways.
//!
//! Each side gives its end a key and learns the other's by other means. The one whose network address and port are smaller
//! connects to the other's listener and names the key of the end there; both ends go by that key from then on. The keys
//! are random: a connection is taken from whoever knows one.
//!
//! A peer may set up an endpoint of its own anew and have the lane lead to that. Then another connection takes the place
//! of the first, which is read until the peer closes it.
#![forbid(unsafe_code)]

use super::super::conn::{Conn, Phase};
use super::super::ep::{TcpEp, move_endpoints};
use super::super::iface::{Face, TcpIface};
use super::super::wire::Frame;
use super::super::{link, ops};
use super::frames::{self, Purpose};
use super::link::{add_responder, ip_of, is_welcome, max_am, plain};
use crate::c::uct_ep_h;
use crate::sys::clock::monotonic_ns;
use crate::sys::random::random_u64;
use crate::sys::socket::{Socket, with_scope};
use crate::ucs::{Result, Status};
use crate::ucs_diag;
use crate::uct::internal::{UpstreamEvent, UpstreamLanes};
use crate::wire::upstream::address::{Entry, Offer};
use crate::wire::upstream::private::Private;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

/// A closed lane lives so long at most.
const END_NS: u64 = 10_000_000_000;
/// The peer closes its end when it hears of the end of the connection; this one does after this time.
const GRACE_NS: u64 = 500_000_000;
/// And this side so long until the peer has acknowledged what was sent, before.
const ANSWER_NS: u64 = 1_000_000_000;
/// Time between two looks at whether it has sent everything.
const END_STEP_NS: u64 = 20_000_000;

impl UpstreamLanes for Face {
    fn open(&self, at: IpAddr) -> Option<u64> {
        if !is_welcome(self) || self.address.ip != at.to_canonical() {
            return None;
        }
        let key = random_u64()
            .inspect_err(|e| ucs_diag!("tcp: no key for an endpoint: {e}"))
            .ok()?;
        enlist(self, &Conn::with_upstream(self.new_token(), None), key);
        Some(key)
    }

    fn read(&self, private: &[u8]) -> Option<Private> {
        let (iface, endpoint) = (frames::IFACE_LEN, frames::ENDPOINT_LEN);
        Private::decode(private, frames::TRANSPORT, iface, endpoint)
    }

    fn describe(&self, key: u64) -> Option<(Offer, Vec<u8>)> {
        let shared = match self
            .lanes
            .borrow()
            .get(&key)?
            .upstream
            .as_ref()?
            .purpose
            .get()
        {
            Some(Purpose::Endpoint { key }) => key,
            _ => key,
        };
        Some((ops::offer(self)?, frames::endpoint(self.port, shared)))
    }

    fn ip_of(&self, entry: &Entry<'_>) -> Option<IpAddr> {
        let is_tcp = entry.transport == frames::TRANSPORT;
        ip_of(self, entry.device).filter(|_| is_tcp)
    }

    fn listener(&self, entry: &Entry<'_>) -> Option<SocketAddr> {
        let ip = self.ip_of(entry)?;
        let of_lane = || {
            let lane = entry.lanes().next()?;
            frames::endpoint_parts(lane.address).map(|(port, _)| port)
        };
        let port = frames::iface_port(entry.iface).or_else(of_lane)?;
        Some(plain(SocketAddr::new(ip, port)))
    }

    fn listener_at(&self, ip: IpAddr, address: &[u8]) -> Option<SocketAddr> {
        let (port, _) = frames::endpoint_parts(address)?;
        Some(plain(SocketAddr::new(ip, port)))
    }

    fn meet(&self, key: u64, ip: IpAddr, address: &[u8]) -> Result<()> {
        let conn = self.lane(key)?;
        let (port, theirs) = frames::endpoint_parts(address).ok_or(Status::INVALID_ADDR)?;
        if !self.connects(ip, port)? {
            // The first end may have connected before it was known here.
            if let Some(upstream) = &conn.upstream {
                let is_another = upstream.is_met.replace(true);
                upstream.is_left.set(is_another && conn.is_open());
            }
            return Ok(());
        }
        let conn = if is_unused(&conn) {
            conn
        } else {
            replace(self, key, &conn)
        };
        let remote = with_scope(ip.to_canonical(), port, self.address.scope);
        if let Some(upstream) = &conn.upstream {
            upstream.is_met.set(true);
            upstream
                .purpose
                .set(Some(Purpose::Endpoint { key: theirs }));
        }
        conn.remote.set(Some(remote));
        link::begin(self, &conn, remote)
    }

    fn name_for(&self, key: u64, ip: IpAddr, address: &[u8]) -> Result<Vec<u8>> {
        let (port, theirs) = frames::endpoint_parts(address).ok_or(Status::INVALID_ADDR)?;
        let shared = if self.connects(ip, port)? {
            theirs
        } else {
            key
        };
        Ok(frames::endpoint(self.port, shared))
    }

    fn leads_to(&self, key: u64, address: &[u8]) -> bool {
        let described = self.lanes.borrow().get(&key).and_then(|conn| {
            let purpose = conn.upstream.as_ref()?.purpose.get();
            let (port, named) = frames::endpoint_parts(address)?;
            Some(match purpose {
                Some(Purpose::Endpoint { key: theirs }) => {
                    named == theirs && conn.remote.get()?.port() == port
                }
                _ => named == key,
            })
        });
        described.unwrap_or(false)
    }

    fn is_open(&self, key: u64) -> bool {
        let lanes = self.lanes.borrow();
        lanes.get(&key).is_some_and(|conn| {
            conn.is_open() && conn.upstream.as_ref().is_some_and(|u| !u.is_left.get())
        })
    }

    fn send(&self, key: u64, id: u8, body: &[u8]) -> Result<()> {
        let conn = self.lane(key)?;
        conn.check()?;
        conn.tx.lock().push(|out| {
            out.extend_from_slice(&frames::header(id, body.len()));
            out.extend_from_slice(body);
        });
        conn.flush(self);
        Ok(())
    }

    fn join(&self, key: u64) -> Result<uct_ep_h> {
        TcpEp::on_lane(self, &self.lane(key)?)
    }

    fn ask(&self, key: u64) -> bool {
        let conn = self.lane(key).ok().filter(|conn| conn.is_open());
        let upstream = conn.as_ref().and_then(|conn| conn.upstream.as_ref());
        if let Some(upstream) = upstream {
            upstream.asker.set(Some(key));
        }
        upstream.is_some()
    }

    fn close(&self, key: u64) {
        if let Ok(conn) = self.lane(key) {
            end(self, &conn);
        }
    }
}

impl TcpIface {
    fn lane(&self, key: u64) -> Result<Rc<Conn>> {
        let lane = self.lanes.borrow().get(&key).cloned();
        lane.ok_or(Status::NOT_CONNECTED)
    }

    fn is_of_family(&self, ip: IpAddr) -> bool {
        ip.is_ipv4() == self.address.ip.is_ipv4()
    }

    /// Whether this side connects, not the interface at `ip` and `port`.
    pub(super) fn connects(&self, ip: IpAddr, port: u16) -> Result<bool> {
        let ip = ip.to_canonical();
        match self.is_of_family(ip) {
            true => Ok((ip, port) >= (self.address.ip, self.port)),
            false => Err(Status::UNREACHABLE),
        }
    }
}

fn enlist(face: &TcpIface, conn: &Rc<Conn>, key: u64) {
    if let Some(upstream) = &conn.upstream {
        upstream.key.set(Some(key));
    }
    face.by_peer.borrow_mut().insert(conn.peer, Rc::clone(conn));
    face.lanes.borrow_mut().insert(key, Rc::clone(conn));
}

/// Whether it neither has a connection nor is about to.
fn is_unused(conn: &Conn) -> bool {
    conn.phase.get() == Phase::Waiting && conn.remote.get().is_none()
}

/// A fresh connection takes the place of `old`, with its endpoints.
fn replace(face: &Face, key: u64, old: &Conn) -> Rc<Conn> {
    let new = Conn::with_upstream(face.new_token(), None);
    if let Some(upstream) = &old.upstream {
        upstream.key.set(None);
    }
    if let Some(upstream) = &new.upstream {
        upstream.is_met.set(true);
    }
    enlist(face, &new, key);
    move_endpoints(old, &new);
    new
}

/// The lane that somebody connects to who knows its key.
pub fn expected(face: &Face, key: u64) -> Option<Rc<Conn>> {
    let conn = face.lane(key).ok()?;
    if is_unused(&conn) {
        return Some(conn);
    }
    conn.is_open().then(|| replace(face, key, &conn))
}

/// The lane can carry messages, which progress tells.
pub fn opened(face: &TcpIface, conn: &Rc<Conn>) {
    if let Some(upstream) = &conn.upstream {
        upstream.is_news.set(true);
    }
    link::opened(face, conn, 0, max_am(face));
    face.serve_soon(conn);
}

/// Tells the worker of a lane that has been opened.
pub fn report(face: &Face, conn: &Conn) {
    let Some(upstream) = &conn.upstream else {
        return;
    };
    if let (true, Some(key)) = (upstream.is_news.take(), upstream.key.get()) {
        // Nothing is refused that does not come of the peer.
        let _ = (face.base.internal).upstream(&UpstreamEvent::Opened { key });
    }
}

/// A connection has failed: no lane leads there.
pub fn forget(face: &TcpIface, conn: &Rc<Conn>) {
    let mut lanes = face.lanes.borrow_mut();
    lanes.retain(|_, listed| !Rc::ptr_eq(listed, conn));
}

/// The endpoint of a lane is closed. What it has sent still goes out, and the peer gets time to close the lane: its end
/// must not come before that of the connection.
pub fn end(face: &TcpIface, conn: &Rc<Conn>) {
    forget(face, conn);
    if !conn.is_open() {
        return link::abort(face, conn, Status::CANCELED);
    }
    let now = monotonic_ns();
    if let Some(upstream) = &conn.upstream {
        let asks = upstream.asker.get().is_some();
        if asks {
            let seq = conn.acks.pending.next_flush();
            let mut tx = conn.tx.lock();
            tx.push(|out| conn.encode(&Frame::Flush { seq }, out));
        }
        let answered = now + if asks { ANSWER_NS } else { 0 };
        upstream.key.set(None);
        upstream.end.set(Some(answered + END_NS));
    }
    conn.flush(face);
    add_responder(face, conn);
    go_on_ending(face, conn, now);
}

/// The peer has acknowledged flushes. If they are the last of a closed lane, the worker hears of it.
pub fn on_flush_ack(face: &Face, conn: &Rc<Conn>) {
    let Some(upstream) = &conn.upstream else {
        return;
    };
    if !is_ending(conn) || !conn.acks.pending.are_flushes_acked() {
        return;
    }
    let Some(key) = upstream.asker.take() else {
        return;
    };
    let now = monotonic_ns();
    upstream.end.set(Some(now + END_NS));
    go_on_ending(face, conn, now);
    // It is no message that could be refused.
    let _ = (face.base.internal).upstream(&UpstreamEvent::Acknowledged { key });
}

pub fn is_ending(conn: &Conn) -> bool {
    conn.upstream
        .as_ref()
        .is_some_and(|u| u.end.get().is_some())
}

/// Looks at whether a closed lane has sent everything. The peer then closes its end.
pub fn go_on_ending(face: &TcpIface, conn: &Rc<Conn>, now: u64) {
    let end = conn.upstream.as_ref().and_then(|u| u.end.get());
    let end = end.unwrap_or(now);
    if !conn.is_open() {
        return;
    }
    if now >= end {
        return link::abort(face, conn, Status::CONNECTION_RESET);
    }
    let is_sent = conn.tx.lock().unsent() == 0;
    let grace = end - (END_NS - GRACE_NS);
    if is_sent && now < grace {
        face.set_deadline(conn, grace);
    } else if is_sent {
        // It fails where the peer has closed already.
        conn.socket.with(Socket::shutdown_send);
        face.set_deadline(conn, end);
    } else {
        face.set_deadline(conn, end.min(now + END_STEP_NS));
    }
}
