//! Direct placement: bytes of long messages are read from the socket into the buffer of a receive.
//!
//! The connection's buffer has the frame's header, the message's head, and bytes that were not placed. That is a frame
//! by itself, which becomes shorter with each part that is placed, and is handled as any other when the handler gives
//! no buffer any more.

use super::conn::Conn;
use super::iface::Face;
use super::rx_state::{Placing, RxBuf};
use super::wire::{self, Frame, HEADER_LEN};
use crate::sys::socket::{self, block};
use crate::uct::base::am;
use crate::uct::base::copy::copy;
use core::ffi::c_void;
use core::ptr::NonNull;
use std::io;

/// The minimum length, without head, for direct placement.
const LONG: usize = 16 << 10;

/// The first message in a connection's buffer, which is incomplete.
pub struct Long {
    placing: &'static am::Placing,
    arg: *mut c_void,
    id: u8,
    /// Bytes of the message that have no place yet, without its head.
    left: usize,
}

impl Long {
    /// `None` if it is not long, its head has not come, it is complete, or its handler has no placing.
    pub fn first(face: &Face, conn: &Conn, buf: &RxBuf) -> Option<Long> {
        let bytes = buf.data.get(buf.start..buf.end)?;
        let frame = wire::decode(bytes, conn.rx.limit.get());
        let Ok(Some((Frame::Am { id, len }, total))) = frame else {
            return None;
        };
        let (placing, arg) = face.base.am.placing(id)?;
        let left = len.checked_sub(placing.head)?;
        let is_long = left >= LONG || conn.rx.placing.get() == Placing::UnderWay;
        let has_head = bytes.len() >= HEADER_LEN + placing.head;
        (is_long && has_head && bytes.len() < total).then_some(Long {
            placing,
            arg,
            id,
            left,
        })
    }

    /// Bytes in front of those of the message.
    fn before(&self) -> usize {
        HEADER_LEN + self.placing.head
    }

    fn head<'a>(&self, buf: &'a RxBuf) -> &'a [u8] {
        &buf.data[buf.start + HEADER_LEN..][..self.placing.head]
    }

    /// The buffer for its next bytes.
    fn place(&self, buf: &RxBuf) -> Option<(NonNull<u8>, usize)> {
        // SAFETY: set together with its argument.
        let place = unsafe { (self.placing.place)(self.arg, self.head(buf), self.left) };
        place.filter(|(_, room)| (1..=self.left).contains(room))
    }

    /// The first `n` of its bytes were placed: makes the frame shorter and calls the handler.
    fn placed(&self, conn: &Conn, buf: &mut RxBuf, n: usize) {
        let left = self.left - n;
        let header = wire::am_header(self.id, self.placing.head + left);
        buf.data[buf.start..][..HEADER_LEN].copy_from_slice(&header);
        let head = buf.start + HEADER_LEN;
        let over = left == 0;
        if over {
            buf.start += self.before();
            conn.rx.placing.set(Placing::Expected);
        }
        conn.on_message();
        let head = &buf.data[head..][..self.placing.head];
        // SAFETY: as in `place`.
        unsafe { (self.placing.placed)(self.arg, head, n, over) };
    }
}

/// Places the bytes of the first message that are in the connection's buffer, if it is long.
pub fn place_buffered(face: &Face, conn: &Conn, buf: &mut RxBuf) {
    while let Some(long) = Long::first(face, conn, buf) {
        let Some((at, room)) = long.place(buf) else {
            return;
        };
        conn.rx.placing.set(Placing::UnderWay);
        let from = buf.start + long.before();
        let bytes = &buf.data[from..buf.end];
        let n = bytes.len().min(room);
        if n == 0 {
            return;
        }
        // SAFETY: the handler has room for so many; nothing else uses the buffer.
        unsafe { copy(bytes.as_ptr(), at.as_ptr(), n) };
        buf.data.copy_within(buf.start..from, buf.start + n);
        buf.start += n;
        long.placed(conn, buf, n);
        if conn.fd() < 0 || face.base.internal.recv_paused.get() {
            return;
        }
    }
}

/// Receives bytes of the first message into their place, and up to `ahead` following bytes into the buffer. Returns the
/// numbers received and requested; `None` if there is no place, or earlier bytes are still in the buffer.
pub fn read(
    face: &Face,
    conn: &Conn,
    buf: &mut RxBuf,
    ahead: usize,
) -> Option<io::Result<(usize, usize)>> {
    let long = Long::first(face, conn, buf)?;
    if buf.end - buf.start > long.before() {
        return None;
    }
    let (at, room) = long.place(buf)?;
    let free = &mut buf.data[buf.end..];
    let ahead = ahead.min(free.len());
    let blocks = [block(at.as_ptr(), room), block(free.as_mut_ptr(), ahead)];
    // SAFETY: the first block is the handler's, which has room for as many bytes; the second is the free part of the buffer.
    let got = unsafe { socket::recv_blocks(conn.fd(), &blocks) };
    Some(got.map(|n| {
        let here = n.min(room);
        buf.end += n - here;
        if here > 0 {
            long.placed(conn, buf, here);
        }
        (n, room + ahead)
    }))
}
