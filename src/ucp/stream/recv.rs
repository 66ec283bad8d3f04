//! Receiving on streams.

use crate::ucp::worker::Worker;

/// Bytes for a stream.
pub fn data(_worker: &Worker, _message: &[u8]) -> Option<()> {
    None
}
