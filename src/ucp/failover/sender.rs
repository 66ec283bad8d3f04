//! `Sender`: the numbered messages of one endpoint, and the paths that they go by.
#![forbid(unsafe_code)]

use super::patience::{Failures, Patience};
use super::window::Window;
use super::{Shared, sender_of};
use crate::c::*;
use crate::sys::random::random_u64;
use crate::ucp::claims;
use crate::ucp::ep::Ep;
use crate::ucp::wireup::select::{self, Pair};
use crate::ucp::worker_core::Core;
use crate::ucs::{Result, Status};
use crate::uct::api::{Completion, Posted};
use crate::uct::overlay::{Carrier, Endpoint, Path};
use crate::wire::Writer;
use crate::wire::address::{Address, AddressEntry};
use crate::wire::header::{AmId, Header, JoinHdr, SequencedAckHdr, SequencedEndHdr, SequencedHdr};
use crate::wire::id::EpName;
use crate::{ucs_debug, ucs_diag, ucs_error};
use core::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

/// Most paths, those that do not answer included.
const MAX_PATHS: usize = 4;

/// How long an endpoint whose paths have failed waits for one that is connecting, in nanoseconds.
const CONNECTING: u64 = 3_000_000_000;

pub struct Sender {
    shared: Rc<Shared>,
    /// Senders are looked at in the order in which they were made.
    pub number: u64,
    /// The endpoint, which may be gone.
    name: EpName,
    /// Known to this side and to the receiver alone, so that nobody else can say anything in their names.
    token: u64,
    /// What a `Join` has.
    own_address: Vec<u8>,
    ticket: u64,
    /// Interfaces of the peer.
    address: RefCell<Address>,
    endpoint: RefCell<Option<Endpoint>>,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    window: Window,
    patience: Patience,
    paths: Vec<OpenPath>,
    /// The number of the path that messages go by.
    current: Option<u32>,
    next_path: u32,
    failures: BTreeMap<Pair, Failures>,
    /// No path is connected, after one has failed.
    stranded: bool,
    /// The number of the last `Join`, and of the first one whose acknowledgement shows that the peer is there, if that is
    /// waited for.
    probe: u32,
    asked: Option<u32>,
    /// The transports are to check whether the peer lives.
    checks: bool,
    /// Flushes, each with the number that has to be acknowledged before.
    flushes: VecDeque<(u64, Completion)>,
    /// The endpoint is destroyed.
    closed: bool,
    failed: Option<Status>,
}

struct OpenPath {
    number: u32,
    pair: Pair,
    path: Rc<Path>,
    opened: u64,
    /// A `Join` is sent, so the transport is connected.
    joined: bool,
    /// Another `Join` is to be sent, for its acknowledgement.
    asks: bool,
    /// Acknowledgements were late.
    suspect: bool,
}

impl Sender {
    pub fn new(worker: &Core, ep: &Ep, address: Address) -> Result<Rc<Sender>> {
        Ok(Rc::new(Sender {
            number: worker.failover().shared(worker).next_sender(),
            shared: Rc::clone(worker.failover().shared(worker)),
            name: ep.name_for_peers(),
            token: random_u64().map_err(|e| Status::from_io(&e))?,
            own_address: worker.address(false).pack(),
            ticket: claims::ticket(worker, address.uuid),
            address: RefCell::new(address),
            endpoint: RefCell::new(None),
            state: RefCell::default(),
        }))
    }

    /// Opens the first paths. Returns the interfaces of the first; `None` if there is none.
    pub fn connect(self: &Rc<Self>, worker: &Core) -> Option<Pair> {
        let mut s = self.state.borrow_mut();
        self.choose_path(worker, &mut s, self.shared.now());
        Some(s.current()?.pair)
    }

    /// Its endpoint is made.
    pub fn attach(self: &Rc<Self>, endpoint: Endpoint) {
        self.endpoint.replace(Some(endpoint));
        let mut senders = self.shared.senders.borrow_mut();
        senders.insert(self.name.id.0, Rc::clone(self));
        self.shared.look_soon();
    }

    /// These interfaces are the peer's.
    pub fn learn(&self, entries: &[AddressEntry]) {
        let known = &mut self.address.borrow_mut().entries;
        let before = known.len();
        for entry in entries {
            if !known.contains(entry) {
                known.push(entry.clone());
            }
        }
        if known.len() > before {
            self.shared.look_soon();
        }
    }

    pub fn is_waiting(&self) -> bool {
        let s = self.state.borrow();
        s.stranded || s.patience.is_waiting()
    }

