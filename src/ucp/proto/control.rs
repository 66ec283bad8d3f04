//! Control messages: small, made by the library, sent in order with everything else of an endpoint.

use super::send;
use crate::ucp::ep::{Ep, Task};
use crate::uct::base::copy::SMALL;
use crate::wire::Writer;
use crate::wire::header::{AmId, Header};

/// Posts a control message. A header of a few bytes without `rest` is sent as a short message if the route is open.
pub fn post<H: Header>(ep: &Ep, id: AmId, header: &H, rest: &[u8]) {
    const WORD: usize = size_of::<u64>();
    if rest.is_empty() && (WORD..=WORD + SMALL).contains(&H::LEN) && !ep.is_loopback() {
        let mut bytes = [0; WORD + SMALL];
        header.encode(&mut Writer::new(&mut bytes));
        let (word, tail) = bytes.split_at(WORD);
        let word = word.try_into().map_or(0, u64::from_le_bytes);
        // SAFETY: the header's bytes behind its first word.
        let sent = unsafe { send::try_short(ep, id, word, tail.as_ptr(), H::LEN - WORD) };
        if sent == Some(Ok(())) {
            return;
        }
    }
    ep.post(Task::control(id, header, rest));
}
