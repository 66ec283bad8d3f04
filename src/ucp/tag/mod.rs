//! Tag matching: receives and messages that look for each other.

pub mod probe;
pub mod recv;

use super::buffers::Buffer;
use super::proto::assembly::MessageId;
use super::proto::rndv::Announced;
use super::request::Request;
use super::unexpected;
use super::worker::Worker;
use crate::ucs::Status;
use crate::ucs::tag_match::{Arrived, EntryId, Posted};
use core::cell::RefCell;
use core::ptr::NonNull;

/// A message that came before its receive. Memory is as large as the bytes that came.
pub enum Message {
    Whole {
        data: Buffer,
        /// Whom to tell when it is matched: worker, endpoint, request.
        sync: Option<(u64, u64, u64)>,
    },
    /// Still coming in; the bytes are in the worker's assemblies.
    Pieces {
        id: MessageId,
        total: usize,
    },
    Announced(Announced),
}

impl Message {
    /// Bytes of the whole message.
    pub fn total(&self) -> usize {
        match self {
            Message::Whole { data, .. } => data.len(),
            Message::Pieces { total, .. } => *total,
            Message::Announced(a) => a.total,
        }
    }

    /// Bytes of memory it takes.
    #[inline(always)]
    pub fn cost(&self, worker: &Worker) -> usize {
        unexpected::MESSAGE
            + match self {
                Message::Whole { data, .. } => data.len(),
                Message::Pieces { id, .. } => {
                    worker.assemblies.with(*id, |a| a.buffer.len()).unwrap_or(0)
                }
                Message::Announced(_) => 0,
            }
    }
}

pub struct TagState {
    pub posted: RefCell<Posted<NonNull<Request>>>,
    pub arrived: RefCell<Arrived<Message>>,
}

impl TagState {
    #[allow(clippy::new_without_default)]
    pub fn new() -> TagState {
        TagState {
            posted: RefCell::new(Posted::new()),
            arrived: RefCell::new(Arrived::new()),
        }
    }

    /// Keeps a message that no receive waits for. In line, as `Buffers::copy`.
    #[inline(always)]
    pub fn keep(&self, worker: &Worker, tag: u64, message: Message) -> EntryId {
        let cost = message.cost(worker);
        let entry = self.arrived.borrow_mut().push(tag, message);
        unexpected::add(worker, cost);
        entry
    }

    /// Ends every posted receive.
    pub fn cancel_all(&self) {
        let all = self.posted.borrow_mut().drain();
        for req in all {
            // SAFETY: a posted receive is alive.
            unsafe { req.as_ref() }.complete(Err(Status::CANCELED));
        }
    }
}
