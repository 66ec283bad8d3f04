//! The message handlers of the interfaces, one for each kind of message.
//!
//! Every header is decoded with a length check; malformed messages are dropped with a log line. Only active messages and
//! bytes of streams may stay in the transport's memory after their handler has returned (`KEEPING`).

use super::failover::inbound;
use super::feature::Feature;
use super::proto::reassembly::{FragmentOrder, MessageId, Reassembly, Target};
use super::proto::rndv::{by_parts, mapped, receiver, sender};
use super::proto::{control, send};
use super::worker_core::Core;
use super::{am, rma, stream, tag, unexpected, upstream, wireup};
use crate::c::*;
use crate::ucp::rts::{List, Rts};
use crate::ucs::{Result, Status};
use crate::uct::base::copy::Payload;
use crate::uct::internal::{EpochGuard, IfaceBase, Keep, Placing, ShortHandler, UpstreamEvent};
use crate::wire::blob;
use crate::wire::header::*;
use crate::wire::id::{EpName, RequestId};
use crate::{ucs_debug, ucs_error};
use core::ffi::c_void;
use core::ptr::NonNull;
use std::rc::Rc;

type MessageHandler = fn(&Core, &[u8]) -> Option<()>;

/// Every kind of message with its handler.
const HANDLERS: &[(AmId, uct_am_callback_t)] = &[
    (AmId::Wireup, Some(shim::<0>)),
    (AmId::TagOnly, Some(shim::<1>)),
    (AmId::TagSync, Some(shim::<2>)),
    (AmId::First, Some(shim::<3>)),
    (AmId::Middle, Some(shim::<4>)),
    (AmId::Rts, Some(shim::<5>)),
    (AmId::Rtr, Some(shim::<6>)),
    (AmId::Data, Some(shim::<7>)),
    (AmId::SendAck, Some(shim::<8>)),
    (AmId::Am, Some(shim::<9>)),
    (AmId::Stream, Some(shim::<10>)),
    (AmId::Put, Some(shim::<11>)),
    (AmId::Get, Some(shim::<12>)),
    (AmId::GetReply, Some(shim::<13>)),
    (AmId::Amo, Some(shim::<14>)),
    (AmId::AmoReply, Some(shim::<15>)),
    (AmId::Fence, Some(shim::<16>)),
    (AmId::Close, Some(shim::<17>)),
    (AmId::PutDone, Some(shim::<18>)),
    (AmId::DataFailed, Some(shim::<19>)),
    (AmId::FenceAck, Some(shim::<20>)),
    (AmId::FirstAck, Some(shim::<21>)),
    (AmId::Part, Some(shim::<22>)),
    (AmId::PartTaken, Some(shim::<23>)),
    (AmId::Join, Some(shim::<24>)),
    (AmId::Sequenced, Some(shim::<25>)),
    (AmId::SequencedAck, Some(shim::<26>)),
    (AmId::SequencedEnd, Some(shim::<27>)),
    (AmId::EpFailed, Some(shim::<28>)),
];

/// Stands for active messages in descriptors, which have a handler of their own: no number in `BODIES`.
const IN_DESCRIPTOR: usize = HANDLERS.len();

