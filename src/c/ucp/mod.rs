//! The ucp header family, one module a header.

pub mod context_types;
pub mod dt_types;
pub mod ep_types;
pub mod mem_types;
pub mod request_types;
pub mod ucp_compat;
pub mod ucp_def;
pub mod ucp_host;
pub mod ucp_version;
pub mod worker_types;

pub use context_types::*;
pub use dt_types::*;
pub use ep_types::*;
pub use mem_types::*;
pub use request_types::*;
pub use ucp_compat::*;
pub use ucp_def::*;
pub use ucp_host::*;
pub use ucp_version::*;
pub use worker_types::*;
