//! Tag matching: receives and messages that look for each other.

pub mod probe;
pub mod recv;

use super::buffers::{Buffer, Few};
use super::proto::assembly::MessageId;
use super::proto::op::{Op, TagLineOp, TagWaitOp};
use super::proto::rndv::Announced;
use super::request::Request;
use super::unexpected;
use super::worker::Worker;
use crate::ucp::dt::Data;
use crate::ucs::Status;
use crate::ucs::tag_match::{Arrived, EntryId, Posted};
use core::cell::{Cell, Ref, RefCell};
use core::ptr::NonNull;

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

/// A receive into a contiguous buffer that was posted where there was nothing else, or that has become the first of the
/// line. It is older than all others.
struct Lone {
    request: Cell<Option<NonNull<Request>>>,
    tag: Cell<u64>,
    mask: Cell<u64>,
    buffer: Cell<(*mut u8, usize)>,
}

pub struct TagState {
    lone: Lone,
    /// First and last of the receives into contiguous buffers that were posted behind `lone` while nothing else waited, as
    /// programs do that keep several under way: older than those in `posted`. Each has its `Op::TagLine`, and names the
    /// next where free requests name theirs. The first message that `lone` does not match, and the first receive of another
    /// kind, move them to `posted`.
    line: Cell<Option<(NonNull<Request>, NonNull<Request>)>>,
    /// How many other receives and messages wait; `RESTING` while nothing is received.
    crowd: Cell<usize>,
    posted: RefCell<Posted<NonNull<Request>>>,
    arrived: RefCell<Arrived<Message>>,
}

const RESTING: usize = 1 << 63;

impl TagState {
    #[allow(clippy::new_without_default)]
    pub fn new() -> TagState {
        TagState {
            lone: Lone {
                request: Cell::new(None),
                tag: Cell::new(0),
                mask: Cell::new(0),
                buffer: Cell::new((core::ptr::null_mut(), 0)),
            },
            line: Cell::new(None),
            crowd: Cell::new(0),
            posted: RefCell::new(Posted::new()),
            arrived: RefCell::new(Arrived::new()),
        }
    }

    /// Whether no receive and no message waits, and the worker receives.
    #[inline(always)]
    pub fn is_quiet(&self) -> bool {
        let lone = self.lone.request.get().map_or(0, |at| at.as_ptr().addr());
        lone | self.crowd.get() == 0
    }

    /// Whether nothing waits but `lone` and the line, and the worker receives.
    #[inline(always)]
    pub fn is_in_line(&self) -> bool {
        self.crowd.get() == 0
    }

    /// Posts a receive behind the line where it `is_in_line`, and there is a lone one. Its operation has to be the
    /// `Op::TagLine` of it.
    #[inline(always)]
    pub fn post_in_line(&self, at: NonNull<Request>) {
        debug_assert!(self.is_in_line() && self.lone.request.get().is_some());
        let first = match self.line.get() {
            None => at,
            Some((first, last)) => {
                // SAFETY: a posted receive is alive.
                unsafe { last.as_ref() }.next.set(Some(at));
                first
            }
        };
        // SAFETY: the caller's request, just made.
        unsafe { at.as_ref() }.next.set(None);
        self.line.set(Some((first, at)));
    }

    /// Takes the first of the line off.
    #[inline]
    fn pop_line(&self) -> Option<(NonNull<Request>, TagLineOp)> {
        let (first, last) = self.line.get()?;
        // SAFETY: a posted receive is alive; the only borrow of its operation.
        let (next, op) = unsafe { (first.as_ref().next.get(), first.as_ref().op()) };
        self.line.set(next.map(|next| (next, last)));
        match *op {
            Op::TagLine(line) => Some((first, line)),
            _ => None,
        }
    }

    /// The lone receive was taken: the first of the line is in its place.
    #[inline(never)]
    fn move_up(&self) {
        if let Some((first, line)) = self.pop_line() {
            self.lone.tag.set(line.tag);
            self.lone.mask.set(line.mask);
            self.lone.buffer.set((line.buffer, line.room));
            self.lone.request.set(Some(first));
        }
    }

    /// Puts the receives of the line where others are.
    #[cold]
    #[inline(never)]
    fn dissolve_line(&self) {
        while let Some((first, line)) = self.pop_line() {
            let data = Data::contig(line.buffer, line.room);
            let entry = Some(self.push_posted(line.tag, line.mask, first));
            // SAFETY: a posted receive is alive; the only borrow, of an operation that holds nothing.
            unsafe { *first.as_ref().op() = Op::TagWait(TagWaitOp { data, entry }) };
        }
    }