    /// Opens a path by the best interfaces that `fits` allows and that may be tried now. Returns its number.
    fn open_path(
        self: &Rc<Self>,
        worker: &Core,
        s: &mut State,
        now: u64,
        fits: impl Fn(&State, Pair) -> bool,
    ) -> Option<u32> {
        let address = self.address.borrow();
        for pair in select::message_pairs(worker, &address) {
            let is_open = s.paths.iter().any(|p| p.pair == pair);
            let failures = s.failures.get(&pair).copied().unwrap_or_default();
            if is_open || !failures.may_retry(now, worker.failover().retries) || !fits(s, pair) {
                continue;
            }
            if s.paths.len() >= MAX_PATHS && !self.drop_useless(s, now) {
                return None;
            }
            let number = s.next_path;
            let this = Rc::downgrade(self);
            let on_room = Box::new(move || this.upgrade().is_none_or(|this| this.pump(number)));
            match select::open_path(worker, &address, pair, on_room) {
                Ok(path) => {
                    s.next_path += 1;
                    s.paths.push(OpenPath {
                        number,
                        pair,
                        path: self.shared.add(path),
                        opened: now,
                        joined: false,
                        asks: false,
                        suspect: false,
                    });
                    return Some(number);
                }
                Err(e) => {
                    ucs_debug!("no path to worker {:#x}: {e}", address.uuid);
                    s.failures.entry(pair).or_default().add(now);
                }
            }
        }
        None
    }

    /// Gives up the oldest path that does not answer. Returns whether there was one.
    fn drop_useless(&self, s: &mut State, now: u64) -> bool {
        let current = s.current;
        let is_useless = |p: &OpenPath| (p.suspect || !p.joined) && Some(p.number) != current;
        let Some(at) = s.paths.iter().position(is_useless) else {
            return false;
        };
        let gone = s.paths.remove(at);
        s.failures.entry(gone.pair).or_default().add(now);
        self.shared.discard(gone.path);
        true
    }

    /// Chooses the path that messages go by: one that answers, else a new one, else the next one.
    fn choose_path(self: &Rc<Self>, worker: &Core, s: &mut State, now: u64) {
        let before = s.current;
        let others = |p: &&OpenPath| Some(p.number) != before;
        let healthy = s.paths.iter().filter(others).find(|p| !p.suspect);
        let next = match healthy {
            Some(path) => Some(path.number),
            None => {
                let apart = self.open_path(worker, s, now, State::is_apart);
                apart.or_else(|| self.open_path(worker, s, now, |_, _| true))
            }
        };
        let next = next.or_else(|| {
            let after = s.paths.iter().filter(|p| Some(p.number) > before);
            let next = after.chain(s.paths.iter()).find(|p| others(p));
            next.map(|p| p.number)
        });
        if let Some(next) = next {
            s.current = Some(next);
            s.window.rewind();
            // The receiver may have given up its way back.
            if let Some(path) = s.current_mut() {
                path.asks = path.joined;
            }
            if before.is_some() {
                ucs_diag!(
                    "messages to worker {:#x} go on by another path",
                    self.address.borrow().uuid
                );
            }
        }
    }

    /// Looks after the paths: those of `lost` have failed.
    pub fn look(self: &Rc<Self>, worker: &Core, lost: &[uct_ep_h]) {
        let now = self.shared.now();
        let over = {
            let s = &mut *self.state.borrow_mut();
            if s.failed.is_some() {
                return;
            }
            if s.closed && s.window.is_empty() {
                self.finish(s);
                None
            } else {
                self.keep_paths(worker, s, now, lost)
            }
        };
        match over {
            Some(status) => self.fail(status),
            None => self.pump_all(),
        }
    }

