//! `Connector`: the connection queue pair of an interface, by which its endpoints get connected to other interfaces, and
//! the connections that it has made.
//!
//! It is made when somebody asks for the interface's address or connects to another's. Few buffers are posted: a datagram
//! that finds none is sent again. It shares the interface's completion queue: its work requests have numbers that no
//! other has. A timer of the async thread says when handshakes have to be looked at; all else is done in progress.

use super::conn::Conn;
use super::due::DueList;
use super::handshake::{Handshake, Pace};
use super::iface::{Face, SLOT_BITS, SLOT_SHIFT};
use super::wire::{Kind, MESSAGE_LEN, Message};
use crate::c::verbs::*;
use crate::sys::eventfd::EventFd;
use crate::sys::verbs::{AddressHandle, Caps, CompletionQueue, Completions, DatagramPair};
use crate::ucs::async_ctx::{self, HandlerId, Mode};
use crate::ucs::sync::{AtomicBool, AtomicU32, Ordering};
use crate::ucs::{Result, Status};
use crate::uct::base::desc::{DescPool, OwnedDesc};
use crate::uct::ib::grh::{GRH_LEN, NO_VERSION};
use crate::uct::ib::identity::Connected;
use crate::uct::ib::ops::{self, ReceiveBatch};
use crate::uct::ib::way::{Way, Ways};
use crate::uct::ib::wire::DEVICE_LEN;
use crate::{ucs_diag, ucs_error};
use core::cell::{Cell, RefCell};
use core::time::Duration;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

/// Datagrams with another key are dropped by the device.
const QKEY: u32 = 0x7263_6672;
/// Buffers that are posted, and datagrams that may be under way.
const RECEIVES: usize = 64;
const SENDS: usize = 64;
/// Entries of the completion queue that it needs.
pub const COMPLETIONS: u32 = (RECEIVES + SENDS) as u32;
/// Bytes of a receive buffer.
const BUFFER_LEN: usize = GRH_LEN + MESSAGE_LEN;
/// About so many bytes are registered at a time for buffers.
const CHUNK: usize = 12 << 10;
/// The unit of time of handshakes.
const TICK: Duration = Duration::from_millis(20);
/// How often completions are looked for at most, when an interface closes.
const MOST_POLLS: u32 = 10_000;

/// Retransmissions wait longer by this factor.
const BACKOFF: f32 = 2.0;

/// No connection has this place: work requests of the connection queue pair say so.
pub const NO_SLOT: u32 = (1 << SLOT_BITS) - 1;
/// What its work requests are called.
const SEND_ID: u64 = 1 | (NO_SLOT as u64) << SLOT_SHIFT;
/// No address of a program has this bit.
const RECEIVE_ID: u64 = 2;

/// When the user's thread shall look at handshakes. The async thread counts.
struct Alarm {
    /// Ticks left; 0: it is off.
    left: AtomicU32,
    /// The interface's `attention`.
    due: Arc<AtomicBool>,
    wake: EventFd,
}

/// A connection that a handshake makes or has made.
pub struct Link {
    pub conn: Rc<Conn>,
    pub handshake: Handshake,
    pub nonce: u64,
    /// To the peer's connection queue pair.
    pub way: Way,
    /// The peer's queue pair of the connection; 0 while it is not known.
    pub peer: u32,
    /// Of a passive connection.
    pub request: Option<RequestKey>,
    /// The identity of the peer's interface.
    pub identity: Option<u64>,
    /// The peer of a passive connection has confirmed, and is one of `connected`.
    pub confirmed: bool,
    /// The peer was told that this end has failed.
    pub reset_told: bool,
    /// The tick at which the peer of a passive connection is asked whether it lives.
    pub probe_at: u32,
    /// The tick at which it was made.
    pub since: u32,
}

/// A request, as it tells passive connections apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RequestKey {
    pub device: [u8; DEVICE_LEN],
    /// The connection queue pair of who asks, and the one to connect to.
    pub sender: u32,
    pub pair: u32,
    pub nonce: u64,
}

