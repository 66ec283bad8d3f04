//! Posting datagrams: the send queue, and the memory that it reads.
//!
//! A packet is kept until it is acknowledged and no work request reads it any more. Only some work requests ask for a
//! completion; each completion stands for all before it.

use super::conn::Conn;
use super::wire::{ACK, ACK_LEN, ConnId, HEADER_LEN, Header};
use crate::c::verbs::*;
use crate::sys::verbs::{Caps, DatagramPair, refusal};
use crate::ucs::{Result, Status};
use crate::ucs_diag;
use crate::uct::api::Completion;
use crate::uct::base::copy::{Payload, copy_short_apart};
use crate::uct::base::desc::{DescPool, OwnedDesc};
use crate::uct::ib::ops::{self, Request};
use crate::uct::ib::way::Way;
use std::collections::VecDeque;

/// Datagrams with another key are dropped by the device.
pub const QKEY: u32 = 0x7564_6672;
/// Of this many work requests at least one asks for a completion.
const MODERATION: u32 = 64;

/// Memory of a packet: the header and what was copied.
pub struct Buffer {
    desc: OwnedDesc,
    /// Where it begins.
    at: *mut u8,
}

impl Buffer {
    fn new(desc: OwnedDesc) -> Buffer {
        let at = desc.payload();
        Buffer { desc, at }
    }

    /// Where the payload of the packet goes.
    #[inline(always)]
    pub fn payload(&self) -> *mut u8 {
        self.at.wrapping_add(HEADER_LEN)
    }

    #[inline(always)]
    fn write_header(&self, header: Header) {
        let at = self.at.cast::<[u8; HEADER_LEN]>();
        // SAFETY: the descriptor begins with room for a header.
        unsafe { at.write(header.encode()) };
    }

    fn header(&self) -> Header {
        let at = self.at.cast::<[u8; HEADER_LEN]>();
        // SAFETY: `write_header` wrote it when the packet was sent first.
        Header::decode(unsafe { at.read() })
    }
}

/// A packet that can be sent again. When it is acknowledged its buffer stays for the next one in its place.
#[derive(Default)]
pub struct Packet {
    buffer: Option<Buffer>,
    operation: Option<Box<Operation>>,
    /// The last work request that reads it, and whether the device reads it after the call.
    posted: u32,
    is_read: bool,
    /// Bytes of the buffer: at most a datagram's.
    len: u16,
}

/// A short message of the user.
#[derive(Clone, Copy)]
pub struct Short<'a> {
    pub id: u8,
    pub word: u64,
    pub payload: Payload<'a>,
}

/// Bytes of its word.
pub const WORD: usize = size_of::<u64>();

impl Short<'_> {
    /// Writes it.
    ///
    /// # Safety
    /// `at` must have room for it, whose payload is at most `SHORT` bytes.
    #[inline(always)]
    unsafe fn write(self, at: *mut u8) {
        // SAFETY: by the caller's promise.
        unsafe { at.cast::<[u8; WORD]>().write(self.word.to_ne_bytes()) };
        // Many messages have the word alone.
        if !self.payload.is_empty() {
            let (from, len) = (self.payload.as_ptr(), self.payload.len());
            // SAFETY: by the caller's promise; a buffer of ours is not the user's memory.
            unsafe { copy_short_apart(from, at.wrapping_add(WORD), len) };
        }
    }
}

/// What a packet is sent for, other than a copied message.
pub struct Operation {
    /// Memory of the user that follows what was copied.
    pub list: Box<[ibv_sge]>,
    pub comp: Completion,
}

impl Packet {
    /// `len` bytes of payload.
    #[inline(always)]
    pub fn new(buffer: Buffer, len: usize, operation: Option<Box<Operation>>) -> Packet {
        Packet {
            buffer: Some(buffer),
            operation,
            posted: 0,
            is_read: false,
            len: (HEADER_LEN + len) as u16,
        }
    }

    /// The buffer that it has kept.
    pub fn take_buffer(&mut self) -> Option<Buffer> {
        self.buffer.take()
    }

    /// Whether something ends with it, or the device reads it.
    fn needs_release(&self) -> bool {
        self.is_read || self.operation.is_some()
    }

    /// Whether the user waits for the end of its work requests.
    fn has_user(&self) -> bool {
        let operation = self.operation.as_ref();
        operation.is_some_and(|operation| !operation.list.is_empty())
    }
}

/// A packet that is not needed any more, while a work request may still read it.
struct Lingering {
    conn: ConnId,
    packet: Packet,
    result: Result<()>,
}

