//! Tag matching: receives and messages that look for each other.

mod early;
mod line;
pub mod probe;
pub mod recv;
mod row;

use super::buffers::{Buffer, Few};
use super::proto::assembly::MessageId;
use super::proto::op::{Op, TagWaitOp};
use super::proto::rndv::Announced;
use super::request::{Info, Request};
use super::unexpected;
use super::worker::Worker;
use crate::ucp::dt::Data;
use crate::ucs::Status;
use crate::ucs::tag_match::{Arrived, EntryId, Posted};
use core::cell::{Cell, Ref, RefCell};
use core::ptr::NonNull;
use early::Early;
use line::{Line, Receive};

/// A message that came before its receive. Memory is as large as the bytes that came.
pub enum Message {
    /// A few bytes, in the entry itself.
    Few(Few),
    Whole {
        data: Buffer,
        /// Whom to tell when it is matched.
        sync: Option<Box<Sender>>,
    },
    /// Still coming in; the bytes are in the worker's assemblies.
    Pieces {
        id: MessageId,
        total: usize,
    },
    Announced(Box<Announced>),
}

/// Who waits for a match: worker, endpoint, request.
pub type Sender = (u64, u64, u64);

// With the entry around it a message of a few bytes is to take no more than upstream's: docs/PERFORMANCE.md.
const _: () = assert!(size_of::<Message>() <= 48);

impl Message {
    /// Bytes of the whole message.
    pub fn total(&self) -> usize {
        match self {
            Message::Few(few) => few.bytes().len(),
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
                Message::Few(few) => few.bytes().len(),
                Message::Whole { data, .. } => data.len(),
                Message::Pieces { id, .. } => {
                    worker.assemblies.with(*id, |a| a.buffer.len()).unwrap_or(0)
                }
                Message::Announced(_) => 0,
            }
    }

    /// Whether it has memory besides its own.
    #[inline(always)]
    pub fn holds_memory(&self) -> bool {
        !matches!(self, Message::Few(_))
    }

    /// The bytes of a message that is here as a whole, and who waits for its match.
    #[inline(always)]
    pub fn here(&self) -> Option<(&[u8], Option<Sender>)> {
        match self {
            Message::Few(few) => Some((few.bytes(), None)),
            Message::Whole { data, sync } => Some((data, sync.as_deref().copied())),
            _ => None,
        }
    }
}

pub struct TagState {
    /// Older than those in `posted`. The first message that is not for the first of the line, and the first receive of
    /// another kind, move those behind the first to `posted`.
    line: Line,
    /// Older than those in `arrived`, which is empty where there are any: they go there when anything else is done with
    /// what came but to receive the first.
    early: Early,
    /// How many receives wait in `posted` and messages in `arrived`; `EARLY` while there are early ones, `RESTING` while
    /// nothing is received.
    crowd: Cell<usize>,
    posted: RefCell<Posted<NonNull<Request>>>,
    arrived: RefCell<Arrived<Message>>,
}

const RESTING: usize = 1 << 63;
const EARLY: usize = 1 << 62;

/// Puts a message of up to `Few::MOST` bytes behind those that arrived.
#[inline(always)]
fn push_few(arrived: &mut Arrived<Message>, tag: u64, bytes: &[u8]) {
    debug_assert!(bytes.len() <= Few::MOST);
    let fill = |message: &mut Message| {
        if let Message::Few(few) = message {
            few.fill(bytes);
        }
    };
    arrived.push_filled(tag, || Message::Few(Few::empty()), fill);
}

/// Makes a receive that was in line one like others, with its `entry` in `posted`.
fn as_any(receive: &Receive, entry: Option<EntryId>) -> NonNull<Request> {
    let data = Data::contig(receive.buffer, receive.room);
    // SAFETY: a posted receive is alive.
    let request = unsafe { receive.request.as_ref() };
    // SAFETY: the only borrow, of an operation that holds nothing.
    unsafe { *request.op() = Op::TagWait(TagWaitOp { data, entry }) };
    request.set_info(Info::default());
    receive.request
}

