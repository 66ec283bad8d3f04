//! Reading a connection: one large receive, then every frame in it.
//!
//! Message handlers run on the receive buffer itself, which is removed from the connection meanwhile. The data of a put
//! are received directly into their range, which is held meanwhile; so are the bytes of a long message with direct
//! placement, whose part in the buffer becomes a shorter message each time.

use super::conn::{Conn, Phase};
use super::iface::{Face, Once, TcpIface};
use super::keys::Keys;
use super::link;
use super::long;
use super::rx_state::{Fate, Placing, PutIn, RxBuf};
use super::sealed;
use super::upstream;
use super::wire::{self, Frame};
use crate::sys::socket::{self, block};
use crate::ucs::Status;
use crate::uct::auth::MAX_RECORD;
use crate::uct::base::copy::copy;
use crate::{ucs_error, ucs_warn};
use std::io;
use std::rc::Rc;

/// Room that a receive should have at least.
const MIN_ROOM: usize = 16 << 10;
/// A record of an encrypted connection is decrypted as a whole.
const _: () = assert!(MIN_ROOM >= MAX_RECORD);
/// Receives of one connection in one progress.
const MAX_ROUNDS: usize = 4;
/// Bytes of a receive while directly placed bytes may follow, so that few of them are copied.
const GLANCE: usize = 2 << 10;
/// Bytes of a message whose packet the kernel takes for a full segment: TCP_MSS_DEFAULT, without the headers of frame and message.
/// Reading two shorter ones has it send an acknowledgement.
const FULL_SEGMENT: usize = 536 - 40;
/// Bytes of a put received while their range is held at a time.
const PUT_STEP: u64 = 256 << 10;

pub enum Got {
    /// Bytes were read; whether more may be pending.
    Some(bool),
    Nothing,
    End,
    Error(io::Error),
}

/// Reads pending data, unless reading is paused. Returns the number of messages handled.
#[inline]
pub fn receive(face: &Face, conn: &Rc<Conn>) -> u32 {
    if conn.rx.is_read_plain() {
        receive_rounds::<Plain>(face, conn, MAX_ROUNDS)
    } else {
        receive_otherwise(face, conn)
    }
}

/// How the bytes of a connection are read, and what frames they are: ours, unless it says otherwise.
trait Form {
    /// The kernel reports data to be read as long as there are some.
    const IS_REPORTED: bool = true;

    fn read(face: &Face, conn: &Conn, buf: &mut RxBuf) -> Got;

    /// The length of the message that `bytes` begin with, as far as it is known; 0 for another frame.
    #[inline]
    fn whole(bytes: &[u8], limit: usize) -> usize {
        match wire::decode(bytes, limit) {
            Ok(Some((Frame::Am { .. }, total))) => total,
            _ => 0,
        }
    }

    #[inline]
    fn handle_frames(face: &Face, conn: &Rc<Conn>, buf: &mut RxBuf) -> Result<u32, String> {
        handle_frames(face, conn, buf)
    }

    /// Whether reading goes on after a round.
    fn goes_on(conn: &Conn) -> bool {
        conn.rx.is_read()
    }
}

struct Plain;

impl Form for Plain {
    #[inline]
    fn read(face: &Face, conn: &Conn, buf: &mut RxBuf) -> Got {
        read(face, conn, buf)
    }

    #[inline]
    fn goes_on(conn: &Conn) -> bool {
        conn.rx.is_read_plain()
    }
}

struct Sealed;

impl Form for Sealed {
    const IS_REPORTED: bool = false;

    fn read(face: &Face, conn: &Conn, buf: &mut RxBuf) -> Got {
        sealed::read(face, conn, buf)
    }
}

/// Of an interface of upstream's.
struct OfUpstream;

impl Form for OfUpstream {
    fn read(face: &Face, conn: &Conn, buf: &mut RxBuf) -> Got {
        read(face, conn, buf)
    }

    fn whole(bytes: &[u8], limit: usize) -> usize {
        upstream::rx::whole(bytes, limit)
    }

    fn handle_frames(face: &Face, conn: &Rc<Conn>, buf: &mut RxBuf) -> Result<u32, String> {
        upstream::rx::handle_frames(face, conn, buf)
    }
}

/// The same for a connection that is encrypted or upstream's, or whose reading is paused.
#[cold]
fn receive_otherwise(face: &Face, conn: &Rc<Conn>) -> u32 {
    if conn.rx.is_read() {
        receive_form(face, conn, MAX_ROUNDS)
    } else {
        0
    }
}

