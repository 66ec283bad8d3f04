//! The writing of messages to processes of upstream UCX: tagged and active messages, whole, in fragments or by rendezvous,
//! and streams.
#![forbid(unsafe_code)]

use super::send::{pack_and_send, whole_elements};
use super::zcopy::Notification;
use crate::ucp::dt::Data;
use crate::ucp::ep::Ep;
use crate::ucp::op::{MessageKind, SendOp, Stage};
use crate::ucp::plan::RndvPolicy;
use crate::ucp::request::Req;
use crate::ucp::rndv_state::SenderState;
use crate::ucs::{Result, Status};
use crate::wire::Writer;
use crate::wire::header::{AmHdr, Header};
use crate::wire::id::RequestId;
use crate::wire::upstream::message::{
    self as wire, AM, AM_FIRST, AM_MIDDLE, AM_WITH_REPLY, ATP, Ack, Am, AmFirst, AmMiddle, DATA,
    EAGER, EAGER_FIRST, EAGER_MIDDLE, Eager, EagerFirst, EagerMiddle, REPLY_LEN, RTS, Rts, STREAM,
    SYNC, SYNC_FIRST, Stream, Sync, SyncFirst,
};

/// Chooses the protocol of a message.
pub fn plan(ep: &Ep, kind: &MessageKind, data: &Data, policy: RndvPolicy) -> Stage {
    let thresholds = &ep.lane().thresholds;
    let by_rendezvous = match policy {
        _ if data.is_empty() || matches!(kind, MessageKind::Stream { .. }) => usize::MAX,
        RndvPolicy::Never | RndvPolicy::Mapped => usize::MAX,
        RndvPolicy::Always => 0,
        RndvPolicy::ByLength => thresholds.rndv,
        RndvPolicy::LongOnly => thresholds.rndv_fast,
    };
    if data.len() >= by_rendezvous {
        return Stage::Rndv(SenderState::SendRts);
    }
    let around = match kind {
        MessageKind::Am { reply, header, .. } => {
            let reply = if reply.is_some() { REPLY_LEN } else { 0 };
            Am::LEN + header.bytes().len() + reply
        }
        MessageKind::Stream { .. } => Stream::LEN,
        MessageKind::Tag { .. } => Eager::LEN,
        MessageKind::TagSync { .. } => Sync::LEN,
    };
    match data.len() <= ep.lane().max_bcopy.saturating_sub(around) {
        true => Stage::Whole,
        false => Stage::Fragments {
            message: ep.worker().next_message(),
            offset: 0,
        },
    }
}

/// The header of an active message.
fn am(hdr: &AmHdr, has_reply: bool) -> Am {
    Am {
        id: hdr.id,
        flags: if has_reply { Am::REPLY } else { 0 },
        header: hdr.header,
    }
}

/// Sends a message as one message; `request` waits for its match if it is synchronous.
pub fn whole(ep: &Ep, kind: &MessageKind, data: &Data, request: RequestId) -> Result<()> {
    let part = (data, 0, data.len());
    match kind {
        MessageKind::Tag { tag } => send_part(ep, EAGER, &Eager { tag: *tag }, part, &[]),
        MessageKind::TagSync { tag } => {
            let header = Sync {
                tag: *tag,
                ep: ep.upstream_name()?,
                request: request.0,
            };
            send_part(ep, SYNC, &header, part, &[])
        }
        MessageKind::Am { hdr, reply, header } => {
            let am = am(hdr, reply.is_some());
            match reply {
                None => send_part(ep, AM, &am, part, &[header.bytes()]),
                Some(_) => {
                    let name = ep.upstream_name()?.to_le_bytes();
                    send_part(ep, AM_WITH_REPLY, &am, part, &[header.bytes(), &name])
                }
            }
        }
        MessageKind::Stream { .. } => stream(ep, part),
    }
    .map(drop)
}

fn stream(ep: &Ep, part: (&Data, usize, usize)) -> Result<usize> {
    let header = Stream {
        ep: ep.upstream_name()?,
    };
    send_part(ep, STREAM, &header, part, &[])
}

