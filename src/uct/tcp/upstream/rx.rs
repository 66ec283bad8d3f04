//! Reading the frames of a connection with an interface of upstream's.
#![forbid(unsafe_code)]

use super::super::conn::{Conn, Phase};
use super::super::iface::{Face, TcpIface};
use super::super::keys::Named;
use super::super::rx::take_put;
use super::super::rx_state::{Fate, PutIn, RxBuf};
use super::frames::{self, Frame};
use super::{Upstream, lane, link};
use crate::ucs::Status;
use crate::uct::internal::{UpstreamEvent, UpstreamMessage};
use std::rc::Rc;

/// The length of the frame that `bytes` begin with, as far as it is known.
pub fn whole(bytes: &[u8], limit: usize) -> usize {
    match frames::decode(bytes, limit) {
        Ok(Some((Frame::Am { .. }, total))) => total,
        _ => 0,
    }
}

/// Handles all complete frames. Returns the number of messages; `Err` describes an invalid frame.
pub fn handle_frames(face: &Face, conn: &Rc<Conn>, buf: &mut RxBuf) -> Result<u32, String> {
    let mut count = 0;
    face.sender.set(conn.peer);
    loop {
        if face.base.internal.recv_paused.take() {
            face.hold(conn);
            return Ok(count);
        }
        if let Some(put) = conn.rx.put_in.get() {
            if put.fate == Fate::Refused {
                return Err(beyond(put.address, put.left));
            }
            if buf.start == buf.end {
                return Ok(count);
            }
            take_put(face, conn, buf, put);
            continue;
        }
        let bytes = &buf.data[buf.start..buf.end];
        let (frame, total) = match frames::decode(bytes, conn.rx.limit.get()) {
            Ok(Some(frame)) => frame,
            Ok(None) => return Ok(count),
            Err(bad) => return Err(bad.to_string()),
        };
        if let Frame::Am { id, .. } = frame {
            if !conn.may_receive() {
                return match conn.phase.get() {
                    // The last message has closed the connection.
                    Phase::Broken(_) => Ok(count),
                    _ => Err("a message before the connection was accepted".to_owned()),
                };
            }
            let Some(body) = bytes.get(frames::HEADER_LEN..total) else {
                return Ok(count);
            };
            buf.start += total;
            count += 1;
            conn.on_message();
            let device = conn.upstream.as_ref().and_then(|u| u.device.get());
            let message = UpstreamEvent::Message(UpstreamMessage {
                id,
                body,
                connection: link::name(face, conn),
                device: device.map(Vec::as_slice),
                key: conn.upstream.as_ref().and_then(|u| u.key.get()),
            });
            let taken = face.base.internal.upstream(&message);
            if taken == Err(Status::NO_RESOURCE) {
                buf.start -= total;
                face.hold(conn);
                return Ok(count - 1);
            }
            taken.map_err(|why| format!("message {id}, which is refused: {why}"))?;
            continue;
        }
        buf.start += total;
        if let (
            Frame::Put {
                address,
                len,
                number,
            },
            true,
        ) = (frame, conn.may_receive())
        {
            let put = admitted(face, conn, (address, len), number);
            let put = put.ok_or_else(|| beyond(address, len))?;
            conn.rx.put_in.set(Some(put));
            continue;
        }
        if !control(face, conn, frame) {
            return Err(format!("{frame}, which is invalid now"));
        }
        if conn.fd() < 0 {
            return Ok(count);
        }
    }
}

/// A put of data as the peer may do it.
fn admitted(
    face: &TcpIface,
    conn: &Conn,
    (address, len): (u64, u64),
    number: u32,
) -> Option<PutIn> {
    let (key, fate) = match face.keys.named_at(address, len, link::listener_of(conn))? {
        Named::Open(key) => (key, Fate::Written),
        Named::Ended => (0, Fate::Dropped),
    };
    Some(PutIn {
        key,
        address,
        left: len,
        fate,
        number,
    })
}

fn beyond(address: u64, len: u64) -> String {
    format!("a put of {len} bytes at {address:#x}, which it may not write")
}

/// Whether the flush has been acknowledged without the owner.
fn is_acknowledged(conn: &Conn, number: u32) -> bool {
    let responder = conn.upstream.as_ref().map(|u| u.responder.borrow());
    responder.is_some_and(|r| r.as_ref().is_some_and(|r| r.is_acknowledged(number)))
}

/// Calls `receive`. Meanwhile nobody else answers the peer.
pub fn attended(face: &Face, conn: &Rc<Conn>, receive: impl FnOnce() -> u32) -> u32 {
    let Some(upstream) = &conn.upstream else {
        return receive();
    };
    upstream.is_receiving.set(true);
    if upstream.responder.borrow().is_some() {
        conn.tx.lock().push(|out| take_over(upstream, out));
    }
    let count = receive();
    upstream.is_receiving.set(false);
    yield_to_responder(face, conn);
    count
}

/// The owner queues frames for the peer: nobody else answers it until they are sent and `yield_to_responder` says so.
pub fn take_over(upstream: &Upstream, out: &mut Vec<u8>) {
    if let Some(responder) = &*upstream.responder.borrow() {
        out.extend_from_slice(&responder.enter());
    }
}

/// The peer may be answered without the owner, if this has nothing to send to it.
pub fn yield_to_responder(face: &TcpIface, conn: &Rc<Conn>) {
    if let Some(upstream) = &conn.upstream
        && upstream.responder.borrow().is_some()
    {
        let is_done = is_done(face, conn);
        if let Some(responder) = &*upstream.responder.borrow() {
            responder.exit(is_done);
        }
    }
}

/// Whether all that was read is handled, and all that the peer gets is sent; what can be sent is.
pub fn is_done(face: &TcpIface, conn: &Rc<Conn>) -> bool {
    conn.flush(face);
    let is_receiving = conn.upstream.as_ref().is_some_and(|u| u.is_receiving.get());
    let buffer = conn.rx.buffer.take();
    let is_empty = buffer.as_ref().is_none_or(|buf| buf.start == buf.end);
    conn.rx.buffer.set(buffer);
    let is_whole = is_empty && conn.rx.put_in.get().is_none();
    !is_receiving && is_whole && !conn.rx.held.get() && conn.tx.lock().unsent() == 0
}

/// Handles a frame other than a message. Returns false if it is invalid in this phase.
fn control(face: &Face, conn: &Rc<Conn>, frame: Frame) -> bool {
    match (conn.phase.get(), frame) {
        (Phase::Greeting | Phase::Asked, Frame::Ack) => {
            link::on_ack(face, conn);
            true
        }
        (Phase::Greeting, Frame::AckAndRequest) => {
            link::on_ack(face, conn);
            link::heard(face, conn);
            true
        }
        (Phase::Open, Frame::Request(request)) => link::on_request(face, conn, request),
        (Phase::Open | Phase::Asked, Frame::Keepalive) => true,
        (Phase::Open | Phase::Asked, Frame::Fin) => {
            conn.bye.set(true);
            if conn.upstream.as_ref().is_some_and(|u| u.is_heard.get()) {
                link::silent(face, conn);
            }
            true
        }
        (Phase::Open | Phase::Asked, Frame::Flush { number }) => {
            if !is_acknowledged(conn, number) {
                conn.acks.owed.flush_received(number.into());
            }
            true
        }
        (Phase::Open, Frame::FlushAck { number }) => {
            let seq = conn.acks.pending.whole_flush_number(number);
            let is_valid = conn.on_flush_ack(face, seq);
            if is_valid {
                lane::on_flush_ack(face, conn);
            }
            is_valid
        }
        _ => false,
    }
}
