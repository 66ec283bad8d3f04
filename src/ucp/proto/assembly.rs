//! Messages in pieces: where the next piece of each goes.
//!
//! A message is named by its sender's worker and a number. Pieces of one message come in order
//! (they take one connection), so a piece that does not continue its message is refused.
//!
//! A sender introduces itself before it sends pieces, and an endpoint to it tells when it is gone. Those that have not,
//! or that nothing leads back to, are strangers: few of their messages are kept.

use crate::ucp::request::Request;
use crate::ucs::tag_match::EntryId;
use core::cell::RefCell;
use core::ptr::NonNull;
use std::collections::{HashMap, VecDeque};

/// Sender's worker and number.
pub type MessageId = (u64, u64);

/// Where pieces go.
#[derive(Clone)]
pub enum Target {
    /// A posted receive that matched.
    TagRecv(NonNull<Request>),
    /// An unexpected tagged message, kept in `Assembly::buffer`.
    TagArrived(EntryId),
    /// A user's active message, kept in `Assembly::buffer`; its headers.
    Am(Box<[u8]>),
    /// The rest is not wanted.
    Nowhere,
}

pub struct Assembly {
    pub total: usize,
    pub received: usize,
    pub buffer: Vec<u8>,
    pub target: Target,
    /// To be acknowledged when matched: the sender's worker, endpoint, request.
    pub sync: Option<(u64, u64, u64)>,
}

/// Most messages of strangers.
const STRANGE: usize = 64;

/// The messages of a worker that are not complete.
pub struct Assemblies {
    all: RefCell<HashMap<MessageId, Assembly>>,
    /// The last that strangers began, complete or not.
    strange: RefCell<VecDeque<MessageId>>,
}

impl Assemblies {
    #[allow(clippy::new_without_default)]
    pub fn new() -> Assemblies {
        Assemblies {
            all: RefCell::new(HashMap::new()),
            strange: RefCell::new(VecDeque::new()),
        }
    }

    pub fn is_known(&self, id: MessageId) -> bool {
        self.all.borrow().contains_key(&id)
    }

    pub fn insert(&self, id: MessageId, assembly: Assembly) {
        self.all.borrow_mut().insert(id, assembly);
    }

    /// A stranger begins a message: gives the one that has to go for it.
    pub fn make_room_for(&self, id: MessageId) -> Option<MessageId> {
        let mut strange = self.strange.borrow_mut();
        strange.push_back(id);
        if strange.len() > STRANGE {
            strange.pop_front()
        } else {
            None
        }
    }

    pub fn remove(&self, id: MessageId) -> Option<Assembly> {
        self.all.borrow_mut().remove(&id)
    }

    /// Changes one message. `f` must not come back here.
    pub fn with<R>(&self, id: MessageId, f: impl FnOnce(&mut Assembly) -> R) -> Option<R> {
        self.all.borrow_mut().get_mut(&id).map(f)
    }

    /// Takes every message: the worker goes.
    pub fn take_all(&self) -> Vec<Assembly> {
        self.all.borrow_mut().drain().map(|(_, a)| a).collect()
    }

    /// Whether a receive waits for pieces.
    #[cfg(test)]
    pub fn has_target(&self, req: NonNull<Request>) -> bool {
        let is = |a: &Assembly| matches!(a.target, Target::TagRecv(r) if r == req);
        self.all.borrow().values().any(is)
    }

    /// Takes every message of a worker that is gone off: nothing more comes of them.
    pub fn take_of(&self, uuid: u64) -> Vec<Assembly> {
        let mut all = self.all.borrow_mut();
        let ids: Vec<MessageId> = all.keys().copied().filter(|id| id.0 == uuid).collect();
        ids.iter().filter_map(|id| all.remove(id)).collect()
    }
}
