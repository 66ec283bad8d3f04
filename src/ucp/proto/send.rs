//! Sending: eager, as one message or in fragments, or by rendezvous.
//!
//! `start` sends a message of any kind. In the fast case no request is needed: the queue is empty and the transport
//! accepts the message. `SendOp::step` continues a queued send.

use super::{rails, rndv, upstream, zcopy};
use crate::ucp::dt::Data;
use crate::ucp::ep::{Ep, Lane, Rest, ShortRoute, Task, TaskStep};
use crate::ucp::op::{MessageKind, Op, Operation, SendOp, Stage};
use crate::ucp::plan::RndvPolicy;
use crate::ucp::request::{
    Callback, Info, Param, Posted, Req, Request, immediate, must_be_immediate, settle,
};
use crate::ucp::rndv_state::SenderState;
use crate::ucp::worker_core::Core;
use crate::ucs::{Result, Status};
use crate::ucs_debug;
use crate::uct::base::copy::Payload;
use crate::wire::Writer;
use crate::wire::header::{AmId, CUT, FirstAckHdr, FirstHdr, Header, MiddleHdr};
use crate::wire::id::{RequestId, RequestName};
use core::ops::Range;

/// Fragments end at multiples of this: generic datatypes need not be able to unpack half an element. MPICH's are not.
const ELEMENTS: usize = 64;

/// Messages of an endpoint that staging buffers are filled for at a time: of those few are kept.
const COPIED_AHEAD: usize = 8;

/// Sends `data` as a message of `kind`. They are taken only if it does not leave at once: see `Data::describe`.
#[inline]
pub fn start(
    ep: &Ep,
    param: &Param,
    data: &mut Data,
    kind: MessageKind,
    policy: RndvPolicy,
) -> Result<Posted> {
    if policy != RndvPolicy::Always
        && let Some(sent) = try_at_once(ep, &kind, data)
    {
        sent?;
        return immediate(ep.worker(), param, Info::default());
    }
    start_general(ep, param, data.take(), kind, policy)
}

/// The same of a message that does not leave at once.
#[inline(never)]
fn start_general(
    ep: &Ep,
    param: &Param,
    data: Data,
    mut kind: MessageKind,
    policy: RndvPolicy,
) -> Result<Posted> {
    ep.usable()?;
    if kind.names_sender() {
        ep.send_wireup();
    }
    let stage = if ep.is_connected() {
        plan(ep, &kind, &data, policy)
    } else {
        Stage::Unplanned { policy }
    };
    if stage == Stage::Whole && !kind.waits_for_match() && ep.is_clear() {
        if must_be_immediate(param).is_err() {
            data.fetch(0, data.len())?;
        }
        match whole(ep, &kind, &data, RequestName::default()) {
            Ok(()) => {
                drop(data);
                return immediate(ep.worker(), param, Info::default());
            }
            Err(Status::NO_RESOURCE) => {}
            Err(e) => return Err(e),
        }
    }
    must_be_immediate(param)?;
    // The receiver of a first fragment has to learn it when no others follow.
    let in_fragments =
        matches!(stage, Stage::Fragments { .. }) && !matches!(kind, MessageKind::Stream { .. });
    // Upstream's tagged fragments have numbers that need no name; those of active messages name the endpoint.
    let in_fragments =
        in_fragments && (!ep.is_upstream() || matches!(kind, MessageKind::Am { .. }));
    if stage == Stage::Rndv(SenderState::SendRts) || in_fragments {
        ep.send_wireup();
    }
    kind.outlive_call();
    // Such a send calls no pack callback of the user's.
    let past_queue = matches!(stage, Stage::Whole | Stage::Rndv(SenderState::SendRts))
        && matches!(data, Data::Contig { .. });
    let slot = Request::begin(ep.worker(), param)?;
    let op = Op::Send(SendOp {
        ep: ep.to_ref(),
        data,
        kind,
        stage,
        memory: None,
    });
    let req = slot.fill(ep.worker(), op, Callback::None);
    if past_queue {
        match ep.send_past_queue(|| SendOp::step(ep, req)) {
            Some(Ok(TaskStep::Done)) => return settle(req, param),
            Some(Ok(TaskStep::More) | Err(_)) | None => {}
        }
    }
    ep.post(Task::Request(req));
    settle(req, param)
}

