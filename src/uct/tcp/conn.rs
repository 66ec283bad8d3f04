//! `Conn`: the one connection between two interfaces, shared by all endpoints between them.
//!
//! Its parts are the socket, the sending part (`tx`), the acknowledgements and the receiving part (`rx`). This file has
//! what needs several of them: what an event of the socket or of progress does. `post` has the operations of endpoints.
//!
//! A connection outlives its sockets: while it is being set up it may change from the attempt of one side to that of the
//! other, and sends wait meanwhile. Everything here runs on the worker's thread; user callbacks are never called from
//! here: they are queued in the interface and called by its progress.
#![forbid(unsafe_code)]

use super::acks::Acks;
use super::backpressure::Reading;
use super::conn_socket::ConnSocket;
use super::deadlines::NEVER;
use super::iface::{Face, TcpIface};
use super::rx_state::RxState;
use super::send_policy::Decision;
use super::send_queue::{Extent, Report, SendQueue, TX_LIMIT};
use super::txq::Owner;
use super::upstream::{self, Upstream, frames};
use super::wire::{self, Frame};
use crate::sys::clock::monotonic_ns;
use crate::sys::socket::Socket;
use crate::ucs::{Result, Status};
use crate::uct::api::Completion;
use crate::uct::auth::Session;
use crate::uct::base::iface::{EpBox, EpLink};
use crate::uct::base::pending::PendingQueue;
use core::cell::{Cell, RefCell};
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
    /// Upstream's interface has opened the connection and sends on it, and was asked whether this side may, too.
    Asked,
    /// No socket: to be retried, or the other side's attempt is expected.
    Waiting,
    Open,
    Broken(Status),
}

pub struct Conn {
    /// The id of the other interface.
    pub peer: u64,
    /// The address to connect to; `None` if the other side connected.
    pub remote: Cell<Option<SocketAddr>>,
    /// The network address of a peer that connected.
    pub from: Cell<Option<IpAddr>>,
    pub phase: Cell<Phase>,
    /// The last attempt of the peer that this connection knows of.
    pub peer_attempt: Cell<u64>,
    /// Our attempts so far.
    pub tries: Cell<u32>,
    /// Its number among the interface's deadlines, and when something is to be done.
    pub number: u64,
    pub deadline: Cell<u64>,
    /// The other side has sent its last frame.
    pub bye: Cell<bool>,
    /// The peer is an interface of upstream's.
    pub upstream: Option<Upstream>,

    pub socket: ConnSocket,
    pub tx: SendQueue,
    pub acks: Acks,
    pub rx: RxState,

    eps: RefCell<Vec<EpLink<TcpIface>>>,
    pub pending: PendingQueue,
    /// In the interface's list of connections whose pending requests may be called.
    pub servable: Cell<bool>,
}

impl Conn {
    pub fn new(number: u64, peer: u64, remote: Option<SocketAddr>) -> Rc<Conn> {
        Conn::make(number, peer, remote, None)
    }

    /// A connection with an interface of upstream's, which has no identity: the connection's number stands for it.
    pub fn with_upstream(number: u64, remote: Option<SocketAddr>) -> Rc<Conn> {
        let conn = Conn::make(number, number, remote, Some(Upstream::default()));
        conn.update_reading();
        conn
    }

    fn make(
        number: u64,
        peer: u64,
        remote: Option<SocketAddr>,
        upstream: Option<Upstream>,
    ) -> Rc<Conn> {
        Rc::new(Conn {
            peer,
            remote: Cell::new(remote),
            from: Cell::new(None),
            phase: Cell::new(Phase::Waiting),
            peer_attempt: Cell::new(0),
            tries: Cell::new(0),
            number,
            deadline: Cell::new(NEVER),
            bye: Cell::new(false),
            upstream,
            socket: ConnSocket::default(),
            tx: SendQueue::default(),
            acks: Acks::default(),
            rx: RxState::default(),
            eps: RefCell::default(),
            pending: PendingQueue::new(),
            servable: Cell::new(false),
        })
    }

    #[inline]
    pub fn fd(&self) -> RawFd {
        self.socket.fd()
    }

    pub fn set_socket(&self, socket: Option<Socket>) -> Option<Socket> {
        self.tx.set_socket(socket.as_ref().map_or(-1, Socket::raw));
        let old = self.socket.replace(socket);
        self.update_reading();
        old
    }

