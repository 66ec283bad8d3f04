//! `Connector`: the connection queue pair of an interface, by which its endpoints get connected to other interfaces, and
//! the connections that it has made.
//!
//! It is made when somebody asks for the interface's address or connects to another's. It shares the interface's
//! completion queue: its work requests have numbers that no other has. A timer of the async thread says when handshakes
//! have to be looked at; all else is done in progress. Only whether the process lives is answered by that thread, through a
//! queue pair of its own (`Responder`).
#![forbid(unsafe_code)]

use super::conn::Conn;
use super::datagrams::{self, Datagrams, Responder};
use super::due::DueList;
use super::handshake::{Handshake, Pace};
use super::iface::Face;
use super::wire::{IfaceAddr, Kind, Message};
use crate::c::verbs::ibv_wc;
use crate::sys::eventfd::EventFd;
use crate::sys::lock::Mutex;
use crate::sys::verbs::{CompletionQueue, Completions};
use crate::ucs::async_ctx::{self, HandlerId, Mode};
use crate::ucs::sync::{AtomicBool, AtomicU32, Ordering};
use crate::ucs::{Events, Result, Status};
use crate::uct::ib::grh::GRH_LEN;
use crate::uct::ib::identity::Connected;
use crate::uct::ib::way::{Way, Ways};
use crate::uct::ib::wire::DEVICE_LEN;
use crate::{ucs_diag, ucs_error};
use core::cell::{Cell, RefCell};
use core::time::Duration;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

/// The unit of time of handshakes.
const TICK: Duration = Duration::from_millis(20);
/// How often completions are looked for at most, when an interface closes.
const MOST_POLLS: u32 = 10_000;

/// Retransmissions wait longer by this factor.
const BACKOFF: f32 = 2.0;

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
    /// To the peer's connection queue pair, and to the one that answers whether its process lives.
    pub way: Way,
    pub liveness: Option<Way>,
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

/// The async thread answers whether this process lives, until it is dropped.
struct Liveness {
    /// Of its queue pair.
    number: u32,
    handler: HandlerId,
    /// What the thread calls.
    _responder: Arc<Mutex<Responder>>,
}

pub struct Connector {
    datagrams: Datagrams,
    /// What answers whether this process lives, if it could be had.
    liveness: Option<Liveness>,
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
        let Some(datagrams) = Datagrams::new(face, &face.queue).map_err(cannot)? else {
            ucs_error!(
                "rc_verbs: {} has too little inline data to connect to interfaces",
                face.base.device
            );
            return Err(Status::UNSUPPORTED);
        };
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
            datagrams,
            liveness: Liveness::start(face),
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
                silence: ticks(face.settings.silence),
                backoff: BACKOFF,
            },
            probe: ticks(face.settings.probe),
            broken: Cell::new(false),
            alarm,
            timer: Cell::new(Some(timer)),
            started: Instant::now(),
        };
        Ok(connector)
    }

    /// The number of the queue pair.
    pub fn number(&self) -> u32 {
        self.datagrams.number()
    }

    /// The interface's address.
    pub fn address(&self) -> IfaceAddr {
        IfaceAddr {
            queue_pair: self.number(),
            liveness: self.liveness.as_ref().map_or(0, |liveness| liveness.number),
        }
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

    /// A receive is complete: what the device wrote before the datagram, and the datagram. `None`: as `Datagrams::received`.
    pub fn received(&self, completion: &ibv_wc) -> Option<([u8; GRH_LEN], Message)> {
        self.datagrams.received(completion)
    }

    /// Sends a datagram; `false`: there is no room now.
    pub fn send(&self, way: &Way, message: &Message) -> bool {
        if self.broken.get() {
            return true;
        }
        self.datagrams.send(way, message)
    }

    /// A datagram was sent.
    pub fn sent(&self) {
        self.datagrams.sent();
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
        if !self.datagrams.is_ours() {
            return;
        }
        let clear = || {
            let mut room = Completions::<{ datagrams::COMPLETIONS as usize }>::new();
            while let Ok(batch @ [_, ..]) = queue.poll(&mut room) {
                let ours = batch.iter().filter(|c| datagrams::is_ours(c.wr_id));
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
            if self.datagrams.is_idle() || self.broken.get() {
                break;
            }
            clear();
        }
    }
}

impl Liveness {
    /// Without it peers wait longer for a process that does not live.
    fn start(face: &Face) -> Option<Liveness> {
        let responder = match Responder::new(face) {
            Ok(responder) => responder?,
            Err(e) => {
                ucs_diag!("rc_verbs: whether this process lives cannot be answered: {e}");
                return None;
            }
        };
        let (number, fd) = (responder.number(), responder.event_fd());
        let responder = Arc::new(Mutex::new(responder));
        let weak = Arc::downgrade(&responder);
        let callback = Box::new(move |_, _| {
            if let Some(responder) = weak.upgrade() {
                responder.lock().answer_all();
            }
        });
        let handler =
            async_ctx::add_fd(Mode::ThreadMutex, fd, Events::READ, callback, None).ok()?;
        Some(Liveness {
            number,
            handler,
            _responder: responder,
        })
    }
}

impl Drop for Liveness {
    fn drop(&mut self) {
        if let Err(e) = async_ctx::remove(self.handler, true) {
            ucs_diag!("rc_verbs: who answers whether this process lives: {e}");
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