pub struct Connector {
    // The queue pair goes before the buffers.
    pair: DatagramPair,
    buffers: RefCell<Vec<Option<OwnedDesc>>>,
    free: RefCell<Vec<u32>>,
    pool: DescPool,
    /// The address handles that datagrams under way use, in their order.
    sent: RefCell<VecDeque<Rc<AddressHandle>>>,
    pub ways: RefCell<Ways>,
    /// Connections by the number of our queue pair.
    pub links: RefCell<HashMap<u32, Link>>,
    /// When to look at each that the time concerns.
    pub due: RefCell<DueList>,
    /// Passive connections by the request that made them.
    pub passive: RefCell<HashMap<RequestKey, u32>>,
    /// The peers of passive connections that have confirmed.
    pub connected: RefCell<Connected>,
    /// Passive connections, the oldest first, among them all whose peer has not confirmed.
    pub half_open: RefCell<VecDeque<u32>>,
    /// Datagrams that found no room.
    pub unsent: RefCell<VecDeque<(u32, Kind)>>,
    /// Connections that go at the end of this progress.
    pub ended: RefCell<Vec<u32>>,
    /// It was logged that a request was refused.
    pub refusal_told: Cell<bool>,
    /// The tick until which requests are not looked at.
    pub rest_until: Cell<Option<u32>>,
    pub pace: Pace,
    /// Ticks after which the peer of a passive connection is asked whether it lives.
    pub probe: u32,
    broken: Cell<bool>,
    alarm: Arc<Alarm>,
    timer: Cell<Option<HandlerId>>,
    started: Instant,
}

impl Connector {
    pub fn new(face: &Face) -> Result<Connector> {
        let cannot = |e: std::io::Error| {
            ucs_error!(
                "rc_verbs: {}: the connection queue pair cannot be made: {e}",
                face.base.device
            );
            Status::from(e)
        };
        let wanted = Caps {
            send_queue: SENDS as u32,
            send_sges: 1,
            inline: MESSAGE_LEN as u32,
        };
        let device = &face.domain.device;
        let pair =
            DatagramPair::new(device, &face.queue, wanted, RECEIVES as u32).map_err(cannot)?;
        if (pair.caps().inline as usize) < MESSAGE_LEN {
            ucs_error!(
                "rc_verbs: {} has too little inline data to connect to interfaces",
                face.base.device
            );
            return Err(Status::UNSUPPORTED);
        }
        pair.start(face.port.number, face.partition, QKEY)
            .map_err(cannot)?;
        let domain = Arc::clone(&face.domain);
        let register = Box::new(move |at, len| domain.register_own(at, len));
        let pool = DescPool::registered(BUFFER_LEN, 0, (1, 0), CHUNK, register);
        let alarm = Arc::new(Alarm {
            left: AtomicU32::new(0),
            due: Arc::clone(&face.attention),
            wake: EventFd::new()?,
        });
        let weak = Arc::downgrade(&alarm);
        let callback = Box::new(move |_, _| {
            if let Some(alarm) = weak.upgrade() {
                alarm.tick();
            }
        });
        let timer = async_ctx::add_timer(Mode::ThreadMutex, TICK, callback, None)?;
        let connector = Connector {
            pair,
            buffers: RefCell::new((0..RECEIVES).map(|_| None).collect()),
            free: RefCell::new((0..RECEIVES as u32).collect()),
            pool,
            sent: RefCell::default(),
            ways: RefCell::default(),
            links: RefCell::default(),
            due: RefCell::default(),
            passive: RefCell::default(),
            connected: RefCell::default(),
            half_open: RefCell::default(),
            unsent: RefCell::default(),
            ended: RefCell::default(),
            refusal_told: Cell::new(false),
            rest_until: Cell::new(None),
            pace: Pace {
                timeout: ticks(face.settings.connect_timeout),
                backoff: BACKOFF,
            },
            probe: ticks(face.settings.probe),
            broken: Cell::new(false),
            alarm,
            timer: Cell::new(Some(timer)),
            started: Instant::now(),
        };
        connector.refill();
        Ok(connector)
    }

