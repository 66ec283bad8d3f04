//! The ucm header family, one module a header.

pub mod ucm_api;

pub use ucm_api::*;
