//! The transports posix and sysv: processes of one host over memory that they share.
//!
//! Each interface owns a segment with an inbox of lanes; a sender attaches the segment and takes a lane of its own.
//! `segment`: allocates and attaches memory. `layout`: layout of a segment. `ring`: a lane and its sender. `ring::receiver`: its
//! other side. `arena`: where its long messages stand. `growth`: how much of the arena is used. `prefetch`: hints to the
//! processor. `inbox`, `outbox`: receiving and sending side. `wire`: formats of addresses and keys. Both transports are this code;
//! they differ in how a segment is made.

mod arena;
mod config;
mod copy;
mod ep;
mod growth;
mod head;
mod iface;
mod inbox;
mod layout;
mod md;
mod outbox;
mod prefetch;
pub mod ring;
mod rkey;
mod segment;
#[cfg(test)]
mod tests;
mod wake;
pub mod wire;

pub use md::{PosixComponent, SysvComponent};
