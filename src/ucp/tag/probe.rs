//! Looking for a message without receiving it.
#![forbid(unsafe_code)]

use super::recv::TakenMessage;
use crate::ucp::request::Info;
use crate::ucp::unexpected;
use crate::ucp::worker_core::Core;

/// The oldest message that a receive of `tag` and `mask` would take.
pub fn look(worker: &Core, tag: u64, mask: u64) -> Option<Info> {
    let Some((info, _)) = worker.tag().look(tag, mask) else {
        unexpected::resume_if_paused(worker);
        return None;
    };
    Some(info)
}

/// As `look`, and removes the message: no other receive sees it.
pub fn take(worker: &Core, tag: u64, mask: u64) -> Option<(Info, TakenMessage)> {
    let Some((tag, message)) = worker.tag().take_unexpected(tag, mask) else {
        unexpected::resume_if_paused(worker);
        return None;
    };
    let info = Info {
        tag,
        length: message.total(),
    };
    Some((info, TakenMessage { tag, message }))
}
