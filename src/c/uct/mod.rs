//! The uct header family, one module a header.

pub mod tl;
pub mod uct_api;
pub mod uct_def;
pub mod uct_device_types;
pub mod v2;
pub mod version;

pub use tl::*;
pub use uct_api::*;
pub use uct_def::*;
pub use uct_device_types::*;
pub use v2::*;
pub use version::*;
