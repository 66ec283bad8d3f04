//! Tag matching: posted receives and unexpected messages.
//!
//! Both sides have a short form for the common case, tried first: receives into contiguous buffers stand in
//! `posted_fifo`, complete unexpected messages in `unexpected_fifo`. Whatever else happens moves their elements to the
//! general tables of `ucs::tag_match` ("spills" them), in order.

mod posted_fifo;
pub mod probe;
pub mod recv;
pub mod send;
mod slot_ring;
mod unexpected_fifo;

use super::buffers::{Buffer, Buffers, InlineBytes, Pieces};
use super::op::{Op, TagWaitOp};
use super::proto::reassembly::MessageId;
use super::request::{Info, Req, Request};
use super::unexpected;
use super::worker_core::{Core, FloorState};
use crate::ucp::dt::Data;
use crate::ucp::rts::Waiting;
use crate::ucs::Status;
use crate::ucs::tag_match::{EntryId, Posted, UnexpectedMessages};
use crate::ucs::tracepoint;
use crate::uct::base::copy::{Payload, Room};
use crate::wire::id::RequestName;
use core::cell::{Cell, RefCell};
use posted_fifo::{Place, PostedFifo, PostedReceive};
use unexpected_fifo::UnexpectedFifo;

/// Bytes of messages that are stored in their entries.
const SMALL_MESSAGE: usize = 32;
const SMALL_SYNC: usize = 16;

/// An unexpected message. It takes memory for the bytes that have come, not for those that wait at their sender.
pub enum Message {
    /// A few bytes, stored in the entry itself.
    Inline(InlineBytes<SMALL_MESSAGE>),
    /// The same of a synchronous sender, to be acknowledged when it is matched.
    InlineSync {
        bytes: InlineBytes<SMALL_SYNC>,
        sender: RequestName,
    },
    Whole(Buffer),
    WholeSync(SyncBuffer),
    /// Incomplete; the bytes are in the worker's reassemblies.
    Fragments {
        id: MessageId,
        total: usize,
    },
    /// The bytes are at the sender.
    Waiting(Waiting),
}

/// The bytes of a message and, behind them, the name of its synchronous sender, which needs no memory of its own so.
pub struct SyncBuffer(Buffer);

impl SyncBuffer {
    /// Of bytes that `write` writes.
    #[inline(always)]
    fn filled(
        buffers: &Buffers,
        len: usize,
        write: impl FnOnce(Room<'_>),
        sender: RequestName,
    ) -> SyncBuffer {
        SyncBuffer(buffers.filled(len + RequestName::LEN, |mut room| {
            write(room.part(0, len));
            // By words, as it will be read.
            sender.write(room.part(len, RequestName::LEN).bytes());
        }))
    }

    /// Of bytes that are here already.
    pub fn of(bytes: Pieces, sender: RequestName) -> SyncBuffer {
        SyncBuffer(bytes.into_buffer_with(&sender.to_bytes()))
    }

    fn len(&self) -> usize {
        self.0.len() - RequestName::LEN
    }

    #[inline(always)]
    fn bytes(&self) -> &[u8] {
        &self.0[..self.len()]
    }

    #[inline(always)]
    fn sender(&self) -> Option<RequestName> {
        RequestName::from_bytes(self.0.last_chunk()?)
    }
}

// With its entry, a message of a few bytes takes no more memory than upstream's: docs/results/PERFORMANCE.md.
const _: () = assert!(size_of::<Message>() <= 48);

impl Message {
    /// Bytes of the whole message.
    pub fn total(&self) -> usize {
        match self {
            Message::Inline(bytes) => bytes.bytes().len(),
            Message::InlineSync { bytes, .. } => bytes.bytes().len(),
            Message::Whole(data) => data.len(),
            Message::WholeSync(data) => data.len(),
            Message::Fragments { total, .. } => *total,
            Message::Waiting(message) => message.total(),
        }
    }

    /// Bytes of memory it takes.
    #[inline(always)]
    pub fn cost(&self, worker: &Core) -> usize {
        unexpected::MESSAGE
            + match self {
                Message::Inline(bytes) => bytes.bytes().len(),
                Message::InlineSync { bytes, .. } => bytes.bytes().len(),
                Message::Whole(data) => data.len(),
                Message::WholeSync(data) => data.len(),
                Message::Fragments { id, .. } => worker
                    .proto()
                    .reassemblies
                    .with(*id, |a| a.buffer.len())
                    .unwrap_or(0),
                Message::Waiting(_) => 0,
            }
    }

