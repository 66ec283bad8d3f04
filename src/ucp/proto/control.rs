//! Control messages: small, made by the library, sent in order with everything else of an endpoint.
#![forbid(unsafe_code)]

use super::send;
use crate::ucp::ep::{Ep, Task};
use crate::ucp::request::Req;
use crate::ucp::worker_core::Core;
use crate::ucs::{Result, Status};
use crate::uct::base::copy::SMALL;
use crate::wire::Writer;
use crate::wire::header::{AckHdr, AmId, Header};
use crate::{ucs_debug, ucs_error};

/// The request that an acknowledgement names, unless it is over, and the result.
pub fn acknowledged(worker: &Core, ack: &AckHdr) -> Option<(Req, Result<()>)> {
    let Some(req) = worker.requests().named(ack.request) else {
        ucs_debug!("an acknowledgement for a request that is over");
        return None;
    };
    Some((req, Status::from_code(ack.status as i8).map_or(Ok(()), Err)))
}

/// The request that an acknowledgement names does not wait for one.
pub fn stray_ack() {
    ucs_error!("an acknowledgement that nothing waits for; dropped");
}

/// Posts a control message. A header of a few bytes without `rest` is sent as a short message if the route is open.
pub fn post<H: Header>(ep: &Ep, id: AmId, header: &H, rest: &[u8]) {
    const WORD: usize = size_of::<u64>();
    if rest.is_empty() && (WORD..=WORD + SMALL).contains(&H::LEN) {
        let mut bytes = [0; WORD + SMALL];
        header.encode(&mut Writer::new(&mut bytes));
        let (word, tail) = bytes[..H::LEN].split_at(WORD);
        let word = word.try_into().map_or(0, u64::from_le_bytes);
        if send::try_control(ep, id, word, tail.into()) {
            return;
        }
    }
    ep.post(Task::control(id, header, rest));
}
