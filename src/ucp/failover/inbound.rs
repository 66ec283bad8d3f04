//! The receiving side: numbered messages are handled in order and once, and acknowledged by the path that they came by.
#![forbid(unsafe_code)]

pub use super::sender::on_ack;

use super::sender::encoded;
use super::{ACKS, Shared, learn};
use crate::c::*;
use crate::ucp::claims;
use crate::ucp::ep::pairing::{IMPLICIT_MAX, IMPLICIT_MAX_PER_PEER};
use crate::ucp::wireup::select::{self, Pair};
use crate::ucp::worker_core::Core;
use crate::ucs::{Result, Status};
use crate::uct::overlay::Path;
use crate::uct::registry;
use crate::wire::address::{Address, AddressEntry};
use crate::wire::header::{AmId, Header, JoinHdr, SequencedAckHdr, SequencedEndHdr, SequencedHdr};
use crate::wire::id::{EpId, EpName};
use crate::{ucs_debug, ucs_diag};
use core::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

/// Most paths of one sender that are acknowledged: the newest.
const MAX_PATHS: usize = 8;
/// Most senders whose end is remembered.
const MAX_ENDED: usize = 1 << 14;

/// How long a sender to whom no path is left may come by another one, in nanoseconds; and one that no endpoint here
/// belongs to. A sender that misses acknowledgements comes sooner.
const KEPT: u64 = 60_000_000_000;
const KEPT_UNKNOWN: u64 = 5_000_000_000;

#[derive(Default)]
pub struct Inbound {
    receivers: RefCell<BTreeMap<EpName, Receiver>>,
    /// Senders whose acknowledgements are due.
    due: RefCell<Vec<EpName>>,
    /// And those whose paths had no room for them.
    blocked: RefCell<Vec<EpName>>,
    /// Senders of which nothing more is received, whose incomplete messages are to end.
    gone: RefCell<Vec<EpName>>,
    ended: RefCell<Ended>,
}

/// What has come of one sender.
#[derive(Default)]
struct Receiver {
    /// The sender's: messages without it are not its own.
    token: u64,
    /// The number of the next message.
    next: u64,
    /// The path of the last message, and the last `Join`.
    last_path: u32,
    probe: u32,
    /// It is among those whose acknowledgement is due, or blocked.
    is_due: bool,
    is_blocked: bool,
    /// The local endpoint has failed: nothing is received any more.
    refused: bool,
    /// Since when there has been no path.
    lost: Option<u64>,
    /// The paths back, by the sender's number.
    paths: Vec<(u32, Rc<Path>)>,
    /// The interfaces that the sender has proven to be its own.
    proven: Vec<AddressEntry>,
}

impl Receiver {
    /// Whether a message is the next one. Others were here already, or follow one that was dropped.
    fn accepts(&mut self, number: u64) -> bool {
        let is_next = number == self.next && !self.refused;
        self.next += u64::from(is_next);
        is_next
    }

    fn on_join(&mut self, join: &JoinHdr) {
        self.probe = self.probe.max(join.probe);
        self.last_path = join.path;
    }

    /// Whether it has been without a path for longer than `limit`. One that has received nothing need not be kept at all.
    fn is_over(&self, now: u64, limit: impl FnOnce() -> u64) -> bool {
        self.lost
            .is_some_and(|since| self.next == 0 || now >= since + limit())
    }

    /// Gives up all paths.
    fn close(self, shared: &Shared) {
        for (_, path) in self.paths {
            shared.discard(path);
        }
    }

    fn path(&self, number: u32) -> Option<&Rc<Path>> {
        let mut all = self.paths.iter();
        all.find_map(|(of, path)| (*of == number).then_some(path))
    }
}

/// The last senders that have ended, so that a late `Join` does not begin them anew.
#[derive(Default)]
struct Ended {
    names: BTreeSet<EpName>,
    by_age: VecDeque<EpName>,
}

impl Ended {
    fn add(&mut self, name: EpName) {
        if !self.names.insert(name) {
            return;
        }
        self.by_age.push_back(name);
        if self.by_age.len() > MAX_ENDED
            && let Some(oldest) = self.by_age.pop_front()
        {
            self.names.remove(&oldest);
        }
    }
}

