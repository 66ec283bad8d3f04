//! Floor 3: support that every layer uses and no protocol knows.

pub mod callbackq;
pub mod config;
pub mod log;
pub mod status;

pub use status::{Result, Status};