/// The header and the data of a message that may be short: the header is a word, the data one block.
#[inline]
fn short_message<'a>(kind: &MessageKind, data: &'a Data) -> Option<(u64, Payload<'a>)> {
    let payload = data.payload()?;
    Some((kind.word()?, payload))
}

/// Tries to send a message as one transport message that nothing holds back.
#[inline]
fn try_at_once(ep: &Ep, kind: &MessageKind, data: &Data) -> Option<Result<()>> {
    let word = kind.word()?;
    match data {
        Data::Iov { .. } => try_list(ep, kind.id(), word, data),
        _ => try_short(ep, kind.id(), word, data.payload()?),
    }
}

/// As `try_short`, of a list. What fits a short message is gathered on the stack.
#[inline(never)]
fn try_list(ep: &Ep, id: AmId, header: u64, data: &Data) -> Option<Result<()>> {
    const HEAD: usize = size_of::<u64>();
    ep.send_queue.short_route(0)?;
    let (len, by) = (data.len(), &ep.lane().thresholds);
    if len >= by.rndv_scattered.min(by.rndv_staged) || !goes_whole::<1>(ep, id, len) {
        return None;
    }
    // Before the message goes: see `whole_at_once`.
    ep.sent.long.eager.add(len);
    let sent = ep.lane().packed(id, HEAD + len, |buffer| {
        buffer.bytes(header.to_le_bytes().as_slice().into());
        buffer.data(data, 0, len);
    });
    match sent {
        Ok(_) => Some(Ok(())),
        Err(e) => {
            ep.sent.long.eager.take_back(len);
            (e != Status::NO_RESOURCE).then_some(Err(e))
        }
    }
}

/// Tries to send a message of an eight-byte header and a payload as one transport message. Most messages are such, and
/// this is their whole path. Returns `None` when the message has to be queued or
/// sent by another protocol.
#[inline]
pub fn try_short(ep: &Ep, id: AmId, header: u64, payload: Payload<'_>) -> Option<Result<()>> {
    let Some(route) = ep.send_queue.short_route(payload.len()) else {
        return try_whole(ep, id, [header], payload);
    };
    try_route(ep, route, id, header, payload)
}

/// As `try_short`, by a control message of a few bytes to any endpoint: its receiver may run within the call. Returns whether it
/// was sent.
pub fn try_control(ep: &Ep, id: AmId, header: u64, payload: Payload<'_>) -> bool {
    if !ep.is_loopback() {
        return try_short(ep, id, header, payload) == Some(Ok(()));
    }
    let Some(route) = ep.send_queue.short_route(payload.len()) else {
        return false;
    };
    ep.send_past_queue(|| try_route(ep, route, id, header, payload)) == Some(Some(Ok(())))
}

/// Sends a short message by the route that the queue has just returned for its length.
#[inline(always)]
fn try_route(
    ep: &Ep,
    route: ShortRoute,
    id: AmId,
    header: u64,
    payload: Payload<'_>,
) -> Option<Result<()>> {
    // SAFETY: the queue's route for this length.
    let code = unsafe { route.send(&ep.sent, id, header, payload.as_ptr(), payload.len()) };
    let error = Status::from_code(code);
    if error.is_some() {
        ep.sent.take_back_short();
    }
    match error {
        None => Some(Ok(())),
        Some(Status::NO_RESOURCE) => None,
        Some(e) => Some(Err(e)),
    }
}

/// As `try_short`, for a message at the head of the queue. Returns `None` for one that is not short.
#[inline]
fn short_in_turn(ep: &Ep, send: &SendOp) -> Option<Result<()>> {
    let (word, payload) = short_message(&send.kind, &send.data)?;
    let route = ep.send_queue.short_route_in_turn(payload.len())?;
    // Without room the message keeps its place.
    Some(try_route(ep, route, send.kind.id(), word, payload).unwrap_or(Err(Status::NO_RESOURCE)))
}

