//! `RxState`: what a connection has received and not handled, how it is read, and whether it is read now.
#![forbid(unsafe_code)]

use super::backpressure::QueuedReplies;
use core::cell::Cell;

/// Received bytes that are not handled yet: those from `start` to `end`.
pub struct RxBuf {
    pub data: Vec<u8>,
    pub start: usize,
    pub end: usize,
}

impl RxBuf {
    /// An empty one in this memory.
    pub fn of(data: Vec<u8>) -> RxBuf {
        RxBuf {
            data,
            start: 0,
            end: 0,
        }
    }
}

/// A put whose data are arriving.
#[derive(Clone, Copy)]
pub struct PutIn {
    pub key: u64,
    pub address: u64,
    pub left: u64,
    pub fate: Fate,
    /// The number by which it is acknowledged, of one of upstream's.
    pub number: u32,
}

/// The treatment of the data of a put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Written,
    Dropped,
    /// One of upstream's, which has no word for that: the connection ends.
    Refused,
}

/// The state of direct placement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placing {
    /// Messages are read into the buffer.
    No,
    /// The bytes of the previous message were placed.
    Expected,
    /// The bytes of the first message of the buffer are placed: the buffer has its head, and bytes that have no place yet.
    UnderWay,
}

pub struct RxState {
    /// Taken while handlers run on it.
    pub buffer: Cell<Option<RxBuf>>,
    /// Largest body of an active message that the peer sends.
    pub limit: Cell<usize>,
    pub put_in: Cell<Option<PutIn>>,
    pub placing: Cell<Placing>,
    /// A message was received.
    used: Cell<bool>,
    /// In the interface's list of sockets that are read without asking epoll; reads in a row without data.
    pub hot: Cell<bool>,
    pub misses: Cell<u32>,
    /// Another short message is expected soon, and nothing was sent since the last one: the kernel acknowledges that while this side waits.
    /// Else it would within the read of the next one, whose reader would wait for it.
    pub acks_soon: Cell<bool>,
    /// In the interface's list of those with complete frames that a handler left for the next progress.
    pub held: Cell<bool>,
    /// Queued replies to the peer: too many pause reading.
    pub replies: QueuedReplies,
    /// Neither paused nor encrypted nor upstream's.
    is_plain: Cell<bool>,
}

impl Default for RxState {
    fn default() -> RxState {
        RxState {
            buffer: Cell::new(None),
            limit: Cell::new(0),
            put_in: Cell::new(None),
            placing: Cell::new(Placing::No),
            used: Cell::new(false),
            hot: Cell::new(false),
            misses: Cell::new(0),
            acks_soon: Cell::new(false),
            held: Cell::new(false),
            replies: QueuedReplies::default(),
            is_plain: Cell::new(true),
        }
    }
}

impl RxState {
    /// Whether it is read now.
    pub fn is_read(&self) -> bool {
        !self.replies.is_paused()
    }

    /// Whether it is read now, and its bytes are our frames as they are.
    #[inline]
    pub fn is_read_plain(&self) -> bool {
        self.is_plain.get()
    }

    /// Reading was paused or resumed, or begins to be of another form: encrypted, or upstream's frames.
    pub fn update(&self, is_of_other_form: bool) {
        self.is_plain.set(self.is_read() && !is_of_other_form);
    }

    /// Whether a message was ever received.
    pub fn is_used(&self) -> bool {
        self.used.get()
    }

    #[inline]
    pub fn set_used(&self) {
        self.used.set(true);
    }

    /// The socket is closed: forgets a frame that was not received completely.
    pub fn clear(&self) {
        self.put_in.set(None);
        self.buffer.set(None);
    }
}
