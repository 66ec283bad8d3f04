//! Receiving by tag: posting, matching, and bringing the data in.
#![forbid(unsafe_code)]

use super::posted_fifo::PostedReceive;
use super::{Content, Message, SyncBuffer};
use crate::c::*;
use crate::ucp::dt::Data;
use crate::ucp::feature::Feature;
use crate::ucp::op::{Arriving, Op, Operation, TagRecvOp, TagWaitOp};
use crate::ucp::proto::postponed;
use crate::ucp::proto::reassembly::{MessageId, Reassembly, Target, empty_reassembly};
use crate::ucp::proto::rndv::receiver;
use crate::ucp::request::{
    Callback, Info, Param, Posted, Req, Request, RequestSlot, ended, must_be_immediate, settle,
};
use crate::ucp::rts::{Rts, Waiting};
use crate::ucp::unexpected;
use crate::ucp::worker_core::Core;
use crate::ucs::tag_match::EntryId;
use crate::ucs::{Result, Status, tracepoint};
use crate::uct::base::copy::{Payload, SMALL};
use crate::uct::base::memory_copier::PendingCopy;
use crate::wire::id::{EpName, RequestName};
use core::mem::ManuallyDrop;

/// Posts a receive, or receives an unexpected message. `info` describes an immediate completion. `data` are taken only if it
/// does not complete at once, as a move stalls: see `Data::describe`.
#[inline]
pub fn post(
    worker: &Core,
    param: &Param,
    data: &mut Data,
    tag: u64,
    mask: u64,
) -> Result<(Posted, Info)> {
    worker.check_process()?;
    if param.mask & UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL != 0 {
        // Only a complete message can be received at once; another stays queued.
        let whole = worker.tag().look(tag, mask);
        if !whole.is_some_and(|(_, is_here)| is_here) {
            return Err(Status::NO_RESOURCE);
        }
    }
    const LATER: u32 = NOT_AT_ONCE | UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL;
    if matches!(data, Data::Iov { .. })
        && param.mask & LATER == 0
        && let Some(info) = take_at_once(worker, data, tag, mask)
    {
        return Ok((Posted::Done, info));
    }
    if let Some((sender_tag, message)) = worker.tag().take_unexpected(tag, mask) {
        return take(worker, param, data.take(), sender_tag, message);
    }
    let slot = Request::begin(worker, param)?;
    let op = Op::TagWait(TagWaitOp {
        data: data.take(),
        entry: None,
    });
    let req = slot.fill_waiting(worker, op, param);
    worker.tag().post(tag, mask, req);
    Ok((Posted::Request(req), Info::default()))
}

/// Posts a receive into a contiguous buffer to the FIFO. Most receives are such, and this is their whole path. Returns
/// `None` when the FIFO cannot be used, or the request pool is empty.
#[inline(always)]
pub fn post_to_fifo(
    worker: &Core,
    (buffer, room): (*mut u8, usize),
    tag: u64,
    mask: u64,
) -> Option<Req> {
    if !worker.tag().has_fifo_room() {
        return None;
    }
    let slot = RequestSlot::warm(worker)?;
    unexpected::begin_unpaused(worker);
    Some(fill_fifo(worker, slot, (buffer, room), tag, mask))
}

/// Makes the request of a receive, which has begun, and appends it to the FIFO, which has room.
#[inline(always)]
fn fill_fifo(
    worker: &Core,
    slot: RequestSlot,
    (buffer, room): (*mut u8, usize),
    tag: u64,
    mask: u64,
) -> Req {
    let req = slot.fill_posted(Op::TagPostedFifo);
    worker.tag().post_to_fifo(PostedReceive {
        request: req.as_ptr(),
        tag,
        mask,
        buffer,
        capacity: room,
    });
    req
}

/// The `UCP_OP_ATTR_*` of a receive that is not to be over at once.
pub const NOT_AT_ONCE: u32 = UCP_OP_ATTR_FLAG_NO_IMM_CMPL | UCP_OP_ATTR_FIELD_REQUEST;

/// How a receive into a contiguous buffer was taken up.
pub enum PlainReceive {
    /// A message was there.
    Done(Info),
    /// None was.
    Posted(Req),
    /// It takes the general path.
    General,
}