/// As `try_short`, for a message that is longer than a short message and is sent by a buffered copy,
/// after any number of header words.
#[inline]
pub fn try_whole<const WORDS: usize>(
    ep: &Ep,
    id: AmId,
    header: [u64; WORDS],
    payload: Payload<'_>,
) -> Option<Result<()>> {
    ep.send_queue.short_route(0)?;
    whole_at_once(ep, id, header, payload)
}

/// Whether a message of `len` bytes behind some header words is sent by a buffered copy.
#[inline]
pub fn goes_whole<const WORDS: usize>(ep: &Ep, id: AmId, len: usize) -> bool {
    let lane = ep.lane();
    let by = &lane.thresholds;
    let mapped = match id {
        // See `plan`: those are not sent by rendezvous for being mappable.
        AmId::Am => usize::MAX,
        _ => by.rndv_mapped,
    };
    len < by.rndv.min(by.rndv_fast).min(mapped).min(by.zcopy)
        && len <= lane.max_bcopy.saturating_sub(WORDS * size_of::<u64>())
}

/// Sends a message that nothing holds back by a buffered copy, if its length allows.
#[inline(never)]
fn whole_at_once<const WORDS: usize>(
    ep: &Ep,
    id: AmId,
    header: [u64; WORDS],
    payload: Payload<'_>,
) -> Option<Result<()>> {
    let len = payload.len();
    if !goes_whole::<WORDS>(ep, id, len) {
        return None;
    }
    let header = header.map(u64::to_le_bytes);
    let header = header.as_flattened();
    // Before the message goes: its receiver may run within the call, and close the endpoint.
    ep.sent.long.eager.add(len);
    let sent = ep.lane().bcopy(id, |buffer| {
        buffer.bytes(header.into());
        buffer.bytes(payload);
    });
    match sent {
        Ok(_) => Some(Ok(())),
        Err(e) => {
            ep.sent.long.eager.take_back(len);
            (e != Status::NO_RESOURCE).then_some(Err(e))
        }
    }
}

/// Whether devices copy the data, or RDMA devices read them.
#[cold]
#[inline(never)]
fn is_moved_by_devices(ep: &Ep, data: &Data) -> bool {
    let block = data.device_block();
    block.is_some_and(|(_, kind)| {
        ep.device_lane(kind)
            .or_else(|| ep.rdma_lane(kind))
            .is_some()
    })
}

/// Chooses the protocol of a message by its length and the transport's limits.
pub fn plan(ep: &Ep, kind: &MessageKind, data: &Data, policy: RndvPolicy) -> Stage {
    if ep.is_upstream() {
        return upstream::plan(ep, kind, data, policy);
    }
    let lane = ep.lane();
    let (head, len) = (kind.header_len(), data.len());
    let contiguous = data.contiguous().is_some();
    let by_length = match policy {
        RndvPolicy::Never | RndvPolicy::Mapped => usize::MAX,
        RndvPolicy::Always => 0,
        _ if !contiguous && is_moved_by_devices(ep, data) => lane.thresholds.rndv_device,
        RndvPolicy::ByLength
            if !contiguous
                && matches!(kind, MessageKind::Tag { .. } | MessageKind::TagSync { .. })
                && (rndv::mapped::is_stageable(ep, data)
                    || rndv::mapped::goes_by_device_parts(ep, data)) =>
        {
            lane.thresholds.rndv_staged
        }
        _ if !contiguous => lane.thresholds.rndv_scattered,
        RndvPolicy::ByLength => lane.thresholds.rndv,
        RndvPolicy::LongOnly => lane.thresholds.rndv_fast,
    };
    let fits = len <= lane.max_bcopy.saturating_sub(head);
    let mapped_from = match contiguous {
        true => lane.thresholds.rndv_mapped,
        // Extents make the RTS longer, and several copies of one.
        false => (lane.thresholds.rndv_mapped).saturating_add(lane.thresholds.rndv_mapped / 2),
    };
    let maps = match policy {
        _ if len < mapped_from => false,
        // Handlers and streams get a complete message in place: zero-copy saves nothing at the receiver.
        _ if fits && matches!(kind, MessageKind::Am { .. } | MessageKind::Stream { .. }) => false,
        RndvPolicy::ByLength => rndv::mapped::is_mappable(ep, data),
        RndvPolicy::Mapped => rndv::mapped::is_mappable_elsewhere(ep, data),
        _ => false,
    };
    if maps || len >= by_length {
        return Stage::Rndv(SenderState::SendRts);
    }
    if !fits && contiguous && lane.thresholds.no_fragments && policy == RndvPolicy::ByLength {
        return Stage::Rndv(SenderState::SendRts);
    }
    if fits && (len < lane.thresholds.zcopy || !contiguous) {
        Stage::Whole
    } else if len <= lane.max_zcopy.saturating_sub(head)
        && head <= lane.max_zcopy_header
        && data.entries().is_some_and(|n| n <= lane.max_zcopy_entries)
        && len > 0
        && !kind.waits_for_match()
    {
        Stage::WholeInPlace
    } else if fits {
        Stage::Whole
    } else {
        Stage::Fragments {
            message: ep.worker().next_message(),
            offset: 0,
        }
    }
}

