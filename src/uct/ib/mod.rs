//! The component `ib`: RDMA devices through libibverbs, and the transport `rc_verbs` on them.
//!
//! `md` opens a device and registers memory, `port` says what a port is and how it is reached, `wire` has the formats
//! of addresses and keys, `events` hears of failures of the device, `rc` is the transport.

mod config;
mod events;
mod md;
mod port;
mod rc;
pub mod wire;

pub use md::IbComponent;
