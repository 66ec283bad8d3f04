//! The connection manager of RDMA devices, by librdmacm: the component `rdmacm`, which has nothing else.
//!
//! | file | holds |
//! |---|---|
//! | `component` | the component |
//! | `manager` | `RdmaManager`: the channel of events, and what connections and listeners share |
//! | `listener` | identifiers that are asked for connections |
//! | `conn`, `step` | one connection: its state, and how events move it |
//! | `endpoint` | what a client or a server may ask of a connection |
//! | `wire`, `config` | byte format, variables |
//!
//! The connection itself carries no data. It has the number of a queue pair that does nothing else, so that the kernel
//! tells connections apart.
#![forbid(unsafe_code)]

mod component;
mod config;
mod conn;
mod endpoint;
mod listener;
mod manager;
mod step;
pub mod wire;

pub use component::RdmaCmComponent;
#[cfg(test)]
pub use config::TABLE;
