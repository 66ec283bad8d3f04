//! Sending by tag.
#![forbid(unsafe_code)]

use super::{Message, recv};
use crate::ucp::buffers::WHOLE_MAX;
use crate::ucp::dt::Data;
use crate::ucp::ep::{Ep, Task};
use crate::ucp::feature::Feature;
use crate::ucp::op::{MessageKind, Op, SendOp, Stage};
use crate::ucp::plan::RndvPolicy;
use crate::ucp::proto::{own, send};
use crate::ucp::request::{
    Info, Param, Posted, Req, Request, RequestSlot, immediate, must_be_immediate,
};
use crate::ucp::rts::Waiting;
use crate::ucs::Result;
use crate::wire::header::{AmId, Header, TagSyncHdr};
use core::mem::ManuallyDrop;

/// Sends `data` as a tagged message of `kind`; see `send::start`.
pub fn start(
    ep: &Ep,
    param: &Param,
    data: &mut Data,
    kind: MessageKind,
    policy: RndvPolicy,
) -> Result<Posted> {
    let worker = ep.worker();
    if let MessageKind::Tag { tag } = kind
        && policy != RndvPolicy::Always
        && is_list_to_itself(ep, data)
    {
        ep.sent.long.eager.add(data.len());
        recv::on_list(worker, tag, data);
        return immediate(worker, param, Info::default());
    }
    if ep.is_loopback() && ep.delivers_at_once() && matched_here(ep, &kind, data) {
        return immediate(worker, param, Info::default());
    }
    if let Some((tag, buffer)) = waits_here(ep, &kind, data, policy) {
        return send_to_itself(ep, param, buffer, kind, tag);
    }
    send::start(ep, param, data, kind, policy)
}

/// Whether a list goes from the worker to itself without a transport, which would copy it once more, in parts.
fn is_list_to_itself(ep: &Ep, data: &Data) -> bool {
    matches!(data, Data::Iov { .. })
        && ep.tells_itself()
        && data.len() < ep.lane().thresholds.rndv_scattered
        && data.len() <= WHOLE_MAX
        && ep.delivers_at_once()
        && !ep.worker().lacks(Feature::Tag)
}

/// Sends a synchronous message from a contiguous buffer, if it goes as one. Returns `None` when the general path is needed. The
/// request may be over already.
#[inline]
pub fn try_sync(ep: &Ep, (buffer, len): (*mut u8, usize), tag: u64) -> Option<Posted> {
    const WORDS: usize = TagSyncHdr::LEN / size_of::<u64>();
    ep.send_queue.short_route(0)?;
    if !ep.is_wireup_sent() || !send::goes_whole::<WORDS>(ep, AmId::TagSync, len) {
        return None;
    }
    let worker = ep.worker();
    let kind = MessageKind::TagSync { tag };
    let data = ManuallyDrop::new(Data::contig(buffer, len));
    let is_here = ep.tells_itself() && ep.delivers_at_once();
    if is_here && matched_here(ep, &kind, &data) {
        return Some(Posted::Done);
    }
    let slot = RequestSlot::pooled(worker).ok()?;
    slot.begin(worker);
    let req = slot.fill_posted(Op::Send(SendOp {
        ep: ep.to_ref(),
        data: Data::contig(buffer, len),
        kind,
        stage: Stage::Whole,
        memory: None,
    }));
    req.set_info(Info::default());
    if is_here && let Some(payload) = data.payload() {
        let sender = Some(ep.name_request(req));
        ep.sent.long.eager.add(len);
        send::wait_for_match(ep, req);
        recv::on_message(worker, tag, payload.bytes(), sender);
        return Some(Posted::Request(req));
    }
    let sent = ep.send_past_queue(|| send_sync(ep, req, (buffer, len), tag));
    if sent != Some(Ok(())) {
        ep.post(Task::Request(req));
    }
    Some(Posted::Request(req))
}

/// Sends a synchronous message of a request, which then waits for the match. The sender's name is made where it is written: see
/// `bcopy` of the message lane.
#[inline(never)]
fn send_sync(ep: &Ep, req: Req, (buffer, len): (*mut u8, usize), tag: u64) -> Result<()> {
    ep.sent.long.eager.add(len);
    let total = TagSyncHdr::LEN + len;
    let sent = ep.lane().packed(AmId::TagSync, total, move |to| {
        let sender = ep.name_request(req);
        to.header(&TagSyncHdr { tag, sender });
        to.data(&ManuallyDrop::new(Data::contig(buffer, len)), 0, len);
    });
    sent.inspect_err(|_| ep.sent.long.eager.take_back(len))?;
    send::wait_for_match(ep, req);
    Ok(())
}

/// The tag of a message of the worker to itself whose receive will copy it from the buffer of the send, and that.
fn waits_here(
    ep: &Ep,
    kind: &MessageKind,
    data: &Data,
    policy: RndvPolicy,
) -> Option<(u64, (*mut u8, usize))> {
    let (MessageKind::Tag { tag } | MessageKind::TagSync { tag }) = *kind else {
        return None;
    };
    if ep.worker().lacks(Feature::Tag) {
        return None;
    }
    Some((tag, own::waits_here(ep, kind, data, policy)?))
}

/// Adds a message of the worker to itself to its unexpected messages, as no receive matches it.
fn send_to_itself(
    ep: &Ep,
    param: &Param,
    buffer: (*mut u8, usize),
    kind: MessageKind,
    tag: u64,
) -> Result<Posted> {
    must_be_immediate(param)?;
    let worker = ep.worker();
    let slot = Request::begin(worker, param)?;
    let req = slot.fill_waiting(worker, own::operation(ep, buffer, kind), param);
    let message = Message::Waiting(Waiting::Own(own::wait(ep, req, buffer.1)));
    worker.tag().keep(worker, tag, message);
    Ok(Posted::Request(req))
}

/// Copies a message of the worker to itself straight into the receive that it matches. Returns false where none is posted, or
/// messages before it wait.
fn matched_here(ep: &Ep, kind: &MessageKind, data: &Data) -> bool {
    let (MessageKind::Tag { tag } | MessageKind::TagSync { tag }) = *kind else {
        return false;
    };
    let Some(payload) = data.payload() else {
        return false;
    };
    // Before the message goes: its receiver may close the endpoint.
    let len = payload.len();
    let mut matched = false;
    if ep.worker().tag().has_posted() {
        ep.sent.long.eager.add(len);
        ep.tell_itself(|worker| matched = recv::match_posted(worker, tag, payload));
        if !matched {
            ep.sent.long.eager.take_back(len);
        }
    }
    matched
}
