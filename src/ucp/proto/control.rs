//! Control messages: small, made by the library, sent in order with everything else of an endpoint.

use crate::ucp::ep::{Ep, Task};
use crate::wire::Writer;
use crate::wire::header::{AmId, Header};

/// Posts a header and what follows it.
pub fn post<H: Header>(ep: &Ep, id: AmId, header: &H, rest: &[u8]) {
    ep.post(task(id, header, rest));
}

/// A header and what follows it, to be sent.
pub fn task<H: Header>(id: AmId, header: &H, rest: &[u8]) -> Task {
    let mut bytes = vec![0; H::LEN + rest.len()];
    let mut w = Writer::new(&mut bytes);
    header.encode(&mut w);
    w.bytes(rest);
    Task::Control { id, bytes }
}