pub struct Sender {
    pub pair: DatagramPair,
    request: Request,
    /// The request of a packet of a run, and the connection whose peer it goes to.
    run: Request,
    run_of: ConnId,
    pub caps: Caps,
    depth: u32,
    moderation: u32,
    /// The last request that was posted, and the last that is complete. They count on and wrap.
    posted: u32,
    retired: u32,
    /// The last that asked for a completion.
    signalled: u32,
    /// Requests up to this one are posted without a look at the queue.
    run_end: u32,
    /// Buffers that are free. Only the user's thread takes from the pool and gives back to it.
    free: Vec<Buffer>,
    lingering: VecDeque<Lingering>,
    /// Address handles that requests may still use.
    old_ways: VecDeque<(u32, Way)>,
    /// Operations that have ended, for the user's progress.
    pub done: VecDeque<(Completion, Result<()>)>,
}

impl Sender {
    pub fn new(pair: DatagramPair, caps: Caps, depth: u32) -> Sender {
        Sender {
            pair,
            request: Request::new(),
            run: Request::inline_datagram(QKEY),
            run_of: ConnId::NONE,
            caps,
            depth,
            moderation: MODERATION.min(depth / 4),
            posted: 0,
            retired: 0,
            signalled: 0,
            run_end: 0,
            free: Vec::new(),
            lingering: VecDeque::new(),
            old_ways: VecDeque::new(),
            done: VecDeque::new(),
        }
    }

    fn under_way(&self) -> u32 {
        self.posted.wrapping_sub(self.retired)
    }

    /// How many packets of users can be posted: some of the queue is left for what the transport needs itself.
    fn room(&self) -> u32 {
        (self.depth - self.depth / 8).saturating_sub(self.under_way())
    }