/// Receives a complete message that fits a contiguous buffer, else posts the receive behind all others; `given`
/// are the `UCP_OP_ATTR_*`.
#[inline(always)]
pub fn receive_plain(
    worker: &Core,
    given: u32,
    (buffer, len): (*mut u8, usize),
    tag: u64,
    mask: u64,
) -> PlainReceive {
    let state = worker.tag();
    if given & NOT_AT_ONCE != 0 {
        if state.look(tag, mask).is_some() {
            return PlainReceive::General;
        }
        return post_plain(worker, (buffer, len), tag, mask);
    }
    // Nothing of it has to be dropped, which the compiler does not see.
    let data = ManuallyDrop::new(Data::contig(buffer, len));
    match consume(worker, tag, mask, |bytes| data.fill(bytes)) {
        None => post_plain(worker, (buffer, len), tag, mask),
        Some(None) => PlainReceive::General,
        Some(Some(info)) => PlainReceive::Done(info),
    }
}

/// Receives a complete message, if `fill` takes its bytes. Returns `None` if there is no message.
#[inline(always)]
fn consume(
    worker: &Core,
    tag: u64,
    mask: u64,
    fill: impl Fn(&[u8]) -> bool,
) -> Option<Option<Info>> {
    let taken = worker.tag().consume(worker, tag, mask, fill)?;
    if let Some((_, Some(sender))) = taken {
        receiver::send_match(worker, sender);
    }
    Some(taken.map(|(info, _)| info))
}

/// Receives a complete message that fits a list, without taking it out of its place first.
#[inline]
fn take_at_once(worker: &Core, data: &Data, tag: u64, mask: u64) -> Option<Info> {
    consume(worker, tag, mask, |bytes| data.fill(bytes))?
}

/// Posts a receive that no unexpected message matches.
#[inline]
fn post_plain(worker: &Core, (buffer, len): (*mut u8, usize), tag: u64, mask: u64) -> PlainReceive {
    let slot = worker
        .check_process()
        .and_then(|()| RequestSlot::pooled(worker));
    let Ok(slot) = slot else {
        return PlainReceive::General;
    };
    slot.begin(worker);
    if worker.tag().makes_fifo_room() {
        return PlainReceive::Posted(fill_fifo(worker, slot, (buffer, len), tag, mask));
    }
    let req = slot.fill_posted(Op::TagWait(TagWaitOp {
        data: Data::contig(buffer, len),
        entry: None,
    }));
    req.set_info(Info::default());
    worker.tag().post(tag, mask, req);
    PlainReceive::Posted(req)
}

/// Receives an unexpected message.
pub fn take(
    worker: &Core,
    param: &Param,
    data: Data,
    sender_tag: u64,
    message: Message,
) -> Result<(Posted, Info)> {
    unexpected::sub(worker, message.cost(worker));
    let info = Info {
        tag: sender_tag,
        length: message.total(),
    };
    if let Some((bytes, sync)) = message.here() {
        if let Some(sender) = sync {
            receiver::send_match(worker, sender);
        }
        let may_start =
            data.memory_type() != UCS_MEMORY_TYPE_HOST && must_be_immediate(param).is_ok();
        let result = if may_start {
            match start_unpack_whole(&data, bytes) {
                Ok(Some(copy)) => return await_copy(worker, param, data, info, copy),
                ended => ended.map(drop),
            }
        } else {
            unpack_whole(&data, bytes)
        };
        drop(data);
        if !is_told_later(param) {
            return Ok((ended(worker, param, info, result)?, info));
        }
        let req = Request::create(worker, param, Op::None)?;
        req.set_info(info);
        finish(worker, req, param, result);
        return Ok((settle(req, param)?, info));
    }
    let slot = Request::begin(worker, param)?;
    let op = Op::TagRecv(TagRecvOp {
        data,
        arriving: Arriving {
            total: info.length,
            ..Arriving::default()
        },
    });
    let req = slot.fill(worker, op, Callback::None);
    req.set_info(info);
    match message {
        Message::Waiting(message) => postponed::fetch(worker, req, message),
        Message::Fragments { id, .. } => {
            if let Some(result) = adopt(worker, req, id) {
                finish(worker, req, param, result);
            }
        }
        Message::Inline(_)
        | Message::InlineSync { .. }
        | Message::Whole(_)
        | Message::WholeSync(_) => {}
    }
    Ok((settle(req, param)?, info))
}

/// A receive has its message when a device has made its copy.
#[cold]
fn await_copy(
    worker: &Core,
    param: &Param,
    data: Data,
    info: Info,
    copy: Box<dyn PendingCopy>,
) -> Result<(Posted, Info)> {
    let arriving = Arriving::default();
    let req = Request::create(worker, param, Op::TagRecv(TagRecvOp { data, arriving }))?;
    req.set_info(info);
    receiver::complete_after(req, Ok(Some(copy)));
    Ok((settle(req, param)?, info))
}

