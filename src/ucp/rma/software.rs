//! Memory access by messages: the initiator's side.

use crate::ucp::ep::{Ep, Step};
use crate::ucp::request::Request;
use crate::ucp::worker::Worker;
use crate::ucs::Result;
use crate::wire::header::AckHdr;

/// Sends the message of a queued access.
pub fn step(_ep: &Ep, _req: &Request) -> Result<Step> {
    Ok(Step::Done)
}

/// Bytes of a read.
pub fn get_reply(_worker: &Worker, _message: &[u8]) -> Option<()> {
    None
}

/// The result of an atomic.
pub fn amo_reply(_worker: &Worker, _message: &[u8]) -> Option<()> {
    None
}

/// A fence is acknowledged.
pub fn acknowledged(_req: &Request, _ack: &AckHdr) {}