    /// Whether a user's packet can be posted.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.room() > 0
    }

    /// A free buffer for a packet, on the user's thread.
    #[inline(always)]
    pub fn buffer(&mut self, pool: &DescPool) -> Result<Buffer> {
        match self.free.pop() {
            Some(buffer) => Ok(buffer),
            None => Ok(Buffer::new(pool.get_registered()?.own())),
        }
    }

    /// A buffer that was not used.
    pub fn give_back(&mut self, buffer: Buffer) {
        self.free.push(buffer);
    }

    /// What a place for packets has kept.
    pub fn recycle(&mut self, packet: Packet) {
        self.free.extend(packet.buffer);
    }

    /// Posts a list of entries: `first` and `rest`.
    ///
    /// # Safety
    /// As `DatagramPair::post`.
    #[inline(always)]
    unsafe fn post(
        &mut self,
        way: &Way,
        (first, rest): (ibv_sge, &[ibv_sge]),
        flags: u32,
        signal: bool,
    ) -> Result<()> {
        let number = self.posted.wrapping_add(1);
        let signal = signal || number.wrapping_sub(self.signalled) >= self.moderation;
        let flags = flags | if signal { IBV_SEND_SIGNALED } else { 0 };
        // SAFETY: nobody else has it, as this is borrowed alone.
        let parts = unsafe { self.request.parts() };
        if rest.is_empty() {
            parts.one(first);
        } else {
            parts.all(first, rest)?;
        }
        let to = ibv_send_wr_ud {
            ah: way.handle.raw(),
            remote_qpn: way.queue_pair,
            remote_qkey: QKEY,
        };
        let request = parts.datagram(to, flags);
        request.wr_id = u64::from(number) << 1 | 1;
        // SAFETY: by the caller's promise; `old_ways` keeps the address handle.
        if let Err(e) = unsafe { self.pair.post(request) } {
            return Err(refused(&e));
        }
        self.posted = number;
        if (number.wrapping_sub(self.run_end) as i32) > 0 {
            self.run_end = number;
        }
        if signal {
            self.signalled = number;
        }
        Ok(())
    }

    /// Finds out how many of the next packets are posted without a look at the queue, and without a completion.
    fn start_run(&mut self) {
        let silent = self.posted.wrapping_sub(self.signalled) + 1;
        let run = self.moderation.saturating_sub(silent).min(self.room());
        self.run_end = self.posted.wrapping_add(run);
    }

    /// Whether the device has sent everything.
    pub fn is_idle(&self) -> bool {
        self.under_way() == 0
    }

    /// Posts bytes of the caller's: a datagram that is not sent again. `NO_RESOURCE`: the queue is full. `signal`: it has a
    /// completion of its own.
    pub fn post_bytes(&mut self, way: &Way, bytes: &[u8], signal: bool) -> Result<()> {
        if self.under_way() >= self.depth {
            return Err(Status::NO_RESOURCE);
        }
        let entry = ops::entry(bytes.as_ptr(), bytes.len(), 0);
        // SAFETY: inline data of the caller's.
        unsafe { self.post(way, (entry, &[]), IBV_SEND_INLINE, signal) }
    }

    /// Posts a packet.
    #[inline(always)]
    fn transmit(&mut self, way: &Way, packet: &mut Packet, again: bool) -> Result<()> {
        let Some(buffer) = &packet.buffer else {
            return Err(Status::NO_RESOURCE);
        };
        let len = usize::from(packet.len);
        let first = ops::entry(buffer.at, len, buffer.desc.key());
        if packet.has_user() {
            return self.transmit_user(way, packet, first);
        }
        let is_inline = len <= self.caps.inline as usize;
        let flags = if is_inline { IBV_SEND_INLINE } else { 0 };
        // SAFETY: the packet is kept until the request is complete.
        unsafe { self.post(way, (first, &[]), flags, again) }?;
        if !is_inline {
            (packet.posted, packet.is_read) = (self.posted, true);
        }
        Ok(())
    }

    /// Posts a packet with memory of the user.
    #[inline(never)]
    fn transmit_user(&mut self, way: &Way, packet: &mut Packet, first: ibv_sge) -> Result<()> {
        let operation = packet.operation.as_ref();
        let user = operation.map_or(&[][..], |operation| &operation.list);
        // SAFETY: the packet is kept until the request is complete, and the user keeps its memory until then.
        unsafe { self.post(way, (first, user), 0, true) }?;
        (packet.posted, packet.is_read) = (self.posted, true);
        Ok(())
    }

    /// Sends a new packet of a connection that is connected.
    #[inline(always)]
    pub fn send(
        &mut self,
        conn: &mut Conn,
        id: u8,
        packet: Packet,
        now: u32,
        limits: &super::window::Limits,
    ) -> Result<()> {
        let Some(way) = &conn.way else {
            self.recycle(packet);
            return Err(Status::NO_RESOURCE);
        };
        let ask = conn.tx.shall_ask(limits);
        let (ack, held) = conn.rx.state();
        let psn = conn.tx.next_psn();
        let place = conn.tx.place();
        let former = core::mem::replace(place, packet);
        if let Some(buffer) = former.buffer {
            self.free.push(buffer);
        }
        if let Some(buffer) = &place.buffer {
            buffer.write_header(Header {
                id,
                to: conn.peer,
                ask,
                psn,
                ack,
            });
        }
        if let Err(e) = self.transmit(way, place, false) {
            place.operation = None;
            return Err(e);
        }
        let release = place.needs_release();
        conn.tx.push(now, ask, release);
        if held == 0 {
            conn.ack_due = false;
        }
        conn.tx.start_run(limits);
        self.start_run();
        Ok(())
    }

    /// Sends a short message, if that needs no more than to be posted. `None`: it needs more, and was not sent. An error has to
    /// be told to `refused_run`.
    ///
    /// # Safety
    /// With its word it must not be longer than `MessageLimits::run`.
    #[inline(always)]
    pub unsafe fn send_run(
        &mut self,
        conn: &mut Conn,
        message: Short<'_>,
        now: &u32,
    ) -> Option<core::result::Result<(), i32>> {
        if self.posted == self.run_end || self.run_of != conn.id {
            return None;
        }
        let psn = conn.tx.next_psn();
        let len = HEADER_LEN + WORD + message.payload.len();
        let at = conn.tx.push_run(now, |packet| {
            let buffer = packet.buffer.as_ref()?;
            packet.len = len as u16;
            Some(buffer.at)
        })?;
        // SAFETY: a buffer has room for a datagram; the rest by the caller's promise.
        unsafe { message.write(at.wrapping_add(HEADER_LEN)) };
        let (ack, held) = conn.rx.state();
        let header = Header {
            id: message.id,
            to: conn.peer,
            ask: false,
            psn,
            ack,
        };
        // SAFETY: a buffer begins with room for a header.
        unsafe { at.cast::<[u8; HEADER_LEN]>().write(header.encode()) };
        if held == 0 {
            conn.ack_due = false;
        }
        self.posted = self.posted.wrapping_add(1);
        // SAFETY: nobody else has it, as this is borrowed alone.
        let request = unsafe { self.run.parts() }.inline_data(at, len);
        // SAFETY: inline data; the connection keeps the address handle.
        Some(unsafe { self.pair.try_post(request) })
    }

    /// The next packets of runs are of this connection. `false`: they were, or it has no way to its peer.
    pub fn aim_run(&mut self, conn: &Conn) -> bool {
        let Some(way) = conn.way.as_ref().filter(|_| self.run_of != conn.id) else {
            return false;
        };
        // SAFETY: nobody else has it, as this is borrowed alone.
        unsafe { self.run.parts() }.aim(way.handle.raw(), way.queue_pair);
        self.run_of = conn.id;
        true
    }

    /// The message of `send_run` was refused.
    #[cold]
    pub fn refused_run(&mut self, conn: &mut Conn, code: i32) -> Status {
        self.posted = self.posted.wrapping_sub(1);
        self.run_end = self.posted;
        conn.tx.take_back_run();
        // It said so, perhaps.
        conn.ack_due = true;
        refused(&refusal(code))
    }

    /// Sends packets again that are lost, as many as the windows allow.
    #[cold]
    pub fn resend(&mut self, conn: &mut Conn) {
        let Some(way) = conn.way.clone() else {
            return;
        };
        let (ack, _) = conn.rx.state();
        while self.under_way() < self.depth {
            let Some((psn, packet)) = conn.tx.next_lost() else {
                return;
            };
            if let Some(buffer) = &packet.buffer {
                buffer.write_header(Header {
                    to: conn.peer,
                    ask: true,
                    psn,
                    ack,
                    ..buffer.header()
                });
            }
            if self.transmit(&way, packet, true).is_err() {
                // It was logged; the timer tries again.
                return;
            }
            conn.tx.note_asked();
        }
    }

    /// Sends an acknowledgement; `ask`: the peer shall send one too.
    pub fn acknowledge(&mut self, conn: &mut Conn, ask: bool) {
        let Some(way) = &conn.way else {
            return;
        };
        let (ack, held) = conn.rx.state();
        let header = Header {
            id: ACK,
            to: conn.peer,
            ask,
            psn: conn.tx.next_psn(),
            ack,
        };
        let mut bytes = [0; HEADER_LEN + ACK_LEN];
        bytes[..HEADER_LEN].copy_from_slice(&header.encode());
        bytes[HEADER_LEN..].copy_from_slice(&held.to_le_bytes());
        if self.post_bytes(way, &bytes, false).is_ok() {
            conn.ack_due = false;
            if ask {
                conn.tx.note_asked();
            }
        }
    }

    /// A packet is acknowledged, or given up: it ends now, or when the device reads it no more.
    #[inline]
    pub fn release(
        &mut self,
        conn: ConnId,
        lingering: &mut u32,
        packet: &mut Packet,
        result: Result<()>,
    ) {
        let is_read = packet.is_read && (self.retired.wrapping_sub(packet.posted) as i32) < 0;
        if !is_read && packet.operation.is_none() {
            packet.is_read = false;
            return;
        }
        let packet = core::mem::take(packet);
        if !is_read {
            self.finish(packet, result);
            return;
        }
        *lingering += u32::from(packet.has_user());
        self.lingering.push_back(Lingering {
            conn,
            packet,
            result,
        });
    }

    fn finish(&mut self, packet: Packet, result: Result<()>) {
        if let Some(operation) = &packet.operation
            && !operation.comp.is_none()
        {
            self.done.push_back((operation.comp, result));
        }
        self.recycle(packet);
    }

    /// The way of a connection that is gone.
    pub fn retire_way(&mut self, way: Way) {
        self.run_of = ConnId::NONE;
        if self.under_way() > 0 {
            self.old_ways.push_back((self.posted, way));
        }
    }

    /// A work request and all before it are complete. `each` is told of connections that have a packet less with the device.
    pub fn complete(&mut self, number: u32, mut each: impl FnMut(ConnId)) {
        let count = number.wrapping_sub(self.retired);
        if count == 0 || count > self.under_way() {
            return;
        }
        self.retired = number;
        for _ in 0..self.lingering.len() {
            let Some(one) = self.lingering.pop_front() else {
                break;
            };
            if (number.wrapping_sub(one.packet.posted) as i32) < 0 {
                self.lingering.push_back(one);
                continue;
            }
            if one.packet.has_user() {
                each(one.conn);
            }
            self.finish(one.packet, one.result);
        }
        while let Some((posted, _)) = self.old_ways.front()
            && (number.wrapping_sub(*posted) as i32) >= 0
        {
            self.old_ways.pop_front();
        }
    }

    /// The queue pair has stopped: nothing is read any more.
    pub fn stopped(&mut self, each: impl FnMut(ConnId)) {
        self.complete(self.posted, each);
    }
}

#[cold]
fn refused(e: &std::io::Error) -> Status {
    ucs_diag!("ud_verbs: a work request is refused: {e}");
    Status::IO_ERROR
}