    /// Fills a message of `empty`.
    #[inline(always)]
    fn fill(&mut self, content: impl Content) {
        match self {
            Message::Inline(inline) => content.store(inline),
            Message::InlineSync { bytes, .. } => content.store(bytes),
            _ => {}
        }
    }

    /// The bytes of a complete message are not needed any more: returns their buffer in place, and has nothing to drop then.
    /// Returns the synchronous sender that waits for its match.
    #[inline(always)]
    fn give_back(&mut self) -> Option<RequestName> {
        match self {
            Message::Whole(buffer) => {
                buffer.give_back();
                None
            }
            Message::WholeSync(data) => {
                let sender = data.sender();
                data.0.give_back();
                sender
            }
            _ => self.sender(),
        }
    }

    /// The bytes of a complete message.
    #[inline(always)]
    fn bytes(&self) -> Option<&[u8]> {
        match self {
            Message::Inline(bytes) => Some(bytes.bytes()),
            Message::InlineSync { bytes, .. } => Some(bytes.bytes()),
            Message::Whole(data) => Some(data),
            Message::WholeSync(data) => Some(data.bytes()),
            _ => None,
        }
    }

    /// The synchronous sender that waits for the match of a complete message.
    #[inline(always)]
    fn sender(&self) -> Option<RequestName> {
        match self {
            Message::InlineSync { sender, .. } => Some(*sender),
            Message::WholeSync(data) => data.sender(),
            _ => None,
        }
    }

    /// The bytes of a complete message, and the synchronous sender that waits for its match.
    #[inline(always)]
    pub fn here(&self) -> Option<(&[u8], Option<RequestName>)> {
        Some((self.bytes()?, self.sender()))
    }
}

pub struct TagState {
    /// Older than those in `posted`. A message that matches none of the first few, of more, and a receive of another kind spill all
    /// receives but the first to `posted`.
    posted_fifo: PostedFifo,
    /// While it is not empty, `unexpected` is empty. Any use of the unexpected messages but a look at the first and its receive
    /// spills them to `unexpected`.
    unexpected_fifo: UnexpectedFifo,
    /// `ONE` for each receive in `posted` and each message in `unexpected`; with the flag `IN_FIFO` while `unexpected_fifo` is not
    /// empty, `GROWN` while that is longer than at first, `PAUSED` during a receive pause, and `NO_FIFO` where every receive is
    /// one of `posted`.
    waiting: Cell<usize>,
    posted: RefCell<Posted<Req>>,
    unexpected: RefCell<UnexpectedMessages<Message>>,
}

// The flags are in the lowest bits, which instructions have room for.
const IN_FIFO: usize = 1;
const PAUSED: usize = 2;
const NO_FIFO: usize = 4;
const GROWN: usize = 8;
const FLAGS: usize = IN_FIFO | PAUSED | NO_FIFO | GROWN;
const ONE: usize = FLAGS + 1;

/// The bytes of a complete message, wherever they are: they are written where the receive will find them.
trait Content: Copy {
    fn len(self) -> usize;
    /// Writes all of them to a room that is as long.
    fn write(self, room: Room<'_>);
    /// Writes as many as fit.
    fn store<const MAX: usize>(self, to: &mut InlineBytes<MAX>);
}

impl Content for &[u8] {
    #[inline(always)]
    fn len(self) -> usize {
        <[u8]>::len(self)
    }

    #[inline(always)]
    fn write(self, mut room: Room<'_>) {
        room.fill(self.into());
    }

    #[inline(always)]
    fn store<const MAX: usize>(self, to: &mut InlineBytes<MAX>) {
        to.fill(self);
    }
}

impl Content for &Data {
    #[inline(always)]
    fn len(self) -> usize {
        Data::len(self)
    }

    #[inline(always)]
    fn write(self, room: Room<'_>) {
        self.pack(0, room);
    }

