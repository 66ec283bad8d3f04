//! The `tcp` interface: its listener, its connections and addresses.
//!
//! Its tables: sockets by token (the data of epoll), connections by the id of the peer's interface. Events are handled
//! by `progress` only (`poll.rs`); user callbacks are called there, with no borrow held.
#![forbid(unsafe_code)]

use super::accept::UnauthPeer;
use super::backpressure::Total;
use super::config::Settings;
use super::conn::Conn;
use super::deadlines::{Deadlines, NEVER};
use super::device::{self, Estimate, Survey};
use super::events::Events;
use super::hello::Identity;
use super::keys::Keys;
use super::rx_state::RxBuf;
use super::txq::Owner;
use super::upstream::frames::Place;
use super::wire::{DeviceAddr, HEADER_LEN, IfaceAddr};
use crate::c::*;
use crate::sys::clock::monotonic_ns;
use crate::sys::epoll::Epoll;
use crate::sys::net::{self, Address};
use crate::sys::process;
use crate::sys::socket::{self, READABLE, Socket, WRITABLE};
use crate::sys::timerfd::TimerFd;
use crate::ucs::config::Config;
use crate::ucs::{Failure, Result, Status};
use crate::uct::api::Completion;
use crate::uct::auth::Auth;
use crate::uct::base::iface::IfaceBox;
use crate::uct::base::params::IfaceParams;
use crate::uct::base::worker::WorkerHandle;
use crate::{ucs_diag, ucs_error};
use core::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;

pub const NAME: &str = "tcp";

pub type Face = IfaceBox<TcpIface>;

/// Tokens other than of connections and unauthenticated peers.
pub const LISTENER: u64 = 0;
pub const TIMER: u64 = 1;
const FIRST_TOKEN: u64 = 2;

/// Connections waiting in the kernel to be accepted.
const BACKLOG: i32 = 1024;
/// Buffers kept for reuse.
const SPARE_BUFFERS: usize = 4;
/// First size of a send buffer.
const TX_BUFFER: usize = 40 << 10;
/// Bytes read at a time beyond the longest message.
const RX_AHEAD: usize = 64 << 10;

/// The objects that have deadlines.
pub enum Timed {
    Conn(Rc<Conn>),
    /// By its token.
    UnauthPeer(u64),
}

/// A kind of log line that is written once an interface.
#[derive(Clone, Copy)]
#[repr(u32)]
pub enum Once {
    Garbage,
    Upstream,
    WrongTarget,
    Silence,
    Refused,
    Accept,
    Rejected,
    Secret,
}

pub struct TcpIface {
    pub identity: Identity,
    pub address: Address,
    pub port: u16,
    /// Set on loopback: which host and namespace it is in.
    domain: Option<u64>,
    /// The same as upstream has it.
    pub place: Option<Place>,
    pub settings: Settings,
    pub estimate: Estimate,
    pub priority: u8,
    pub keys: Arc<Keys>,
    /// Authentication of connections, if a secret is set.
    pub auth: Option<Arc<Auth>>,

    pub events: Events,
    pub listener: Socket,
    timer: RefCell<Option<TimerFd>>,
    /// The time of the timer; `u64::MAX` for none.
    pub next_deadline: Cell<u64>,
    deadlines: RefCell<Deadlines<Timed>>,

    /// Connections with a socket, by token.
    pub known: RefCell<HashMap<u64, Rc<Conn>>>,
    /// Those of the interfaces that are known, by id: the one that endpoints use.
    pub by_peer: RefCell<HashMap<u64, Rc<Conn>>>,
    /// Those to interfaces of upstream's, by where these listen.
    pub by_upstream: RefCell<HashMap<SocketAddr, Rc<Conn>>>,
    /// The first ones that interfaces of upstream's have opened, by where these listen.
    pub from_upstream: RefCell<HashMap<SocketAddr, Rc<Conn>>>,
    /// Those of endpoints that are connected to endpoints of upstream's, by our key.
    pub lanes: RefCell<HashMap<u64, Rc<Conn>>>,
    /// The program has closed endpoints to them: it may make no more progress.
    pub is_leaving_upstream: Cell<bool>,
    next_token: Cell<u64>,
    attempts: Cell<u64>,
    /// By token: the oldest first.
    pub unauth_peers: RefCell<BTreeMap<u64, Rc<RefCell<UnauthPeer>>>>,

