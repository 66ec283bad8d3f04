//! The operations of endpoints on their connection: active messages, puts and flushes.
//!
//! Each queues its frames and asks the policy whether they are sent now.

use super::conn::Conn;
use super::iface::{Face, TcpIface};
use super::keys::Keys;
use super::send_queue::{Locked, Report};
use super::txq::Owner;
use super::upstream::{self, frames};
use super::wire::{self, Frame, HEADER_LEN};
use crate::sys::socket::IoVec;
use crate::ucs::{Result, Status};
use crate::uct::api::{Completion, Posted};
use std::rc::Rc;

/// On a busy connection, payloads of at most so many bytes are copied to be gathered.
pub const GATHERED_COPY: usize = 32 << 10;

/// A put of `len` bytes to `address` by a key of the peer's; `notify` is the id and body of the active message behind it.
pub struct Put<'a> {
    pub key: u64,
    pub address: u64,
    pub len: u64,
    pub notify: Option<(u8, &'a [u8])>,
}

/// The payload of a put.
pub enum PutPayload<'a> {
    InPlace(Vec<IoVec>),
    Copied(&'a mut dyn FnMut(&mut Vec<u8>)),
}

/// The header in front of a message.
pub trait FrameHeader {
    type Bytes;
    fn bytes(id: u8, len: usize) -> Self::Bytes;
}

struct OurHeader;

impl FrameHeader for OurHeader {
    type Bytes = [u8; HEADER_LEN];

    #[inline(always)]
    fn bytes(id: u8, len: usize) -> Self::Bytes {
        wire::am_header(id, len)
    }
}

pub struct UpstreamHeader;

impl FrameHeader for UpstreamHeader {
    type Bytes = [u8; frames::HEADER_LEN];

    fn bytes(id: u8, len: usize) -> Self::Bytes {
        frames::header(id, len)
    }
}