    #[inline(always)]
    fn store<const MAX: usize>(self, to: &mut InlineBytes<MAX>) {
        to.fill_by(Data::len(self), |room| self.write(room));
    }
}

/// Makes a complete message, of whose bytes those that stand in the message itself are left to `Message::fill`, and passes it on: one
/// place in the code for each kind, as what is common to several would be written by single bytes and read by words. Inlined, for the
/// reason given at `Buffers::copy`.
#[inline(always)]
fn with_empty<R>(
    buffers: &Buffers,
    content: impl Content,
    sync: Option<RequestName>,
    then: impl FnOnce(Message) -> R,
) -> R {
    let len = content.len();
    let write = |room: Room<'_>| content.write(room);
    match sync {
        None if len <= SMALL_MESSAGE => then(Message::Inline(InlineBytes::empty())),
        None => then(Message::Whole(buffers.filled(len, write))),
        Some(sender) if len <= SMALL_SYNC => then(Message::InlineSync {
            bytes: InlineBytes::empty(),
            sender,
        }),
        Some(sender) => {
            let both = SyncBuffer::filled(buffers, len, write, sender);
            then(Message::WholeSync(both))
        }
    }
}

/// Gives a receive that left the FIFO the operation of other receives.
fn leave_fifo(receive: &PostedReceive) -> Req {
    let data = Data::contig(receive.buffer, receive.capacity);
    // SAFETY: `post_to_fifo` had the handle of the receive, which no message has matched since.
    let req = unsafe { Req::new(receive.request) };
    req.with_op(|op| *op = Op::TagWait(TagWaitOp { data, entry: None }));
    req.set_info(Info::default());
    req
}

/// The entry of a receive in `posted`.
#[inline]
fn entry_of(req: Req) -> Option<EntryId> {
    req.with_op(|op| match op {
        Op::TagWait(wait) => wait.entry,
        _ => None,
    })
}

impl Core {
    #[inline(always)]
    pub fn tag(&self) -> &TagState {
        TagState::of(self)
    }
}

impl TagState {
    #[allow(clippy::new_without_default)]
    pub fn new() -> TagState {
        TagState {
            posted_fifo: PostedFifo::new(),
            unexpected_fifo: UnexpectedFifo::new(),
            waiting: Cell::new(0),
            posted: RefCell::new(Posted::new()),
            unexpected: RefCell::new(UnexpectedMessages::new()),
        }
    }

    /// Whether a receive may be posted to the FIFO: it is not full, nothing else waits, and there is no receive pause.
    #[inline(always)]
    pub fn has_fifo_room(&self) -> bool {
        self.waiting.get() == 0 && !self.posted_fifo.is_full()
    }

    /// Appends an unexpected message of at most `SMALL` bytes to the unexpected FIFO. Returns false when a receive or a message
    /// outside of it waits, or it is full.
    #[inline(always)]
    pub fn push_small(&self, worker: &Core, tag: u64, payload: Payload<'_>) -> bool {
        if self.waiting.get() & !IN_FIFO != 0
            || !self.posted_fifo.is_empty()
            || self.unexpected_fifo.is_full()
        {
            return false;
        }
        tracepoint::tag_unexpected(tag, payload.len());
        self.waiting.set(IN_FIFO);
        self.unexpected_fifo.push_small(tag, payload);
        unexpected::add(worker, unexpected::MESSAGE + payload.len());
        true
    }

    /// Whether a complete message is appended to the unexpected FIFO, which gets longer for it. Apart from `push_small`, which
    /// calls nothing.
    #[inline]
    fn has_unexpected_fifo_room(&self) -> bool {
        self.end_growth();
        if self.waiting.get() & !(IN_FIFO | GROWN) != 0 || !self.posted_fifo.is_empty() {
            return false;
        }
        !self.unexpected_fifo.is_full() || self.grow_unexpected_fifo()
    }

    #[cold]
    fn grow_unexpected_fifo(&self) -> bool {
        let has_room = self.unexpected_fifo.grow();
        if has_room {
            self.waiting.set(self.waiting.get() | GROWN);
        }
        has_room
    }

    /// Makes the unexpected FIFO as short as it was at first, if it is empty.
    #[inline]
    fn end_growth(&self) {
        if self.waiting.get() & (IN_FIFO | GROWN) == GROWN {
            self.unexpected_fifo.shrink();
            self.waiting.set(self.waiting.get() & !GROWN);
        }
    }