    /// Progress calls so far.
    tick: Cell<u64>,
    pub in_progress: Cell<bool>,
    /// Message handlers are running.
    pub receiving: Cell<bool>,
    /// The interface whose messages are or were handled last.
    pub sender: Cell<u64>,
    pub poll_now: Cell<bool>,
    /// Some socket has an event: if it is none that is read without epoll, epoll is called.
    pub event_told: Cell<bool>,
    /// The last progress call, in cycles.
    pub called_at: Cell<u64>,
    /// The last periodic epoll, in cycles, and whether it had events.
    pub polled_at: Cell<u64>,
    pub had_events: Cell<bool>,
    /// Calls of epoll in a row without events.
    pub empty_polls: Cell<u32>,
    /// Sockets that brought something lately: they are read without asking epoll.
    pub hot: RefCell<Vec<Rc<Conn>>>,
    /// Connections with whole frames that a handler wanted after this progress.
    pub held: RefCell<Vec<Rc<Conn>>>,
    dirty: RefCell<Vec<Rc<Conn>>>,
    pub broken: RefCell<Vec<Rc<Conn>>>,
    done: RefCell<VecDeque<(Owner, Completion, Result<()>)>>,
    /// Connections of which epoll watches writability, or that are not open yet.
    pub unsettled: Cell<usize>,
    /// Greetings whose signature was checked within this poll.
    pub greetings: Cell<u32>,
    /// Connections that became open within this poll.
    pub opened: Cell<u32>,
    /// Connections with pending requests that have room now.
    pub servable: RefCell<Vec<Rc<Conn>>>,

    /// Queued replies to peers.
    pub replies: Total,
    tx_spare: RefCell<Vec<Vec<u8>>>,
    rx_spare: RefCell<Vec<RxBuf>>,
    logged: Cell<u32>,
}

impl TcpIface {
    pub fn open(
        worker: &WorkerHandle,
        address: &Address,
        survey: &Survey,
        keys: Arc<Keys>,
        auth: Option<Arc<Auth>>,
        params: IfaceParams,
        config: &Config,
    ) -> core::result::Result<uct_iface_h, Failure> {
        let settings = Settings::read(config)?;
        let listener = listen(address, &settings)?;
        let port = listener.local_addr()?.port();
        let device = address.name.clone();
        let prefer = settings.prefer_default && survey.is_default_route(address);
        let tl = TcpIface {
            identity: Identity::new()?,
            port,
            domain: address.loopback.then(net::loopback_domain),
            place: place(address),
            estimate: device::estimate(address, settings.max_bandwidth),
            priority: u8::from(settings.prefer_default && !prefer),
            address: address.clone(),
            settings,
            keys,
            auth,
            events: Events::new(listener.raw()),
            listener,
            timer: RefCell::new(None),
            next_deadline: Cell::new(NEVER),
            deadlines: RefCell::default(),
            known: RefCell::default(),
            by_peer: RefCell::default(),
            by_upstream: RefCell::default(),
            from_upstream: RefCell::default(),
            lanes: RefCell::default(),
            is_leaving_upstream: Cell::new(false),
            next_token: Cell::new(FIRST_TOKEN),
            attempts: Cell::new(0),
            unauth_peers: RefCell::default(),
            tick: Cell::new(0),
            in_progress: Cell::new(false),
            receiving: Cell::new(false),
            sender: Cell::new(0),
            poll_now: Cell::new(false),
            event_told: Cell::new(false),
            called_at: Cell::new(0),
            polled_at: Cell::new(0),
            had_events: Cell::new(false),
            empty_polls: Cell::new(0),
            hot: RefCell::default(),
            held: RefCell::default(),
            dirty: RefCell::default(),
            broken: RefCell::default(),
            done: RefCell::default(),
            unsettled: Cell::new(0),
            greetings: Cell::new(0),
            opened: Cell::new(0),
            servable: RefCell::default(),
            replies: Total::default(),
            tx_spare: RefCell::default(),
            rx_spare: RefCell::default(),
            logged: Cell::new(0),
        };
        Ok(IfaceBox::open(NAME, &device, worker, params, tl))
    }

