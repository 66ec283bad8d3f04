//! Reassembly of fragmented messages.
//!
//! A message is named by its sender's worker and a number. Fragments are delivered in order. Those of several lanes may
//! come out of order, and are kept until their turn; one that overlaps with another is refused.
//!
//! A sender introduces itself before it sends fragments; the endpoint to it reports its death. A peer that has not done so,
//! or that this process has no endpoint to, is unauthenticated: few of its messages are kept.
#![forbid(unsafe_code)]

use crate::ucp::buffers::Pieces;
use crate::ucp::request::Req;
use crate::ucp::unexpected;
use crate::ucs::Result;
use crate::ucs::tag_match::EntryId;
use crate::wire::id::{EpId, EpName, RequestName};
use core::cell::RefCell;
use core::cmp::Ordering;
use std::collections::{BTreeMap, HashMap, VecDeque};

/// The sender's worker and the message's number.
pub type MessageId = (u64, u64);

/// Where the fragments of a message go.
#[derive(Clone)]
pub enum Target {
    /// A posted receive that matched.
    TagRecv(Req),
    /// An unexpected tagged message: `Reassembly::buffer`.
    TagUnexpected(EntryId),
    /// A user's active message, with these headers: `Reassembly::buffer`.
    Am(Box<[u8]>),
    /// Dropped.
    Nowhere,
}

pub struct Reassembly {
    pub total: usize,
    pub received: usize,
    pub buffer: Pieces,
    pub target: Target,
    /// The synchronous sender, to be acknowledged when the message is matched.
    pub sync: Option<RequestName>,
    /// The sender's endpoint.
    pub ep: EpId,
    /// Fragments that came before their turn, by offset.
    pub out_of_order: BTreeMap<usize, Box<[u8]>>,
}

/// What a fragment is to its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FragmentOrder {
    Next,
    OutOfOrder,
    /// It overlaps with another one, or goes beyond the end.
    Invalid,
}

impl Reassembly {
    /// Whether a fragment is the next one.
    pub fn order_of(&self, offset: u64, len: usize) -> FragmentOrder {
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        match offset.cmp(&self.received) {
            _ if offset > self.total || len > self.total - offset => FragmentOrder::Invalid,
            Ordering::Less => FragmentOrder::Invalid,
            Ordering::Equal => FragmentOrder::Next,
            Ordering::Greater => FragmentOrder::OutOfOrder,
        }
    }

    /// Keeps a fragment that comes out of order. Returns false if there is one at that place, or it is empty.
    pub fn keep_out_of_order(&mut self, offset: u64, fragment: &[u8]) -> bool {
        let is_new = !fragment.is_empty() && !self.out_of_order.contains_key(&(offset as usize));
        if is_new {
            self.out_of_order.insert(offset as usize, fragment.into());
        }
        is_new
    }

    /// Memory that the fragments that came out of order take.
    pub fn out_of_order_cost(&self) -> usize {
        let fragments = self.out_of_order.values();
        fragments.map(|f| unexpected::MESSAGE + f.len()).sum()
    }

    /// Drops the fragments that came out of order. Returns the memory that they took.
    pub fn take_all_out_of_order(&mut self) -> usize {
        let cost = self.out_of_order_cost();
        self.out_of_order.clear();
        cost
    }

    /// The kept fragment with the lowest offset, if its turn has come or is over.
    pub fn take_ready(&mut self) -> Option<(u64, Box<[u8]>)> {
        let first = self.out_of_order.first_entry()?;
        let is_due = *first.key() <= self.received;
        is_due
            .then(|| first.remove_entry())
            .map(|(at, f)| (at as u64, f))
    }

    /// Appends a fragment to the buffer. `NO_MEMORY` when it cannot grow.
    pub fn keep(&mut self, fragment: &[u8]) -> Result<()> {
        self.buffer.append(fragment, self.total)
    }
}