    /// Returns the status with which the endpoint fails, if it does.
    fn keep_paths(
        self: &Rc<Self>,
        worker: &Core,
        s: &mut State,
        now: u64,
        lost: &[uct_ep_h],
    ) -> Option<Status> {
        let limit = worker.failover().patience.map(|t| t.as_nanos() as u64);
        let has_failed = |p: &OpenPath| {
            lost.contains(&p.path.handle())
                || !p.joined && limit.is_some_and(|limit| now >= p.opened.saturating_add(limit))
        };
        let mut has_lost = false;
        for gone in s.paths.extract_if(.., |p| has_failed(p)) {
            has_lost = true;
            s.failures.entry(gone.pair).or_default().add(now);
            if s.current == Some(gone.number) {
                s.current = None;
            }
            self.shared.discard(gone.path);
        }
        let is_late = s.patience.is_over(now);
        if is_late && let Some(current) = s.current_mut() {
            current.suspect = true;
        }
        if s.current.is_none() || is_late {
            let before = s.current;
            self.choose_path(worker, s, now);
            // The only one: perhaps just its acknowledgement was lost.
            s.checks |= is_late && s.current == before;
        }
        if s.paths.iter().filter(|p| !p.suspect).count() < 2 && s.current.is_some() {
            self.open_path(worker, s, now, State::is_apart);
        }
        if core::mem::take(&mut s.checks) {
            s.paths.iter().for_each(|p| p.path.check());
            if let Some(current) = s.current_mut() {
                current.asks = true;
            }
            s.asked = s.current.map(|_| s.probe.wrapping_add(1));
        }
        s.stranded |= has_lost || s.paths.is_empty();
        s.stranded &= !s.paths.iter().any(|p| p.joined);
        if !s.stranded {
            return None;
        }
        // New paths are given a moment.
        s.patience.lose(now);
        self.shared.start_ticks();
        let is_new = |p: &OpenPath| now < p.opened.saturating_add(CONNECTING);
        let is_over = s.patience.is_lost(now) && !s.paths.iter().any(is_new);
        is_over.then_some(Status::CONNECTION_RESET)
    }

    /// Everything that the endpoint sent is acknowledged, and it is destroyed.
    fn finish(&self, s: &mut State) {
        let end = encoded(&SequencedEndHdr {
            ep: self.name,
            token: self.token,
        });
        if let Some(current) = s.current() {
            // Without it the receiver keeps a few bytes for longer.
            let _ = current.path.send(AmId::SequencedEnd as u8, &[&end]);
        }
        self.release(s);
    }

    /// It is of no use any more.
    fn release(&self, s: &mut State) {
        s.failed.get_or_insert(Status::CANCELED);
        s.current = None;
        s.stranded = false;
        s.window = Window::default();
        s.patience = Patience::default();
        for gone in s.paths.drain(..) {
            self.shared.discard(gone.path);
        }
        if s.closed {
            self.shared.senders.borrow_mut().remove(&self.name.id.0);
        }
    }

    /// The peer cannot be reached any more. Calls the user.
    pub fn fail(&self, status: Status) {
        {
            let s = &mut *self.state.borrow_mut();
            if s.failed.is_some() {
                return;
            }
            s.failed = Some(status);
            self.release(s);
        }
        let endpoint = self.endpoint.take();
        if let Some(endpoint) = endpoint {
            endpoint.fail(status);
        }
        self.end_flushes(u64::MAX, Err(status));
    }

    /// Completes the flushes of which all messages are before `number`, one at a time: each completion may end the endpoint, which
    /// ends the others.
    fn end_flushes(&self, number: u64, result: Result<()>) {
        loop {
            let next = {
                let flushes = &mut self.state.borrow_mut().flushes;
                let is_due = flushes.front().is_some_and(|(end, _)| *end <= number);
                if is_due { flushes.pop_front() } else { None }
            };
            let Some((_, comp)) = next else { return };
            comp.complete(result);
        }
    }

    /// The worker is destroyed.
    pub fn close(&self) {
        self.pump_all();
        let s = &mut *self.state.borrow_mut();
        self.release(s);
    }

    /// Sends what all paths take.
    fn pump_all(&self) {
        let numbers: Vec<u32> = {
            let s = self.state.borrow();
            let waiting = s
                .paths
                .iter()
                .filter(|p| !p.joined || p.asks || Some(p.number) == s.current);
            waiting.map(|p| p.number).collect()
        };
        for number in numbers {
            self.pump(number);
        }
    }

    /// Sends what a path takes. Returns false while it waits for room.
    fn pump(&self, number: u32) -> bool {
        loop {
            let s = &mut *self.state.borrow_mut();
            let Some(at) = s.paths.iter().position(|p| p.number == number) else {
                return true;
            };
            let path = Rc::clone(&s.paths[at].path);
            let sent = if !s.paths[at].joined || s.paths[at].asks {
                let probe = s.probe.wrapping_add(1);
                let join = encoded(&JoinHdr {
                    ep: self.name,
                    token: self.token,
                    path: number,
                    probe,
                    oldest: s.window.oldest(),
                    ticket: self.ticket,
                });
                path.send(AmId::Join as u8, &[&join, &self.own_address])
                    .map(|()| {
                        s.probe = probe;
                        s.paths[at].joined = true;
                        s.paths[at].asks = false;
                    })
            } else if s.current != Some(number) {
                return true;
            } else if let Some(message) = s.window.next() {
                let header = encoded(&SequencedHdr {
                    ep: self.name,
                    token: self.token,
                    number: message.number,
                    path: number,
                    id: message.id,
                });
                path.send(AmId::Sequenced as u8, &[&header, message.bytes])
                    .map(|()| s.window.advance())
            } else {
                return true;
            };
            // Also if the path has no room: it may never have.
            let waits = s.asked.is_some() || !s.window.is_empty();
            if waits && s.patience.begin(|| self.shared.now()) {
                self.shared.start_ticks();
            }
            match sent {
                Ok(()) => {}
                Err(Status::NO_RESOURCE) => {
                    if path.wait_for_room() {
                        return false;
                    }
                }
                Err(_) => {
                    self.shared.failed.borrow_mut().push(path.handle());
                    self.shared.look_soon();
                    return true;
                }
            }
        }
    }

