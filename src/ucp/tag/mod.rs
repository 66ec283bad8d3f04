//! Tag matching: receives and messages that look for each other.

pub mod probe;
pub mod recv;

use super::buffers::Buffer;
use super::proto::assembly::MessageId;
use super::proto::rndv::Announced;
use super::request::Request;
use crate::ucs::Status;
use crate::ucs::tag_match::{Arrived, Posted};
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

    /// Ends every posted receive.
    pub fn cancel_all(&self) {
        let all = self.posted.borrow_mut().drain();
        for req in all {
            // SAFETY: a posted receive is alive.
            unsafe { req.as_ref() }.complete(Err(Status::CANCELED));
        }
    }
}