/// Whether the end of a receive is told after its call, by progress.
fn is_told_later(param: &Param) -> bool {
    let refused = UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
    let asked = refused | UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL;
    param.mask & asked == refused && matches!(param.callback, Callback::TagRecv(..))
}

/// Ends a receive within its call.
fn finish(worker: &Core, req: Req, param: &Param, result: Result<()>) {
    if is_told_later(param) {
        // It has ended: see `Request::free`.
        drop(req.with_op(core::mem::take));
        postponed::end(worker, req, result);
    } else {
        req.complete(result);
    }
}

/// A receive takes over a message that is still coming in. Returns its result if nothing is missing.
fn adopt(worker: &Core, req: Req, id: MessageId) -> Option<Result<()>> {
    let so_far = worker.proto().reassemblies.with(id, |a| {
        a.target = Target::TagRecv(req);
        let here = a.received == a.total;
        (core::mem::take(&mut a.buffer), a.sync, here)
    });
    match so_far {
        Some((bytes, sync, here)) => {
            if let Some(sender) = sync {
                receiver::send_match(worker, sender);
            }
            unpack_fragment(req, 0, &bytes.into_buffer());
            if !here {
                return None;
            }
            worker.proto().reassemblies.remove(id);
            unpacked(req)
        }
        None => Some(Err(Status::CONNECTION_RESET)),
    }
}

impl Operation for TagWaitOp {}

/// Unpacks a fragment into a posted buffer. Keeps the first error; the rest of the message is dropped.
pub fn unpack_fragment(req: Req, offset: usize, body: &[u8]) {
    req.with_op(|op| {
        if let Op::TagRecv(recv) = op
            && recv.arriving.error.is_none()
        {
            let fits = recv.data.len().saturating_sub(offset).min(body.len());
            let unpacked = recv.data.unpack_bytes(offset, &body[..fits]);
            recv.arriving.error = match unpacked {
                Ok(()) if fits < body.len() => Some(Status::MESSAGE_TRUNCATED),
                r => r.err(),
            };
        }
    });
}

/// Copies a whole message into a buffer.
#[inline]
fn unpack_whole(data: &Data, bytes: &[u8]) -> Result<()> {
    unpack_unfinished(data, bytes)?;
    data.finish()
}

/// As `unpack_whole`, but a device may only start to copy.
#[inline]
fn start_unpack_whole(data: &Data, bytes: &[u8]) -> Result<Option<Box<dyn PendingCopy>>> {
    unpack_unfinished(data, bytes)?;
    data.start_finish()
}

#[inline]
fn unpack_unfinished(data: &Data, bytes: &[u8]) -> Result<()> {
    if bytes.len() > data.len() && !matches!(data, Data::Opaque { .. }) {
        return Err(Status::MESSAGE_TRUNCATED);
    }
    data.unpack_bytes(0, bytes)
}

/// Removes the oldest posted receive for a tag, and prepares it for a fragmented or rendezvous message.
#[inline]
fn matched(worker: &Core, tag: u64, total: usize) -> Option<Req> {
    let req = worker.tag().take_posted(tag)?;
    tracepoint::tag_match(tag, total);
    req.with_op(|op| {
        *op = match core::mem::take(op) {
            Op::TagWait(r) => Op::TagRecv(TagRecvOp {
                data: r.data,
                arriving: Arriving {
                    total,
                    ..Arriving::default()
                },
            }),
            other => other,
        }
    });
    req.set_info(Info { tag, length: total });
    Some(req)
}

/// A complete message, as tag and payload. Returns whether more is wanted at once: not when it was for the last posted receive.
/// The messages behind it wait with their senders then, which costs less than to keep them here, and bounds them.
#[inline(always)]
pub fn on_short(worker: &Core, tag: u64, payload: Payload<'_>) -> bool {
    let len = payload.len();
    if len <= SMALL {
        if let Some((req, mut to)) = worker.tag().take_from_fifo(tag, len) {
            tracepoint::tag_match(tag, len);
            to.fill_small(payload);
            req.complete_plain(Info { tag, length: len });
            return worker.tag().has_posted();
        }
        if worker.tag().push_small(worker, tag, payload) {
            return true;
        }
    }
    on_short_slow(worker, tag, payload)
}

#[inline(never)]
fn on_short_slow(worker: &Core, tag: u64, payload: Payload<'_>) -> bool {
    if match_posted(worker, tag, payload) {
        return worker.tag().has_posted();
    }
    keep(worker, tag, payload.bytes(), None);
    true
}

/// Receives a complete message, if a posted receive matches it.
#[inline]
pub fn match_posted(worker: &Core, tag: u64, payload: Payload<'_>) -> bool {
    // `on_short` has tried that for fewer bytes.
    if payload.len() > SMALL && fill_first(worker, tag, payload.bytes(), None) {
        return true;
    }
    worker.tag().has_posted() && match_behind(worker, tag, payload)
}

