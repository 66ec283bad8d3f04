//! The connection manager over TCP.
//!
//! | file | holds |
//! |---|---|
//! | `manager` | `TcpManager`: what is shared by listeners and endpoints, and the deadline of unauthenticated peers |
//! | `listener` | accepting sockets |
//! | `conn`, `step` | one connection: its state, and how bytes and the end of the stream move it |
//! | `proof` | with a secret: the hand-shake, and messages in records |
//! | `endpoint` | what a client or a server may ask of a connection |
//! | `wire`, `config` | byte format, variables |
#![forbid(unsafe_code)]

mod config;
mod conn;
mod endpoint;
mod listener;
mod manager;
mod proof;
mod step;
pub mod wire;

pub use config::TABLE;
pub use manager::TcpManager;
