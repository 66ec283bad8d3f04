//! `Conn`: the one connection between two interfaces, shared by all endpoints between them.
//!
//! It outlives its sockets: while it is being set up it may change from the attempt of one side to that of the other,
//! and sends wait meanwhile. It holds the send queue, the pending acknowledgements, and the state of receiving.
//! Everything here runs on the worker's thread; user callbacks are never called from here: they are queued in the
//! interface and called by its progress.

use super::backpressure::{Answers, Reading};
use super::deadlines::NEVER;
use super::deferred_flush::DeferredFlush;
use super::iface::{Face, TcpIface};
use super::keys::Keys;
use super::pending_acks::PendingAcks;
use super::sealed::{self, Security};
use super::txq::{Owner, TxQueue};
use super::wire::{self, Frame, HEADER_LEN};
use crate::sys::clock::monotonic_ns;
use crate::sys::socket::{self, IoVec, Socket};
use crate::ucs::{Result, Status};
use crate::uct::api::{Completion, Posted};
use crate::uct::auth::Session;
use crate::uct::base::iface::EpBox;
use crate::uct::base::pending::PendingQueue;
use core::cell::{Cell, RefCell, RefMut};
use core::ops::{Deref, DerefMut};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::RawFd;
use std::rc::Rc;

/// How far a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The kernel is connecting.
    Connecting,
    /// With a secret: the handshake before the hello.
    Proving,
    /// The hello was sent; waiting for the reply.
    Greeting,
    /// No socket: to be retried, or the other side's attempt is expected.
    Waiting,
    Open,
    Broken(Status),
}

/// Most copied bytes in the queue before senders get `NO_RESOURCE`.
const TX_LIMIT: usize = 64 << 10;
/// Copied bytes that are sent without waiting for more.
const TX_BATCH: usize = 64 << 10;
/// Payloads in place that may wait.
const MAX_IN_PLACE: usize = 64;
/// Frames that leave at once on a connection that was quiet, before later ones are gathered.
const BURST: u32 = 4;
/// How long frames of a busy sender are gathered at most, in nanoseconds.
const GATHER_NS: u64 = 10_000;
/// Segments of at least this size are filled: the kernel's cost is the same for a short one.
const LONG_SEGMENT: usize = 16 << 10;
/// From so many bytes on, frames that handlers send wait for the end of the progress.
const BULK: usize = 2 << 10;
/// Sends of segments between two questions for their length.
const MEASURED: u32 = 64;
/// Most bytes of a busy sender that are kept for the next segment.
const MAX_TAIL: usize = 8 << 10;
/// On a busy connection, payloads of at most so many bytes are copied to be gathered.
pub const GATHERED_COPY: usize = 32 << 10;
/// Blocks of one send.
pub const BLOCKS: usize = 64;

/// Bytes received and not yet understood.
pub struct RxBuf {
    pub data: Vec<u8>,
    pub start: usize,
    pub end: usize,
}

impl RxBuf {
    /// An empty one in this memory.
    pub fn of(data: Vec<u8>) -> RxBuf {
        RxBuf {
            data,
            start: 0,
            end: 0,
        }
    }
}

/// A put whose data are arriving.
#[derive(Clone, Copy)]
pub struct PutIn {
    pub key: u64,
    pub address: u64,
    pub left: u64,
    pub fate: Fate,
}

/// The treatment of the data of a put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Written,
    Dropped,
}

/// The state of direct placement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placing {
    /// They are read into the buffer.
    No,
    /// Those of the message before went to their place.
    Expected,
    /// The first message of the buffer goes to its place: there are its head, and the bytes that are not taken yet.
    UnderWay,
}