    /// From now on all bytes are encrypted, both ways.
    pub fn seal(&self, session: Session) {
        self.tx.seal(session.sealer);
        self.socket.security.seal(session.opener);
        self.update_reading();
    }

    #[inline]
    pub fn is_open(&self) -> bool {
        matches!(self.phase.get(), Phase::Open)
    }

    /// Whether messages may come.
    pub fn may_receive(&self) -> bool {
        matches!(self.phase.get(), Phase::Open | Phase::Asked)
    }

    pub fn is_blocked(&self) -> bool {
        self.tx.is_blocked()
    }

    /// Adds an endpoint, which failures are reported to. Returns its index.
    pub fn attach(&self, ep: &EpBox<TcpIface>) -> usize {
        let mut eps = self.eps.borrow_mut();
        eps.push(ep.link());
        eps.len() - 1
    }

    /// Removes the endpoint at `place`. Returns the one that has that index now.
    pub fn detach(&self, place: usize) -> Option<EpLink<TcpIface>> {
        let mut eps = self.eps.borrow_mut();
        if place < eps.len() {
            eps.swap_remove(place);
        }
        eps.get(place).copied()
    }

    /// The address of a peer that has sent no message and to which no local endpoint is connected.
    pub fn unused_from(&self) -> Option<IpAddr> {
        let unused = self.is_open() && !self.rx.is_used() && self.eps.borrow().is_empty();
        self.from.get().filter(|_| unused)
    }

    /// Removes and returns any endpoint.
    pub fn pop_ep(&self) -> Option<EpLink<TcpIface>> {
        self.eps.borrow_mut().pop()
    }

    /// The status of a failed connection, if it is one.
    #[inline]
    pub fn check(&self) -> Result<()> {
        match self.phase.get() {
            Phase::Broken(status) => Err(status),
            _ => Ok(()),
        }
    }

    /// Whether a sender need not wait.
    pub fn has_room(&self) -> bool {
        self.is_open() && self.tx.lock().has_room() && self.acks.pending.takes_put()
    }

    /// A copied frame was queued; `waiting` copied bytes are queued.
    #[inline]
    pub fn on_frame(self: &Rc<Conn>, face: &TcpIface, waiting: usize) {
        let in_handlers = face.receiving.get();
        let decision = self.tx.policy.on_frame(face.tick(), waiting, in_handlers);
        self.carry_out(face, decision, Report::Callback);
    }

    /// A payload in place was queued. Returns whether it is sent, if `report` asks for that.
    pub fn on_payload_in_place(self: &Rc<Conn>, face: &Face, report: Report) -> bool {
        let corked = face.base.internal.corked.get();
        let decision = self.tx.policy.on_payload_in_place(face.tick(), corked);
        self.carry_out(face, decision, report)
    }

    /// Queues a control frame, which is sent with the user's next frame, or in the next progress.
    pub fn post_control(self: &Rc<Conn>, face: &TcpIface, frame: &Frame) {
        {
            let mut tx = self.tx.lock();
            let all_flushed = self.acks.pending.has_flush_at(tx.queued());
            tx.push(|out| self.encode(frame, out));
            // An acknowledged flush stays valid. A new one could reach a peer that makes no more progress.
            if all_flushed {
                self.acks.pending.flush_covers(tx.queued());
            }
        }
        let decision = self.tx.policy.on_control_frame();
        self.carry_out(face, decision, Report::Callback);
    }

    /// Appends a control frame in the peer's format.
    pub fn encode(&self, frame: &Frame, out: &mut Vec<u8>) {
        match &self.upstream {
            None => wire::encode(frame, out),
            Some(upstream) => {
                if let Some(frame) = upstream::link::translated(frame) {
                    upstream::rx::take_over(upstream, out);
                    frames::encode(frame, out);
                }
            }
        }
    }

    /// Queues a control frame that only upstream has.
    pub fn post_upstream(self: &Rc<Conn>, face: &TcpIface, frame: frames::Frame) {
        self.tx.lock().push(|out| {
            if let Some(upstream) = &self.upstream {
                upstream::rx::take_over(upstream, out);
            }
            frames::encode(frame, out);
        });
        let decision = self.tx.policy.on_control_frame();
        self.carry_out(face, decision, Report::Callback);
    }

