//! Receiving active messages.

use crate::ucp::proto::assembly::{Assembly, Target};
use crate::ucp::proto::receive::empty_assembly;
use crate::ucp::proto::rndv::Announced;
use crate::ucp::worker::Worker;

/// A whole message.
pub fn whole(_worker: &Worker, _message: &[u8]) -> Option<()> {
    None
}

/// The first piece of a message: where the pieces go.
pub fn pieces(total: usize, headers: &[u8]) -> Assembly {
    empty_assembly(total, Target::Am(headers.into()))
}

/// A message in pieces is complete.
pub fn assembled(_worker: &Worker, _headers: &[u8], _data: Vec<u8>) {}

/// A message waits at its sender.
pub fn announced(_worker: &Worker, _headers: &[u8], _message: &Announced) -> Option<()> {
    None
}
