//! The component `ib`: RDMA devices through libibverbs, and the transports `rc_verbs` and `ud_verbs` on them.
//!
//! `md` opens a device and registers memory, `port` says what a port is and how it is reached, `wire` has the formats
//! of addresses and keys, `events` hears of failures of the device, `ops` has what both transports post; `subnets` filters addresses; `grh`,
//! `way`, `retry` and `identity` are for their datagrams; `rc` and `ud` are the transports. `cm` is the component `rdmacm`, which
//! connects clients and servers.

pub mod cm;
mod config;
mod events;
pub mod grh;
mod identity;
mod md;
mod ops;
mod port;
pub mod rc;
mod retry;
mod subnets;
pub mod ud;
mod way;
pub mod wire;

pub use cm::RdmaCmComponent;
pub use md::IbComponent;
