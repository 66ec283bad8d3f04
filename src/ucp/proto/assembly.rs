//! Messages in pieces: where the next piece of each goes.
//!
//! A message is named by its sender's worker and a number. Pieces of one message come in order
//! (they take one connection), so a piece that does not continue its message is refused.
//!
//! A sender introduces itself before it sends pieces, and an endpoint to it tells when it is gone. Those that have not,
//! or that nothing leads back to, are strangers: few of their messages are kept.

use crate::ucp::request::Request;
use crate::ucs::tag_match::EntryId;
use crate::ucs::{Result, Status};
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
    TagUnexpected(EntryId),
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

impl Assembly {
    /// Room is made for so many times what a piece has, when it has to be made: a peer pays for what it takes.
    const AHEAD: usize = 8;

    /// Adds a piece to the buffer. `NO_MEMORY` when there is no room.
    pub fn keep(&mut self, piece: &[u8]) -> Result<()> {
        if self.buffer.capacity() - self.buffer.len() < piece.len() {
            let left = self.total.saturating_sub(self.buffer.len());
            let grown = piece.len().max(self.buffer.len() / Self::AHEAD);
            let room = grown.saturating_mul(Self::AHEAD).min(left);
            self.buffer
                .try_reserve_exact(room.max(piece.len()))
                .map_err(|_| Status::NO_MEMORY)?;
        }
        self.buffer.extend_from_slice(piece);
        Ok(())
    }
}

/// Most messages of strangers.
const STRANGE: usize = 64;

/// The messages of a worker that are not complete.
#[derive(Default)]
pub struct Assemblies {
    /// The one that began last: mostly the next piece is its.
    newest: RefCell<Option<(MessageId, Assembly)>>,
    older: RefCell<HashMap<MessageId, Assembly>>,
    /// The last that strangers began, complete or not.
    strange: RefCell<VecDeque<MessageId>>,
}

impl Assemblies {
    pub fn is_known(&self, id: MessageId) -> bool {
        self.with(id, |_| ()).is_some()
    }

    /// Adds one that is not known.
    pub fn insert(&self, id: MessageId, assembly: Assembly) {
        if let Some((id, before)) = self.newest.replace(Some((id, assembly))) {
            self.older.borrow_mut().insert(id, before);
        }
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
        let newest = self.newest.borrow_mut().take_if(|(known, _)| *known == id);
        match newest {
            Some((_, assembly)) => Some(assembly),
            None => self.older.borrow_mut().remove(&id),
        }
    }

    /// Changes one message. `f` must not come back here.
    pub fn with<R>(&self, id: MessageId, f: impl FnOnce(&mut Assembly) -> R) -> Option<R> {
        match self.newest.borrow_mut().as_mut() {
            Some((known, assembly)) if *known == id => Some(f(assembly)),
            _ => self.older.borrow_mut().get_mut(&id).map(f),
        }
    }

    /// Takes every message: the worker goes.
    pub fn take_all(&self) -> Vec<Assembly> {
        self.take_those(|_| true)
    }

    /// Takes every message of a worker that is gone off: nothing more comes of them.
    pub fn take_of(&self, uuid: u64) -> Vec<Assembly> {
        self.take_those(|id| id.0 == uuid)
    }

    fn take_those(&self, which: impl Fn(MessageId) -> bool) -> Vec<Assembly> {
        let newest = self.newest.borrow_mut().take_if(|(id, _)| which(*id));
        let mut older = self.older.borrow_mut();
        let others = older.extract_if(|id, _| which(*id));
        newest.into_iter().chain(others).map(|(_, a)| a).collect()
    }

    /// Whether a receive waits for pieces.
    #[cfg(test)]
    pub fn has_target(&self, req: NonNull<Request>) -> bool {
        let is = |a: &Assembly| matches!(a.target, Target::TagRecv(r) if r == req);
        let newest = self.newest.borrow();
        newest.iter().any(|(_, a)| is(a)) || self.older.borrow().values().any(is)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ucp::proto::receive::empty_assembly;

    #[test]
    fn memory_comes_with_the_pieces() {
        let mut a = empty_assembly(1 << 30, Target::Nowhere);
        assert_eq!(a.buffer.capacity(), 0);
        let mut kept = Vec::new();
        for i in 0..5000usize {
            let piece = vec![i as u8; i % 97 + 1];
            kept.extend_from_slice(&piece);
            a.keep(&piece).unwrap();
            let most = (Assembly::AHEAD + 1) * kept.len();
            assert!(a.buffer.capacity() <= most, "{i}");
        }
        assert_eq!(a.buffer, kept);
        let mut short = empty_assembly(10, Target::Nowhere);
        short.keep(&[1; 4]).unwrap();
        short.keep(&[2; 6]).unwrap();
        assert_eq!(short.buffer.capacity(), 10);
    }

    #[test]
    fn messages_are_found_whatever_began_since() {
        let all = Assemblies::default();
        for n in 0..3 {
            all.insert((1, n), empty_assembly(n as usize, Target::Nowhere));
        }
        all.insert((2, 0), empty_assembly(7, Target::Nowhere));
        for n in 0..3 {
            assert_eq!(all.with((1, n), |a| a.total), Some(n as usize));
        }
        assert!(all.remove((2, 1)).is_none());
        assert_eq!(all.remove((1, 1)).unwrap().total, 1);
        assert!(!all.is_known((1, 1)) && all.is_known((2, 0)));
        assert_eq!(all.take_of(1).len(), 2);
        assert_eq!(all.remove((2, 0)).unwrap().total, 7);
        assert!(all.take_all().is_empty());
    }
}