/// Receives once, also where reading is paused.
pub fn receive_once(face: &Face, conn: &Rc<Conn>) -> u32 {
    receive_form(face, conn, 1)
}

fn receive_form(face: &Face, conn: &Rc<Conn>, rounds: usize) -> u32 {
    if conn.upstream.is_some() {
        let receive = || receive_rounds::<OfUpstream>(face, conn, rounds);
        upstream::rx::attended(face, conn, receive)
    } else if conn.socket.security.is_sealed() {
        receive_rounds::<Sealed>(face, conn, rounds)
    } else {
        receive_rounds::<Plain>(face, conn, rounds)
    }
}

fn receive_rounds<F: Form>(face: &Face, conn: &Rc<Conn>, rounds: usize) -> u32 {
    let mut buf = conn.rx.buffer.take().unwrap_or_else(|| face.rx_buffer());
    let mut count = 0;
    for _ in 0..rounds {
        let more = if conn.rx.held.replace(false) {
            true
        } else {
            make_room::<F>(&mut buf, conn);
            match F::read(face, conn, &mut buf) {
                Got::Some(more) => {
                    count += 1;
                    more
                }
                Got::Nothing => {
                    if conn.rx.acks_soon.take() {
                        socket::acknowledge(conn.fd());
                    }
                    break;
                }
                Got::End => {
                    on_end(face, conn, io::ErrorKind::ConnectionReset.into());
                    break;
                }
                Got::Error(e) => {
                    on_end(face, conn, e);
                    break;
                }
            }
        };
        match F::handle_frames(face, conn, &mut buf) {
            Ok(n) => count += n,
            Err(why) => {
                if face.first(Once::Garbage) {
                    ucs_warn!("tcp: a connection is dropped, the peer sent {why}");
                }
                link::abort(face, conn, Status::IO_ERROR);
            }
        }
        if !more || conn.fd() < 0 || conn.rx.held.get() || !F::goes_on(conn) {
            break;
        }
    }
    if !F::IS_REPORTED && conn.socket.security.is_ready() {
        // The kernel does not report data that were read already.
        face.hold(conn);
    }
    if conn.fd() >= 0 && buf.start < buf.end {
        conn.rx.buffer.set(Some(buf));
    } else {
        face.return_rx_buffer(buf);
    }
    conn.send_owed_acks(face);
    count
}

/// The stream has ended or failed.
fn on_end(face: &Face, conn: &Rc<Conn>, e: io::Error) {
    match conn.phase.get() {
        Phase::Greeting | Phase::Asked if conn.upstream.is_some() => {
            upstream::link::turned_away(face, conn, &e)
        }
        Phase::Greeting | Phase::Proving | Phase::Connecting => link::retry(face, conn, &e),
        _ => {
            let e = match e.raw_os_error() {
                Some(_) => Status::from_io(&e),
                None => Status::CONNECTION_RESET,
            };
            link::abort(face, conn, e);
        }
    }
}

/// Moves the rest of a frame to the front when there is little room after it.
fn make_room<F: Form>(buf: &mut RxBuf, conn: &Conn) {
    if buf.start == buf.end {
        (buf.start, buf.end) = (0, 0);
    }
    let rest = buf.data.get(buf.start..buf.end).unwrap_or(&[]);
    let whole = F::whole(rest, conn.rx.limit.get());
    let wanted = whole.max(rest.len() + MIN_ROOM);
    if buf.data.len() - buf.start < wanted {
        buf.data.copy_within(buf.start..buf.end, 0);
        (buf.start, buf.end) = (0, buf.end - buf.start);
        if buf.data.len() < wanted {
            buf.data.resize(wanted, 0);
        }
    }
}

#[inline]
fn read(face: &Face, conn: &Conn, buf: &mut RxBuf) -> Got {
    // Data of a put that are in the buffer already are copied first.
    if let Some(put) = conn.rx.put_in.get()
        && put.fate == Fate::Written
        && buf.start == buf.end
    {
        return read_put(face, conn, buf, put);
    }
    if conn.rx.placing.get() == Placing::UnderWay
        && let Some(got) = long::read(face, conn, buf, GLANCE)
    {
        return match got {
            Ok((0, _)) => Got::End,
            Ok((n, asked)) => Got::Some(n == asked),
            Err(e) => not_got(e),
        };
    }
    let room = free_part(face, conn, buf).len();
    fill(conn, buf, room)
}