impl Inbound {
    /// The interfaces that a sender has proven to be its own.
    pub fn proven(&self, name: EpName) -> Vec<AddressEntry> {
        let receivers = self.receivers.borrow();
        receivers
            .get(&name)
            .map(|r| r.proven.clone())
            .unwrap_or_default()
    }

    pub fn has_due(&self) -> bool {
        !self.due.borrow().is_empty()
    }

    /// An acknowledgement is due.
    fn note_due(&self, shared: &Shared, name: EpName, receiver: &mut Receiver) {
        if !core::mem::replace(&mut receiver.is_due, true) {
            self.due.borrow_mut().push(name);
            shared.call.request(ACKS);
        }
    }

    /// Sends the acknowledgements that are due. Returns their number.
    pub fn acknowledge(&self) -> u32 {
        let mut due = self.due.take();
        due.append(&mut self.blocked.take());
        let mut count = 0;
        let mut receivers = self.receivers.borrow_mut();
        for name in due {
            let receiver = receivers.get_mut(&name);
            let Some(receiver) = receiver.filter(|r| r.is_due || r.is_blocked) else {
                continue;
            };
            (receiver.is_due, receiver.is_blocked) = (false, false);
            // Without a path the sender asks again, by another one.
            let Some(path) = receiver.path(receiver.last_path).cloned() else {
                continue;
            };
            let mut waits = false;
            while !waits && send_ack(&path, name, receiver) == Err(Status::NO_RESOURCE) {
                waits = path.wait_for_room();
            }
            receiver.is_blocked = waits;
            match waits {
                true => self.blocked.borrow_mut().push(name),
                false => count += 1,
            }
        }
        count
    }

    /// Whether messages of a sender may still come, by whatever path.
    pub fn receives_from(&self, name: EpName) -> bool {
        let receivers = self.receivers.borrow();
        receivers.get(&name).is_some_and(|r| !r.refused)
    }

    /// The senders of which nothing more is received since the last call.
    pub fn take_gone(&self) -> Vec<EpName> {
        self.gone.take()
    }

    /// The local endpoint of a sender has failed.
    pub fn refuse(&self, shared: &Shared, name: EpName) {
        if let Some(receiver) = self.receivers.borrow_mut().get_mut(&name) {
            receiver.refused = true;
            self.gone.borrow_mut().push(name);
            self.note_due(shared, name, receiver);
        }
    }

    /// Paths have failed.
    pub fn on_lost_paths(&self, shared: &Shared, lost: &[uct_ep_h]) {
        if lost.is_empty() {
            return;
        }
        for receiver in self.receivers.borrow_mut().values_mut() {
            let is_lost = |(_, path): &mut (u32, Rc<Path>)| lost.contains(&path.handle());
            for (_, path) in receiver.paths.extract_if(.., is_lost) {
                shared.discard(path);
            }
            if receiver.paths.is_empty() && receiver.lost.is_none() {
                receiver.lost = Some(shared.now());
                shared.start_ticks();
            }
        }
    }

    /// Whether some sender has no path left.
    pub fn has_lost(&self) -> bool {
        self.receivers.borrow().values().any(|r| r.lost.is_some())
    }

    /// Forgets those senders that have been without a path for too long. What comes of them later is refused.
    pub fn forget_lost(&self, shared: &Shared, is_known: impl Fn(u64) -> bool) {
        let now = shared.now();
        self.receivers.borrow_mut().retain(|name, receiver| {
            let limit = || match is_known(name.uuid) {
                true => KEPT,
                false => KEPT_UNKNOWN,
            };
            let is_over = receiver.is_over(now, limit);
            if is_over && receiver.next > 0 {
                self.ended.borrow_mut().add(*name);
                self.gone.borrow_mut().push(*name);
            }
            !is_over
        });
    }

    pub fn close(&self, shared: &Shared) {
        self.acknowledge();
        for receiver in self.receivers.take().into_values() {
            receiver.close(shared);
        }
        self.due.take();
        self.blocked.take();
    }