/// The handlers in the order of `HANDLERS`.
const BODIES: [MessageHandler; HANDLERS.len()] = [
    |w, m| {
        wireup::message::on_wireup(w, m);
        Some(())
    },
    |w, m| {
        let (h, body) = TagHdr::split(m)?;
        tag::recv::on_message(w, h.tag, body, None);
        Some(())
    },
    |w, m| {
        let (h, body) = TagSyncHdr::split(m)?;
        tag::recv::on_message(w, h.tag, body, Some(h.sender));
        Some(())
    },
    on_first,
    on_middle,
    on_rts,
    |w, m| {
        let (h, key) = RtrHdr::split(m)?;
        sender::on_rtr(w, &h, key);
        Some(())
    },
    |w, m| {
        let (h, body) = DataHdr::split(m)?;
        receiver::on_data(w, &h, body);
        Some(())
    },
    |w, m| {
        sender::on_send_ack(w, &AckHdr::split(m)?.0);
        Some(())
    },
    |w, m| am::recv::on_passing(w, m),
    |w, m| stream::recv::on_message(w, m, Keep::No),
    |w, m| rma::target::on_put(w, m),
    |w, m| rma::target::on_get(w, m),
    |w, m| rma::software::on_get_reply(w, m),
    |w, m| rma::target::on_amo(w, m),
    |w, m| rma::software::on_amo_reply(w, m),
    |w, m| rma::target::on_fence(w, m),
    |w, m| wireup::close::on_close(w, m),
    |w, m| {
        receiver::on_put_done(w, &PutDoneHdr::split(m)?.0);
        Some(())
    },
    |w, m| {
        receiver::on_data_failed(w, &AckHdr::split(m)?.0);
        Some(())
    },
    |w, m| {
        rma::flush::on_fence_ack(w, &AckHdr::split(m)?.0);
        Some(())
    },
    |w, m| {
        send::on_first_ack(w, &FirstAckHdr::split(m)?.0);
        Some(())
    },
    |w, m| {
        by_parts::on_part(w, &PartHdr::split(m)?.0);
        Some(())
    },
    |w, m| {
        by_parts::on_taken(w, &PartTakenHdr::split(m)?.0);
        Some(())
    },
    inbound::on_join,
    inbound::on_sequenced,
    inbound::on_ack,
    inbound::on_end,
    |w, m| wireup::close::on_ep_failed(w, m),
];

/// How many of the kinds, the first ones, may be numbered messages.
const NUMBERED: usize = 24;

/// Handles a numbered message, whose turn it is.
pub fn deliver(worker: &Core, id: u8, message: &[u8]) -> Option<()> {
    let kinds = &HANDLERS[..NUMBERED];
    let at = kinds.iter().position(|(of, _)| *of as u8 == id)?;
    BODIES[at](worker, message)
}

