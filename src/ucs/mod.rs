//! Floor 3: support that every layer uses and no protocol knows.

pub mod async_ctx;
pub mod callbackq;
pub mod config;
pub mod events;
pub mod log;
pub mod status;
pub mod tag_match;

pub use events::Events;
pub use status::{Result, Status};
