//! The ucp header family, one module a header.

pub mod ucp_api;
pub mod ucp_compat;
pub mod ucp_def;
pub mod ucp_host;
pub mod ucp_version;

pub use ucp_api::*;
pub use ucp_compat::*;
pub use ucp_def::*;
pub use ucp_host::*;
pub use ucp_version::*;