    /// Queues acknowledgements to the peer, unless it does not read.
    pub fn send_owed_acks(self: &Rc<Conn>, face: &TcpIface) {
        if self.tx.lock().waiting() <= 2 * TX_LIMIT && self.is_open() {
            let owed = &self.acks.owed;
            owed.take(|frame| self.post_control(face, frame));
        }
    }

    /// Sends what the policy says. Returns whether the last payload is sent, if `report` asks for that.
    #[inline(always)]
    fn carry_out(self: &Rc<Conn>, face: &TcpIface, decision: Decision, report: Report) -> bool {
        let gathers = decision != Decision::SendAll && self.gathers(face);
        match decision {
            Decision::SendSegments if gathers => self.send_segments(face, report),
            Decision::Gather if gathers => false,
            _ => self.send(face, Extent::All, report),
        }
    }

    /// Whether progress or the deferred flush sends what stays in the queue.
    #[inline(always)]
    fn gathers(self: &Rc<Conn>, face: &TcpIface) -> bool {
        self.tx.policy.is_gathering() || self.start_gathering(face)
    }

    fn start_gathering(self: &Rc<Conn>, face: &TcpIface) -> bool {
        let may = self.tx.start_gathering();
        if may {
            face.add_dirty(Rc::clone(self));
            // Lends the queue to the deferred flush.
            drop(self.tx.lock());
        }
        may
    }

    /// Whether frames that are queued now are gathered.
    #[inline]
    pub fn is_busy(&self) -> bool {
        self.tx.policy.is_busy()
    }

    /// The next frames are sent at once, however busy the connection is.
    pub fn expect_urgent_frames(&self) {
        self.tx.policy.expect_urgent_frames();
    }

    /// Progress begins. Returns whether the connection stays in the list of those that gather.
    pub fn on_progress(self: &Rc<Conn>, face: &TcpIface) -> bool {
        let sends = self.is_open() && !self.tx.is_blocked();
        let decision = self.tx.policy.on_progress(sends, monotonic_ns);
        self.flush_unless_gathering(face, decision)
    }

    /// Progress ends. Returns whether the connection stays in the list of those that gather.
    pub fn on_progress_end(self: &Rc<Conn>, face: &TcpIface) -> bool {
        let decision = self.tx.policy.on_progress_end();
        self.flush_unless_gathering(face, decision)
    }

    fn flush_unless_gathering(self: &Rc<Conn>, face: &TcpIface, decision: Decision) -> bool {
        let stays = decision == Decision::Gather;
        if !stays {
            self.flush(face);
        }
        stays
    }

    /// Taken off the list of those that gather.
    pub fn stop_gathering(&self) {
        self.tx.policy.stop_gathering();
    }

    /// Hands as much as possible to the kernel.
    #[inline]
    pub fn flush(self: &Rc<Conn>, face: &TcpIface) {
        self.send(face, Extent::All, Report::Callback);
    }

    /// The same in whole segments, of a connection in the list of those that gather: progress sends the remainder.
    fn send_segments(self: &Rc<Conn>, face: &TcpIface, report: Report) -> bool {
        // Records of an encrypted connection have other lengths.
        if self.tx.policy.wants_segment_size() && !self.socket.security.is_sealed() {
            let size = self.socket.with(Socket::max_segment).unwrap_or(0);
            self.tx.policy.set_segment_size(size);
        }
        self.send(face, Extent::Segments, report)
    }

    /// Returns whether the last payload is sent, if `report` asks for that.
    fn send(self: &Rc<Conn>, face: &TcpIface, extent: Extent, report: Report) -> bool {
        if !self.is_open() || self.tx.is_blocked() {
            return false;
        }
        // What is sent acknowledges what came.
        self.rx.acks_soon.set(false);
        let (last_done, result) = self.tx.transmit(face, extent, report);
        if let Err(e) = result {
            // The peer's last data are to be read first: the end of the stream then ends the connection, and comes
            // after any error.
            crate::ucs_debug!("tcp: sending failed: {e}");
            self.socket.with(Socket::shutdown);
            self.tx.block();
            face.poll_soon();
        } else if self.tx.is_blocked() {
            face.watch(self, true);
            face.watch_silence(self);
        }
        self.complete_waiters(face);
        self.offer_room(face);
        last_done
    }

