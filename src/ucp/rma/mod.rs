//! Remote memory: direct where it is mapped, by single copy, by an RDMA device, or by messages to its owner.

pub mod device;
mod device_copy;
pub mod device_list;
pub mod flush;
pub mod list;
pub mod post;
pub mod software;
pub mod target;
pub mod upstream;