    /// As the interface's address names it.
    pub fn number(&self) -> u32 {
        self.pair.number()
    }

    /// Ticks since it was made.
    pub fn ticks(&self) -> u64 {
        (self.started.elapsed().as_nanos() / TICK.as_nanos()) as u64
    }

    /// The same as handshakes count: it wraps.
    pub fn now(&self) -> u32 {
        self.ticks() as u32
    }

    /// Has a connection looked at when its handshake or its probe is due.
    pub fn schedule(&self, number: u32, link: &Link) {
        let probe = link.request.map(|_| link.probe_at);
        let mut due = self.due.borrow_mut();
        let Some(tick) = link.handshake.due().or(probe) else {
            return due.remove(number);
        };
        let now = self.ticks();
        let left = (tick.wrapping_sub(now as u32) as i32).max(1) as u32;
        due.set(number, now + u64::from(left));
        self.call_after(left);
    }

    /// Signalled when the user shall make progress.
    pub fn wake_fd(&self) -> std::os::fd::RawFd {
        self.alarm.wake.raw()
    }

    /// What is due is being done.
    pub fn begin(&self) {
        self.alarm.wake.clear();
    }

    /// Something is to be done in this progress, or the next.
    pub fn call(&self) {
        self.alarm.due.store(true, Ordering::Relaxed);
    }

    /// Something is to be done after so many ticks, at the latest.
    pub fn call_after(&self, ticks: u32) {
        let ticks = ticks.max(1);
        let left = self.alarm.left.load(Ordering::Relaxed);
        if left == 0 || ticks < left {
            self.alarm.left.store(ticks, Ordering::Relaxed);
        }
    }

    /// Posts receive buffers where some are missing.
    fn refill(&self) {
        while !self.free.borrow().is_empty() && self.post_batch() {}
    }

    fn post_batch(&self) -> bool {
        let mut batch = ReceiveBatch::new();
        while batch.len() < ops::RECEIVES {
            let Some(number) = self.free.borrow_mut().pop() else {
                break;
            };
            let desc = match self.pool.get_registered() {
                Ok(desc) => desc.own(),
                Err(e) => {
                    ucs_diag!("rc_verbs: no buffer for connection requests: {e}");
                    self.free.borrow_mut().push(number);
                    break;
                }
            };
            // SAFETY: the buffer begins here and is not posted.
            unsafe { desc.payload().write(NO_VERSION) };
            let entry = ops::entry(desc.payload(), BUFFER_LEN, desc.key());
            batch.push(RECEIVE_ID | u64::from(number) << 2, entry);
            if let Some(place) = self.buffers.borrow_mut().get_mut(number as usize) {
                *place = Some(desc);
            }
        }
        if batch.len() == 0 {
            return false;
        }
        // SAFETY: a chain of requests; the buffers are registered, and kept until they complete or the pair is gone.
        if let Err(e) = unsafe { self.pair.post_receives(batch.chain()) } {
            ucs_diag!("rc_verbs: buffers for connection requests cannot be posted: {e}");
            for id in batch.wr_ids() {
                self.take(id);
            }
            return false;
        }
        true
    }

    /// The buffer of a receive that is complete, or was not posted.
    fn take(&self, id: u64) -> Option<OwnedDesc> {
        let number = (id >> 2) as usize;
        let desc = self.buffers.borrow_mut().get_mut(number)?.take()?;
        self.free.borrow_mut().push(number as u32);
        Some(desc)
    }

    /// A receive is complete: what the device wrote before the datagram, and the datagram. `None`: it has failed, or no peer
    /// of this release writes it.
    pub fn received(&self, completion: &ibv_wc) -> Option<([u8; GRH_LEN], Message)> {
        let desc = self.take(completion.wr_id)?;
        let mut bytes = [0; BUFFER_LEN];
        let len = completion.byte_len as usize;
        if completion.status == IBV_WC_SUCCESS && len <= BUFFER_LEN {
            // SAFETY: the device has written so many bytes there.
            unsafe { core::ptr::copy_nonoverlapping(desc.payload(), bytes.as_mut_ptr(), len) };
        }
        drop(desc);
        if completion.status != IBV_WC_SUCCESS {
            return None;
        }
        self.refill();
        let (header, message) = bytes.split_first_chunk()?;
        let message = message.first_chunk().filter(|_| len == BUFFER_LEN)?;
        Some((*header, Message::decode(message)?))
    }

