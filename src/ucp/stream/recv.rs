//! Receiving on streams.
//!
//! A receive completes with the bytes that are there, in whole elements, or with a full buffer if it waits for all.
//! Bytes that come while a receive waits are copied directly into its buffer.

use super::rndv;
use crate::ucp::dt::Data;
use crate::ucp::ep::stream_inbox::{Chunk, ChunkBytes, Inbox, KeptMessage, is_requested};
use crate::ucp::ep::{Ep, Pin};
use crate::ucp::feature::Feature;
use crate::ucp::op::{Op, Operation, StreamRecvOp};
use crate::ucp::proto::device_copies;
use crate::ucp::request::{
    Callback, Info, Param, Posted, Req, Request, RequestSlot, immediate, must_be_immediate, settle,
};
use crate::ucp::unexpected;
use crate::ucp::worker_core::Core;
use crate::ucs::{Result, Status};
use crate::uct::base::copy::{Payload, SMALL, copy, copy_small};
use crate::uct::base::memory_copier::PendingCopy;
use crate::uct::internal::Keep;
use crate::wire::header::{AmId, Header, StreamHdr};
use crate::wire::id::{EpId, EpName};
use crate::{ucs_debug, ucs_error};
use core::ffi::c_void;
use core::ptr::NonNull;

/// Messages of so many bytes are better left with the transport until the next receive is posted, as they are then
/// copied directly into its buffer.
const WORTH_A_RECEIVE: usize = 2 << 10;

/// To copy so many bytes that no receive waits for costs less than to keep their message where it is.
const COPIED_MAX: usize = 512;

/// The same once the application has received without a copy: there, the copy would be the only one.
const COPIED_TO_LEND: usize = 192;

/// The longest rest of a message that comes by `on_short` of a transport that can keep messages.
pub const SHORT_MAX: usize = short_max(COPIED_MAX);

const fn short_max(body: usize) -> usize {
    body + StreamHdr::LEN - size_of::<u64>()
}

impl Operation for StreamRecvOp {
    /// A device has copied what was received.
    fn on_transfers_done(req: Req, result: Result<()>) {
        req.complete(result);
    }
}

/// Bytes for a stream; `keep` is what the transport can do for those that no receive waits for.
pub fn on_message(worker: &Core, message: &[u8], keep: Keep) -> Option<()> {
    let (h, body) = StreamHdr::split(message)?;
    let whole = (keep == Keep::InPlace).then_some(message);
    deliver_part(worker, h.ep, body, whole);
    Some(())
}

/// A short message: its first word, and the rest. `None` when it is malformed.
#[inline(always)]
pub fn on_short(worker: &Core, uuid: u64, rest: Payload<'_>) -> Option<()> {
    let (id, body) = rest.split_word()?;
    let id = EpId(u64::from_le(id));
    let name = EpName { uuid, id };
    let sender = worker.last_named(name).filter(|ep| !ep.is_reply_only());
    if !sender.is_some_and(|ep| into_oldest::<true>(ep, body) || keep(ep, body)) {
        deliver(worker, name, body);
    }
    Some(())
}

/// Bytes that go into the oldest receive as they are, only a few (`SHORT`) or any number: whether they did.
#[inline(always)]
fn into_oldest<const SHORT: bool>(ep: &Ep, body: &[u8]) -> bool {
    let (inbox, count) = (&ep.stream, body.len());
    if inbox.available.get() != 0 || count == 0 || (SHORT && count > SMALL) {
        return false;
    }
    let Some(req) = first(inbox) else {
        return false;
    };
    // SAFETY: the only borrow; it ends before the completion. (Lent to a closure, it would cost eight instructions.)
    let Op::StreamRecv(op) = (unsafe { req.op() }) else {
        return false;
    };
    let Data::Contig { ptr, len } = op.data else {
        return false;
    };
    if count > len - op.received || !(op.wait_all || op.unit == 1) {
        return false;
    }
    let (from, to) = (body.as_ptr(), ptr.wrapping_add(op.received));
    // SAFETY: room was checked.
    unsafe {
        match SHORT {
            true => copy_small(from, to, count),
            false => copy(from, to, count),
        }
    };
    op.received += count;
    if !op.wait_all || op.received == len {
        let length = op.received;
        inbox.waiting.pop();
        // Last: its callback may close the endpoint.
        req.complete_plain(Info { tag: 0, length });
    }
    true
}

/// Appends a few bytes to the short queue while no receive waits. Returns whether it did.
#[inline(always)]
fn keep(ep: &Ep, body: &[u8]) -> bool {
    let (inbox, worker) = (&ep.stream, ep.worker());
    let few = (1..=SMALL).contains(&body.len());
    if !few || !inbox.waiting.is_empty() || inbox.broken.get() || !inbox.push_small(body) {
        return false;
    }
    unexpected::add(worker, body.len());
    worker.stream().list(ep);
    true
}