pub struct Conn {
    /// The id of the other interface.
    pub peer: u64,
    /// The address to connect to; `None` if the other side connected.
    pub remote: Cell<Option<SocketAddr>>,
    /// The network address of a peer that connected.
    pub from: Cell<Option<IpAddr>>,
    /// It has brought a message.
    used: Cell<bool>,
    pub phase: Cell<Phase>,
    socket: RefCell<Option<Socket>>,
    fd: Cell<RawFd>,
    /// Its name in the interface's table of sockets; 0 without a socket.
    pub token: Cell<u64>,
    /// The last attempt of the peer that this connection knows of.
    pub peer_attempt: Cell<u64>,
    /// Our attempts so far.
    pub tries: Cell<u32>,
    /// Its number among the interface's deadlines, and when something is to be done.
    pub number: u64,
    pub deadline: Cell<u64>,
    /// The other side has sent its last frame.
    pub bye: Cell<bool>,
    /// Largest body of an active message that the peer sends.
    pub rx_limit: Cell<usize>,

    tx: RefCell<TxQueue>,
    deferred_flush: DeferredFlush,
    /// The socket's buffer is full; epoll reports when it is writable.
    blocked: Cell<bool>,
    /// Epoll watches writability: connecting or blocked.
    pub watched: Cell<bool>,
    /// The progress call in which the peer was last pinged.
    pub pinged: Cell<u64>,
    dirty: Cell<bool>,
    fresh: Cell<bool>,
    gather_until: Cell<u64>,
    /// Progress calls in a row between which something was queued.
    streak: Cell<u32>,
    burst: Cell<u32>,
    last_tick: Cell<u64>,
    /// The segment size, if large; else 0.
    segment: Cell<usize>,
    /// Sends of segments until the size is read again.
    until_measured: Cell<u32>,

    pending_acks: PendingAcks,

    pub security: Security,
    /// Its bytes are read, and understood as the kernel gives them: neither paused nor encrypted.
    read_as_is: Cell<bool>,

    pub rx: Cell<Option<RxBuf>>,
    pub put_in: Cell<Option<PutIn>>,
    pub placing: Cell<Placing>,
    pub puts_done: Cell<u64>,
    pub owes_put_ack: Cell<bool>,
    /// A message followed a put that is not acknowledged: acknowledge at once, as there may be no more progress.
    pub hurried: Cell<bool>,
    pub owes_flush_ack: Cell<Option<u64>>,
    pub owes_refusal: Cell<Option<u64>>,
    /// In the interface's list of sockets that are read directly, and how often in vain.
    pub hot: Cell<bool>,
    pub misses: Cell<u32>,
    /// In the interface's list of those that have received more than their handlers wanted in one progress.
    pub held: Cell<bool>,

    /// Queued replies to the peer.
    pub answers: Answers,
    eps: RefCell<Vec<*const EpBox<TcpIface>>>,
    pub pending: PendingQueue,
    /// In the interface's list of connections whose pending requests may be called.
    pub servable: Cell<bool>,
}

impl Conn {
    pub fn new(number: u64, peer: u64, remote: Option<SocketAddr>) -> Rc<Conn> {
        Rc::new(Conn {
            peer,
            remote: Cell::new(remote),
            from: Cell::new(None),
            used: Cell::new(false),
            phase: Cell::new(Phase::Waiting),
            socket: RefCell::new(None),
            fd: Cell::new(-1),
            token: Cell::new(0),
            peer_attempt: Cell::new(0),
            tries: Cell::new(0),
            number,
            deadline: Cell::new(NEVER),
            bye: Cell::new(false),
            rx_limit: Cell::new(0),
            tx: RefCell::default(),
            deferred_flush: DeferredFlush::new(),
            blocked: Cell::new(false),
            watched: Cell::new(false),
            pinged: Cell::new(u64::MAX),
            dirty: Cell::new(false),
            fresh: Cell::new(false),
            gather_until: Cell::new(0),
            streak: Cell::new(0),
            burst: Cell::new(BURST),
            last_tick: Cell::new(0),
            segment: Cell::new(0),
            until_measured: Cell::new(0),
            pending_acks: PendingAcks::default(),
            security: Security::default(),
            read_as_is: Cell::new(true),
            rx: Cell::new(None),
            put_in: Cell::new(None),
            placing: Cell::new(Placing::No),
            puts_done: Cell::new(0),
            owes_put_ack: Cell::new(false),
            hurried: Cell::new(false),
            owes_flush_ack: Cell::new(None),
            owes_refusal: Cell::new(None),
            hot: Cell::new(false),
            held: Cell::new(false),
            misses: Cell::new(0),
            answers: Answers::default(),
            eps: RefCell::default(),
            pending: PendingQueue::new(),
            servable: Cell::new(false),
        })
    }