impl TagState {
    #[allow(clippy::new_without_default)]
    pub fn new() -> TagState {
        TagState {
            line: Line::new(),
            early: Early::new(),
            crowd: Cell::new(0),
            posted: RefCell::new(Posted::new()),
            arrived: RefCell::new(Arrived::new()),
        }
    }

    /// Whether one more receive can stand in line: nothing waits but others of the line, and the worker receives.
    #[inline(always)]
    pub fn has_line(&self) -> bool {
        self.crowd.get() == 0 && !self.line.is_full()
    }

    /// Keeps a message of at most `FEW` bytes that came where nothing but others of the kind is here and nobody waits.
    /// Whether it did.
    ///
    /// # Safety
    /// `payload` must be readable for `len` bytes.
    #[inline(always)]
    pub unsafe fn keep_early(
        &self,
        worker: &Worker,
        tag: u64,
        payload: *const u8,
        len: usize,
    ) -> bool {
        if self.crowd.get() & !EARLY != 0 || !self.line.is_empty() || self.early.is_full() {
            return false;
        }
        self.crowd.set(EARLY);
        // SAFETY: by the caller's promise.
        unsafe { self.early.push(tag, payload, len) };
        unexpected::add(worker, unexpected::MESSAGE + len);
        true
    }

    /// Takes the first early message into `room` bytes at `buffer`, where a receive of `tag` and `mask` matches it and it
    /// fits.
    ///
    /// # Safety
    /// `buffer` must be writable for `room` bytes.
    #[inline(always)]
    pub unsafe fn take_early(
        &self,
        worker: &Worker,
        tag: u64,
        mask: u64,
        to: (*mut u8, usize),
    ) -> Option<Info> {
        // SAFETY: by the caller's promise.
        let (tag, length) = unsafe { self.early.take(tag, mask, to) }?;
        if self.early.is_empty() {
            self.crowd.set(self.crowd.get() & !EARLY);
        }
        unexpected::sub(worker, unexpected::MESSAGE + length);
        Some(Info { tag, length })
    }

    /// Puts early messages where others are.
    #[inline(always)]
    fn settle_early(&self) {
        if self.crowd.get() & EARLY != 0 {
            self.settle_those();
        }
    }

    #[inline(never)]
    fn settle_those(&self) {
        let mut arrived = self.arrived.borrow_mut();
        while self
            .early
            .pop(|tag, bytes| push_few(&mut arrived, tag, bytes))
        {
            self.crowd.set(self.crowd.get() + 1);
        }
        self.crowd.set(self.crowd.get() & !EARLY);
    }

    /// Posts a receive where it `has_line`. Its operation has to be `Op::TagLine`.
    #[inline(always)]
    pub fn post_in_line(&self, receive: Receive) {
        debug_assert!(self.has_line());
        self.line.push(receive);
    }

    /// Takes the first receive in line for a message of `tag` and `len` bytes, with its buffer, if it is for it and fits.
    #[inline(always)]
    pub fn take_in_line(&self, tag: u64, len: usize) -> Option<(NonNull<Request>, *mut u8)> {
        self.line.take(tag, len)
    }

    /// Bytes of the buffer of a receive in line.
    pub fn room_in_line(&self, at: NonNull<Request>) -> Option<usize> {
        self.line.find(at).map(|receive| receive.room)
    }

    /// Takes the first receive in line off, which becomes one like others.
    fn take_first_as_any(&self) -> Option<NonNull<Request>> {
        self.line.pop().map(|receive| as_any(&receive, None))
    }

    /// Puts the receives behind the first of the line where others are.
    #[inline]
    fn dissolve_line(&self) {
        self.line.pop_behind_first(|receive| {
            let entry = self.push_posted(receive.tag, receive.mask, receive.request);
            as_any(&receive, Some(entry));
        });
    }

    /// The worker stops to receive, or goes on.
    pub fn set_resting(&self, resting: bool) {
        let crowd = self.crowd.get() & !RESTING;
        self.crowd
            .set(if resting { crowd | RESTING } else { crowd });
    }