impl Operation for SendOp {
    /// A message without a matching receive holds no flush, which could wait for ever. Stream data are fetched without a
    /// receive.
    fn holds_flushes(&self) -> bool {
        matches!(self.kind, MessageKind::Stream { .. })
    }

    fn on_queued(ep: &Ep, req: Req) {
        req.with_op(|op| {
            if let Op::Send(send) = op
                && matches!(send.data, Data::Opaque { .. })
                && !ep.is_loopback()
            {
                copy_ahead(ep, send);
            }
        });
    }

    fn step(ep: &Ep, req: Req) -> Result<TaskStep> {
        // SAFETY: the only borrow: callbacks run after `complete` replaced the operation.
        let Op::Send(send) = (unsafe { req.op() }) else {
            return Ok(TaskStep::Done);
        };
        if let Stage::Unplanned { policy } = send.stage {
            send.stage = plan(ep, &send.kind, &send.data, policy);
        }
        // The request may be over when the transport returns.
        let len = send.data.len();
        match send.stage {
            Stage::Whole => {
                if let Some(result) = short_in_turn(ep, send) {
                    result?;
                    sent(ep, req, send);
                    return Ok(TaskStep::Done);
                }
                let sync = if send.kind.waits_for_match() {
                    ep.name_request(req)
                } else {
                    RequestName::default()
                };
                whole(ep, &send.kind, &send.data, sync)?;
                sent(ep, req, send);
                Ok(TaskStep::Done)
            }
            Stage::WholeInPlace => {
                let mut header = vec![0; send.kind.header_len()];
                send.kind
                    .encode(&mut Writer::new(&mut header), RequestName::default());
                zcopy::send_message(req, ep, send.kind.id(), &header, &send.data)?;
                ep.sent.long.zero_copy.add(len);
                Ok(TaskStep::Done)
            }
            Stage::Fragments { message, .. } if ep.worker().proto().is_shared(message) => {
                let taken = ep.worker().proto().rests.borrow_mut().remove(&message);
                if let Some(mut rest) = taken {
                    if !rest.is_split() {
                        rest = share_rest(ep, rest.message_lane(), len, rest.offset());
                    }
                    if rest.is_split() {
                        begin_next(ep);
                    }
                    let middle = |lane, range| send_middle(ep, lane, send, message, range);
                    if let Err(e) = rest.send(middle) {
                        let mut rests = ep.worker().proto().rests.borrow_mut();
                        rests.insert(message, rest);
                        return Err(e);
                    }
                }
                ep.sent.long.fragments.add(len);
                sent(ep, req, send);
                Ok(TaskStep::Done)
            }
            Stage::Fragments { message, offset } => {
                let mut at = offset;
                while at < len {
                    match send_fragment(ep, req, send, message, at) {
                        Ok(n) => at += n,
                        Err(e) => {
                            send.stage = Stage::Fragments {
                                message,
                                offset: at,
                            };
                            return Err(e);
                        }
                    }
                }
                ep.sent.long.fragments.add(len);
                sent(ep, req, send);
                Ok(TaskStep::Done)
            }
            Stage::Rndv(state) => rndv::sender::step(ep, req, send, state),
            Stage::Unplanned { .. } | Stage::AwaitAck => Ok(TaskStep::Done),
        }
    }