/// Bytes for a stream, by the sender's worker and endpoint.
pub fn deliver(worker: &Core, name: EpName, body: &[u8]) {
    deliver_part(worker, name, body, None);
}

/// The same; they are part of a `message` that may stay where it is.
#[inline(never)]
fn deliver_part(worker: &Core, name: EpName, body: &[u8], message: Option<&[u8]>) {
    let Some(ep) = worker.open_ep_of_peer(name) else {
        ucs_debug!("{} bytes for a stream that is closed; dropped", body.len());
        return;
    };
    if worker.lacks(Feature::Stream) {
        return worker.context().dropped(Feature::Stream);
    }
    if body.is_empty() || ep.stream.broken.get() {
        return;
    }
    let _pin = Pin::new(ep);
    if !into_oldest::<false>(ep, body) {
        let direct = if ep.stream.available.get() == 0 {
            fill_oldest(ep, body)
        } else {
            0
        };
        if direct < body.len() {
            let rest = &body[direct..];
            let copied_max = match worker.stream().lends.get() {
                true => COPIED_TO_LEND,
                false => COPIED_MAX,
            };
            let message = message.filter(|_| rest.len() > copied_max);
            match message.and_then(|message| KeptMessage::keep(worker, message, rest)) {
                Some(kept) => ep.stream.push_chunk(ChunkBytes::InPlace(kept)),
                None => ep.stream.push(rest, &worker.buffers),
            }
            unexpected::add(worker, rest.len());
        }
        serve(ep);
        worker.stream().list(ep);
    }
    if body.len() >= WORTH_A_RECEIVE {
        pause_receive(ep);
    }
}

/// Pauses receiving until the next progress, if no receive waits.
#[inline(never)]
fn pause_receive(ep: &Ep) {
    if ep.stream.waiting.is_empty()
        && let Some(iface) = ep.carrier()
    {
        iface.internal.recv_paused.set(true);
    }
}

/// Direct placement: the buffer for the next bytes of a long message, in the oldest receive, if no other bytes precede
/// them.
pub fn place(worker: &Core, head: StreamHdr, left: usize) -> Option<(NonNull<u8>, usize)> {
    let inbox = &worker.open_ep_of_peer(head.ep)?.stream;
    if inbox.available.get() != 0 || inbox.broken.get() {
        return None;
    }
    first(inbox)?.with_op(|op| {
        let Op::StreamRecv(op) = op else { return None };
        let Data::Contig { ptr, len } = op.data else {
            return None;
        };
        let room = left.min(len - op.received);
        let takes = room > 0 && op.error.is_none() && (op.wait_all || op.unit == 1);
        let at = NonNull::new(ptr.wrapping_add(op.received))?;
        takes.then_some((at, room))
    })
}

/// The next `count` bytes of such a message were placed; `over`: the message is complete.
pub fn placed(worker: &Core, head: StreamHdr, count: usize, over: bool) {
    let Some(ep) = worker.open_ep_of_peer(head.ep) else {
        return;
    };
    let Some(req) = first(&ep.stream) else {
        return;
    };
    let is_full = req.with_op(|op| match op {
        Op::StreamRecv(op) => {
            op.received += count;
            Some(op.received == op.data.len())
        }
        _ => None,
    });
    // A receive that does not wait for all would otherwise complete in the middle of the message.
    if is_full.is_some_and(|full| over || full) {
        let _pin = Pin::new(ep);
        serve(ep);
        pause_receive(ep);
    }
}

/// The receive that waits longest.
fn first(inbox: &Inbox) -> Option<Req> {
    inbox.waiting.oldest()
}

/// How many of `available` bytes a receive takes.
fn share(op: &StreamRecvOp, available: usize) -> usize {
    let wanted = op.data.len() - op.received;
    if op.wait_all {
        wanted.min(available)
    } else {
        let part = match op.unit.is_power_of_two() {
            true => available & (op.unit - 1),
            false => available % op.unit,
        };
        wanted.min(available - part)
    }
}

impl StreamRecvOp {
    /// Puts bytes into the buffer.
    pub(super) fn put(&mut self, bytes: &[u8]) {
        if self.error.is_none() {
            self.error = self.data.unpack_bytes(self.received, bytes).err();
        }
        self.received += bytes.len();
    }

    fn is_done(&self) -> bool {
        self.received > 0
            && match self.wait_all {
                true => self.received == self.data.len(),
                false => self.unit == 1 || self.received.is_multiple_of(self.unit),
            }
    }

    /// Its result when it has enough.
    fn result(&self) -> Result<()> {
        self.error.map_or_else(|| self.data.finish(), Err)
    }