    /// Posts a receive behind all others.
    pub fn post(&self, tag: u64, mask: u64, at: NonNull<Request>) -> EntryId {
        self.dissolve_line();
        self.push_posted(tag, mask, at)
    }

    fn push_posted(&self, tag: u64, mask: u64, at: NonNull<Request>) -> EntryId {
        self.crowd.set(self.crowd.get() + 1);
        self.posted.borrow_mut().post(tag, mask, at)
    }

    /// Whether a message of `len` bytes that came as a whole is to be kept by `keep_few`, as no receive waits.
    #[inline(always)]
    pub fn wants_few(&self, len: usize) -> bool {
        self.line.is_empty() && len <= Few::MOST && self.posted.borrow().is_empty()
    }

    /// Takes the oldest receive that a message of `tag` matches.
    pub fn take_posted(&self, tag: u64) -> Option<NonNull<Request>> {
        if self.line.is_for_first(tag) {
            return self.take_first_as_any();
        }
        self.dissolve_line();
        let taken = self.posted.borrow_mut().take(tag)?;
        self.crowd.set(self.crowd.get() - 1);
        Some(taken)
    }

    /// Takes a receive off that no message has matched. Whether it was still there.
    pub fn withdraw(&self, req: &Request) -> bool {
        if self.line.begins_with(req.as_ptr()) {
            return self.take_first_as_any().is_some();
        }
        // SAFETY: the only borrow.
        if matches!(unsafe { req.op() }, Op::TagLine) {
            self.dissolve_line();
        }
        // SAFETY: as above.
        let entry = match unsafe { req.op() } {
            Op::TagWait(r) => r.entry,
            _ => None,
        };
        let Some(entry) = entry else { return false };
        let there = self.posted.borrow_mut().remove(entry).is_some();
        self.crowd.set(self.crowd.get() - usize::from(there));
        there
    }

    /// The messages that wait, to look at.
    #[inline]
    pub fn arrived(&self) -> Ref<'_, Arrived<Message>> {
        self.settle_early();
        self.arrived.borrow()
    }

    /// The messages that wait, to change; `change` calls nobody.
    #[inline(always)]
    pub fn with_arrived<R>(&self, change: impl FnOnce(&mut Arrived<Message>) -> R) -> R {
        self.settle_early();
        let mut arrived = self.arrived.borrow_mut();
        let before = arrived.len();
        let answer = change(&mut arrived);
        self.crowd.set(self.crowd.get() - before + arrived.len());
        answer
    }

    /// Keeps a message of up to `Few::MOST` bytes that no receive waits for.
    #[inline(always)]
    pub fn keep_few(&self, worker: &Worker, tag: u64, bytes: &[u8]) {
        self.with_arrived(|arrived| push_few(arrived, tag, bytes));
        unexpected::add(worker, unexpected::MESSAGE + bytes.len());
    }

    /// Keeps a whole message that no receive waits for.
    #[inline(always)]
    pub fn keep_whole(&self, worker: &Worker, tag: u64, bytes: &[u8], sync: Option<Sender>) {
        if sync.is_none() && bytes.len() <= Few::MOST {
            return self.keep_few(worker, tag, bytes);
        }
        let data = worker.buffers.copy(bytes);
        let sync = sync.map(Box::new);
        self.keep(worker, tag, Message::Whole { data, sync });
    }

    /// Keeps a message that no receive waits for. In line, as `Buffers::copy`.
    #[inline(always)]
    pub fn keep(&self, worker: &Worker, tag: u64, message: Message) -> EntryId {
        let cost = message.cost(worker);
        let entry = self.with_arrived(|arrived| arrived.push(tag, message));
        unexpected::add(worker, cost);
        entry
    }

    /// Ends every posted receive.
    pub fn cancel_all(&self) {
        self.dissolve_line();
        let first = self.take_first_as_any();
        let behind = self.posted.borrow_mut().drain();
        self.crowd.set(self.crowd.get() - behind.len());
        for req in first.into_iter().chain(behind) {
            // SAFETY: a posted receive is alive.
            unsafe { req.as_ref() }.complete(Err(Status::CANCELED));
        }
    }
}
