//! The uct header family, one module a header.

pub mod connect_types;
pub mod iface_attr;
pub mod iface_open;
pub mod iface_ops;
pub mod md_types;
pub mod resource_types;
pub mod tl;
pub mod uct_def;
pub mod uct_device_types;
pub mod v2;
pub mod version;

pub use connect_types::*;
pub use iface_attr::*;
pub use iface_open::*;
pub use iface_ops::*;
pub use md_types::*;
pub use resource_types::*;
pub use tl::*;
pub use uct_def::*;
pub use uct_device_types::*;
pub use v2::*;
pub use version::*;