    /// The worker stops to receive, or goes on.
    pub fn set_resting(&self, resting: bool) {
        let crowd = self.crowd.get() & !RESTING;
        self.crowd
            .set(if resting { crowd | RESTING } else { crowd });
    }

    /// Posts a receive into `room` bytes at `buffer` where it `is_quiet`. Its operation has to be `Op::TagLone`.
    #[inline(always)]
    pub fn post_lone(&self, at: NonNull<Request>, tag: u64, mask: u64, buffer: (*mut u8, usize)) {
        debug_assert!(self.is_quiet());
        self.lone.tag.set(tag & mask);
        self.lone.mask.set(mask);
        self.lone.buffer.set(buffer);
        self.lone.request.set(Some(at));
    }

    /// `take_lone`, where nothing stands in line behind it.
    #[inline(always)]
    pub fn take_only(&self, tag: u64, len: usize) -> Option<(NonNull<Request>, *mut u8)> {
        if self.line.get().is_some() {
            return None;
        }
        self.take_lone(tag, len)
    }

    /// Takes the lone receive for a message of `tag` and `len` bytes, with its buffer, if they fit.
    #[inline(always)]
    pub fn take_lone(&self, tag: u64, len: usize) -> Option<(NonNull<Request>, *mut u8)> {
        let at = self.lone.request.get()?;
        let (buffer, room) = self.lone.buffer.get();
        if tag & self.lone.mask.get() != self.lone.tag.get() || len > room {
            return None;
        }
        self.lone.request.set(None);
        if self.line.get().is_some() {
            self.move_up();
        }
        Some((at, buffer))
    }

    /// Bytes of the lone receive's buffer.
    pub fn lone_room(&self) -> usize {
        self.lone.buffer.get().1
    }

    /// Takes the lone receive off, which becomes one like others.
    fn take_lone_as_any(&self) -> Option<NonNull<Request>> {
        let at = self.lone.request.take()?;
        let (buffer, room) = self.lone.buffer.get();
        self.move_up();
        let data = Data::contig(buffer, room);
        // SAFETY: a posted receive is alive; the only borrow, of an operation that holds nothing.
        unsafe { *at.as_ref().op() = Op::TagWait(TagWaitOp { data, entry: None }) };
        Some(at)
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

    /// Whether a message of `len` bytes that came as a whole is to be kept by `keep_few`, as no receive waits: there is
    /// no line without a lone one.
    #[inline(always)]
    pub fn wants_few(&self, len: usize) -> bool {
        self.lone.request.get().is_none() && len <= Few::MOST && self.posted.borrow().is_empty()
    }

    /// Takes the oldest receive that a message of `tag` matches.
    pub fn take_posted(&self, tag: u64) -> Option<NonNull<Request>> {
        if self.lone.request.get().is_some() && tag & self.lone.mask.get() == self.lone.tag.get() {
            return self.take_lone_as_any();
        }
        if self.line.get().is_some() {
            self.dissolve_line();
        }
        let taken = self.posted.borrow_mut().take(tag)?;
        self.crowd.set(self.crowd.get() - 1);
        Some(taken)
    }

    /// Takes a receive off that no message has matched. Whether it was still there.
    pub fn withdraw(&self, req: &Request) -> bool {
        if self.lone.request.get() == Some(req.as_ptr()) {
            return self.take_lone_as_any().is_some();
        }
        // SAFETY: the only borrow.
        if matches!(unsafe { req.op() }, Op::TagLine(_)) {
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
        self.arrived.borrow()
    }

    /// The messages that wait, to change; `change` calls nobody.
    #[inline(always)]
    pub fn with_arrived<R>(&self, change: impl FnOnce(&mut Arrived<Message>) -> R) -> R {
        let mut arrived = self.arrived.borrow_mut();
        let before = arrived.len();
        let answer = change(&mut arrived);
        self.crowd.set(self.crowd.get() - before + arrived.len());
        answer
    }

    /// Keeps a message of up to `Few::MOST` bytes that no receive waits for.
    #[inline(always)]
    pub fn keep_few(&self, worker: &Worker, tag: u64, bytes: &[u8]) {
        debug_assert!(bytes.len() <= Few::MOST);
        let fill = |message: &mut Message| {
            if let Message::Few(few) = message {
                few.fill(bytes);
            }
        };
        self.with_arrived(|arrived| {
            arrived.push_filled(tag, || Message::Few(Few::empty()), fill);
        });
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
        let lone = self.take_lone_as_any();
        let behind = self.posted.borrow_mut().drain();
        self.crowd.set(self.crowd.get() - behind.len());
        for req in lone.into_iter().chain(behind) {
            // SAFETY: a posted receive is alive.
            unsafe { req.as_ref() }.complete(Err(Status::CANCELED));
        }
    }
}
