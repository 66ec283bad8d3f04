//! Messages in pieces: where the next piece of each goes.
//!
//! A message is named by its sender's worker and a number. Pieces of one message come in order
//! (they take one connection), so a piece that does not continue its message is refused.

use crate::ucp::request::Request;
use crate::ucs::tag_match::EntryId;
use core::cell::RefCell;
use core::ptr::NonNull;
use std::collections::HashMap;

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

/// The messages of a worker that are not complete.
pub struct Assemblies(RefCell<HashMap<MessageId, Assembly>>);

impl Assemblies {
    #[allow(clippy::new_without_default)]
    pub fn new() -> Assemblies {
        Assemblies(RefCell::new(HashMap::new()))
    }

    pub fn is_known(&self, id: MessageId) -> bool {
        self.0.borrow().contains_key(&id)
    }

    pub fn insert(&self, id: MessageId, assembly: Assembly) {
        self.0.borrow_mut().insert(id, assembly);
    }

    pub fn remove(&self, id: MessageId) -> Option<Assembly> {
        self.0.borrow_mut().remove(&id)
    }

    /// Changes one message. `f` must not come back here.
    pub fn with<R>(&self, id: MessageId, f: impl FnOnce(&mut Assembly) -> R) -> Option<R> {
        self.0.borrow_mut().get_mut(&id).map(f)
    }

    /// Takes every message: the worker goes.
    pub fn take_all(&self) -> Vec<Assembly> {
        self.0.borrow_mut().drain().map(|(_, a)| a).collect()
    }

    /// Whether a receive waits for pieces.
    #[cfg(test)]
    pub fn has_target(&self, req: NonNull<Request>) -> bool {
        let is = |a: &Assembly| matches!(a.target, Target::TagRecv(r) if r == req);
        self.0.borrow().values().any(is)
    }

    /// Takes every message of a worker that is gone off: nothing more comes of them.
    pub fn take_of(&self, uuid: u64) -> Vec<Assembly> {
        let mut all = self.0.borrow_mut();
        let ids: Vec<MessageId> = all.keys().copied().filter(|id| id.0 == uuid).collect();
        ids.iter().filter_map(|id| all.remove(id)).collect()
    }
}