/// Receives a complete message, if the first receive of the FIFO matches it and has room.
#[inline(always)]
fn fill_first(worker: &Core, tag: u64, bytes: &[u8], sync: Option<RequestName>) -> bool {
    let length = bytes.len();
    let Some((req, to)) = worker.tag().take_from_fifo(tag, length) else {
        return false;
    };
    tracepoint::tag_match(tag, length);
    // Nothing of it has to be dropped, which the compiler does not see.
    ManuallyDrop::new(Data::contig(to.as_mut_ptr(), length)).fill(bytes);
    if let Some(sender) = sync {
        receiver::send_match(worker, sender);
    }
    req.complete_plain(Info { tag, length });
    true
}

/// The same, if it matches another receive than the first.
#[inline(never)]
fn match_behind(worker: &Core, tag: u64, payload: Payload<'_>) -> bool {
    match worker.tag().take_posted(tag) {
        Some(req) => deliver(worker, req, tag, payload.bytes(), None),
        None => return false,
    }
    true
}

/// A complete message.
#[inline(never)]
pub fn on_message(worker: &Core, tag: u64, bytes: &[u8], sync: Option<RequestName>) {
    if fill_first(worker, tag, bytes, sync) {
        return;
    }
    match worker.tag().take_posted(tag) {
        Some(req) => deliver(worker, req, tag, bytes, sync),
        None => keep(worker, tag, bytes, sync),
    }
}

/// A list of the worker to itself, as a complete message: its bytes are gathered where they are received.
pub fn on_list(worker: &Core, tag: u64, list: &Data) {
    let len = list.len();
    if let Some((req, room)) = worker.tag().take_from_fifo(tag, len) {
        tracepoint::tag_match(tag, len);
        list.pack(0, room);
        return req.complete_plain(Info { tag, length: len });
    }
    match worker.tag().take_posted(tag) {
        Some(req) => {
            let packed = worker.buffers.filled(len, |room| list.write(room));
            deliver(worker, req, tag, &packed, None);
        }
        None => worker.tag().keep_whole(worker, tag, list, None),
    }
}

/// A complete message that no receive matches.
#[inline(always)]
fn keep(worker: &Core, tag: u64, bytes: &[u8], sync: Option<RequestName>) {
    if worker.lacks(Feature::Tag) {
        return drop_message(worker, sync);
    }
    worker.tag().keep_whole(worker, tag, bytes, sync);
}

/// A message is dropped, as no call here can receive it; one of a `sender` that waits ends there.
#[cold]
pub fn drop_message(worker: &Core, sender: Option<RequestName>) {
    worker.context().dropped(Feature::Tag);
    if let Some(sender) = sender {
        receiver::send_ack(worker, sender, Err(Status::INVALID_PARAM));
    }
}

/// A complete message that matches a receive.
#[inline(always)]
fn deliver(worker: &Core, req: Req, tag: u64, bytes: &[u8], sync: Option<RequestName>) {
    let length = bytes.len();
    tracepoint::tag_match(tag, length);
    let filled = req.with_op(|op| match op {
        Op::TagWait(r) => r.data.fill(bytes),
        _ => false,
    });
    let info = Info { tag, length };
    if filled {
        if let Some(sender) = sync {
            receiver::send_match(worker, sender);
        }
        return req.complete_plain(info);
    }
    deliver_general(worker, req, info, bytes, sync);
}

/// The same into any buffer.
#[inline(never)]
fn deliver_general(worker: &Core, req: Req, info: Info, bytes: &[u8], sync: Option<RequestName>) {
    let copy = req.with_op(|op| {
        let Op::TagWait(r) = op else {
            return Err(Status::INVALID_PARAM);
        };
        let copy = start_unpack_whole(&r.data, bytes)?;
        if copy.is_some() {
            // The request is matched, and holds its buffer.
            let data = core::mem::replace(&mut r.data, Data::contig(core::ptr::null_mut(), 0));
            let arriving = Arriving::default();
            *op = Op::TagRecv(TagRecvOp { data, arriving });
        }
        Ok(copy)
    });
    req.set_info(info);
    if let Some(sender) = sync {
        receiver::send_match(worker, sender);
    }
    complete_unpacked(req, copy);
}

/// Completes a receive whose bytes are unpacked, when a copy has ended if one was started.
fn complete_unpacked(req: Req, copy: Result<Option<Box<dyn PendingCopy>>>) {
    match copy {
        Ok(None) => req.complete(Ok(())),
        copy => receiver::complete_after(req, copy),
    }
}