    /// The transport has sent the message, or put the data of a rendezvous.
    fn on_transfers_done(req: Req, result: Result<()>) {
        let in_place = req.with_op(|op| match op {
            Op::Send(send) if send.stage == Stage::WholeInPlace => Some(send.ep),
            _ => None,
        });
        match in_place {
            Some(ep) => ep.sent_in_place(req, result),
            None => rndv::sender::on_put_completed(req, result),
        }
    }

    fn abort(req: Req, status: Status) {
        let message = req.with_op(|op| match op {
            Op::Send(send) => match send.stage {
                Stage::Fragments { message, .. } => Some(message),
                _ => None,
            },
            _ => None,
        });
        if let Some(message) = message {
            req.worker().proto().rests.borrow_mut().remove(&message);
        }
        req.complete(Err(status));
    }

    /// No more fragments of the message follow, or no more data that the peer has requested.
    fn abort_message(uuid: u64, req: Req) -> Option<Task> {
        let stage = req.with_op(|op| match op {
            Op::Send(send) => Some(send.stage),
            _ => None,
        });
        match stage? {
            Stage::Fragments { message, offset } if offset > 0 => {
                let cut = MiddleHdr {
                    uuid,
                    message,
                    offset: CUT,
                };
                Some(Task::control(AmId::Middle, &cut, &[]))
            }
            Stage::Rndv(SenderState::Data { receiver, .. } | SenderState::Put { receiver, .. }) => {
                let end = rndv::sender::data_failed(receiver, Status::CONNECTION_RESET);
                Some(Task::control(AmId::DataFailed, &end, &[]))
            }
            _ => None,
        }
    }
}

/// Has a device copy what is sent next of a message that waits for others.
#[cold]
fn copy_ahead(ep: &Ep, send: &mut SendOp) {
    let length = match send.stage {
        Stage::Rndv(SenderState::SendRts) => return rndv::sender::stage_ahead(ep, send),
        Stage::Whole => send.data.len(),
        // Their turn comes when the first copies are started.
        Stage::Rndv(SenderState::Data { .. }) if rndv::by_parts::is_sending(send) => return,
        Stage::Fragments { offset: 0, .. } | Stage::Rndv(SenderState::Data { offset: 0, .. }) => {
            ep.lane().max_piece
        }
        _ => return,
    };
    if ep.send_queue.with_tasks(|queued, _| queued < COPIED_AHEAD) {
        send.data.prefetch(length);
    }
}

/// A synchronous message was sent.
pub fn wait_for_match(ep: &Ep, req: Req) {
    req.with_op(|op| {
        if let Op::Send(send) = op {
            send.stage = Stage::AwaitAck;
        }
    });
    ep.outstanding.add_message(req);
}

/// The last byte was sent.
fn sent(ep: &Ep, req: Req, send: &mut SendOp) {
    if send.kind.waits_for_match() {
        send.stage = Stage::AwaitAck;
        ep.add_outstanding(req);
    } else {
        req.complete(Ok(()));
    }
}

/// Sends a message as one message.
fn whole(ep: &Ep, kind: &MessageKind, data: &Data, sync: RequestName) -> Result<()> {
    let len = data.len();
    // See `try_whole`.
    ep.sent.long.eager.add(len);
    let sent = if ep.is_upstream() {
        upstream::whole(ep, kind, data, sync.id)
    } else {
        whole_of_ours(ep, kind, data, sync)
    };
    sent.inspect_err(|_| ep.sent.long.eager.take_back(len))
}