    /// As `result`, but a device may only start to copy.
    fn start_result(&self) -> Result<Option<Box<dyn PendingCopy>>> {
        self.error.map_or_else(|| self.data.start_finish(), Err)
    }

    /// Its result when no more bytes come: a receive that does not wait for all is complete in the middle of a message
    /// too.
    fn aborted_with(&self, why: Status) -> Result<()> {
        if self.is_done() {
            self.result()
        } else {
            Err(why)
        }
    }
}

/// Copies new bytes into the first waiting receive. Returns their number.
fn fill_oldest(ep: &Ep, body: &[u8]) -> usize {
    let Some(req) = first(&ep.stream) else {
        return 0;
    };
    req.with_op(|op| {
        let Op::StreamRecv(op) = op else { return 0 };
        let n = share(op, body.len());
        op.put(&body[..n]);
        n
    })
}

/// Moves `count` bytes from the inbox into a receive's buffer, fewer if a chunk has to be requested from its sender.
fn drain_inbox(ep: &Ep, op: &mut StreamRecvOp, count: usize) {
    let mut left = count;
    loop {
        let taken = ep.stream.take(left, |part| op.put(part));
        unexpected::sub(ep.worker(), taken);
        left -= taken;
        if left == 0 || ep.stream.remote.get() == 0 {
            return;
        }
        let fetched = rndv::copy_first(ep, op, left);
        if fetched == 0 && is_requested(ep.stream.chunks.borrow().front()) {
            return;
        }
        left -= fetched;
    }
}

/// Moves bytes from the inbox to waiting receives, and completes those that have enough.
pub(super) fn serve(ep: &Ep) {
    let inbox = &ep.stream;
    while let Some(req) = first(inbox) {
        let end = req.with_op(|op| {
            let Op::StreamRecv(op) = op else { return None };
            if !op.is_done() {
                let n = share(op, inbox.available.get());
                drain_inbox(ep, op, n);
            }
            op.is_done().then(|| (op.received, op.start_result()))
        });
        let Some((length, result)) = end else { return };
        inbox.waiting.pop();
        req.set_info(Info { tag: 0, length });
        match result {
            Ok(Some(copy)) => device_copies::begin(req, Some(ep), copy),
            result => req.complete(result.map(drop)),
        }
    }
}

/// A contiguous buffer of a receive, not empty; the bytes of an element; whether it has to be full.
#[derive(Clone, Copy)]
pub struct Plain {
    pub buffer: *mut u8,
    pub len: usize,
    pub unit: usize,
    pub wait_all: bool,
}

/// Posts a receive if the inbox is empty and no other receive waits. Returns `None` when the general path is needed, or
/// the request pool is empty.
#[inline(always)]
pub fn post_alone(ep: &Ep, to: Plain) -> Option<Req> {
    let (inbox, worker) = (&ep.stream, ep.worker());
    if inbox.available.get() != 0 || !inbox.waiting.is_empty() || !ep.is_usable() {
        return None;
    }
    let slot = RequestSlot::warm(worker)?;
    let op = Op::StreamRecv(StreamRecvOp {
        ep: ep.to_ref(),
        data: Data::contig(to.buffer, to.len),
        received: 0,
        wait_all: to.wait_all,
        unit: to.unit,
        error: None,
    });
    let req = slot.fill(worker, op, Callback::None);
    inbox.waiting.oldest.set(Some(req));
    Some(req)
}

/// Receives the first message of the short queue, if it has exactly the length of the receive, at most `SMALL`.
#[inline(always)]
pub fn take_small(ep: &Ep, to: Plain) -> bool {
    let (inbox, worker) = (&ep.stream, ep.worker());
    // SAFETY: the user's buffer is as long.
    let taken = inbox.waiting.is_empty() && unsafe { inbox.take_small(to.len, to.buffer) };
    if taken {
        unexpected::sub(worker, to.len);
    }
    taken
}

/// Receives into a contiguous buffer, if that completes the receive. Returns the number of bytes.
pub fn take_plain(ep: &Ep, to: Plain) -> Option<usize> {
    let (inbox, available) = (&ep.stream, ep.stream.available.get());
    let enough = if to.wait_all {
        available >= to.len
    } else {
        available > 0 && to.unit == 1
    };
    if !enough || !inbox.waiting.is_empty() {
        return None;
    }
    let count = available.min(to.len);
    // SAFETY: the user's buffer is as long.
    if !unsafe { inbox.take_plain(count, to.buffer) } {
        return None;
    }
    unexpected::sub(ep.worker(), count);
    Some(count)
}