/// Sends the fragment at `offset` of the message of a request; returns the bytes of data in it.
pub fn fragment(ep: &Ep, req: Req, send: &SendOp, message: u64, offset: usize) -> Result<usize> {
    let total = send.data.len() as u64;
    let part = |around: usize| {
        let room = whole_elements(ep.lane().max_bcopy.saturating_sub(around));
        (&send.data, offset, room)
    };
    match &send.kind {
        MessageKind::Tag { tag } if offset == 0 => {
            let first = EagerFirst {
                tag: *tag,
                total,
                message,
            };
            send_part(ep, EAGER_FIRST, &first, part(EagerFirst::LEN), &[])
        }
        MessageKind::TagSync { tag } if offset == 0 => {
            let first = SyncFirst {
                tag: *tag,
                total,
                message,
                ep: ep.upstream_name()?,
                request: req.id().0,
            };
            send_part(ep, SYNC_FIRST, &first, part(SyncFirst::LEN), &[])
        }
        MessageKind::Tag { .. } | MessageKind::TagSync { .. } => {
            let offset = offset as u64;
            let middle = EagerMiddle { message, offset };
            send_part(ep, EAGER_MIDDLE, &middle, part(EagerMiddle::LEN), &[])
        }
        MessageKind::Am { hdr, reply, header } if offset == 0 => {
            let am = am(hdr, reply.is_some());
            let ep_name = ep.upstream_name()?;
            let end = AmFirst {
                message,
                ep: ep_name,
                total,
            };
            let around = Am::LEN + header.bytes().len() + AmFirst::LEN;
            let end = end.encode();
            send_part(ep, AM_FIRST, &am, part(around), &[header.bytes(), &end])
        }
        MessageKind::Am { .. } => {
            let middle = AmMiddle {
                offset: offset as u64,
                message,
                ep: ep.upstream_name()?,
            };
            let head = (AmMiddle::HEAD, |w: &mut Writer<'_>| middle.encode(w));
            let around = AmMiddle::HEAD + AmMiddle::END;
            pack_and_send(ep, AM_MIDDLE, head, part(around), &[&middle.end()])
        }
        MessageKind::Stream { .. } => stream(ep, part(Stream::LEN)),
    }
}

/// Sends the RTS of a message. The receiver asks for the data, or for a put: no address and no key lets it read them itself.
pub fn rts(ep: &Ep, req: Req, send: &SendOp) -> Result<()> {
    let (header, kind, end) = match &send.kind {
        MessageKind::Tag { tag } | MessageKind::TagSync { tag } => (*tag, Rts::TAG, &[][..]),
        MessageKind::Am { hdr, reply, header } => {
            (am(hdr, reply.is_some()).word(), Rts::AM, header.bytes())
        }
        MessageKind::Stream { .. } => return Err(Status::UNSUPPORTED),
    };
    let rts = Rts {
        header,
        ep: ep.upstream_name()?,
        request: req.id().0,
        address: 0,
        size: send.data.len() as u64,
        kind,
    };
    send_part(ep, RTS, &rts, (&send.data, 0, 0), &[end]).map(drop)
}

/// Sends a fragment of data that the receiver has requested; returns their number.
pub fn data(
    ep: &Ep,
    send: &SendOp,
    receiver: RequestId,
    offset: usize,
    end: usize,
) -> Result<usize> {
    let header = wire::Data {
        receiver: receiver.0,
        offset: offset as u64,
    };
    let room = whole_elements(ep.lane().max_bcopy.saturating_sub(wire::Data::LEN));
    let part = (&send.data, offset, room.min(end - offset));
    send_part(ep, DATA, &header, part, &[])
}

/// Tells the receiver that so many bytes of the data that it has requested are put.
pub fn put_done(receiver: RequestId, length: u64) -> Notification {
    let done = Ack {
        request: receiver.0,
        status: 0,
    };
    Notification::new(ATP, Ack::LEN + size_of::<u64>(), |w| {
        done.encode(w);
        w.u64(length);
    })
}

/// Sends a message with a header of its own; returns the number of data bytes.
fn send_part<H: Header>(
    ep: &Ep,
    id: u8,
    header: &H,
    part: (&Data, usize, usize),
    end: &[&[u8]],
) -> Result<usize> {
    let head = (H::LEN, |w: &mut Writer<'_>| header.encode(w));
    pack_and_send(ep, id, head, part, end)
}