fn whole_of_ours(ep: &Ep, kind: &MessageKind, data: &Data, sync: RequestName) -> Result<()> {
    let head = kind.header_len();
    let len = match data {
        // A user's pack function is called once, into existing memory.
        Data::Opaque { .. } => {
            ep.fetch(data, 0, data.len())?;
            usize::MAX
        }
        _ => head + data.len(),
    };
    ep.lane()
        .packed(kind.id(), len, |buffer| {
            // Both fit, as `start` checked.
            buffer.fields(head, |w| kind.encode(w, sync));
            buffer.data(data, 0, data.len());
        })
        .map(drop)
}

/// The part of `room` that holds whole elements.
pub fn whole_elements(room: usize) -> usize {
    if room < ELEMENTS {
        return room;
    }
    room - room % ELEMENTS
}

/// Sends the fragment at `offset`; returns the bytes of data in it.
fn send_fragment(ep: &Ep, req: Req, send: &SendOp, message: u64, offset: usize) -> Result<usize> {
    if ep.is_upstream() {
        return upstream::fragment(ep, req, send, message, offset);
    }
    let uuid = ep.worker().uuid;
    let total = send.data.len();
    if let MessageKind::Stream { hdr } = &send.kind {
        // Stream messages have no boundaries.
        return send_body(ep, AmId::Stream, hdr, &send.data, offset, usize::MAX);
    }
    if offset == 0 {
        let head = FirstHdr::LEN + send.kind.header_len();
        let sync = if send.kind.waits_for_match() {
            ep.name_request(req)
        } else {
            RequestName::default()
        };
        // Only when the receiver knows the message may fragments come by other lanes.
        let asks = may_go_by_rails(ep, send);
        if asks {
            rails::open(ep);
        }
        let first = FirstHdr {
            uuid,
            message,
            total: total as u64,
            ep: ep.name_for_peers().id,
            request: if asks { req.id() } else { RequestId::NONE },
            kind: send.kind.id() as u8,
        };
        let room = whole_elements((ep.lane().max_piece - head).min(piece_of(total)));
        ep.fetch(&send.data, 0, room)?;
        let n = ep.lane().bcopy(AmId::First, |buffer| {
            buffer.fields(head, |w| {
                first.encode(w);
                send.kind.encode(w, sync);
            });
            buffer.data(&send.data, 0, room);
        })?;
        return Ok(n - head);
    }
    let head = MiddleHdr {
        uuid,
        message,
        offset: offset as u64,
    };
    let most = whole_elements(piece_of(total));
    send_body(ep, AmId::Middle, &head, &send.data, offset, most)
}

/// The length of the pieces of a message, where the transport takes such. Its receiver copies one out while the next is copied
/// in, and to send and receive one costs about as much as to copy some KiB, so pieces grow with the root of the length.
fn piece_of(total: usize) -> usize {
    const COST: usize = 4 << 10;
    total.saturating_mul(COST).isqrt()
}

/// Sends a later fragment of a message by any lane.
fn send_middle(
    ep: &Ep,
    lane: Lane,
    send: &SendOp,
    message: u64,
    range: Range<usize>,
) -> Result<usize> {
    let head = MiddleHdr {
        uuid: ep.worker().uuid,
        message,
        offset: range.start as u64,
    };
    let room = whole_elements(ep.max_piece(lane) - MiddleHdr::LEN).min(range.len());
    ep.fetch(&send.data, range.start, room)?;
    let n = lane.bcopy(AmId::Middle, MiddleHdr::LEN + room, |buffer| {
        buffer.header(&head);
        buffer.data(&send.data, range.start, room);
    })?;
    Ok(n - MiddleHdr::LEN)
}

