//! Control messages: small, made by the library, sent in order with everything else of an endpoint.

use crate::ucp::ep::{Ep, Task};
use crate::wire::Writer;
use crate::wire::header::{AmId, Header};

/// Posts a header and what follows it.
pub fn post<H: Header>(ep: &Ep, id: AmId, header: &H, rest: &[u8]) {
    let mut bytes = vec![0; H::LEN + rest.len()];
    let mut w = Writer::new(&mut bytes);
    header.encode(&mut w);
    w.bytes(rest);
    ep.post(Task::Control { id, bytes });
}
