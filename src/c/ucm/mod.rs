//! The ucm header family, one module a header.

pub mod ucm;

pub use ucm::*;
