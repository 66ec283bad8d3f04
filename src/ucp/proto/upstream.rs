//! The writing of messages to processes of upstream UCX: tagged messages, whole or in fragments.
#![forbid(unsafe_code)]

use super::send::{pack_and_send, whole_elements};
use crate::ucp::dt::Data;
use crate::ucp::ep::Ep;
use crate::ucp::op::{MessageKind, SendOp, Stage};
use crate::ucs::{Result, Status};
use crate::ucs_error;
use crate::wire::Writer;
use crate::wire::upstream::message::{
    EAGER, EAGER_FIRST, EAGER_MIDDLE, Eager, EagerFirst, EagerMiddle,
};

/// The tag of a message that can be sent; `UNSUPPORTED` for another kind.
pub fn check(kind: &MessageKind) -> Result<u64> {
    let what = match kind {
        MessageKind::Tag { tag } => return Ok(*tag),
        MessageKind::TagSync { .. } => "synchronous tagged messages",
        MessageKind::Am { .. } => "active messages",
        MessageKind::Stream { .. } => "streams",
    };
    ucs_error!("{what} cannot be sent to processes of upstream UCX: only tagged messages can");
    Err(Status::UNSUPPORTED)
}

/// Chooses the protocol: messages of any length are sent at once, without a word of the receiver.
pub fn plan(ep: &Ep, data: &Data) -> Stage {
    match data.len() <= ep.lane().max_bcopy - Eager::LEN {
        true => Stage::Whole,
        false => Stage::Fragments {
            message: ep.worker().next_message(),
            offset: 0,
        },
    }
}

/// Sends a message as one message.
pub fn whole(ep: &Ep, kind: &MessageKind, data: &Data) -> Result<()> {
    let tag = check(kind)?;
    let header = Eager { tag };
    let all = data.len();
    pack_and_send(ep, EAGER, Eager::LEN, |w| header.encode(w), (data, 0, all)).map(drop)
}

/// Sends the fragment at `offset`; returns the bytes of data in it.
pub fn fragment(ep: &Ep, send: &SendOp, message: u64, offset: usize) -> Result<usize> {
    let tag = check(&send.kind)?;
    if offset > 0 {
        let middle = EagerMiddle {
            message,
            offset: offset as u64,
        };
        return part(ep, send, EAGER_MIDDLE, offset, EagerMiddle::LEN, |w| {
            middle.encode(w);
        });
    }
    let first = EagerFirst {
        tag,
        total: send.data.len() as u64,
        message,
    };
    part(ep, send, EAGER_FIRST, 0, EagerFirst::LEN, |w| {
        first.encode(w)
    })
}

/// Sends a header of `head` bytes and as much data from `offset` on as fits. Returns the number of data bytes.
fn part(
    ep: &Ep,
    send: &SendOp,
    id: u8,
    offset: usize,
    head: usize,
    encode: impl Fn(&mut Writer<'_>),
) -> Result<usize> {
    let room = whole_elements(ep.lane().max_bcopy - head);
    pack_and_send(ep, id, head, encode, (&send.data, offset, room))
}