    #[inline]
    pub fn tick(&self) -> u64 {
        self.tick.get()
    }

    #[inline]
    pub fn next_tick(&self) -> u64 {
        let tick = self.tick.get().wrapping_add(1);
        self.tick.set(tick);
        tick
    }

    /// The next progress calls epoll.
    pub fn poll_soon(&self) {
        self.poll_now.set(true);
    }

    pub fn new_token(&self) -> u64 {
        let token = self.next_token.get();
        self.next_token.set(token + 1);
        token
    }

    /// Connection attempts begun, and one more.
    pub fn attempts(&self) -> u64 {
        self.attempts.get()
    }

    pub fn next_attempt(&self) -> u64 {
        self.attempts.set(self.attempts.get() + 1);
        self.attempts.get()
    }

    /// The longest active message this interface sends.
    pub fn max_am(&self) -> usize {
        self.settings.max_zcopy
    }

    pub fn add_dirty(&self, conn: Rc<Conn>) {
        self.dirty.borrow_mut().push(conn);
    }

    /// Whether frames wait to be gathered.
    #[inline]
    pub fn has_dirty(&self) -> bool {
        !self.dirty.borrow().is_empty()
    }

    /// Calls `send` for each connection that gathers frames; it stays listed if `send` returns true.
    pub fn each_dirty(&self, send: impl Fn(&Rc<Conn>) -> bool) {
        let mut list = core::mem::take(&mut *self.dirty.borrow_mut());
        for conn in list.drain(..) {
            if send(&conn) {
                self.dirty.borrow_mut().push(conn);
            }
        }
        // Mostly none is left: then the next round needs no new memory.
        let mut dirty = self.dirty.borrow_mut();
        if dirty.capacity() == 0 {
            *dirty = list;
        }
    }

    pub fn take_dirty(&self) -> Vec<Rc<Conn>> {
        let list = core::mem::take(&mut *self.dirty.borrow_mut());
        for conn in &list {
            conn.stop_gathering();
        }
        list
    }

    #[inline]
    pub fn has_done(&self) -> bool {
        !self.done.borrow().is_empty()
    }

    /// Completes `comp` in the next progress.
    pub fn add_done(&self, owner: Owner, comp: Completion, status: Result<()>) {
        if !comp.is_none() {
            self.done.borrow_mut().push_back((owner, comp, status));
        }
    }

    /// Calls the completions that are due; how many. Each may end endpoints, which take theirs out of the list.
    pub fn complete_done(&self) -> u32 {
        let due = self.done.borrow().len();
        let mut n = 0;
        for _ in 0..due {
            let next = self.done.borrow_mut().pop_front();
            let Some((_, comp, status)) = next else { break };
            comp.complete(status);
            n += 1;
        }
        n
    }

    /// Calls the completions of an endpoint that are due; progress does not call them any more.
    pub fn complete_done_of(&self, owner: Owner) {
        let is_its = |(other, ..): &(Owner, Completion, Result<()>)| *other == owner;
        let due = self.done.borrow().iter().filter(|d| is_its(d)).count();
        for _ in 0..due {
            let next = {
                let mut done = self.done.borrow_mut();
                let place = done.iter().position(is_its);
                place.and_then(|at| done.remove(at))
            };
            let Some((_, comp, status)) = next else {
                return;
            };
            comp.complete(status);
        }
    }

    /// Sets whether epoll reports that the connection's socket is writable.
    pub fn watch(&self, conn: &Conn, writable: bool) {
        if conn.socket.watched.get() == writable || conn.socket.token.get() == 0 {
            return;
        }
        self.set_watched(conn, writable);
        self.set_events(conn);
    }