    #[inline]
    pub fn fd(&self) -> RawFd {
        self.fd.get()
    }

    pub fn set_socket(&self, socket: Option<Socket>) -> Option<Socket> {
        let mut tx = self.tx();
        self.fd.set(socket.as_ref().map_or(-1, Socket::raw));
        tx.set_sealed(false);
        self.deferred_flush.set_sealer(None);
        drop(tx);
        self.blocked.set(false);
        self.security.clear();
        self.note_reading();
        self.socket.replace(socket)
    }

    /// From now on all bytes are encrypted, both ways.
    pub fn seal(&self, session: Session) {
        let mut tx = self.tx();
        tx.set_sealed(true);
        self.deferred_flush.set_sealer(Some(session.sealer));
        drop(tx);
        self.security.seal(session.opener);
        self.note_reading();
    }

    /// Runs `f` with the socket, if there is one.
    pub fn with_socket<R>(&self, f: impl FnOnce(&Socket) -> R) -> Option<R> {
        self.socket.borrow().as_ref().map(f)
    }

    #[inline]
    pub fn is_open(&self) -> bool {
        matches!(self.phase.get(), Phase::Open)
    }

    pub fn is_blocked(&self) -> bool {
        self.blocked.get()
    }

    /// The send queue, for a section without calls to other code.
    #[inline(always)]
    fn tx(&self) -> Tx<'_> {
        let mut queue = self.tx.borrow_mut();
        let sent = self.deferred_flush.enter();
        if sent != 0 {
            queue.left(sent);
        }
        Tx { queue, conn: self }
    }

    /// Adds an endpoint, which failures are reported to. Returns its index.
    pub fn attach(&self, ep: *const EpBox<TcpIface>) -> usize {
        let mut eps = self.eps.borrow_mut();
        eps.push(ep);
        eps.len() - 1
    }

    /// Removes the endpoint at `place`. Returns the one that has that index now.
    pub fn detach(&self, place: usize) -> Option<*const EpBox<TcpIface>> {
        let mut eps = self.eps.borrow_mut();
        if place < eps.len() {
            eps.swap_remove(place);
        }
        eps.get(place).copied()
    }

    /// The address of a peer that has sent no message and to which no local endpoint is connected.
    pub fn unused_from(&self) -> Option<IpAddr> {
        let unused = self.is_open() && !self.used.get() && self.eps.borrow().is_empty();
        self.from.get().filter(|_| unused)
    }

    /// Takes any endpoint off.
    pub fn pop_ep(&self) -> Option<*const EpBox<TcpIface>> {
        self.eps.borrow_mut().pop()
    }

    /// The status of a failed connection, if it is one.
    #[inline]
    fn check(&self) -> Result<()> {
        match self.phase.get() {
            Phase::Broken(status) => Err(status),
            _ => Ok(()),
        }
    }

    /// The queue, with room for a frame. `NO_RESOURCE` when it is full, and while the connection is being set up: an
    /// accepted message has to survive the sender's death, and the queue does not.
    #[inline]
    fn reserve<'a>(self: &'a Rc<Conn>, face: &TcpIface) -> Result<Tx<'a>> {
        if !self.is_open() {
            return Err(self.not_open());
        }
        let mut tx = self.tx();
        if tx.lacks_buffer() {
            let buffer = face.tx_buffer();
            tx.give_back(buffer, 0);
        }
        if tx.waiting() >= TX_LIMIT || tx.in_place() >= MAX_IN_PLACE {
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
    fn make_room<'a>(self: &'a Rc<Conn>, face: &TcpIface) -> Result<Tx<'a>> {
        self.flush(face);
        self.check()?;
        if self.has_room() {
            Ok(self.tx())
        } else {
            Err(Status::NO_RESOURCE)
        }
    }

    /// Whether a sender need not wait.
    pub fn has_room(&self) -> bool {
        let tx = self.tx();
        self.is_open()
            && tx.waiting() < TX_LIMIT
            && tx.in_place() < MAX_IN_PLACE
            && self.pending_acks.takes_put()
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
        // The buffer is taken out since `fill` may be the user's code.
        let mut bytes = self.reserve(face)?.take();
        let at = bytes.len();
        bytes.reserve(HEADER_LEN + room);
        let place = bytes.as_mut_ptr().wrapping_add(at);
        let len = fill(place.wrapping_add(HEADER_LEN));
        let fits = len <= room;
        if fits {
            // SAFETY: `HEADER_LEN + room` bytes behind `at` are reserved.
            unsafe {
                place
                    .cast::<[u8; HEADER_LEN]>()
                    .write(wire::am_header(id, len))
            };
            // SAFETY: the header and `len` bytes of body were just written.
            unsafe { bytes.set_len(at + HEADER_LEN + len) };
        }
        let added = bytes.len() - at;
        let mut tx = self.tx();
        tx.give_back(bytes, added);
        let waiting = tx.waiting();
        drop(tx);
        if !fits {
            return Err(too_long(len, room));
        }
        self.kick(face, waiting);
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
        // Out in this very call it is done without a completion.
        Ok(match self.send_in_place(face, Last::Answered) {
            true => Posted::Done,
            false => Posted::InProgress,
        })
    }

    /// Queues a put, and the message that notifies of it. A put into memory for one transfer completes when it is sent,
    /// any other when the peer has acknowledged it.
    pub fn post_put(
        self: &Rc<Conn>,
        face: &Face,
        put: Put<'_>,
        payload: PutPayload<'_>,
        owner: Owner,
        comp: Completion,
    ) -> Result<Posted> {
        let counted = !Keys::is_for_one_transfer(put.key);
        let when_out = if counted { Completion::NONE } else { comp };
        let copied = matches!(payload, PutPayload::Copied(_));
        let waiting = {
            let mut tx = self.reserve(face)?;
            if !self.pending_acks.takes_put() {
                return Err(Status::NO_RESOURCE);
            }
            let Put {
                key, address, len, ..
            } = put;
            tx.push(|out| wire::encode(&Frame::Put { key, address, len }, out));
            match payload {
                PutPayload::InPlace(blocks) => tx.push_in_place(blocks, owner, when_out),
                PutPayload::Copied(write) => tx.push(write),
            }
            if let Some((id, body)) = put.told {
                tx.push(|out| {
                    out.extend_from_slice(&wire::am_header(id, body.len()));
                    out.extend_from_slice(body);
                });
            }
            tx.waiting()
        };
        if counted {
            self.pending_acks.put(owner, comp);
        }
        let last = if counted { Last::Told } else { Last::Answered };
        let done = match copied {
            true => {
                self.kick(face, waiting);
                !counted
            }
            false => self.send_in_place(face, last),
        };
        Ok(if done {
            Posted::Done
        } else {
            Posted::InProgress
        })
    }

    /// Sends the queue after a zero-copy payload: all of it on a quiet connection, else whole segments.
    fn send_in_place(self: &Rc<Conn>, face: &Face, last: Last) -> bool {
        if face.base.internal.corked.get() && self.mark_dirty(face) {
            self.fresh.set(true);
            return false;
        }
        if self.leaves_at_once(face) || !self.mark_dirty(face) {
            return self.send(face, Extent::All, last);
        }
        self.fresh.set(true);
        self.send_segments(face, last)
    }

    /// Queues a control frame, which is sent with the user's next frame, or in the next progress.
    pub fn post_control(self: &Rc<Conn>, face: &TcpIface, frame: &Frame) {
        {
            let mut tx = self.tx();
            let all_flushed = self.pending_acks.has_flush_at(tx.queued());
            tx.push(|out| wire::encode(frame, out));
            // An acknowledged flush stays valid. A new one could reach a peer that makes no more progress.
            if all_flushed {
                self.pending_acks.flush_covers(tx.queued());
            }
        }
        if !self.mark_dirty(face) {
            self.flush(face);
        }
    }

    /// Queues acknowledgements to the peer, unless it does not read.
    pub fn pay(self: &Rc<Conn>, face: &TcpIface) {
        if self.tx().waiting() > 2 * TX_LIMIT || !self.is_open() {
            return;
        }
        if let Some(number) = self.owes_refusal.take() {
            self.post_control(face, &Frame::PutRefused { number });
        }
        if self.owes_put_ack.take() {
            let count = self.puts_done.get();
            self.post_control(face, &Frame::PutAck { count });
        }
        if let Some(seq) = self.owes_flush_ack.take() {
            self.post_control(face, &Frame::FlushAck { seq });
        }
    }

    /// The number of queued replies to the peer has changed: decides whether reading is paused.
    pub fn answers_queued(self: &Rc<Conn>, face: &TcpIface, change: isize) {
        let changed = self.answers.changed(&face.answers, change);
        self.note_reading();
        if !changed || !self.is_open() {
            return;
        }
        face.set_events(self);
        if !self.answers.is_paused() {
            crate::ucs_debug!("tcp: a peer is read again");
            if self.held.get() {
                face.hold(self);
            }
            return;
        }
        crate::ucs_debug!("tcp: a peer is not read until it reads the answers it asks for");
        if self.deadline.get() == NEVER {
            face.set_deadline(self, monotonic_ns() + super::link::SILENCE_NS);
        }
    }

    /// Resumes reading.
    pub fn resume_reading(&self) {
        self.answers.resume();
        self.note_reading();
    }

    /// Whether it is to be read now.
    pub fn is_read(&self) -> bool {
        !self.answers.is_paused()
    }

    /// Whether it is to be read now, and its bytes are not encrypted.
    #[inline]
    pub fn is_read_as_is(&self) -> bool {
        self.read_as_is.get()
    }

    fn note_reading(&self) {
        self.read_as_is
            .set(self.is_read() && !self.security.is_sealed());
    }

    /// Whether a little is to be read although reading is paused; `Err` when the peer is to be given up.
    pub fn read_a_little(&self, face: &TcpIface, now: u64) -> Result<bool> {
        match self.answers.reading(&face.answers) {
            Reading::On => Ok(false),
            Reading::Slow => Ok(true),
            Reading::Off if self.answers.is_hopeless(self.tx().sent(), now) => {
                Err(Status::ENDPOINT_TIMEOUT)
            }
            Reading::Off => Ok(false),
        }
    }

    /// The receiver may have waited for this message only.
    #[inline]
    pub fn message_came(&self) {
        self.used.set(true);
        self.hurried
            .set(self.hurried.get() | self.owes_put_ack.get());
    }

    /// Sends at once on a quiet connection, else leaves it to progress; `waiting` bytes are queued.
    #[inline]
    fn kick(self: &Rc<Conn>, face: &TcpIface, waiting: usize) {
        // The end of this progress is near, and more frames may follow.
        let answers = face.receiving.get() && waiting >= BULK;
        if (!answers && self.leaves_at_once(face)) || !self.mark_dirty(face) {
            return self.flush(face);
        }
        if waiting >= TX_BATCH {
            self.send_segments(face, Last::Told);
        }
        if answers {
            self.hurried.set(true);
        } else if waiting < TX_BATCH {
            self.fresh.set(true);
        }
    }

    /// Whether a frame is one of the first on a connection that was quiet.
    #[inline]
    fn leaves_at_once(&self, face: &TcpIface) -> bool {
        let tick = face.tick();
        if tick.wrapping_sub(self.last_tick.replace(tick)) > 1 {
            self.burst.set(BURST);
        }
        let burst = self.burst.get();
        self.burst.set(burst.saturating_sub(1));
        burst > 0
    }

    /// Whether frames that are queued now would be gathered.
    #[inline]
    pub fn is_gathering(&self) -> bool {
        self.burst.get() == 0 && self.dirty.get()
    }

    /// The next frames leave at once, however busy the connection is.
    pub fn renew_burst(&self) {
        self.burst.set(BURST);
    }

    /// Leaves the queue to progress. Returns false if nothing else would send it without progress.
    #[inline]
    fn mark_dirty(self: &Rc<Conn>, face: &TcpIface) -> bool {
        self.dirty.get() || self.begin_gathering(face)
    }

    fn begin_gathering(self: &Rc<Conn>, face: &TcpIface) -> bool {
        let may = self.deferred_flush.gathers();
        if may {
            self.dirty.set(true);
            self.gather_until.set(0);
            face.add_dirty(Rc::clone(self));
            // Exposes the queue to the thread.
            drop(self.tx());
        }
        may
    }

    /// Progress begins: sends the frames gathered since the last one; if the sender queues little between progress
    /// calls, waits for more, for a short while. Returns whether the connection stays in the list.
    pub fn gathered(self: &Rc<Conn>, face: &TcpIface) -> bool {
        if !self.fresh.replace(false) {
            self.streak.set(0);
        } else if self.is_open() && !self.blocked.get() {
            let streak = self.streak.get().saturating_add(1);
            self.streak.set(streak);
            if streak > 1 {
                let now = monotonic_ns();
                let until = self.gather_until.get();
                if until == 0 {
                    self.gather_until.set(now + GATHER_NS);
                    return true;
                }
                if now < until {
                    return true;
                }
            }
        }
        self.dirty.set(false);
        self.flush(face);
        false
    }

    /// Progress ends: sends the frames that handlers queued. Returns whether the connection stays in the list.
    pub fn answered(self: &Rc<Conn>, face: &TcpIface) -> bool {
        let hurried = self.hurried.replace(false);
        if !hurried && (!self.fresh.get() || self.streak.get() > 1) {
            return true;
        }
        self.gathering_ended();
        self.flush(face);
        false
    }

    /// Taken off the list of those that gather.
    pub fn gathering_ended(&self) {
        self.dirty.set(false);
        self.fresh.set(false);
    }

    /// Hands as much as possible to the kernel.
    #[inline]
    pub fn flush(self: &Rc<Conn>, face: &TcpIface) {
        self.send(face, Extent::All, Last::Told);
    }

    /// The same in whole segments, of a connection in the list of those that gather: progress sends the little that is left.
    fn send_segments(self: &Rc<Conn>, face: &TcpIface, last: Last) -> bool {
        self.measure();
        self.send(face, Extent::Segments, last)
    }

    /// Whether the payload that was queued last is not needed any more, if that is to be answered.
    fn send(self: &Rc<Conn>, face: &TcpIface, extent: Extent, last: Last) -> bool {
        if !self.is_open() || self.blocked.get() {
            return false;
        }
        let mut answer = false;
        let mut failed = None;
        {
            let mut tx = self.tx();
            let tail = match extent {
                Extent::All => 0,
                Extent::Segments => self.tail(tx.unsent()),
            };
            let mut done = |owner, comp: Completion, is_last: bool| {
                if is_last && last == Last::Answered {
                    answer = true;
                } else if !comp.is_none() {
                    face.add_done(owner, comp, Ok(()));
                }
            };
            while tx.unsent() > tail {
                match self.send_some(face, &tx, tx.unsent() - tail) {
                    Ok(n) => tx.consumed(n, &mut done),
                    Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                        self.blocked.set(true);
                        break;
                    }
                    Err(e) => {
                        failed = Some(e);
                        break;
                    }
                }
            }
            if tail > 0 && tx.unsent() == tail {
                tx.keep(&mut done);
            }
            if tx.is_empty() && !tx.lacks_buffer() {
                face.return_tx_buffer(tx.take());
            }
            if self.blocked.get() && tx.waiting() > 0 {
                // Its sends have completed: without more progress the thread sends it.
                self.deferred_flush.gathers();
            }
        }
        if let Some(e) = failed {
            // The peer's last data are to be read first: the end of the stream then ends the connection, and comes
            // after any error.
            crate::ucs_debug!("tcp: sending failed: {e}");
            self.with_socket(Socket::shutdown);
            self.blocked.set(true);
            face.poll_soon();
        } else if self.blocked.get() {
            face.watch(self, true);
            face.watch_silence(self);
        }
        self.settle(face);
        self.offer_room(face);
        answer
    }

    /// Sends the front of the queue, at most `most` bytes. Returns the number of bytes sent.
    #[inline]
    fn send_some(&self, face: &TcpIface, tx: &TxQueue, most: usize) -> io::Result<usize> {
        if let Some(bytes) = tx.direct() {
            return socket::send(self.fd(), &bytes[..bytes.len().min(most)]);
        }
        if tx.is_sealed() {
            let fd = self.fd();
            return (self.deferred_flush)
                .with_sealer(|sealer| sealed::send_queue(face, fd, sealer, tx, most));
        }
        let mut blocks = [socket::block(core::ptr::null(), 0); BLOCKS];
        let n = tx.gather(&mut blocks, most);
        // SAFETY: the queue lists its own buffer and payloads that users keep until completion.
        unsafe { socket::send_blocks(self.fd(), &blocks[..n]) }
    }

    /// The part of the queue for the deferred flush: copied bytes, if there are no zero-copy payloads.
    fn deferred_part<'a>(&self, queue: &'a TxQueue) -> &'a [u8] {
        match queue.plain() {
            Some(bytes) if self.is_open() => bytes,
            _ => &[],
        }
    }

    /// If there is room, progress calls the pending requests.
    #[inline]
    pub fn offer_room(self: &Rc<Conn>, face: &TcpIface) {
        if !self.pending.is_empty() && self.has_room() {
            face.serve_soon(self);
        }
    }

    /// The remainder of so many bytes beyond whole segments.
    fn tail(&self, unsent: usize) -> usize {
        let segment = self.segment.get();
        if segment == 0 || unsent < segment || unsent % segment > MAX_TAIL {
            return 0;
        }
        unsent % segment
    }

    /// Looks how much the kernel sends at a time: more when the peer has shown that it takes much.
    fn measure(&self) {
        let count = self.until_measured.get();
        if count > 0 {
            return self.until_measured.set(count - 1);
        }
        self.until_measured.set(MEASURED);
        if self.security.is_sealed() {
            // Records are of other lengths.
            return;
        }
        let segment = self.with_socket(Socket::max_segment).unwrap_or(0);
        self.segment
            .set(if segment >= LONG_SEGMENT { segment } else { 0 });
    }

    /// The socket is writable again.
    pub fn unblock(self: &Rc<Conn>, face: &TcpIface) {
        if !self.blocked.replace(false) {
            return;
        }
        self.pay(face);
        if self.segment.get() > 0 && self.mark_dirty(face) {
            self.send_segments(face, Last::Told);
        } else {
            self.flush(face);
        }
        if !self.blocked.get() {
            face.watch(self, false);
        }
    }

    /// Completes operations whose bytes, puts and flushes are done.
    pub fn settle(&self, face: &TcpIface) {
        if self.pending_acks.has_waiters() {
            let sent = self.tx().sent();
            self.pending_acks
                .settle(sent, |owner, comp| face.add_done(owner, comp, Ok(())));
        }
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
            let tx = self.tx();
            (tx.queued(), tx.sent())
        };
        let pending_acks = &self.pending_acks;
        let reached = !remote
            || queued == 0
            || (pending_acks.has_flush_at(queued) && pending_acks.are_flushes_answered());
        if sent == queued && pending_acks.are_puts_done() && reached {
            return Ok(Posted::Done);
        }
        if remote && !pending_acks.has_flush_at(queued) {
            let seq = pending_acks.next_flush();
            let mut tx = self.tx();
            tx.push(|out| wire::encode(&Frame::Flush { seq }, out));
            pending_acks.flush_covers(tx.queued());
        }
        if comp.is_none() {
            self.flush(face);
            return Ok(Posted::InProgress);
        }
        let queued = self.tx().queued();
        pending_acks.wait(owner, comp, queued, remote);
        self.flush(face);
        Ok(Posted::InProgress)
    }

    /// The peer has done `count` puts. `false` when that cannot be.
    pub fn puts_acknowledged(self: &Rc<Conn>, face: &TcpIface, count: u64) -> bool {
        let possible = self
            .pending_acks
            .puts_acknowledged(count, |owner, comp| face.add_done(owner, comp, Ok(())));
        self.settle(face);
        self.offer_room(face);
        possible
    }

    /// Whether the put of this number is not acknowledged.
    pub fn is_put_open(&self, number: u64) -> bool {
        self.pending_acks.is_put_open(number)
    }

    /// The peer has acknowledged flush `seq`. Returns false for an invalid number.
    pub fn flush_acknowledged(&self, face: &TcpIface, seq: u64) -> bool {
        let possible = self.pending_acks.flush_acknowledged(seq);
        self.settle(face);
        possible
    }

    /// Cancels the operations of `owner`: its memory is no longer needed; calls `each` for their completions.
    pub fn cancel(&self, owner: Owner, mut each: impl FnMut(Completion)) {
        self.tx().detach(owner, &mut each);
        self.pending_acks.cancel(owner, each);
    }

    /// Removes all entries after a failure; calls `each` for their completions.
    pub fn clear(&self, mut each: impl FnMut(Owner, Completion)) {
        self.tx().clear(&mut each);
        self.pending_acks.clear(each);
    }
}