/// The first fragment of a message. Returns the reassembly with its target.
pub fn on_first_fragment(
    worker: &Core,
    id: MessageId,
    tag: u64,
    total: usize,
    sync: Option<RequestName>,
) -> Reassembly {
    if let Some(req) = matched(worker, tag, total) {
        if let Some(sender) = sync {
            receiver::send_match(worker, sender);
        }
        return empty_reassembly(total, Target::TagRecv(req));
    }
    if worker.lacks(Feature::Tag) {
        worker.context().dropped(Feature::Tag);
        return Reassembly {
            sync,
            ..empty_reassembly(total, Target::Nowhere)
        };
    }
    let message = Message::Fragments { id, total };
    let entry = worker.tag().keep(worker, tag, message);
    Reassembly {
        sync,
        buffer: worker.buffers.pieces(total),
        ..empty_reassembly(total, Target::TagUnexpected(entry))
    }
}

/// The last fragment of an unexpected message. One that a probe has removed meanwhile stays in the reassemblies until
/// `adopt`.
pub fn complete_unexpected(worker: &Core, id: MessageId, entry: EntryId) {
    worker.tag().with_unexpected(|unexpected| {
        if let Some(m) = unexpected.get_mut(entry)
            && let Some(a) = worker.proto().reassemblies.remove(id)
        {
            *m = match a.sync {
                None => Message::Whole(a.buffer.into_buffer()),
                Some(sender) => Message::WholeSync(SyncBuffer::of(a.buffer, sender)),
            };
        }
    });
}

/// The last fragment of a matched message.
pub fn complete_matched(req: Req) {
    let copy = req.with_op(|op| match op {
        Op::TagRecv(r) => Some((r.arriving.error).map_or_else(|| r.data.start_finish(), Err)),
        _ => None,
    });
    if let Some(copy) = copy {
        complete_unpacked(req, copy);
    }
}

/// The result of a matched message whose fragments are all here; `None` if the receive is over, or completes when a device has made
/// its copy.
fn unpacked(req: Req) -> Option<Result<()>> {
    let copy = req.with_op(|op| match op {
        Op::TagRecv(r) => Some(r.arriving.error.map_or_else(|| r.data.start_finish(), Err)),
        _ => None,
    })?;
    match copy {
        Ok(Some(_)) => {
            receiver::complete_after(req, copy);
            None
        }
        ended => Some(ended.map(drop)),
    }
}

/// The sender of a fragmented message is gone: a matched receive fails, an unexpected message is dropped.
pub fn sender_gone(worker: &Core, message: &Reassembly, status: Status) {
    unexpected::sub(worker, message.out_of_order_cost());
    match message.target {
        Target::TagRecv(req) => req.complete(Err(status)),
        Target::TagUnexpected(entry) => {
            let listed = worker
                .tag()
                .with_unexpected(|unexpected| unexpected.remove(entry).is_some());
            let entry = if listed { unexpected::MESSAGE } else { 0 };
            unexpected::sub(worker, entry + message.buffer.len());
        }
        Target::Am(_) => unexpected::sub(worker, unexpected::MESSAGE + message.buffer.len()),
        Target::Nowhere => {}
    }
}

/// A remote endpoint is gone: the messages that were coming from it end.
pub fn end_messages(worker: &Core, sender: EpName) {
    for message in worker.proto().reassemblies.take_of_ep(sender) {
        sender_gone(worker, &message, Status::CONNECTION_RESET);
    }
}

/// A message waits at its sender.
pub fn on_rts(worker: &Core, tag: u64, message: &Rts) {
    match matched(worker, tag, message.total) {
        Some(req) => receiver::fetch(worker, req, message),
        None if worker.lacks(Feature::Tag) => drop_message(worker, Some(message.sender)),
        None => {
            worker.tag().keep(
                worker,
                tag,
                Message::Waiting(Waiting::Rts(Box::new(message.clone()))),
            );
        }
    }
}

/// Takes a receive back: ends it with CANCELED unless a message has matched it. Returns whether it did.
pub fn cancel(worker: &Core, req: Req) -> bool {
    let waited = worker.tag().withdraw(req);
    if waited {
        req.complete(Err(Status::CANCELED));
    }
    waited
}

/// The message a probe took off the list, as C holds it.
pub struct TakenMessage {
    pub tag: u64,
    pub message: Message,
}

/// Receives a taken message.
pub fn post_taken(
    worker: &Core,
    param: &Param,
    data: Data,
    taken: TakenMessage,
) -> Result<(Posted, Info)> {
    take(worker, param, data, taken.tag, taken.message)
}