/// An empty table with room for more messages gives it back.
const ROOM_KEPT: usize = 1024;

/// Most messages of unauthenticated peers.
const UNAUTHENTICATED_MAX: usize = 64;

/// The incomplete messages of a worker.
#[derive(Default)]
pub struct Reassemblies {
    /// The newest message, to which most fragments belong.
    newest: RefCell<Option<(MessageId, Reassembly)>>,
    older: RefCell<HashMap<MessageId, Reassembly>>,
    /// The newest messages of unauthenticated peers, complete or not.
    unauthenticated: RefCell<VecDeque<MessageId>>,
}

impl Reassemblies {
    pub fn is_known(&self, id: MessageId) -> bool {
        self.with(id, |_| ()).is_some()
    }

    /// Adds a message that is not known.
    pub fn insert(&self, id: MessageId, reassembly: Reassembly) {
        if let Some((id, before)) = self.newest.replace(Some((id, reassembly))) {
            self.older.borrow_mut().insert(id, before);
        }
    }

    /// Registers a message of an unauthenticated peer. Returns the message that has to be dropped for it.
    pub fn admit_unauthenticated(&self, id: MessageId) -> Option<MessageId> {
        let mut unauthenticated = self.unauthenticated.borrow_mut();
        unauthenticated.push_back(id);
        if unauthenticated.len() > UNAUTHENTICATED_MAX {
            unauthenticated.pop_front()
        } else {
            None
        }
    }

    pub fn remove(&self, id: MessageId) -> Option<Reassembly> {
        let newest = self.newest.borrow_mut().take_if(|(known, _)| *known == id);
        match newest {
            Some((_, reassembly)) => Some(reassembly),
            None => {
                let mut older = self.older.borrow_mut();
                let removed = older.remove(&id);
                give_room_back(&mut older);
                removed
            }
        }
    }

    /// Calls `f` with a message. `f` must not call back here.
    pub fn with<R>(&self, id: MessageId, f: impl FnOnce(&mut Reassembly) -> R) -> Option<R> {
        match self.newest.borrow_mut().as_mut() {
            Some((known, reassembly)) if *known == id => Some(f(reassembly)),
            _ => self.older.borrow_mut().get_mut(&id).map(f),
        }
    }

    /// Removes all messages.
    pub fn take_all(&self) -> Vec<Reassembly> {
        self.take_those(|_, _| true)
    }

    /// Removes all messages of a worker that is gone.
    pub fn take_of(&self, uuid: u64) -> Vec<Reassembly> {
        self.take_those(|id, _| id.0 == uuid)
    }

    /// Removes all messages of a worker whose sender, a remote endpoint, `is_over`, which must not call back.
    pub fn take_of_senders(&self, uuid: u64, is_over: impl Fn(EpName) -> bool) -> Vec<Reassembly> {
        let sender = |id| EpName { uuid, id };
        self.take_those(|id, message| id.0 == uuid && is_over(sender(message.ep)))
    }

    /// Removes all messages of a remote endpoint that is gone.
    pub fn take_of_ep(&self, of: EpName) -> Vec<Reassembly> {
        self.take_those(|id, message| (id.0, message.ep) == (of.uuid, of.id))
    }

    fn take_those(&self, which: impl Fn(MessageId, &Reassembly) -> bool) -> Vec<Reassembly> {
        let newest = self.newest.borrow_mut().take_if(|(id, a)| which(*id, a));
        let mut older = self.older.borrow_mut();
        let others = older.extract_if(|id, a| which(*id, a));
        let taken = newest.into_iter().chain(others).map(|(_, a)| a).collect();
        give_room_back(&mut older);
        taken
    }

    /// Whether a receive waits for fragments. Asked by tests/simulation only.
    pub fn has_target(&self, req: Req) -> bool {
        let is = |a: &Reassembly| matches!(a.target, Target::TagRecv(r) if r == req);
        let newest = self.newest.borrow();
        newest.iter().any(|(_, a)| is(a)) || self.older.borrow().values().any(is)
    }
}