    /// Whether a message with this token is a sender's own.
    fn is_own(&self, name: EpName, token: u64) -> bool {
        let receivers = self.receivers.borrow();
        receivers.get(&name).is_some_and(|r| r.token == token)
    }

    fn remove(&self, shared: &Shared, name: EpName) {
        if let Some(receiver) = self.receivers.borrow_mut().remove(&name) {
            receiver.close(shared);
            self.ended.borrow_mut().add(name);
            self.gone.borrow_mut().push(name);
            shared.call.request(ACKS);
        }
    }

    /// Whether a new sender may be received from. Gives up one that cannot be answered any more, if there are too many.
    fn admits(&self, shared: &Shared, name: EpName) -> bool {
        let of_peer = |id| EpName {
            uuid: name.uuid,
            id: EpId(id),
        };
        let (of_peer, all, gone) = {
            let receivers = self.receivers.borrow();
            let of_peer = receivers.range(of_peer(0)..=of_peer(u64::MAX));
            let gone = |(name, r): (&EpName, &Receiver)| r.paths.is_empty().then_some(*name);
            (
                of_peer.clone().count(),
                receivers.len(),
                of_peer.into_iter().find_map(gone),
            )
        };
        if of_peer < IMPLICIT_MAX_PER_PEER && all < IMPLICIT_MAX {
            return true;
        }
        if let Some(gone) = gone {
            self.remove(shared, gone);
        }
        gone.is_some()
    }
}

fn send_ack(path: &Path, ep: EpName, receiver: &Receiver) -> Result<()> {
    let ack = encoded(&SequencedAckHdr {
        ep,
        token: receiver.token,
        next: receiver.next,
        path: receiver.last_path,
        probe: receiver.probe,
        reset: receiver.refused.into(),
    });
    path.send(AmId::SequencedAck as u8, &[&ack])
}

/// Handles a `Join`: a path begins, or is to be acknowledged.
pub fn on_join(worker: &Core, message: &[u8]) -> Option<()> {
    let (h, blob) = JoinHdr::split(message)?;
    let state = worker.failover();
    let (inbound, shared) = (&state.inbound, state.shared(worker));
    let is_known = match inbound.receivers.borrow_mut().get_mut(&h.ep) {
        Some(receiver) if receiver.token != h.token => {
            ucs_diag!(
                "a path is not of the worker {:#x} that it names; dropped",
                h.ep.uuid
            );
            return Some(());
        }
        Some(receiver) if receiver.path(h.path).is_some() => {
            receiver.on_join(&h);
            inbound.note_due(shared, h.ep, receiver);
            return Some(());
        }
        known => known.is_some(),
    };
    let address = Address::unpack(blob, registry::is_known).ok()?;
    if address.uuid != h.ep.uuid {
        return None;
    }
    let proven = claims::answerable(worker, address, h.ticket).address;
    let Some(path) = open_path_back(worker, shared, &proven) else {
        ucs_diag!(
            "a path of worker {:#x} cannot be answered: it names no interface that it came from",
            h.ep.uuid
        );
        return Some(());
    };
    let is_over = inbound.ended.borrow().names.contains(&h.ep) || h.oldest > 0;
    if !is_known && (is_over || !inbound.admits(shared, h.ep)) {
        // What came before is forgotten: nothing can be received.
        let refusal = Receiver {
            token: h.token,
            refused: true,
            last_path: h.path,
            ..Receiver::default()
        };
        // If it is lost, the sender asks again.
        let _ = send_ack(&path, h.ep, &refusal);
        shared.discard(path);
        return Some(());
    }
    {
        let mut receivers = inbound.receivers.borrow_mut();
        let receiver = receivers.entry(h.ep).or_default();
        receiver.token = h.token;
        receiver.on_join(&h);
        receiver.paths.push((h.path, path));
        receiver.lost = None;
        if receiver.paths.len() > MAX_PATHS {
            shared.discard(receiver.paths.remove(0).1);
        }
        for entry in &proven.entries {
            if !receiver.proven.contains(entry) {
                receiver.proven.push(entry.clone());
            }
        }
        inbound.note_due(shared, h.ep, receiver);
    }
    if let Some(ep) = worker.paired(h.ep) {
        learn(ep, &proven.entries);
    }
    Some(())
}