/// Receives into `data`, of elements of `unit` bytes; returns the bytes of an immediate end.
pub fn post(
    ep: &Ep,
    param: &Param,
    data: Data,
    unit: usize,
    wait_all: bool,
) -> Result<(Posted, usize)> {
    let worker = ep.worker();
    let inbox = &ep.stream;
    if data.is_empty() {
        return Ok((immediate(worker, param, Info::default())?, 0));
    }
    let mut op = StreamRecvOp {
        ep: ep.to_ref(),
        data,
        received: 0,
        wait_all,
        unit: unit.max(1),
        error: None,
    };
    let available = inbox.available.get();
    let now = share(&op, available);
    let enough = if wait_all {
        now == op.data.len()
    } else {
        now > 0
    };
    let now_or_never = must_be_immediate(param);
    if enough && inbox.waiting.is_empty() {
        if now_or_never.is_err() && !rndv::fetch_all(ep) {
            now_or_never?;
        }
        drain_inbox(ep, &mut op, now);
        if let Some(e) = op.error {
            return Err(e);
        }
        if op.is_done() {
            let length = op.received;
            let info = Info { tag: 0, length };
            let copy = match now_or_never {
                Ok(()) => op.start_result()?,
                Err(_) => op.result().map(|()| None)?,
            };
            if let Some(copy) = copy {
                let req = Request::create(worker, param, Op::StreamRecv(op))?;
                req.set_info(info);
                device_copies::begin(req, Some(ep), copy);
                return Ok((settle(req, param)?, length));
            }
            drop(op);
            return Ok((immediate(worker, param, info)?, length));
        }
    }
    ep.usable()?;
    now_or_never?;
    let req = Request::create(worker, param, Op::StreamRecv(op))?;
    inbox.waiting.push(req);
    // A receive in front of it may end, and its callback close the endpoint.
    let _pin = Pin::new(ep);
    serve(ep);
    let length = req.info().length;
    Ok((settle(req, param)?, length))
}

/// Receives the oldest message without a copy. Returns address and length, `None` without a message. `release_buffer`
/// frees it.
pub fn receive_buffer(ep: &Ep) -> Result<Option<(*const u8, usize)>> {
    let inbox = &ep.stream;
    let front = if inbox.waiting.is_empty() {
        rndv::fetch_first(ep);
        inbox.take_front_to(&ep.worker().buffers)
    } else {
        None
    };
    let Some(chunk) = front else {
        ep.usable()?;
        unexpected::resume_if_paused(ep.worker());
        return Ok(None);
    };
    let (at, len) = (chunk.rest().as_ptr(), chunk.rest().len());
    inbox.available.set(inbox.available.get() - len);
    unexpected::sub(ep.worker(), len);
    let Chunk { bytes, .. } = chunk;
    if !ep.worker().stream().lends.replace(true) {
        keep_shorter(ep.worker());
    }
    inbox.lent.borrow_mut().insert(at.addr(), bytes);
    Ok(Some((at, len)))
}

/// Messages of more than `COPIED_TO_LEND` bytes do not come by `on_short` any more, where the transport can keep them.
#[cold]
fn keep_shorter(worker: &Core) {
    for iface in worker.ifaces.iter().map(|iface| iface.internal()) {
        if iface.base.internal.ops.keeps_in_place {
            let most = short_max(COPIED_TO_LEND);
            iface.base.am.shorten(AmId::Stream as u8, most);
        }
    }
}

/// Frees a buffer of `receive_buffer`.
pub fn release_buffer(ep: &Ep, at: *const c_void) {
    if !ep.stream.lent.borrow_mut().remove(at.addr()) {
        ucs_error!("{at:p} is not data of this endpoint's stream");
    }
}

/// Cancels a receive, which completes with the bytes it has.
pub fn cancel(req: Req) {
    // It has all that it gets, and a device copies them.
    if req.is_with_transport() {
        return;
    }
    let end = req.with_op(|op| match op {
        Op::StreamRecv(op) => Some((op.ep, op.received, op.aborted_with(Status::CANCELED))),
        _ => None,
    });
    let Some((ep, length, result)) = end else {
        return;
    };
    let _pin = Pin::new(&ep);
    remove(&ep.stream, req);
    req.set_info(Info { tag: 0, length });
    req.complete(result);
    serve(&ep);
}

fn remove(inbox: &Inbox, req: Req) {
    inbox.waiting.remove(req);
}

/// The endpoint is at its end: so are the receives that wait.
pub fn end(ep: &Ep, status: Status) {
    while let Some(req) = first(&ep.stream) {
        let (length, result) = req.with_op(|op| match op {
            Op::StreamRecv(op) => (op.received, op.aborted_with(status)),
            _ => (0, Err(status)),
        });
        ep.stream.waiting.pop();
        req.set_info(Info { tag: 0, length });
        req.complete(result);
    }
    rndv::drop_all(ep);
}