/// Receives at most `room` bytes behind those in the buffer, which has so much room.
#[inline]
fn fill(conn: &Conn, buf: &mut RxBuf, room: usize) -> Got {
    match socket::recv(conn.fd(), &mut buf.data[buf.end..buf.end + room]) {
        Ok(0) => Got::End,
        Ok(n) => {
            buf.end += n;
            Got::Some(n == room)
        }
        Err(e) => not_got(e),
    }
}

/// The buffer for the next bytes. It is small if data of a put or of a long message may follow: they are to be received
/// directly into their place.
fn free_part<'a>(face: &Face, conn: &Conn, buf: &'a mut RxBuf) -> &'a mut [u8] {
    let expects = conn.rx.placing.get() != Placing::No || face.keys.expects_transfers();
    let glances = buf.start == buf.end && expects;
    let free = &mut buf.data[buf.end..];
    let most = if glances { GLANCE } else { usize::MAX };
    let length = free.len().min(most);
    &mut free[..length]
}

pub fn not_got(e: io::Error) -> Got {
    if e.kind() == io::ErrorKind::WouldBlock {
        Got::Nothing
    } else {
        Got::Error(e)
    }
}

/// Receives the data of a put into their range, and the bytes that follow into the buffer.
fn read_put(face: &Face, conn: &Conn, buf: &mut RxBuf, put: PutIn) -> Got {
    let step = put.left.min(PUT_STEP);
    let room = free_part(face, conn, buf);
    let asked = step as usize + room.len();
    let got = face.keys.with_range(put.key, put.address, step, |at| {
        let blocks = [
            block(at, step as usize),
            block(room.as_mut_ptr(), room.len()),
        ];
        // SAFETY: the first block is memory of ours that is registered and exported for writing
        // by peers, and stays so during this call; the second is the free part of the buffer.
        unsafe { socket::recv_blocks(conn.fd(), &blocks) }
    });
    match got {
        Err(e) => {
            discard(face, conn, put, e);
            Got::Some(true)
        }
        Ok(Ok(0)) => Got::End,
        Ok(Ok(n)) => {
            let here = n.min(step as usize);
            buf.end += n - here;
            put_arrived(conn, put, here as u64);
            Got::Some(n == asked)
        }
        Ok(Err(e)) => not_got(e),
    }
}

/// `n` bytes of a put are at their place.
fn put_arrived(conn: &Conn, put: PutIn, n: u64) {
    let left = put.left - n;
    if left > 0 {
        return conn.rx.put_in.set(Some(PutIn {
            // Of one that is refused it may be any.
            address: put.address.wrapping_add(n),
            left,
            ..put
        }));
    }
    conn.rx.put_in.set(None);
    if conn.upstream.is_some() {
        conn.acks.owed.flush_received(put.number.into());
    } else if put.fate == Fate::Written && !Keys::is_for_one_transfer(put.key) {
        // A put for a single transfer is not counted; a message notifies of it.
        conn.acks.owed.put_done();
    }
}

/// The put is not done: its data are dropped. The peer is told, unless it could not know that the key was revoked.
#[cold]
fn discard(face: &TcpIface, conn: &Conn, put: PutIn, why: Status) {
    let given_up = why == Status::INVALID_PARAM && Keys::is_for_one_transfer(put.key);
    if !given_up && conn.upstream.is_some() {
        let fate = Fate::Refused;
        return conn.rx.put_in.set(Some(PutIn { fate, ..put }));
    }
    if !given_up {
        refuse(face, conn, put);
    }
    let dropped = PutIn {
        fate: Fate::Dropped,
        ..put
    };
    put_arrived(conn, dropped, 0);
}

fn refuse(face: &TcpIface, conn: &Conn, put: PutIn) {
    if face.first(Once::Refused) {
        ucs_warn!(
            "tcp: a put of a peer to {:#x} is refused: its key does not cover {} bytes there",
            put.address,
            put.left
        );
    }
    conn.acks.owed.put_refused();
}

/// Takes the data of a put out of the buffer.
pub fn take_put(face: &Face, conn: &Conn, buf: &mut RxBuf, put: PutIn) {
    let here = (buf.end - buf.start).min(usize::try_from(put.left).unwrap_or(usize::MAX));
    if put.fate != Fate::Written {
        buf.start += here;
        return put_arrived(conn, put, here as u64);
    }
    let data = &buf.data[buf.start..buf.start + here];
    let copied = face
        .keys
        .with_range(put.key, put.address, here as u64, |at| {
            // SAFETY: memory of ours that is registered and exported for writing by peers, and stays
            // so during this call; the receive buffer is not registered.
            unsafe { copy(data.as_ptr(), at, here) };
        });
    match copied {
        Ok(()) => {
            buf.start += here;
            put_arrived(conn, put, here as u64);
        }
        Err(e) => discard(face, conn, put, e),
    }
}