/// Returns whether more is wanted at once, as a `ShortHandler`; `None` if the message is malformed.
type ShortBody = fn(&Core, u64, Payload<'_>) -> Option<bool>;

/// Handlers of short messages, which come as a word and a rest. They do the same as the others.
const SHORT: [(AmId, ShortHandler); 5] = [
    (AmId::TagOnly, short_shim::<0>),
    (AmId::Stream, short_shim::<1>),
    (AmId::Am, short_shim::<2>),
    (AmId::TagSync, short_shim::<3>),
    (AmId::SendAck, short_shim::<4>),
];

/// The handlers in the order of `SHORT`, and the longest rest that each takes.
const SHORT_BODIES: [(ShortBody, usize); 5] = [
    (
        |w, tag, payload| Some(tag::recv::on_short(w, tag, payload)),
        usize::MAX,
    ),
    (
        |w, word, rest| stream::recv::on_short(w, word, rest).map(|()| true),
        usize::MAX,
    ),
    (
        // SAFETY: a rest of at most `SHORT_MAX` bytes, as stated here.
        |w, word, rest| unsafe { am::recv::on_short(w, word, rest) }.map(|()| true),
        am::recv::SHORT_MAX,
    ),
    (
        |w, tag, rest| {
            w.counters.received_long.add(1);
            let (h, body) = TagSyncHdr::split_rest(tag, rest.bytes())?;
            tag::recv::on_message(w, h.tag, body, Some(h.sender));
            Some(true)
        },
        usize::MAX,
    ),
    (
        |w, request, rest| {
            w.counters.received_long.add(1);
            sender::on_send_ack(w, &AckHdr::split_rest(request, rest.bytes())?.0);
            Some(true)
        },
        usize::MAX,
    ),
];

type KeepingBody = fn(&Core, &[u8], Keep) -> Option<()>;

/// Handlers of messages that may stay where they are. They do the same as the others.
const KEEPING: [(AmId, KeepingBody); 2] = [
    (AmId::Am, |w, m, keep| match keep {
        Keep::No => am::recv::on_passing(w, m),
        _ => am::recv::on_message(w, m, keep).map(drop),
    }),
    (AmId::Stream, stream::recv::on_message),
];

/// Direct placement of long stream messages.
const STREAM_PLACING: Placing = Placing {
    head: StreamHdr::LEN,
    place: place_stream,
    placed: placed_stream,
};

/// Registers the handlers on an interface.
pub fn install(iface: &IfaceBase, worker: &Core) -> Result<()> {
    for (id, cb) in HANDLERS {
        iface.am.set(*id as u8, *cb, argument(worker))?;
    }
    if iface.internal.ops.in_descriptors {
        let keeping = Some(shim::<IN_DESCRIPTOR> as _);
        iface.am.set(AmId::Am as u8, keeping, argument(worker))?;
    }
    let aligned = worker.params.am_alignment <= am::recv::SHORT_ALIGN;
    for ((id, short), (_, most)) in SHORT.into_iter().zip(SHORT_BODIES) {
        let max = match id {
            AmId::Stream if iface.internal.ops.keeps_in_place => stream::recv::SHORT_MAX,
            _ => most,
        };
        let is_served = match id {
            AmId::Am => aligned,
            AmId::Stream => !worker.lacks(Feature::Stream),
            _ => true,
        };
        if is_served {
            iface.am.set_short(id as u8, short, max);
        }
    }
    iface.am.set_placing(AmId::Stream as u8, &STREAM_PLACING);
    iface.am.set_keeping(AmId::Am as u8, keeping::<0>);
    iface.am.set_keeping(AmId::Stream as u8, keeping::<1>);
    Ok(())
}

/// Has an interface accept connections of upstream UCX, whose messages come to the worker.
pub fn install_upstream(iface: &IfaceBase, worker: &Core) {
    let on_upstream = (on_upstream as _, argument(worker));
    iface.internal.on_upstream.set(Some(on_upstream));
}

/// A worker as the handlers get it.
fn argument(worker: &Core) -> *mut c_void {
    core::ptr::from_ref(worker).cast_mut().cast()
}

/// Something has come of upstream UCX.
unsafe fn on_upstream(arg: *mut c_void, event: &UpstreamEvent<'_>) -> Result<()> {
    // SAFETY: as in `shim`.
    upstream::on_event(unsafe { &*arg.cast::<Core>() }, event)
}

/// The entry of handler `N` of `KEEPING`.
unsafe fn keeping<const N: usize>(arg: *mut c_void, message: &[u8], keep: Keep) {
    // SAFETY: as in `shim`.
    let worker = unsafe { &*arg.cast::<Core>() };
    worker.counters.received_long.add(1);
    let (id, handle) = KEEPING[N];
    if handle(worker, message, keep).is_none() {
        malformed(id, message.len());
    }
}

/// Returns the buffer for the next bytes of a stream message.
unsafe fn place_stream(arg: *mut c_void, head: &[u8], left: usize) -> Option<(NonNull<u8>, usize)> {
    // SAFETY: as in `shim`.
    let worker = unsafe { &*arg.cast::<Core>() };
    stream::recv::place(worker, StreamHdr::split(head)?.0, left)
}

/// Bytes of a stream message were placed.
unsafe fn placed_stream(arg: *mut c_void, head: &[u8], count: usize, over: bool) {
    // SAFETY: as in `shim`.
    let worker = unsafe { &*arg.cast::<Core>() };
    if let Some((head, _)) = StreamHdr::split(head) {
        stream::recv::placed(worker, head, count, over);
    }
}

/// The entry of handler `N` of `SHORT`.
unsafe fn short_shim<const N: usize>(arg: *mut c_void, word: u64, rest: Payload<'_>) -> bool {
    // SAFETY: as in `shim`.
    let worker = unsafe { &*arg.cast::<Core>() };
    let length = size_of::<u64>() + rest.len();
    SHORT_BODIES[N].0(worker, u64::from_le(word), rest).unwrap_or_else(|| {
        malformed(SHORT[N].0, length);
        true
    })
}

/// The C entry of handler `N`.
unsafe extern "C" fn shim<const N: usize>(
    arg: *mut c_void,
    data: *mut c_void,
    len: usize,
    _flags: u32,
) -> ucs_status_t {
    // SAFETY: registered by a worker with itself; it outlives its interfaces.
    let worker = unsafe { &*arg.cast::<Core>() };
    worker.counters.received_long.add(1);
    // SAFETY: the transport hands over `len` readable bytes for the time of this call.
    let message = unsafe { core::slice::from_raw_parts(data.cast::<u8>(), len) };
    let kept = match BODIES.get(N) {
        Some(handle) => handle(worker, message).map(|()| false),
        None => am::recv::on_message_in_descriptor(worker, message),
    };
    match kept {
        Some(true) => return UCS_INPROGRESS,
        Some(false) => {}
        None => {
            let (id, _) = HANDLERS.get(N).unwrap_or(&(AmId::Am, None));
            malformed(*id, len);
        }
    }
    UCS_OK
}

#[cold]
#[inline(never)]
fn malformed(id: AmId, len: usize) {
    ucs_error!("{id} of {len} bytes is malformed; dropped");
}

/// The first fragment of a longer message.
fn on_first(worker: &Core, message: &[u8]) -> Option<()> {
    let (h, rest) = FirstHdr::split(message)?;
    let total = usize::try_from(h.total).ok()?;
    let id = (h.uuid, h.message);
    // A number in use: the message in progress keeps its receive.
    if worker.proto().reassemblies.is_known(id) {
        return None;
    }
    let (mut reassembly, body) = match h.kind {
        k if k == AmId::TagOnly as u8 => {
            let (t, body) = TagHdr::split(rest)?;
            (
                tag::recv::on_first_fragment(worker, id, t.tag, total, None),
                body,
            )
        }
        k if k == AmId::TagSync as u8 => {
            let (t, body) = TagSyncHdr::split(rest)?;
            let sync = Some(t.sender);
            (
                tag::recv::on_first_fragment(worker, id, t.tag, total, sync),
                body,
            )
        }
        k if k == AmId::Am as u8 => {
            let (headers, body) = am::recv::split(rest)?;
            (am::recv::on_first_fragment(total, headers), body)
        }
        _ => return None,
    };
    reassembly.ep = h.ep;
    let taken = begin_message(worker, id, reassembly, body);
    let sender = EpName {
        uuid: h.uuid,
        id: h.ep,
    };
    if h.request != RequestId::NONE
        && let Some(ep) = worker.ep_of_peer(sender)
    {
        let request = h.request;
        control::post(ep, AmId::FirstAck, &FirstAckHdr { request }, &[]);
    }
    if h.uuid != worker.uuid && worker.endpoints().pairing.is_unauthenticated(h.uuid) {
        limit_unauthenticated(worker, id);
    }
    taken
}

/// Keeps a message of which the first bytes have come.
pub fn begin_message(
    worker: &Core,
    id: MessageId,
    reassembly: Reassembly,
    body: &[u8],
) -> Option<()> {
    if matches!(reassembly.target, Target::Am(_)) {
        unexpected::add(worker, unexpected::MESSAGE);
    }
    worker.proto().reassemblies.insert(id, reassembly);
    on_fragment(worker, id, 0, body)
}

/// An unauthenticated peer has begun a message: drops an older one if there are too many.
#[cold]
fn limit_unauthenticated(worker: &Core, id: MessageId) {
    let oldest = worker.proto().reassemblies.admit_unauthenticated(id);
    if let Some(oldest) = oldest.filter(|id| worker.endpoints().pairing.is_unauthenticated(id.0))
        && let Some(message) = worker.proto().reassemblies.remove(oldest)
    {
        ucs_debug!(
            "a message of {} bytes by worker {:#x}, which did not introduce itself, is dropped",
            message.total,
            oldest.0
        );
        tag::recv::sender_gone(worker, &message, Status::CONNECTION_RESET);
    }
}

/// A later fragment.
fn on_middle(worker: &Core, message: &[u8]) -> Option<()> {
    let (h, body) = MiddleHdr::split(message)?;
    if h.offset == CUT {
        if let Some(a) = worker.proto().reassemblies.remove((h.uuid, h.message)) {
            tag::recv::sender_gone(worker, &a, Status::CONNECTION_RESET);
        }
        return Some(());
    }
    on_fragment(worker, (h.uuid, h.message), h.offset, body)
}

/// Delivers a fragment whose turn it is, and then those that came out of order; keeps another one.
pub fn on_fragment(worker: &Core, id: MessageId, offset: u64, body: &[u8]) -> Option<()> {
    let reassemblies = &worker.proto().reassemblies;
    let order = reassemblies.with(id, |a| match a.order_of(offset, body.len()) {
        FragmentOrder::OutOfOrder if !a.keep_out_of_order(offset, body) => FragmentOrder::Invalid,
        order => order,
    });
    match order {
        None => ucs_debug!("a fragment of an unknown message; dropped"),
        Some(FragmentOrder::Invalid) => return None,
        Some(FragmentOrder::OutOfOrder) => {
            unexpected::add(worker, unexpected::MESSAGE + body.len())
        }
        Some(FragmentOrder::Next) => {
            deliver_fragment(worker, id, offset, body)?;
            while let Some((offset, body)) = reassemblies.with(id, Reassembly::take_ready).flatten()
            {
                unexpected::sub(worker, unexpected::MESSAGE + body.len());
                deliver_fragment(worker, id, offset, &body)?;
            }
        }
    }
    Some(())
}

/// Delivers a fragment to its target; the last fragment completes the message.
fn deliver_fragment(worker: &Core, id: MessageId, offset: u64, body: &[u8]) -> Option<()> {
    let step = worker.proto().reassemblies.with(id, |a| {
        if a.order_of(offset, body.len()) != FragmentOrder::Next {
            return None;
        }
        a.received += body.len();
        if matches!(a.target, Target::TagUnexpected(_) | Target::Am(_)) && a.keep(body).is_err() {
            return Some((Target::Nowhere, true, 0));
        }
        let last = a.received == a.total;
        // A peer that breaks the rules may have sent some that overlap.
        let left_over = if last { a.take_all_out_of_order() } else { 0 };
        Some((a.target.clone(), last, left_over))
    });
    let Some(step) = step else {
        return Some(());
    };
    let (target, last, left_over) = step?;
    unexpected::sub(worker, left_over);
    if matches!(target, Target::TagUnexpected(_) | Target::Am(_)) {
        unexpected::add(worker, body.len());
    }
    if let Target::TagRecv(req) = target {
        tag::recv::unpack_fragment(req, offset as usize, body);
    }
    if !last {
        return Some(());
    }
    match target {
        Target::TagUnexpected(entry) => tag::recv::complete_unexpected(worker, id, entry),
        Target::TagRecv(req) => {
            worker.proto().reassemblies.remove(id);
            tag::recv::complete_matched(req);
        }
        Target::Am(headers) => {
            if let Some(a) = worker.proto().reassemblies.remove(id) {
                unexpected::sub(worker, unexpected::MESSAGE + a.buffer.len());
                am::recv::reassembled(worker, &headers, a.buffer.into_vec());
            }
        }
        Target::Nowhere => {
            let Some(a) = worker.proto().reassemblies.remove(id) else {
                return Some(());
            };
            if matches!(a.target, Target::Nowhere) {
                tag::recv::drop_message(worker, a.sync);
            } else {
                ucs_error!(
                    "no memory for a message of {} bytes that nobody has received yet: it is lost; \
                     see UCX_UNEXPECTED_MAX_SIZE",
                    a.total
                );
                tag::recv::sender_gone(worker, &a, Status::NO_MEMORY);
            }
        }
    }
    Some(())
}

/// A message that waits at its sender.
fn on_rts(worker: &Core, message: &[u8]) -> Option<()> {
    let (h, rest) = RtsHdr::split(message)?;
    let (key, rest) = rest.split_at_checked(h.key.into())?;
    let (epoch_key, rest) = rest.split_at_checked(h.epoch_key.into())?;
    let (key, extents) = blob::split_first(key);
    let region = mapped::learn_key(worker, h.sender.ep, key);
    let (region, list) = match extents {
        [] => (region, None),
        bytes => {
            let extents = take_extents(bytes, h.total)?;
            (0, (region != 0).then(|| Rc::new(List { region, extents })))
        }
    };
    let what = Rts {
        sender: h.sender,
        total: usize::try_from(h.total).ok()?,
        address: h.address,
        region,
        list,
        guard: (h.epoch_at != 0).then_some(EpochGuard {
            at: h.epoch_at,
            value: h.epoch,
            rkey: 0,
        }),
        epoch_region: mapped::learn_key(worker, h.sender.ep, epoch_key),
    };
    match h.kind {
        k if k == AmId::TagOnly as u8 => {
            tag::recv::on_rts(worker, TagHdr::split(rest)?.0.tag, &what);
        }
        k if k == AmId::TagSync as u8 => {
            tag::recv::on_rts(worker, TagSyncHdr::split(rest)?.0.tag, &what);
        }
        k if k == AmId::Am as u8 => am::recv::on_rts(worker, rest, &what)?,
        k if k == AmId::Stream as u8 => stream::rndv::on_rts(worker, what)?,
        _ => return None,
    }
    Some(())
}
