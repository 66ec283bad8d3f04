//! `Engine`: all of an interface that the user's thread and the async thread share, under a lock. It calls nothing of the
//! user's: what the user has to be told waits in `ready`, in `Sender::done` and in `failed`.

use super::config::Settings;
use super::conn::{Conn, Conns, Owner, RequestKey, State};
use super::iface::UdIface;
use super::receiver::{Received, Receiver};
use super::sender::{Buffer, Packet, Sender, Short};
use super::window::{Limits, ReceiveWindow};
use super::wire::{CLOSE, ConnId, EpAddr, HEADER_LEN, Header, REQUEST, REQUEST_LEN, Request};
use crate::sys::eventfd::EventFd;
use crate::sys::lock::Mutex;
use crate::sys::random::random_bytes;
use crate::sys::verbs::CompletionQueue;
use crate::ucs::sync::AtomicBool;
use crate::ucs::{Result, Status};
use crate::ucs_error;
use crate::uct::api::Completion;
use crate::uct::base::desc::DescPool;
use crate::uct::base::iface::EpLink;
use crate::uct::ib::events::{self, Faults};
use crate::uct::ib::identity::{self, Connected};
use crate::uct::ib::md::Domain;
use crate::uct::ib::port::Port;
use crate::uct::ib::retry::Retry;
use crate::uct::ib::way::{Way, Ways};
use crate::uct::ib::wire::{DeviceAddr, Link};
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

/// Most passive connections of an interface.
const MAX_PASSIVE: usize = 1 << 16;
/// Most of them whose peer has not yet sent a packet on the connection: then one makes room that is older than so many
/// ticks, or else the request is dropped, and its sender tries again.
const MAX_REPLIED: usize = 4096;
const REPLIED_AGE: u32 = 100;

/// Up to so many connections keep the memory of their packets until they are at rest.
pub const MAX_KEEPING: usize = 64;

/// Received datagrams that were dropped, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Shorter than a header, or not of the format.
    pub malformed: u64,
    /// For another address, or of another queue pair than the connection's.
    pub foreign: u64,
    /// For a connection that is not there.
    pub unknown: u64,
    /// There was no room to keep them until the application makes progress.
    pub refused: u64,
    /// They were there before.
    pub duplicate: u64,
}

impl core::fmt::Display for Dropped {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(
            f,
            "{} malformed, {} for others, {} for unknown connections, {} without room, {} duplicate",
            self.malformed, self.foreign, self.unknown, self.refused, self.duplicate
        )
    }
}

pub struct Engine {
    // The queue pair goes before the buffers.
    pub sender: Sender,
    pub queue: Rc<CompletionQueue>,
    pub receiver: Receiver,
    pub conns: Conns,
    /// Passive connections by the request that made them.
    pub passive: HashMap<RequestKey, ConnId>,
    /// Passive connections whose peer has not yet sent a packet, the oldest first.
    pub replied: VecDeque<ConnId>,
    ways: Ways,
    /// Messages for the user.
    pub ready: Vec<Received>,
    /// Who has connected, and who of them is new, for the user.
    pub connected: Connected,
    pub arrived: Vec<u64>,
    /// Endpoints that have failed, for the user.
    pub failed: Vec<ConnId>,
    /// Connections that the timer looks at.
    pub active: Vec<ConnId>,
    /// Connections that get an acknowledgement after this poll.
    pub acks: Vec<ConnId>,
    pub dropped: Dropped,
    /// Datagrams for others may come.
    pub checks_destination: bool,
    pub domain: Arc<Domain>,
    pub port: Port,
    pub settings: Settings,
    started: Instant,
    /// Ticks since then.
    pub now: u32,
    /// Counts the user's calls of progress.
    pub round: u32,
    /// The user has made progress since the last tick, and the tick after which it did last.
    pub polled: bool,
    pub attended: u32,
    /// `wake` is signalled.
    pub woken: bool,
    pub wake: EventFd,
    /// The place of the next passive connection to look at.
    pub sweep: usize,
    /// The queue pair has stopped.
    pub broken: bool,
    /// What has failed, as the device's events tell; set when there is something.
    pub attention: Arc<AtomicBool>,
    pub faults: Arc<Faults>,
}

/// An engine behind its lock.
pub struct Shared(pub Mutex<Engine>);

// SAFETY: everything in an engine is reached under its lock alone. Its `Rc`s are of the engine alone, or (the completion
// queue, pools of descriptors) are cloned and dropped by the user's thread only.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