    /// Sends a datagram; `false`: there is no room now.
    pub fn send(&self, way: &Way, message: &Message) -> bool {
        if self.broken.get() {
            return true;
        }
        if self.sent.borrow().len() >= SENDS {
            return false;
        }
        let bytes = message.encode();
        let mut list = [ops::entry(bytes.as_ptr(), bytes.len(), 0)];
        let mut request = ops::send(&mut list, IBV_SEND_INLINE | IBV_SEND_SIGNALED);
        request.wr.ud = ibv_send_wr_ud {
            ah: way.handle.raw(),
            remote_qpn: way.queue_pair,
            remote_qkey: QKEY,
        };
        request.wr_id = SEND_ID;
        // SAFETY: inline data of this frame; `sent` keeps the address handle.
        match unsafe { self.pair.post(&mut request) } {
            Ok(()) => self.sent.borrow_mut().push_back(Rc::clone(&way.handle)),
            // The timer tries again.
            Err(e) => ucs_diag!("rc_verbs: a datagram is refused: {e}"),
        }
        true
    }

    /// A datagram was sent.
    pub fn sent(&self) {
        self.sent.borrow_mut().pop_front();
    }

    /// Whether a completion of a receive is of the connection queue pair.
    #[inline(always)]
    pub fn is_datagram(id: u64) -> bool {
        id & RECEIVE_ID != 0
    }

    /// Whether a completion is of a receive that is none of the connection queue pair.
    #[inline(always)]
    pub fn is_message(id: u64) -> bool {
        id & (RECEIVE_ID | 1) == 0
    }

    /// Whether a completion of a send is of this queue pair.
    pub fn is_ours(id: u64) -> bool {
        id == SEND_ID
    }

    /// The queue pair has stopped: nobody can be connected any more. Whether that is news.
    pub fn stop(&self) -> bool {
        !self.broken.replace(true)
    }

    /// Tells all peers that the interface closes.
    pub fn close(&self, close_message: impl Fn(&Link) -> Option<Message>, queue: &CompletionQueue) {
        // Without the timer nobody else has the alarm.
        if let Some(id) = self.timer.take()
            && let Err(e) = async_ctx::remove(id, true)
        {
            ucs_diag!("rc_verbs: the timer of an interface: {e}");
        }
        if !self.pair.is_ours() {
            return;
        }
        let clear = || {
            let mut room = Completions::<{ COMPLETIONS as usize }>::new();
            while let Ok(batch @ [_, ..]) = queue.poll(&mut room) {
                let ours = batch.iter().filter(|c| Connector::is_ours(c.wr_id));
                ours.for_each(|_| self.sent());
            }
        };
        for link in self.links.borrow().values() {
            if let Some(message) = close_message(link) {
                let mut polls = 0;
                while !self.send(&link.way, &message) && polls < MOST_POLLS {
                    clear();
                    polls += 1;
                }
            }
        }
        // What is posted is lost with the queue pair.
        for _ in 0..MOST_POLLS {
            if self.sent.borrow().is_empty() || self.broken.get() {
                break;
            }
            clear();
        }
    }
}

/// A span in ticks.
fn ticks(seconds: f64) -> u32 {
    (seconds / TICK.as_secs_f64()).clamp(1.0, f64::from(i32::MAX / 2)) as u32
}

impl Alarm {
    /// On the async thread.
    fn tick(&self) {
        let left = self.left.load(Ordering::Relaxed);
        if left == 0 {
            return;
        }
        // Lost to a `call_after` at the same time: it counts from there.
        let counted =
            self.left
                .compare_exchange(left, left - 1, Ordering::Relaxed, Ordering::Relaxed);
        if counted.is_ok() && left == 1 {
            self.due.store(true, Ordering::Relaxed);
            self.wake.signal();
        }
    }
}