/// Handles all complete frames. Returns the number of messages; `Err` describes an invalid frame.
fn handle_frames(face: &Face, conn: &Rc<Conn>, buf: &mut RxBuf) -> Result<u32, String> {
    let mut count = 0;
    face.sender.set(conn.peer);
    loop {
        if face.base.internal.recv_paused.take() {
            face.hold(conn);
            return Ok(count);
        }
        if let Some(put) = conn.rx.put_in.get() {
            if buf.start == buf.end {
                return Ok(count);
            }
            take_put(face, conn, buf, put);
            continue;
        }
        let bytes = &mut buf.data[buf.start..buf.end];
        let (frame, total) = match wire::decode(bytes, conn.rx.limit.get()) {
            Ok(Some(frame)) => frame,
            Ok(None) => return Ok(count),
            Err(bad) => return Err(bad.to_string()),
        };
        if let Frame::Am { id, len } = frame {
            if !conn.is_open() {
                return match conn.phase.get() {
                    // The last message has closed the connection.
                    Phase::Broken(_) => Ok(count),
                    _ => Err("a message before it was welcome".to_owned()),
                };
            }
            let Some(body) = bytes.get_mut(wire::HEADER_LEN..total) else {
                long::place_buffered(face, conn, buf);
                if face.base.internal.recv_paused.take() {
                    face.hold(conn);
                }
                return Ok(count);
            };
            let body = body.as_mut_ptr();
            buf.start += total;
            count += 1;
            conn.rx.placing.set(match conn.rx.placing.get() {
                Placing::UnderWay => Placing::Expected,
                _ => Placing::No,
            });
            conn.on_message();
            // Unless the handler sends something.
            conn.rx.acks_soon.set(true);
            // SAFETY: `len` bytes of the receive buffer, which this function holds alone.
            unsafe { face.base.am.invoke(id, body, len, 0) };
            let expected = face.base.internal.more_expected.take();
            if expected.is_none_or(|length| length >= FULL_SEGMENT) {
                conn.rx.acks_soon.set(false);
            }
            continue;
        }
        buf.start += total;
        if !control(face, conn, frame) {
            return Err(format!("{frame}, which is invalid now"));
        }
        if conn.fd() < 0 {
            return Ok(count);
        }
    }
}

/// Handles a frame other than an active message. Returns false if it is invalid in this phase.
pub fn control(face: &TcpIface, conn: &Rc<Conn>, frame: Frame) -> bool {
    match (conn.phase.get(), frame) {
        (Phase::Greeting, Frame::Welcome(welcome)) => link::on_welcome(face, conn, &welcome),
        (Phase::Greeting, Frame::Defer) => {
            link::on_defer(face, conn);
            true
        }
        (Phase::Greeting, Frame::Reject(reason)) => {
            link::on_reject(face, conn, reason);
            true
        }
        (Phase::Open, Frame::Ping) => true,
        (Phase::Open, Frame::Bye) => {
            conn.bye.set(true);
            true
        }
        (Phase::Open, Frame::Flush { seq }) => {
            conn.acks.owed.flush_received(seq);
            true
        }
        (Phase::Open, Frame::FlushAck { seq }) => conn.on_flush_ack(face, seq),
        (Phase::Open, Frame::Put { key, address, len }) => {
            let put = PutIn {
                key,
                address,
                left: len,
                fate: Fate::Written,
                number: 0,
            };
            match face.keys.with_range(key, address, len, |_| ()) {
                Ok(()) if len > 0 => conn.rx.put_in.set(Some(put)),
                Ok(()) => put_arrived(conn, put, 0),
                Err(e) => discard(face, conn, put, e),
            }
            true
        }
        (Phase::Open, Frame::PutAck { count }) => conn.on_put_ack(face, count),
        (Phase::Open, Frame::PutRefused { number }) if conn.acks.pending.is_put_open(number) => {
            ucs_error!(
                "tcp: the peer refused put {number}: the key does not cover the range; was the \
                 memory registered for remote puts and its key packed, and is it still registered?"
            );
            link::abort(face, conn, Status::REJECTED);
            true
        }
        _ => false,
    }
}