    /// Sets the epoll events of the connection's socket.
    pub fn set_events(&self, conn: &Conn) {
        if conn.socket.token.get() == 0 {
            return;
        }
        let writable = if conn.socket.watched.get() {
            WRITABLE
        } else {
            0
        };
        let readable = if !conn.rx.is_read() { 0 } else { READABLE };
        let events = readable | writable;
        let modify = |set: &Epoll| set.modify(conn.fd(), events, conn.socket.token.get());
        if let Err(e) = self.events.set().and_then(modify) {
            ucs_error!("tcp: epoll: {e}");
        }
        self.poll_soon();
    }

    /// Notes whether epoll watches the connection's writability.
    pub fn set_watched(&self, conn: &Conn, watched: bool) {
        let n = self.unsettled.get();
        match (conn.socket.watched.replace(watched), watched) {
            (false, true) => self.unsettled.set(n + 1),
            (true, false) => self.unsettled.set(n.saturating_sub(1)),
            _ => (),
        }
    }

    /// A send buffer, empty.
    pub fn tx_buffer(&self) -> Vec<u8> {
        let spare = self.tx_spare.borrow_mut().pop();
        spare.unwrap_or_else(|| Vec::with_capacity(TX_BUFFER))
    }

    pub fn return_tx_buffer(&self, mut buffer: Vec<u8>) {
        buffer.clear();
        let mut spare = self.tx_spare.borrow_mut();
        if spare.len() < SPARE_BUFFERS && buffer.capacity() <= 8 * TX_BUFFER {
            spare.push(buffer);
        }
    }

    /// Room for the longest usual message and the start of the next.
    fn rx_size(&self) -> usize {
        HEADER_LEN + self.max_am() + RX_AHEAD
    }

    pub fn rx_buffer(&self) -> RxBuf {
        let spare = self.rx_spare.borrow_mut().pop();
        spare.unwrap_or_else(|| RxBuf::of(vec![0; self.rx_size()]))
    }

    pub fn return_rx_buffer(&self, mut buffer: RxBuf) {
        let mut spare = self.rx_spare.borrow_mut();
        if spare.len() < SPARE_BUFFERS && buffer.data.len() == self.rx_size() {
            (buffer.start, buffer.end) = (0, 0);
            spare.push(buffer);
        }
    }

    /// Whether a line of this kind is still to be written.
    pub fn first(&self, kind: Once) -> bool {
        let bit = 1 << kind as u32;
        self.logged.replace(self.logged.get() | bit) & bit == 0
    }

    /// Makes epoll wake up at `at` (monotonic nanoseconds) at the latest.
    pub fn wake_at(&self, at: u64) {
        if at >= self.next_deadline.get() || at == NEVER {
            return;
        }
        self.next_deadline.set(at);
        let mut timer = self.timer.borrow_mut();
        if timer.is_none() {
            let made = TimerFd::new()
                .and_then(|t| {
                    self.events.set()?.add(t.raw(), READABLE, TIMER)?;
                    Ok(t)
                })
                // Progress also reads the clock from time to time; no thread may be sleeping.
                .inspect_err(|e| {
                    ucs_diag!("tcp: no timer ends the sleep of a waiting program: {e}")
                });
            *timer = made.ok();
        }
        if let Some(t) = &*timer
            && let Err(e) = t.arm(Some(at))
        {
            ucs_error!("tcp: the timer cannot be set: {e}");
        }
    }

    /// Whether there is a deadline and no timer that would end a sleep for it.
    pub fn lacks_timer(&self) -> bool {
        self.next_deadline.get() != NEVER && self.timer.borrow().is_none()
    }

    /// A connection is blocked: its peer is checked from time to time.
    pub fn watch_silence(&self, conn: &Rc<Conn>) {
        if self.settings.max_silence.is_some() && conn.deadline.get() == NEVER {
            self.set_deadline(conn, monotonic_ns() + super::link::SILENCE_NS);
        }
    }

    /// Something is to be done about the connection at that time, or `NEVER`.
    pub fn set_deadline(&self, conn: &Rc<Conn>, at: u64) {
        let old = conn.deadline.replace(at);
        let mut all = self.deadlines.borrow_mut();
        all.change(conn.number, old, at, || Timed::Conn(Rc::clone(conn)));
        drop(all);
        self.wake_at(at);
    }

