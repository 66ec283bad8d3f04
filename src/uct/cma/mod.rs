//! The `cma` transport: the kernel copies between this process and another one's memory.
//!
//! Puts and gets only, without registration and without keys: a remote address is what the caller was
//! given by the peer, and the kernel alone checks it. Whether the kernel allows it is found out with the
//! real peer: its address names a word of its memory and what stands there (`peer`). Small transfers are
//! done within the call; long ones go in segments, in turn over the endpoints (`queue`).

mod config;
mod ep;
mod iface;
mod md;
pub(in crate::uct) mod peer;
mod queue;
#[cfg(test)]
mod tests;
pub mod wire;

pub use md::CmaComponent;