/// The receiver of a first fragment knows the message: rails share what is left.
pub fn on_first_ack(worker: &Core, hdr: &FirstAckHdr) {
    let Some(req) = worker.requests().named(hdr.request) else {
        ucs_debug!("a first fragment of a message that is sent was acknowledged");
        return;
    };
    let found = req.with_op(|op| match op {
        Op::Send(send) => match send.stage {
            Stage::Fragments { message, offset } => {
                Some((send.ep, message, offset, send.data.len()))
            }
            _ => None,
        },
        _ => None,
    });
    let Some((ep, message, offset, len)) = found else {
        return;
    };
    let Some(lane) = ep.message_lane() else {
        return;
    };
    if offset > 0 {
        let rest = share_rest(&ep, lane, len, offset);
        worker.proto().rests.borrow_mut().insert(message, rest);
    }
}

/// What is left of a message of `len` bytes from an offset on, by the lanes that are connected now.
fn share_rest(ep: &Ep, lane: Lane, len: usize, offset: usize) -> Rest {
    let mut rest = Rest::new(rails::parts(ep, lane, ep.worker().proto().rails.eager, len));
    rest.skip(offset);
    rest
}

/// Whether fragments of a message may go by rails, if there are any.
fn may_go_by_rails(ep: &Ep, send: &SendOp) -> bool {
    ep.worker().proto().rails.eager.may_split(send.data.len())
        && rails::carry_messages(ep)
        && !matches!(send.data, Data::Opaque { .. })
        && !matches!(send.kind, MessageKind::Stream { .. })
}

/// Sends the first fragment of the message that is queued next, so that its receiver has acknowledged it when its turn
/// comes, and the rails need not wait.
fn begin_next(ep: &Ep) {
    let next = ep.send_queue.with_tasks(|_, tasks| match tasks.next() {
        Some(Task::Request(req)) => Some(*req),
        _ => None,
    });
    let Some(req) = next else {
        return;
    };
    req.with_op(|op| {
        if let Op::Send(send) = op
            && let Stage::Fragments { message, offset: 0 } = send.stage
            && may_go_by_rails(ep, send)
            // Without room, or if it fails, the message begins when its turn comes.
            && let Ok(offset) = send_fragment(ep, req, send, message, 0)
        {
            send.stage = Stage::Fragments { message, offset };
        }
    });
}

/// Sends a header and as much data as fits, at most `limit` bytes. Returns the number of data bytes.
pub fn send_body<H: Header>(
    ep: &Ep,
    id: AmId,
    head: &H,
    data: &Data,
    offset: usize,
    limit: usize,
) -> Result<usize> {
    let room = whole_elements(ep.lane().max_piece - H::LEN).min(limit);
    ep.fetch(data, offset, room)?;
    let n = ep.lane().bcopy(id, |buffer| {
        buffer.header(head);
        buffer.data(data, offset, room);
    })?;
    Ok(n - H::LEN)
}

/// Sends a message of the peer's dialect: a header of `head` bytes, of `data` from an offset on at most as many bytes as
/// given, and `end`, all of which fit. Returns the number of data bytes.
pub fn pack_and_send(
    ep: &Ep,
    id: u8,
    (head, encode): (usize, impl Fn(&mut Writer<'_>)),
    (data, offset, most): (&Data, usize, usize),
    end: &[&[u8]],
) -> Result<usize> {
    let around = head + end.iter().map(|part| part.len()).sum::<usize>();
    if around + most > ep.lane().max_bcopy {
        return Err(Status::EXCEEDS_LIMIT);
    }
    ep.fetch(data, offset, most)?;
    let sent = ep.lane().bcopy_as(id, |buffer| {
        buffer.fields(head, |w| encode(w));
        buffer.data(data, offset, most);
        for part in end {
            buffer.bytes((*part).into());
        }
    })?;
    Ok(sent - around)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_message_has_more_and_longer_pieces() {
        for (total, piece) in [
            (16 << 10, 8 << 10),
            (256 << 10, 32 << 10),
            (1 << 20, 64 << 10),
        ] {
            assert_eq!(piece_of(total), piece);
        }
        assert!(piece_of(usize::MAX) > 64 << 10);
    }
}