    /// The same for an unauthenticated peer, whose deadline was `old`.
    pub fn set_unauth_peer_deadline(&self, token: u64, old: u64, at: u64) {
        let mut all = self.deadlines.borrow_mut();
        all.change(token, old, at, || Timed::UnauthPeer(token));
        drop(all);
        self.wake_at(at);
    }

    /// Removes and returns an object whose deadline has passed.
    pub fn take_due(&self, now: u64) -> Option<Timed> {
        let due = self.deadlines.borrow_mut().take_due(now)?;
        if let Timed::Conn(conn) = &due {
            conn.deadline.set(NEVER);
        }
        Some(due)
    }

    pub fn earliest_deadline(&self) -> Option<u64> {
        self.deadlines.borrow().next()
    }

    pub fn forget_deadlines(&self) {
        self.deadlines.borrow_mut().clear();
    }

    /// The rest of a connection's received data is handled in the next progress.
    pub fn hold(&self, conn: &Rc<Conn>) {
        conn.rx.held.set(true);
        let mut held = self.held.borrow_mut();
        if !held.iter().any(|c| Rc::ptr_eq(c, conn)) {
            held.push(Rc::clone(conn));
        }
    }

    /// The next progress calls the pending requests of the connection.
    pub fn serve_soon(&self, conn: &Rc<Conn>) {
        if !conn.servable.replace(true) {
            self.servable.borrow_mut().push(Rc::clone(conn));
        }
    }

    /// The timer fired or is not needed: removes it until `wake_at` needs it again.
    pub fn drop_timer(&self) {
        self.next_deadline.set(NEVER);
        *self.timer.borrow_mut() = None;
    }

    pub fn device_addr(&self) -> DeviceAddr {
        DeviceAddr {
            ip: self.address.ip,
            prefix: self.address.prefix,
            domain: self.domain,
        }
    }

    pub fn iface_addr(&self) -> IfaceAddr {
        IfaceAddr {
            port: self.port,
            id: self.identity.id,
        }
    }

    /// Whether an address is of this device's network.
    pub fn is_near(&self, ip: IpAddr) -> bool {
        let own = self.device_addr();
        own.is_same_subnet(&DeviceAddr { ip, ..own })
    }

    /// Whether a device at `addr` can be reached: it has the same address family, and loopback addresses are in the
    /// same host and namespace. There may be routers between other subnets.
    pub fn reaches(&self, addr: &DeviceAddr) -> bool {
        addr.ip.is_ipv4() == self.address.ip.is_ipv4() && addr.domain == self.domain
    }
}

/// Where a loopback device is, as upstream has it.
fn place(address: &Address) -> Option<Place> {
    let boot = process::boot_id().filter(|_| address.loopback)?;
    Place::new(boot, net::network_namespace())
}

/// A socket listening on the first free port of the range.
fn listen(address: &Address, settings: &Settings) -> core::result::Result<Socket, Failure> {
    let (first, last) = settings.ports;
    let mut last_error = None;
    for port in first..=last {
        let made = Socket::stream(address.ip).and_then(|s| {
            // Buffer sizes are inherited by accepted sockets, and count from the handshake on.
            s.set_options(&settings.options)?;
            if first != 0 {
                s.reuse_address(true)?;
            }
            s.bind(socket::with_scope(address.ip, port, address.scope))?;
            s.listen(BACKLOG)?;
            Ok(s)
        });
        match made {
            Ok(s) => return Ok(s),
            Err(e) => last_error = Some(e),
        }
    }
    match last_error {
        Some(e) => {
            let (name, ip) = (&address.name, address.ip);
            let failed = format!("cannot listen on {name} ({ip}), ports {first}-{last}");
            Err(Failure::of(&failed, &e))
        }
        None => {
            let cause = format!("UCX_TCP_PORT_RANGE {first}-{last} is empty");
            Err(Failure::new(Status::INVALID_PARAM, cause))
        }
    }
}

impl Drop for TcpIface {
    fn drop(&mut self) {
        if !self.known.borrow().is_empty() {
            ucs_diag!("tcp: an interface closed with connections open");
        }
    }
}
