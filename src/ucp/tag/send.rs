//! Sending by tag.
#![forbid(unsafe_code)]

use super::recv;
use crate::ucp::dt::Data;
use crate::ucp::ep::Ep;
use crate::ucp::op::MessageKind;
use crate::ucp::plan::RndvPolicy;
use crate::ucp::proto::send;
use crate::ucp::request::{Info, Param, Posted, immediate};
use crate::ucs::Result;

/// Sends `data` as a tagged message of `kind`.
pub fn start(
    ep: &Ep,
    param: &Param,
    data: Data,
    kind: MessageKind,
    policy: RndvPolicy,
) -> Result<Posted> {
    let worker = ep.worker();
    if ep.is_loopback() && ep.delivers_at_once() && matched_here(ep, &kind, &data) {
        drop(data);
        return immediate(worker, param, Info::default());
    }
    send::start(ep, param, data, kind, policy)
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