/// Guard of the queue while its owner is inside; its drop exposes gathered and blocked bytes to the deferred flush.
struct Tx<'a> {
    queue: RefMut<'a, TxQueue>,
    conn: &'a Conn,
}

impl Deref for Tx<'_> {
    type Target = TxQueue;

    #[inline]
    fn deref(&self) -> &TxQueue {
        &self.queue
    }
}

impl DerefMut for Tx<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut TxQueue {
        &mut self.queue
    }
}

impl Drop for Tx<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        let conn = self.conn;
        let gathered = if conn.dirty.get() || conn.blocked.get() {
            conn.deferred_part(&self.queue)
        } else {
            &[]
        };
        conn.deferred_flush.exit(conn.fd(), gathered);
    }
}

/// How much is handed to the kernel.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    All,
    /// The remainder beyond whole segments is kept for the next frames.
    Segments,
}

/// How the completion of the last payload is reported.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Told,
    Answered,
}

/// A put of `len` bytes to `address` by a key of the peer's; `told` is the id and body of the active message behind it.
pub struct Put<'a> {
    pub key: u64,
    pub address: u64,
    pub len: u64,
    pub told: Option<(u8, &'a [u8])>,
}

/// The payload of a put.
pub enum PutPayload<'a> {
    InPlace(Vec<IoVec>),
    Copied(&'a mut dyn FnMut(&mut Vec<u8>)),
}

#[cold]
fn too_long(len: usize, room: usize) -> Status {
    crate::ucs_error!("tcp: a packing function wrote {len} bytes where {room} were allowed");
    Status::INVALID_PARAM
}