/// What an engine is made of.
pub struct Parts {
    pub sender: Sender,
    pub queue: Rc<CompletionQueue>,
    pub receiver: Receiver,
    pub domain: Arc<Domain>,
    pub port: Port,
    pub settings: Settings,
    pub wake: EventFd,
}

/// A connection that is connected, and what sends its packets.
pub struct Outgoing<'a> {
    conn: &'a mut Conn,
    pub sender: &'a mut Sender,
    limits: &'a Limits,
    now: u32,
    round: &'a u32,
    active: &'a mut Vec<ConnId>,
}

impl Outgoing<'_> {
    /// A buffer for a packet: the one that its place has kept, or a free one.
    #[inline(always)]
    pub fn buffer(&mut self, pool: &DescPool) -> Result<Buffer> {
        match self.conn.tx.place().take_buffer() {
            Some(buffer) => Ok(buffer),
            None => (self.sender.buffer(pool)).map_err(|e| self.without_buffer(pool, e)),
        }
    }

    /// No buffer can be registered; those in use come back.
    #[cold]
    fn without_buffer(&mut self, pool: &DescPool, e: Status) -> Status {
        if pool.made() == 0 {
            return e;
        }
        self.conn.refused = *self.round;
        self.conn.tx.stop_run();
        Status::NO_RESOURCE
    }

    /// Sends a packet.
    #[inline(never)]
    pub fn send(self, id: u8, packet: Packet) -> Result<()> {
        self.send_short(id, packet)
    }

    /// As `send`, where many short messages come by.
    #[inline(always)]
    pub fn send_short(self, id: u8, packet: Packet) -> Result<()> {
        let conn = self.conn;
        self.sender.send(conn, id, packet, self.now, self.limits)?;
        if !conn.active {
            conn.active = true;
            self.active.push(conn.id);
        }
        Ok(())
    }
}

impl Engine {
    pub fn new(parts: Parts) -> Engine {
        let attention = Arc::<AtomicBool>::default();
        let stands_on = events::Parts {
            port: parts.port.number,
            completions: parts.queue.id(),
            receives: None,
        };
        let faults = parts.domain.watch.listen(stands_on, &attention);
        Engine {
            sender: parts.sender,
            queue: parts.queue,
            receiver: parts.receiver,
            conns: Conns::default(),
            passive: HashMap::new(),
            replied: VecDeque::new(),
            ways: Ways::default(),
            ready: Vec::new(),
            connected: Connected::default(),
            arrived: Vec::new(),
            failed: Vec::new(),
            active: Vec::new(),
            acks: Vec::new(),
            dropped: Dropped::default(),
            checks_destination: parts.settings.check_destination
                && parts.port.address.link != Link::InfiniBand,
            domain: parts.domain,
            port: parts.port,
            settings: parts.settings,
            started: Instant::now(),
            now: 0,
            round: 1,
            polled: false,
            attended: 0,
            woken: false,
            wake: parts.wake,
            sweep: 0,
            broken: false,
            attention,
            faults,
        }
    }

    /// Reads the clock.
    pub fn read_clock(&mut self) {
        let ticks = self.started.elapsed().as_nanos() / self.settings.tick.as_nanos().max(1);
        self.now = ticks as u32;
    }

    /// Wakes a user who waits on the event descriptor.
    pub fn wake(&mut self) {
        if !self.woken {
            self.woken = true;
            self.wake.signal();
        }
    }

