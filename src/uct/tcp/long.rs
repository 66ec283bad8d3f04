//! Long messages whose handler names places for their bytes while they come: those are not read into the buffer first.
//!
//! Of such a message the buffer has the frame's header, the message's head, and bytes that had no place yet. That is a frame
//! by itself, which becomes shorter with each part that is taken off, and is handled as any other when nobody
//! names a place any more.

use super::conn::{Conn, Placing, RxBuf};
use super::iface::Face;
use super::wire::{self, Frame, HEADER_LEN};
use crate::sys::socket::{self, block};
use crate::uct::base::am;
use crate::uct::base::copy::copy_home;
use core::ffi::c_void;
use core::ptr::NonNull;
use std::io;

/// A message with so many bytes behind its head is worth receives of its own.
const LONG: usize = 16 << 10;

/// The first message in a connection's buffer, of which the end is to come.
pub struct Long {
    placing: &'static am::Placing,
    arg: *mut c_void,
    id: u8,
    /// Bytes of the message that have no place yet, without its head.
    left: usize,
}

impl Long {
    /// `None` when it is not long, its head not here, all of it here, or nobody would name a place.
    pub fn first(face: &Face, conn: &Conn, buf: &RxBuf) -> Option<Long> {
        let bytes = buf.data.get(buf.start..buf.end)?;
        let frame = wire::decode(bytes, conn.rx_limit.get());
        let Ok(Some((Frame::Am { id, len }, total))) = frame else {
            return None;
        };
        let (placing, arg) = face.base.am.placing(id)?;
        let left = len.checked_sub(placing.head)?;
        let is_long = left >= LONG || conn.placing.get() == Placing::UnderWay;
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

    fn head(&self, buf: &RxBuf) -> *const u8 {
        buf.data[buf.start + HEADER_LEN..].as_ptr()
    }

    /// Where its next bytes go.
    fn place(&self, buf: &RxBuf) -> Option<(NonNull<u8>, usize)> {
        // SAFETY: set together with its argument; the head is in the buffer.
        let place = unsafe { (self.placing.place)(self.arg, self.head(buf), self.left) };
        place.filter(|(_, room)| (1..=self.left).contains(room))
    }

    /// The first `n` of its bytes are in their place and not in the buffer: makes it shorter and tells the handler.
    fn placed(&self, conn: &Conn, buf: &mut RxBuf, n: usize) {
        let left = self.left - n;
        let header = wire::am_header(self.id, self.placing.head + left);
        buf.data[buf.start..][..HEADER_LEN].copy_from_slice(&header);
        let head = self.head(buf);
        let over = left == 0;
        if over {
            buf.start += self.before();
            conn.placing.set(Placing::Expected);
        }
        conn.message_came();
        // SAFETY: as in `place`; nobody writes to the buffer meanwhile, which its reader holds alone.
        unsafe { (self.placing.placed)(self.arg, head, n, over) };
    }
}

/// Hands on what the buffer has of its first message, where that is long and there are places for it.
pub fn hand_on(face: &Face, conn: &Conn, buf: &mut RxBuf) {
    while let Some(long) = Long::first(face, conn, buf) {
        let Some((at, room)) = long.place(buf) else {
            return;
        };
        conn.placing.set(Placing::UnderWay);
        let from = buf.start + long.before();
        let bytes = &buf.data[from..buf.end];
        let n = bytes.len().min(room);
        if n == 0 {
            return;
        }
        // SAFETY: the handler has room for so many; the buffer is nobody else's.
        unsafe { copy_home(bytes.as_ptr(), at.as_ptr(), n) };
        buf.data.copy_within(buf.start..from, buf.start + n);
        buf.start += n;
        long.placed(conn, buf, n);
        if conn.fd() < 0 || face.base.recv_paused.get() {
            return;
        }
    }
}

/// Receives the bytes of the first message where they belong, and up to `ahead` of what follows behind it in the buffer. How
/// many came, and how many were asked for; `None` when they have no place, or some stand in the buffer that go before them.
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
