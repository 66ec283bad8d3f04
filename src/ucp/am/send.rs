//! Sending active messages.
#![forbid(unsafe_code)]

use super::recv;
use crate::c::*;
use crate::ucp::dt::Data;
use crate::ucp::ep::Ep;
use crate::ucp::op::{MessageKind, UserHeader};
use crate::ucp::plan::RndvPolicy;
use crate::ucp::proto::{own, send};
use crate::ucp::request::{Callback, Param, Posted, Request, must_be_immediate, settle};
use crate::ucs::{Result, Status};
use crate::ucs_error;
use crate::uct::base::copy::Payload;
use crate::wire::header::{AM_REPLY, AmHdr, AmReplyHdr};

/// The header of a message without user header and reply endpoint; `None` for an id of more than 16 bits.
#[inline]
pub fn plain_header(id: u32) -> Option<AmHdr> {
    Some(AmHdr {
        header: 0,
        id: u16::try_from(id).ok()?,
        flags: 0,
        unused: 0,
    })
}

/// Sends `data` to the handler `id` of the peer. `INVALID_PARAM` for an id or a header that is too
/// large. The header is kept until the operation ends, or until this returns with `COPY_HEADER`.
pub fn post(
    ep: &Ep,
    param: &Param,
    id: u32,
    header: Payload<'static>,
    mut data: Data,
) -> Result<Posted> {
    let (header_len, limit) = (header.len(), ep.max_am_header());
    if header_len > limit {
        ucs_error!("an active message header of {header_len} bytes is over the limit of {limit}");
        return Err(Status::INVALID_PARAM);
    }
    let Some(plain) = plain_header(id) else {
        ucs_error!("active message id {id} is over the limit of {}", u16::MAX);
        return Err(Status::INVALID_PARAM);
    };
    let wants = |flag| param.flags & flag != 0;
    let reply = wants(UCP_AM_SEND_FLAG_REPLY).then(|| AmReplyHdr {
        ep: ep.name_for_peers(),
    });
    let hdr = AmHdr {
        header: header_len as u32,
        flags: if reply.is_some() { AM_REPLY } else { 0 },
        ..plain
    };
    let kind = |bytes, copy| MessageKind::Am {
        hdr,
        reply,
        header: UserHeader::Theirs { bytes, copy },
    };
    let policy = rndv_policy(param);
    let whole = kind(header, wants(UCP_AM_SEND_FLAG_COPY_HEADER));
    let Some(buffer) = own::waits_here(ep, &whole, &data, policy) else {
        return send::start(ep, param, &mut data, whole, policy);
    };
    must_be_immediate(param)?;
    let slot = Request::begin(ep.worker(), param)?;
    // The handler gets the header now.
    let none = Payload::from(&[][..]);
    let op = own::operation(ep, buffer, kind(none, false));
    let req = slot.fill(ep.worker(), op, Callback::None);
    let message = own::wait(ep, req, buffer.1);
    ep.tell_itself(|worker| recv::on_own_send(worker, hdr.id, reply, header.bytes(), message));
    settle(req, param)
}

/// When a message with these attributes is sent by rendezvous.
pub fn rndv_policy(param: &Param) -> RndvPolicy {
    let wants = |flag| param.flags & flag != 0;
    if wants(UCP_AM_SEND_FLAG_EAGER) {
        RndvPolicy::Never
    } else if wants(UCP_AM_SEND_FLAG_RNDV) {
        RndvPolicy::Always
    } else {
        param.rndv_policy()
    }
}
