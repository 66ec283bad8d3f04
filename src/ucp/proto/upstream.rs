//! The writing of messages to processes of upstream UCX: tagged and active messages, whole or in fragments, and streams.
#![forbid(unsafe_code)]

use super::send::{pack_and_send, whole_elements};
use crate::ucp::dt::Data;
use crate::ucp::ep::Ep;
use crate::ucp::op::{MessageKind, SendOp, Stage};
use crate::ucs::{Result, Status};
use crate::ucs_error;
use crate::wire::Writer;
use crate::wire::header::AmHdr;
use crate::wire::upstream::message::{
    AM, AM_FIRST, AM_MIDDLE, AM_WITH_REPLY, Am, AmFirst, AmMiddle, EAGER, EAGER_FIRST,
    EAGER_MIDDLE, Eager, EagerFirst, EagerMiddle, REPLY_LEN, STREAM, Stream,
};

/// `UNSUPPORTED` for a message that cannot be sent.
pub fn check(kind: &MessageKind) -> Result<()> {
    match kind {
        MessageKind::TagSync { .. } => {
            ucs_error!("synchronous tagged messages cannot be sent to processes of upstream UCX");
            Err(Status::UNSUPPORTED)
        }
        _ => Ok(()),
    }
}

/// Chooses the protocol: messages of any length are sent at once, without a word of the receiver.
pub fn plan(ep: &Ep, kind: &MessageKind, data: &Data) -> Stage {
    let around = match kind {
        MessageKind::Am { reply, header, .. } => {
            let reply = if reply.is_some() { REPLY_LEN } else { 0 };
            Am::LEN + header.bytes().len() + reply
        }
        MessageKind::Stream { .. } => Stream::LEN,
        MessageKind::Tag { .. } | MessageKind::TagSync { .. } => Eager::LEN,
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

/// Sends a message as one message.
pub fn whole(ep: &Ep, kind: &MessageKind, data: &Data) -> Result<()> {
    let part = (data, 0, data.len());
    match kind {
        MessageKind::Tag { tag } | MessageKind::TagSync { tag } => {
            let header = Eager { tag: *tag };
            let head = (Eager::LEN, |w: &mut Writer<'_>| header.encode(w));
            pack_and_send(ep, EAGER, head, part, &[])
        }
        MessageKind::Am { hdr, reply, header } => {
            let am = am(hdr, reply.is_some());
            let head = (Am::LEN, |w: &mut Writer<'_>| am.encode(w));
            match reply {
                None => pack_and_send(ep, AM, head, part, &[header.bytes()]),
                Some(_) => {
                    let name = ep.upstream_name()?.to_le_bytes();
                    pack_and_send(ep, AM_WITH_REPLY, head, part, &[header.bytes(), &name])
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
    let head = (Stream::LEN, |w: &mut Writer<'_>| header.encode(w));
    pack_and_send(ep, STREAM, head, part, &[])
}

/// Sends the fragment at `offset`; returns the bytes of data in it.
pub fn fragment(ep: &Ep, send: &SendOp, message: u64, offset: usize) -> Result<usize> {
    let total = send.data.len() as u64;
    let part = |around: usize| {
        let room = whole_elements(ep.lane().max_bcopy.saturating_sub(around));
        (&send.data, offset, room)
    };
    match &send.kind {
        MessageKind::Tag { tag } | MessageKind::TagSync { tag } if offset == 0 => {
            let first = EagerFirst {
                tag: *tag,
                total,
                message,
            };
            let head = (EagerFirst::LEN, |w: &mut Writer<'_>| first.encode(w));
            pack_and_send(ep, EAGER_FIRST, head, part(EagerFirst::LEN), &[])
        }
        MessageKind::Tag { .. } | MessageKind::TagSync { .. } => {
            let offset = offset as u64;
            let middle = EagerMiddle { message, offset };
            let head = (EagerMiddle::LEN, |w: &mut Writer<'_>| middle.encode(w));
            pack_and_send(ep, EAGER_MIDDLE, head, part(EagerMiddle::LEN), &[])
        }
        MessageKind::Am { hdr, reply, header } if offset == 0 => {
            let am = am(hdr, reply.is_some());
            let head = (Am::LEN, |w: &mut Writer<'_>| am.encode(w));
            let ep_name = ep.upstream_name()?;
            let end = AmFirst {
                message,
                ep: ep_name,
                total,
            };
            let around = Am::LEN + header.bytes().len() + AmFirst::LEN;
            let end = end.encode();
            pack_and_send(ep, AM_FIRST, head, part(around), &[header.bytes(), &end])
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