    /// A connection with what sends its packets.
    #[inline]
    fn outgoing(&mut self, id: ConnId) -> Result<Outgoing<'_>> {
        Ok(Outgoing {
            conn: self.conns.get_to_send(id).ok_or(Status::NO_ELEM)?,
            sender: &mut self.sender,
            limits: &self.settings.limits,
            now: self.now,
            round: &self.round,
            active: &mut self.active,
        })
    }

    /// The connection of an endpoint, if a packet can be sent now. `NO_RESOURCE`: after a later progress; else the endpoint's
    /// failure.
    #[inline]
    pub fn ready(&mut self, id: ConnId) -> Result<Outgoing<'_>> {
        let round = self.round;
        let to = self.outgoing(id)?;
        let conn = &mut *to.conn;
        if !conn.is_connected() {
            return Err(conn.why_not());
        }
        if conn.refused == round || !to.sender.has_room() || !conn.tx.has_room(to.limits) {
            conn.refused = round;
            conn.tx.stop_run();
            return Err(Status::NO_RESOURCE);
        }
        Ok(to)
    }

    /// As `Sender::send_run`.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    pub unsafe fn send_run(
        &mut self,
        conn: ConnId,
        message: Short<'_>,
    ) -> Option<core::result::Result<(), i32>> {
        let conn = self.conns.get_to_send(conn)?;
        // SAFETY: by the caller's promise.
        unsafe { self.sender.send_run(conn, message, &self.now) }
    }

    /// As `Sender::refused_run`.
    #[cold]
    pub fn refused_run(&mut self, conn: ConnId, code: i32) -> Status {
        match self.conns.get_to_send(conn) {
            Some(conn) => self.sender.refused_run(conn, code),
            None => Status::NO_ELEM,
        }
    }

    /// The next packets of runs are of this connection. `false`: they were, or it has no way to its peer.
    pub fn aim_run(&mut self, conn: ConnId) -> bool {
        let conn = self.conns.get_to_send(conn);
        conn.is_some_and(|conn| self.sender.aim_run(conn))
    }

    /// Sends a packet of a connection that is connected.
    pub fn send(&mut self, conn: ConnId, id: u8, packet: Packet) -> Result<()> {
        self.outgoing(conn)?.send(id, packet)
    }

    /// The way to a queue pair of this port.
    pub fn way(&mut self, device: &DeviceAddr, queue_pair: u32) -> Result<Way> {
        let (port, path, peers) = (&self.port, &self.settings.path, self.conns.len());
        self.ways
            .to(&self.domain, (port, path), device, peers)
            .map(|handle| Way { handle, queue_pair })
    }

    /// A connection for an endpoint. PSNs begin anywhere, so that packets of a former connection are not taken for those of
    /// this one.
    pub fn add_endpoint(&mut self) -> Result<ConnId> {
        let owner = Owner::Endpoint(None);
        let [low, high] = random_bytes::<2>()?;
        let psn = u16::from_le_bytes([low, high]);
        self.conns
            .add(|id| Conn::new(id, owner, psn, 0))
            .inspect_err(|_| {
                ucs_error!(
                    "ud_verbs: an interface has at most {} connections",
                    ConnId::SLOTS
                );
            })
    }

    /// Asks the interface behind this address for a connection.
    pub fn request(&mut self, id: ConnId, device: &DeviceAddr, queue_pair: u32) -> Result<()> {
        let way = self.way(device, queue_pair)?;
        let nonce = u64::from_le_bytes(random_bytes::<8>()?) | 1;
        let now = self.now;
        let Some(conn) = self.conns.get(id) else {
            return Err(Status::NO_ELEM);
        };
        conn.way = Some(way);
        conn.nonce = nonce;
        conn.heard = now;
        conn.state = State::Requested(Retry::start(now));
        self.activate(id);
        // Without room the timer sends it.
        self.send_request(id);
        Ok(())
    }

    /// The timer shall look at this connection.
    pub fn activate(&mut self, id: ConnId) {
        if let Some(conn) = self.conns.get(id)
            && !conn.active
        {
            conn.active = true;
            self.active.push(id);
        }
    }

    /// Whether it was sent.
    pub fn send_request(&mut self, id: ConnId) -> bool {
        if !self.sender.has_room() {
            // Many endpoints are made at once.
            self.poll();
        }
        let device = self.port.address;
        let Some(conn) = self.conns.get(id) else {
            return false;
        };
        let Some(way) = &conn.way else {
            return false;
        };
        let header = Header {
            id: REQUEST,
            to: ConnId::NONE,
            ask: false,
            psn: 0,
            ack: 0,
        };
        let request = Request {
            nonce: conn.nonce,
            from: id,
            psn: conn.tx.oldest(),
            device,
        };
        let mut bytes = [0; HEADER_LEN + REQUEST_LEN];
        bytes[..HEADER_LEN].copy_from_slice(&header.encode());
        bytes[HEADER_LEN..].copy_from_slice(&request.encode());
        self.sender.post_bytes(way, &bytes, false).is_ok()
    }

    /// Connects an endpoint to a peer's.
    pub fn connect(&mut self, id: ConnId, device: &DeviceAddr, peer: &EpAddr) -> Result<()> {
        let way = self.way(device, peer.queue_pair)?;
        let now = self.now;
        let Some(conn) = self.conns.get(id) else {
            return Err(Status::NO_ELEM);
        };
        conn.way = Some(way);
        conn.peer = peer.id;
        conn.rx = ReceiveWindow::new(peer.psn);
        conn.heard = now;
        conn.state = State::Connected;
        Ok(())
    }

    /// Whether another passive connection is allowed; may give one up for it.
    pub fn has_room_for_passive(&mut self) -> bool {
        while self.replied.len() >= MAX_REPLIED {
            let now = self.now;
            let Some(&oldest) = self.replied.front() else {
                break;
            };
            let waits = self.conns.get(oldest).and_then(|conn| match conn.state {
                State::Replied(_) => Some(now.wrapping_sub(conn.heard)),
                _ => None,
            });
            match waits {
                Some(age) if age < REPLIED_AGE => return false,
                Some(_) => self.remove(oldest),
                None => {}
            }
            self.replied.pop_front();
        }
        self.passive.len() < MAX_PASSIVE
    }

    /// The endpoint can be used no more; a passive connection goes.
    #[cold]
    pub fn fail(&mut self, id: ConnId, status: Status) {
        let Some(conn) = self.conns.get(id) else {
            return;
        };
        if conn.is_passive() {
            self.remove(id);
            return;
        }
        if matches!(conn.state, State::Failed(_)) {
            return;
        }
        conn.state = State::Failed(status);
        self.failed.push(id);
        self.end_all(id, status);
        self.wake();
    }

    /// Ends all transfers of an endpoint on the user's behalf. Whether something is still with the device.
    pub fn cancel(&mut self, id: ConnId) -> bool {
        let Some(conn) = self.conns.get(id) else {
            return false;
        };
        if !matches!(conn.state, State::Failed(_) | State::Cancelled) {
            self.send_close(id);
            if let Some(conn) = self.conns.get(id) {
                conn.state = State::Cancelled;
            }
            self.end_all(id, Status::CANCELED);
        }
        self.conns.get(id).is_some_and(|conn| conn.lingering > 0)
    }

    fn end_all(&mut self, id: ConnId, status: Status) {
        let Some(conn) = self.conns.get(id) else {
            return;
        };
        let (sender, lingering) = (&mut self.sender, &mut conn.lingering);
        conn.tx
            .take_all(|packet| sender.release(id, lingering, packet, Err(status)));
        conn.tx.free(|packet| sender.recycle(packet));
        for (_, comp) in conn.flushes.drain(..) {
            self.sender.done.push_back((comp, Err(status)));
        }
        for held in conn.rx.take_all() {
            self.receiver.give_back(held);
        }
    }

    /// Tells the peer that the connection is closed.
    pub fn send_close(&mut self, id: ConnId) {
        let Some(conn) = self.conns.get(id) else {
            return;
        };
        let (State::Connected | State::Replied(_), Some(way)) = (conn.state, &conn.way) else {
            return;
        };
        if !self.sender.pair.is_ours() {
            return;
        }
        let header = Header {
            id: CLOSE,
            to: conn.peer,
            ask: false,
            psn: conn.tx.next_psn(),
            ack: conn.rx.state().0,
        };
        // Without it the peer finds out when it sends.
        let _ = self.sender.post_bytes(way, &header.encode(), true);
    }

    /// A connection goes.
    pub fn remove(&mut self, id: ConnId) {
        self.end_all(id, Status::CANCELED);
        let Some(conn) = self.conns.remove(id) else {
            return;
        };
        if let Owner::Interface(key) = &conn.owner {
            self.passive.remove(key);
            if conn.is_connected()
                && let Some(peer) = identity::of(&key.device, key.queue_pair)
            {
                self.connected.remove(peer);
            }
        }
        if let Some(way) = conn.way {
            self.sender.retire_way(way);
        }
    }

    /// Completes flushes that have nothing left to wait for.
    pub fn check_flushes(conn: &mut Conn, done: &mut VecDeque<(Completion, Result<()>)>) {
        while let Some(&(psn, comp)) = conn.flushes.front()
            && conn.is_flushed(psn)
        {
            conn.flushes.pop_front();
            done.push_back((comp, Ok(())));
        }
    }

    /// The endpoint has its address, or is going.
    pub fn attach(&mut self, id: ConnId, ep: Option<EpLink<UdIface>>) {
        if let Some(conn) = self.conns.get(id) {
            conn.owner = Owner::Endpoint(ep);
        }
    }

    /// Lets `comp` hear when all that was sent is acknowledged. `false`: it is, and `comp` hears nothing.
    pub fn flush(&mut self, id: ConnId, comp: Completion) -> bool {
        let Some(conn) = self.conns.get(id) else {
            return false;
        };
        let psn = conn.tx.next_psn();
        if conn.is_flushed(psn) {
            return false;
        }
        if !comp.is_none() {
            conn.flushes.push_back((psn, comp));
        }
        if !conn.tx.is_empty() && !conn.tx.has_asked() {
            self.sender.acknowledge(conn, true);
        }
        true
    }
}