/// A path to where the message that is handled came from, by the interface that it came to.
fn open_path_back(worker: &Core, shared: &Rc<Shared>, proven: &Address) -> Option<Rc<Path>> {
    let came_by =
        |(iface, entry): &Pair| claims::came_by(&worker.ifaces[*iface], &proven.entries[*entry]);
    let all = select::message_pairs(worker, proven);
    let back: Vec<Pair> = all.iter().copied().filter(came_by).collect();
    let pairs = if back.is_empty() { all } else { back };
    pairs.into_iter().find_map(|pair| {
        let call = Arc::clone(&shared.call);
        let on_room = Box::new(move || {
            call.request(ACKS);
            true
        });
        let opened = select::open_path(worker, proven, pair, on_room);
        opened.ok().map(|path| shared.add(path))
    })
}

/// Handles a `Sequenced`.
pub fn on_sequenced(worker: &Core, message: &[u8]) -> Option<()> {
    let (h, body) = SequencedHdr::split(message)?;
    let state = worker.failover();
    let inbound = &state.inbound;
    {
        let mut receivers = inbound.receivers.borrow_mut();
        let receiver = receivers.get_mut(&h.ep).filter(|r| r.token == h.token);
        let (Some(shared), Some(receiver)) = (state.shared.get(), receiver) else {
            ucs_debug!(
                "a numbered message of an endpoint that is over, or of another sender; dropped"
            );
            return Some(());
        };
        receiver.last_path = h.path;
        inbound.note_due(shared, h.ep, receiver);
        if !receiver.accepts(h.number) {
            return Some(());
        }
    }
    // The acknowledgement goes with the next progress, for which a program that sleeps is woken.
    worker.wakeup.work_came();
    (state.deliver)(worker, h.id, body)
}

/// Handles a `SequencedEnd`.
pub fn on_end(worker: &Core, message: &[u8]) -> Option<()> {
    let (h, _) = SequencedEndHdr::split(message)?;
    let state = worker.failover();
    if let Some(shared) = state.shared.get()
        && state.inbound.is_own(h.ep, h.token)
    {
        state.inbound.remove(shared, h.ep);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(id: u64) -> EpName {
        let id = EpId(id);
        EpName { uuid: 7, id }
    }

    #[test]
    fn messages_are_accepted_in_order_and_once() {
        let mut receiver = Receiver::default();
        let accepted: Vec<bool> = [0, 1, 0, 1, 3, 2, 2, 3]
            .into_iter()
            .map(|number| receiver.accepts(number))
            .collect();
        let expected = [true, true, false, false, false, true, false, true];
        assert_eq!(accepted, expected);
        assert_eq!(receiver.next, 4);
        receiver.refused = true;
        assert!(!receiver.accepts(4) && receiver.next == 4);
    }

    #[test]
    fn senders_without_a_path_are_forgotten_in_the_end() {
        let mut receiver = Receiver::default();
        assert!(!receiver.is_over(u64::MAX, || KEPT));
        receiver.lost = Some(7);
        assert!(receiver.is_over(7, || KEPT), "nothing was received");
        assert!(receiver.accepts(0));
        assert!(!receiver.is_over(6 + KEPT, || KEPT) && receiver.is_over(7 + KEPT, || KEPT));
    }

    #[test]
    fn only_the_sender_knows_its_token() {
        let inbound = Inbound::default();
        let receiver = Receiver {
            token: 5,
            ..Receiver::default()
        };
        inbound.receivers.borrow_mut().insert(name(1), receiver);
        assert!(inbound.is_own(name(1), 5));
        assert!(!inbound.is_own(name(1), 6) && !inbound.is_own(name(2), 5));
    }

    #[test]
    fn the_last_ends_are_remembered() {
        let mut ended = Ended::default();
        for id in 0..MAX_ENDED as u64 + 2 {
            ended.add(name(id));
            ended.add(name(id));
        }
        assert!(!ended.names.contains(&name(1)) && ended.names.contains(&name(2)));
        assert_eq!(
            (ended.names.len(), ended.by_age.len()),
            (MAX_ENDED, MAX_ENDED)
        );
    }
}