impl Conn {
    /// The queue, with room for a frame. `NO_RESOURCE` when it is full, and while the connection is being set up: an
    /// accepted message has to survive the sender's death, and the queue does not.
    #[inline]
    fn reserve<'a>(self: &'a Rc<Conn>, face: &TcpIface) -> Result<Locked<'a>> {
        if !self.is_open() {
            return Err(self.not_open());
        }
        let mut tx = self.tx.lock();
        if tx.lacks_buffer() {
            let buffer = face.tx_buffer();
            tx.give_back(buffer, 0);
        }
        if !tx.has_room() {
            drop(tx);
            return self.make_room(face);
        }
        Ok(tx)
    }

    #[cold]
    fn not_open(&self) -> Status {
        self.check().err().unwrap_or(Status::NO_RESOURCE)
    }

    #[cold]
    fn make_room<'a>(self: &'a Rc<Conn>, face: &TcpIface) -> Result<Locked<'a>> {
        self.flush(face);
        self.check()?;
        if self.has_room() {
            Ok(self.tx.lock())
        } else {
            Err(Status::NO_RESOURCE)
        }
    }

    /// Queues an active message that `fill` writes, at most `room` bytes. Returns its length.
    #[inline(always)]
    pub fn post_am(
        self: &Rc<Conn>,
        face: &TcpIface,
        id: u8,
        room: usize,
        fill: impl FnOnce(*mut u8) -> usize,
    ) -> Result<usize> {
        self.post_framed::<OurHeader>(face, id, room, fill)
    }

    /// The same with the header of a peer's frames.
    #[inline(always)]
    pub fn post_framed<H: FrameHeader>(
        self: &Rc<Conn>,
        face: &TcpIface,
        id: u8,
        room: usize,
        fill: impl FnOnce(*mut u8) -> usize,
    ) -> Result<usize> {
        let header_len = size_of::<H::Bytes>();
        // The buffer is taken out since `fill` may be the user's code.
        let mut bytes = self.reserve(face)?.take();
        let at = bytes.len();
        bytes.reserve(header_len + room);
        let place = bytes.as_mut_ptr().wrapping_add(at);
        let len = fill(place.wrapping_add(header_len));
        let fits = len <= room;
        if fits {
            // SAFETY: `header_len + room` bytes behind `at` are reserved; any alignment.
            unsafe { place.cast::<H::Bytes>().write_unaligned(H::bytes(id, len)) };
            // SAFETY: the header and `len` bytes of body were just written.
            unsafe { bytes.set_len(at + header_len + len) };
        }
        let added = bytes.len() - at;
        let mut tx = self.tx.lock();
        tx.give_back(bytes, added);
        let waiting = tx.waiting();
        drop(tx);
        if !fits {
            return Err(too_long(len, room));
        }
        self.on_frame(face, waiting);
        Ok(len)
    }

    /// Queues an active message whose payload is sent from the user's memory.
    pub fn post_am_in_place(
        self: &Rc<Conn>,
        face: &Face,
        id: u8,
        header: &[u8],
        blocks: Vec<IoVec>,
        owner: Owner,
        comp: Completion,
    ) -> Result<Posted> {
        let len: usize = blocks.iter().map(|b| b.iov_len).sum::<usize>() + header.len();
        {
            let mut tx = self.reserve(face)?;
            tx.push(|out| {
                out.extend_from_slice(&wire::am_header(id, len));
                out.extend_from_slice(header);
            });
            tx.push_in_place(blocks, owner, comp);
        }
        // If all of it is sent in this call, the completion is not called.
        Ok(match self.on_payload_in_place(face, Report::Return) {
            true => Posted::Done,
            false => Posted::InProgress,
        })
    }

    /// Queues a put, and the message that notifies of it. A put into memory for one transfer, or to upstream's interface,
    /// completes when it is sent, any other when the peer has acknowledged it.
    pub fn post_put(
        self: &Rc<Conn>,
        face: &Face,
        put: Put<'_>,
        payload: PutPayload<'_>,
        owner: Owner,
        comp: Completion,
    ) -> Result<Posted> {
        // Upstream's peers number puts as flushes, of which the next one covers this put.
        let counted = self.upstream.is_none() && !Keys::is_for_one_transfer(put.key);
        let when_out = if counted { Completion::NONE } else { comp };
        let copied = matches!(payload, PutPayload::Copied(_));
        let waiting = {
            let mut tx = self.reserve(face)?;
            if !self.acks.pending.takes_put() {
                return Err(Status::NO_RESOURCE);
            }
            let Put {
                key, address, len, ..
            } = put;
            tx.push(|out| match &self.upstream {
                None => wire::encode(&Frame::Put { key, address, len }, out),
                Some(upstream) => {
                    upstream::rx::take_over(upstream, out);
                    let number = self.acks.pending.last_flush() as u32;
                    out.extend_from_slice(&frames::put_header(address, len, number));
                }
            });
            match payload {
                PutPayload::InPlace(blocks) => tx.push_in_place(blocks, owner, when_out),
                PutPayload::Copied(write) => tx.push(write),
            }
            if let Some((id, body)) = put.notify {
                tx.push(|out| {
                    match self.upstream {
                        None => out.extend_from_slice(&wire::am_header(id, body.len())),
                        Some(_) => out.extend_from_slice(&frames::header(id, body.len())),
                    }
                    out.extend_from_slice(body);
                });
            }
            tx.waiting()
        };
        if counted {
            self.acks.pending.put(owner, comp);
        }
        let report = if counted {
            Report::Callback
        } else {
            Report::Return
        };
        let done = match copied {
            true => {
                self.on_frame(face, waiting);
                !counted
            }
            false => self.on_payload_in_place(face, report),
        };
        Ok(if done {
            Posted::Done
        } else {
            Posted::InProgress
        })
    }

    /// Whether all posted operations are sent, and with `remote` have reached the peer; else `comp` completes then.
    pub fn post_flush(
        self: &Rc<Conn>,
        face: &TcpIface,
        remote: bool,
        owner: Owner,
        comp: Completion,
    ) -> Result<Posted> {
        self.check()?;
        self.flush(face);
        self.check()?;
        let (queued, sent) = {
            let tx = self.tx.lock();
            (tx.queued(), tx.sent())
        };
        let pending = &self.acks.pending;
        let reached =
            !remote || queued == 0 || (pending.has_flush_at(queued) && pending.are_flushes_acked());
        if sent == queued && pending.are_puts_done() && reached {
            return Ok(Posted::Done);
        }
        if remote && !pending.has_flush_at(queued) {
            let seq = pending.next_flush();
            let mut tx = self.tx.lock();
            tx.push(|out| self.encode(&Frame::Flush { seq }, out));
            pending.flush_covers(tx.queued());
        }
        if comp.is_none() {
            self.flush(face);
            return Ok(Posted::InProgress);
        }
        let queued = self.tx.lock().queued();
        pending.wait(owner, comp, queued, remote);
        self.flush(face);
        Ok(Posted::InProgress)
    }
}

#[cold]
fn too_long(len: usize, room: usize) -> Status {
    crate::ucs_error!("tcp: a packing function wrote {len} bytes where {room} were allowed");
    Status::INVALID_PARAM
}
