//! `rc_verbs`: reliable-connected queue pairs, one an endpoint, with one completion queue and one shared receive queue
//! an interface.
//!
//! `iface` opens an interface, `poll` polls it, `rx` posts and delivers receives, `own` those of a device without shared receive queues, `conn` is an endpoint's queue pair: what
//! is under way and how it ends, `work` what has to be done then, `chain` posts short requests, `credits` is the flow control, `ep` the operations of users. `connect` connects endpoints to
//! interfaces: `connector` has the queue pair for it (`datagrams`), `due` knows when to look, `handshake` and `wire` decide, and call nothing.

mod chain;
mod conn;
mod connect;
mod connector;
mod credits;
mod datagrams;
mod due;
mod ep;
mod handshake;
#[cfg(test)]
mod handshake_tests;
mod iface;
mod own;
mod passive;
mod poll;
mod rx;
pub mod wire;
mod work;

pub use iface::{NAME, RcIface};
