//! Streams: bytes in order between two endpoints.

pub mod recv;

use super::ep::Ep;

/// What came for each endpoint and was not taken.
pub struct StreamState;

impl StreamState {
    #[allow(clippy::new_without_default)]
    pub fn new() -> StreamState {
        StreamState
    }

    /// An endpoint goes: what came for it is dropped.
    pub fn forget(&self, _ep: &Ep) {}
}