    /// If there is room, progress calls the pending requests.
    #[inline]
    pub fn offer_room(self: &Rc<Conn>, face: &TcpIface) {
        if !self.pending.is_empty() && self.has_room() {
            face.serve_soon(self);
        }
    }

    /// The socket is writable again.
    pub fn unblock(self: &Rc<Conn>, face: &TcpIface) {
        if !self.tx.unblock() {
            return;
        }
        self.send_owed_acks(face);
        let decision = self.tx.policy.on_room();
        self.carry_out(face, decision, Report::Callback);
        if !self.tx.is_blocked() {
            face.watch(self, false);
        }
    }

    /// The number of queued replies to the peer has changed: decides whether reading is paused.
    pub fn replies_queued(self: &Rc<Conn>, face: &TcpIface, change: isize) {
        let changed = self.rx.replies.changed(&face.replies, change);
        self.update_reading();
        if !changed || !self.is_open() {
            return;
        }
        face.set_events(self);
        if self.rx.is_read() {
            crate::ucs_debug!("tcp: a peer is read again");
            if self.rx.held.get() {
                face.hold(self);
            }
            return;
        }
        crate::ucs_debug!("tcp: a peer is not read until it reads the replies that it requests");
        if self.deadline.get() == NEVER {
            face.set_deadline(self, monotonic_ns() + super::link::SILENCE_NS);
        }
    }

    /// Resumes reading.
    pub fn resume_reading(&self) {
        self.rx.replies.resume();
        self.update_reading();
    }

    fn update_reading(&self) {
        let is_plain = !self.socket.security.is_sealed() && self.upstream.is_none();
        self.rx.update(!is_plain);
    }

    /// Whether a little is to be read although reading is paused; `Err` when the peer is to be disconnected.
    pub fn read_a_little(&self, face: &TcpIface, now: u64) -> Result<bool> {
        let replies = &self.rx.replies;
        match replies.reading(&face.replies) {
            Reading::On => Ok(false),
            Reading::Slow => Ok(true),
            Reading::Off if replies.is_timed_out(self.tx.lock().sent(), now) => {
                Err(Status::ENDPOINT_TIMEOUT)
            }
            Reading::Off => Ok(false),
        }
    }

    /// A message was received. It may be the only one that the receiver waits for, and no progress may follow: the puts
    /// before it are acknowledged at the end of this one.
    #[inline]
    pub fn on_message(&self) {
        self.rx.set_used();
        (self.tx.policy).flush_at_end_if(self.acks.owed.owes_put());
    }

    /// Completes operations whose bytes, puts and flushes are done.
    pub fn complete_waiters(&self, face: &TcpIface) {
        let pending = &self.acks.pending;
        if pending.has_waiters() {
            let sent = self.tx.lock().sent();
            pending.complete_waiters(sent, |owner, comp| face.add_done(owner, comp, Ok(())));
        }
    }

    /// The peer has done `count` puts. Returns false for an invalid number.
    pub fn on_put_ack(self: &Rc<Conn>, face: &TcpIface, count: u64) -> bool {
        let valid = self
            .acks
            .pending
            .on_put_ack(count, |owner, comp| face.add_done(owner, comp, Ok(())));
        self.complete_waiters(face);
        self.offer_room(face);
        valid
    }

    /// The peer has acknowledged flush `seq`. Returns false for an invalid number.
    pub fn on_flush_ack(&self, face: &TcpIface, seq: u64) -> bool {
        let valid = self.acks.pending.on_flush_ack(seq);
        self.complete_waiters(face);
        valid
    }

    /// Cancels the operations of `owner`: its memory is no longer needed; calls `each` for their completions.
    pub fn cancel(&self, owner: Owner, mut each: impl FnMut(Completion)) {
        self.tx.detach(owner, &mut each);
        self.acks.pending.cancel(owner, each);
    }

    /// Removes all entries after a failure; calls `each` for their completions.
    pub fn clear(&self, mut each: impl FnMut(Owner, Completion)) {
        self.tx.clear(&mut each);
        self.acks.pending.clear(each);
    }
}