fn give_room_back(table: &mut HashMap<MessageId, Reassembly>) {
    if table.is_empty() && table.capacity() > ROOM_KEPT {
        table.shrink_to(0);
    }
}

/// An empty reassembly. It allocates memory as fragments come.
pub fn empty_reassembly(total: usize, target: Target) -> Reassembly {
    Reassembly {
        total,
        received: 0,
        buffer: Pieces::default(),
        target,
        sync: None,
        ep: EpId(0),
        out_of_order: BTreeMap::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_out_of_order_wait_for_their_turn() {
        let mut a = empty_reassembly(10, Target::Nowhere);
        a.received = 2;
        let turns = [
            (0, 1),
            (2, 8),
            (3, 7),
            (3, 8),
            (2, 9),
            (11, 0),
            (u64::MAX, 1),
        ];
        let turns = turns.map(|(offset, len)| a.order_of(offset, len));
        use FragmentOrder::{Invalid, Next, OutOfOrder};
        assert_eq!(
            turns,
            [
                Invalid, Next, OutOfOrder, Invalid, Invalid, Invalid, Invalid
            ]
        );
        assert!(a.keep_out_of_order(6, b"ghij") && a.keep_out_of_order(4, b"ef"));
        assert!(!a.keep_out_of_order(4, b"e") && !a.keep_out_of_order(5, b""));
        assert_eq!(a.out_of_order_cost(), 2 * unexpected::MESSAGE + 6);
        assert_eq!(a.take_ready(), None);
        a.received = 4;
        assert_eq!(a.take_ready(), Some((4, (*b"ef").into())));
        assert_eq!(a.take_ready(), None);
        a.received = 7;
        let late = a.take_ready().unwrap();
        assert_eq!(a.order_of(late.0, late.1.len()), Invalid);
    }

    #[test]
    fn an_empty_table_gives_its_room_back() {
        let all = Reassemblies::default();
        let capacity = || all.older.borrow().capacity();
        for by_peer in [false, true] {
            let ids: Vec<_> = (0..5000).map(|n| (1, n)).collect();
            for id in &ids {
                all.insert(*id, empty_reassembly(8, Target::Nowhere));
            }
            assert!(capacity() > ROOM_KEPT);
            match by_peer {
                true => assert_eq!(all.take_of(1).len(), ids.len()),
                false => assert!(ids.iter().all(|id| all.remove(*id).is_some())),
            }
            assert_eq!(capacity(), 0);
        }
    }

    #[test]
    fn messages_are_found_whatever_began_since() {
        let all = Reassemblies::default();
        for n in 0..3 {
            all.insert((1, n), empty_reassembly(n as usize, Target::Nowhere));
        }
        all.insert((2, 0), empty_reassembly(7, Target::Nowhere));
        for n in 0..3 {
            assert_eq!(all.with((1, n), |a| a.total), Some(n as usize));
        }
        assert!(all.remove((2, 1)).is_none());
        assert_eq!(all.remove((1, 1)).unwrap().total, 1);
        assert!(!all.is_known((1, 1)) && all.is_known((2, 0)));
        let name = |uuid, id| EpName { uuid, id: EpId(id) };
        let of_ep = Reassembly {
            ep: EpId(5),
            ..empty_reassembly(9, Target::Nowhere)
        };
        all.insert((1, 3), of_ep);
        assert!(all.take_of_ep(name(1, 6)).is_empty() && all.take_of_ep(name(2, 5)).is_empty());
        assert_eq!(all.take_of_ep(name(1, 5))[0].total, 9);
        assert_eq!(all.take_of(1).len(), 2);
        assert_eq!(all.remove((2, 0)).unwrap().total, 7);
        assert!(all.take_all().is_empty());
    }
}
