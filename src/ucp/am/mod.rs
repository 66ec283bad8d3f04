//! Active messages: handlers by 16-bit id, and the messages that come for them.

pub mod recv;

/// The handlers of a worker.
pub struct AmState;

impl AmState {
    #[allow(clippy::new_without_default)]
    pub fn new() -> AmState {
        AmState
    }
}