    /// An acknowledgement. Returns whether there is more room.
    fn on_ack(&self, ack: &SequencedAckHdr) -> bool {
        let (count, oldest) = {
            let s = &mut *self.state.borrow_mut();
            let Some(count) = s.window.acknowledge(ack.next) else {
                ucs_error!("a peer acknowledges messages that were not sent; dropped");
                return false;
            };
            if let Some(path) = s.paths.iter_mut().find(|p| p.number == ack.path) {
                path.suspect = false;
            }
            s.patience.found();
            let answered = s.asked.is_some_and(|asked| ack.probe >= asked);
            s.asked = s.asked.filter(|_| !answered);
            if count > 0 || answered {
                let more = s.asked.is_some() || !s.window.is_empty();
                s.patience.progressed(more, || self.shared.now());
            }
            if s.closed && s.window.is_empty() {
                self.shared.look_soon();
            }
            (count, s.window.oldest())
        };
        self.end_flushes(oldest, Ok(()));
        count > 0
    }
}

impl State {
    fn current(&self) -> Option<&OpenPath> {
        self.paths.iter().find(|p| Some(p.number) == self.current)
    }

    fn current_mut(&mut self) -> Option<&mut OpenPath> {
        let current = self.current;
        self.paths.iter_mut().find(|p| Some(p.number) == current)
    }

    /// Whether a path by these interfaces would have none in common with another.
    fn is_apart(&self, pair: Pair) -> bool {
        let mut open = self.paths.iter().map(|p| p.pair);
        open.all(|other| other.0 != pair.0 && other.1 != pair.1)
    }
}

impl Carrier for Sender {
    fn has_room(&self) -> bool {
        let s = self.state.borrow();
        s.failed.is_some() || s.window.has_room()
    }

    fn send(&self, id: u8, message: Vec<u8>) -> Result<()> {
        let current = {
            let s = &mut *self.state.borrow_mut();
            if let Some(status) = s.failed {
                return Err(status);
            }
            s.window.push(id, message);
            s.current
        };
        if let Some(current) = current {
            self.pump(current);
        }
        Ok(())
    }

    fn flush(&self, comp: Completion) -> Result<Posted> {
        let s = &mut *self.state.borrow_mut();
        if let Some(status) = s.failed {
            return Err(status);
        }
        if s.window.is_empty() {
            return Ok(Posted::Done);
        }
        if !comp.is_none() {
            s.flushes.push_back((s.window.end(), comp));
        }
        Ok(Posted::InProgress)
    }

    fn check(&self) {
        self.state.borrow_mut().checks = true;
        self.shared.look_soon();
    }

    fn closed(&self) {
        self.endpoint.take();
        {
            let s = &mut *self.state.borrow_mut();
            s.closed = true;
            if s.failed.is_some() {
                self.release(s);
            }
        }
        self.end_flushes(u64::MAX, Err(Status::CANCELED));
        self.shared.look_soon();
    }
}

/// A header as bytes.
pub fn encoded<H: Header>(header: &H) -> Vec<u8> {
    let mut bytes = vec![0; H::LEN];
    header.encode(&mut Writer::new(&mut bytes));
    bytes
}

/// Handles a `SequencedAck`.
pub fn on_ack(worker: &Core, message: &[u8]) -> Option<()> {
    let (ack, _) = SequencedAckHdr::split(message)?;
    let state = worker.failover();
    let shared = state.shared.get()?;
    let is_its = |s: &Rc<Sender>| (s.name, s.token) == (ack.ep, ack.token);
    let Some(sender) = sender_of(shared, ack.ep.id.0).filter(is_its) else {
        ucs_debug!("an acknowledgement for an endpoint that is over");
        return Some(());
    };
    if ack.reset != 0 {
        sender.fail(Status::CONNECTION_RESET);
    } else if sender.on_ack(&ack)
        && let Some(overlay) = state.overlay.get()
    {
        overlay.dispatch();
    }
    Some(())
}