    /// Removes the first message of the unexpected FIFO, if `tag` and `mask` match, it has at most `SMALL` bytes, nobody waits
    /// for its match and `take` takes it.
    #[inline(always)]
    pub fn take_small(
        &self,
        worker: &Core,
        tag: u64,
        mask: u64,
        take: impl FnOnce(Payload<'_>) -> bool,
    ) -> Option<Info> {
        let (tag, length) = self.unexpected_fifo.take_small(tag, mask, take)?;
        self.after_take(worker, length);
        Some(Info { tag, length })
    }

    /// A message of some bytes was taken from the unexpected FIFO.
    #[inline(always)]
    fn after_take(&self, worker: &Core, length: usize) {
        self.after_pop();
        unexpected::sub(worker, unexpected::MESSAGE + length);
    }

    /// Moves the messages of the unexpected FIFO to `unexpected`.
    #[inline(always)]
    fn spill_unexpected(&self) {
        if self.waiting.get() & IN_FIFO != 0 {
            self.spill_unexpected_slow();
        }
    }

    #[inline(never)]
    fn spill_unexpected_slow(&self) {
        let mut unexpected = self.unexpected.borrow_mut();
        while let Some((tag, message)) = self.unexpected_fifo.pop() {
            unexpected.push(tag, message);
        }
        self.waiting
            .set((self.waiting.get() & !IN_FIFO) + ONE * unexpected.len());
        self.end_growth();
    }

    /// As `has_fifo_room`, where the FIFO may get longer, for a receive that no message in `unexpected` matches.
    #[inline]
    pub fn makes_fifo_room(&self) -> bool {
        self.end_growth();
        self.waiting.get() & FLAGS == 0
            && self.posted.borrow().is_empty()
            && (!self.posted_fifo.is_full() || self.posted_fifo.grow())
    }

    /// Posts a receive to the FIFO, which `has_fifo_room` or `makes_fifo_room`. Its operation has to be `Op::TagPostedFifo`.
    #[inline(always)]
    pub fn post_to_fifo(&self, receive: PostedReceive) {
        debug_assert!(self.posted.borrow().is_empty() && !self.posted_fifo.is_full());
        self.posted_fifo.push(receive);
    }

    /// Removes the first receive of the FIFO and returns it with the first `len` bytes of its buffer, if a message of `tag`
    /// and as many bytes matches and fits.
    #[inline(always)]
    pub fn take_from_fifo(&self, tag: u64, len: usize) -> Option<(Req, Room<'_>)> {
        let (receive, buffer) = self.posted_fifo.take(tag, len)?;
        // SAFETY: as in `leave_fifo`.
        let req = unsafe { Req::new(receive) };
        // SAFETY: the user's buffer, in which the message fits.
        Some((req, unsafe { Room::new(buffer, len) }))
    }

    /// Bytes of the buffer of a receive in the FIFO.
    pub fn fifo_capacity(&self, req: &Request) -> Option<usize> {
        self.posted_fifo
            .find(req.as_ptr())
            .map(|receive| receive.capacity)
    }

    /// Removes the first receive of the FIFO and gives it the operation of other receives.
    fn pop_fifo(&self) -> Option<Req> {
        self.posted_fifo.pop().map(|receive| leave_fifo(&receive))
    }

    /// Moves all receives of the FIFO but the first to `posted`.
    #[inline(always)]
    fn spill_fifo(&self) {
        if self.posted_fifo.has_second() {
            self.spill_fifo_slow();
        }
    }

    #[inline(never)]
    fn spill_fifo_slow(&self) {
        self.posted_fifo.pop_after_first(|receive| {
            let req = leave_fifo(&receive);
            self.push_posted(receive.tag, receive.mask, req);
        });
    }

    /// Begins or ends a receive pause.
    pub fn set_paused(&self, paused: bool) {
        let waiting = self.waiting.get() & !PAUSED;
        self.waiting
            .set(if paused { waiting | PAUSED } else { waiting });
    }

    /// From now on no receive is posted to the FIFO, which is empty.
    pub fn close_fifo(&self) {
        self.waiting.set(self.waiting.get() | NO_FIFO);
    }

    /// Posts a receive after all others.
    #[inline]
    pub fn post(&self, tag: u64, mask: u64, req: Req) {
        self.spill_fifo();
        self.push_posted(tag, mask, req);
    }

    #[inline(always)]
    fn push_posted(&self, tag: u64, mask: u64, req: Req) {
        self.waiting.set(self.waiting.get() + ONE);
        let entry = self.posted.borrow_mut().post(tag, mask, req);
        req.with_op(|op| {
            if let Op::TagWait(wait) = op {
                wait.entry = Some(entry);
            }
        });
    }

    /// Whether any receive is posted.
    #[inline(always)]
    pub fn has_posted(&self) -> bool {
        !self.posted_fifo.is_empty()
            || (self.waiting.get() >= ONE && !self.posted.borrow().is_empty())
    }

    /// Removes and returns the oldest receive that a message of `tag` matches, of which there is mostly none.
    #[inline(always)]
    pub fn take_posted(&self, tag: u64) -> Option<Req> {
        match self.posted_fifo.bring_forward(tag) {
            Place::First => return self.pop_fifo(),
            Place::Nowhere => {}
            Place::Further => self.spill_fifo(),
        }
        if self.waiting.get() < ONE {
            return None;
        }
        let taken = self.posted.borrow_mut().take(tag)?;
        self.waiting.set(self.waiting.get() - ONE);
        Some(taken)
    }

    /// Removes a receive that no message has matched. Returns whether it was still posted.
    pub fn withdraw(&self, req: Req) -> bool {
        let Some(entry) = entry_of(req).or_else(|| self.entry_of_fifo(req)) else {
            return self.posted_fifo.is_first(req.as_ptr()) && self.pop_fifo().is_some();
        };
        let there = self.posted.borrow_mut().remove(entry).is_some();
        self.waiting
            .set(self.waiting.get() - ONE * usize::from(there));
        there
    }

    /// As `entry_of`, of a receive in the FIFO that is not the first: moves them to `posted`.
    #[cold]
    fn entry_of_fifo(&self, req: Req) -> Option<EntryId> {
        let is_in_fifo = req.with_op(|op| matches!(op, Op::TagPostedFifo));
        if !is_in_fifo || self.posted_fifo.is_first(req.as_ptr()) {
            return None;
        }
        self.spill_fifo();
        entry_of(req)
    }

    /// The oldest unexpected message that a receive of `tag` and `mask` would take, and whether it is complete. The first one of
    /// the unexpected FIFO stays there.
    #[inline]
    pub fn look(&self, tag: u64, mask: u64) -> Option<(Info, bool)> {
        if let Some((tag, message)) = self.unexpected_fifo.look(tag, mask) {
            let length = message.total();
            return Some((Info { tag, length }, true));
        }
        self.spill_unexpected();
        let unexpected = self.unexpected.borrow();
        let (_, tag, message) = unexpected.peek(tag, mask)?;
        let length = message.total();
        Some((Info { tag, length }, message.here().is_some()))
    }

    /// The unexpected messages, to modify. `change` must not call back into the worker.
    #[inline(always)]
    pub fn with_unexpected<R>(
        &self,
        change: impl FnOnce(&mut UnexpectedMessages<Message>) -> R,
    ) -> R {
        self.spill_unexpected();
        let mut unexpected = self.unexpected.borrow_mut();
        let before = unexpected.len();
        let result = change(&mut unexpected);
        self.waiting
            .set(self.waiting.get() - ONE * before + ONE * unexpected.len());
        result
    }

    /// Takes the oldest unexpected message that a receive of `tag` and `mask` matches, with its tag.
    #[inline]
    pub fn take_unexpected(&self, tag: u64, mask: u64) -> Option<(u64, Message)> {
        if self.unexpected_fifo.look(tag, mask).is_none() {
            return self.with_unexpected(|unexpected| unexpected.take(tag, mask));
        }
        let first = self.unexpected_fifo.pop();
        self.after_pop();
        first
    }

    /// The first message of the unexpected FIFO was removed.
    #[inline(always)]
    fn after_pop(&self) {
        if self.unexpected_fifo.is_empty() {
            self.waiting.set(self.waiting.get() & !IN_FIFO);
        }
    }

    /// Stores a complete unexpected message.
    #[inline(always)]
    fn keep_whole(
        &self,
        worker: &Core,
        tag: u64,
        content: impl Content,
        sync: Option<RequestName>,
    ) {
        let len = content.len();
        tracepoint::tag_unexpected(tag, len);
        if self.has_unexpected_fifo_room() {
            self.waiting.set(self.waiting.get() | IN_FIFO);
            self.unexpected_fifo
                .push(tag, &worker.buffers, content, sync);
        } else {
            self.push_to_table(worker, tag, content, sync);
        }
        unexpected::add(worker, unexpected::MESSAGE + len);
    }

    #[inline(never)]
    fn push_to_table(
        &self,
        worker: &Core,
        tag: u64,
        content: impl Content,
        sync: Option<RequestName>,
    ) {
        self.spill_unexpected();
        let make = || with_empty(&worker.buffers, content, sync, |message| message);
        let fill = |message: &mut Message| message.fill(content);
        self.unexpected.borrow_mut().push_filled(tag, make, fill);
        self.waiting.set(self.waiting.get() + ONE);
    }

    /// Receives the oldest unexpected message that a receive of `tag` and `mask` matches, if it is complete and `take` takes its
    /// bytes. Returns `None` if there is no such message, else what it was, and its synchronous sender.
    #[inline(always)]
    pub fn consume(
        &self,
        worker: &Core,
        tag: u64,
        mask: u64,
        take: impl Fn(&[u8]) -> bool,
    ) -> Option<Option<(Info, Option<RequestName>)>> {
        if let Some((tag, length, sync)) = self.unexpected_fifo.take(tag, mask, &take) {
            self.after_take(worker, length);
            return Some(Some((Info { tag, length }, sync)));
        }
        self.spill_unexpected();
        if self.waiting.get() < ONE {
            return None;
        }
        let take = |tag, message: &Message| {
            let bytes = message.bytes()?;
            let length = bytes.len();
            take(bytes).then_some(Info { tag, length })
        };
        let mut sync = None;
        let empty = |message: &mut Message| sync = message.give_back();
        let mut unexpected = self.unexpected.borrow_mut();
        let taken = unexpected.consume(tag, mask, take, empty)?;
        drop(unexpected);
        let Some(info) = taken else {
            return Some(None);
        };
        self.waiting.set(self.waiting.get() - ONE);
        unexpected::sub(worker, unexpected::MESSAGE + info.length);
        Some(Some((info, sync)))
    }

    /// Stores an unexpected message. Inlined, for the reason given at `Buffers::copy`.
    #[inline(always)]
    pub fn keep(&self, worker: &Core, tag: u64, message: Message) -> EntryId {
        tracepoint::tag_unexpected(tag, message.total());
        let cost = message.cost(worker);
        self.spill_unexpected();
        let entry = self.unexpected.borrow_mut().push(tag, message);
        self.waiting.set(self.waiting.get() + ONE);
        unexpected::add(worker, cost);
        entry
    }

    /// Completes every posted receive with `CANCELED`.
    pub fn cancel_all(&self) {
        self.spill_fifo();
        let first = self.pop_fifo();
        let behind = self.posted.borrow_mut().drain();
        self.waiting.set(self.waiting.get() - ONE * behind.len());
        for req in first.into_iter().chain(behind) {
            req.complete(Err(Status::CANCELED));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ucp::buffers::Buffers;
    use crate::wire::id::{EpId, EpName, RequestId};

    #[test]
    fn bytes_that_are_packed_are_kept_whole() {
        let buffers = Buffers::new(&[64, 1024]);
        for len in [0, 1, SMALL_SYNC, SMALL_SYNC + 1, 32, 33, 1000, 9000] {
            let mut bytes: Vec<u8> = (0..len).map(|i| i as u8).collect();
            let data = Data::contig(bytes.as_mut_ptr(), len);
            for sync in [None, Some(RequestName::default())] {
                let message = with_empty(&buffers, &data, sync, |mut message| {
                    message.fill(&data);
                    message
                });
                assert_eq!(message.here(), Some((&bytes[..], sync)));
            }
        }
    }

    #[test]
    fn the_name_of_a_synchronous_sender_comes_back_from_behind_the_bytes() {
        let sender = RequestName {
            ep: EpName {
                uuid: 1,
                id: EpId(2),
            },
            id: RequestId(u64::MAX),
        };
        for buffers in [Buffers::new(&[64, 1024]), Buffers::new(&[])] {
            for len in [0, 17, 40, 41, 1000, 1001, 9000, 20000, 20000] {
                let bytes: Vec<u8> = (0..len).map(|i| i as u8).collect();
                let write = |mut room: Room<'_>| room.fill(bytes.as_slice().into());
                let copied = SyncBuffer::filled(&buffers, len, write, sender);
                let mut pieces = buffers.pieces(len);
                assert_eq!(pieces.append(&bytes, len), Ok(()));
                for kept in [copied, SyncBuffer::of(pieces, sender)] {
                    let message = Message::WholeSync(kept);
                    assert_eq!(message.here(), Some((&bytes[..], Some(sender))));
                    assert_eq!(message.total(), len);
                }
            }
        }
    }
}
