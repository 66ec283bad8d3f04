//! `rc_verbs`: reliable-connected queue pairs, one an endpoint, with one completion queue and one shared receive queue
//! an interface.
//!
//! `iface` opens an interface, `poll` polls it, `rx` posts and delivers receives, `conn` is an endpoint's queue pair: what
//! is under way and how it ends, `credits` the flow control, `ep` the operations of users.

mod conn;
mod credits;
mod ep;
mod iface;
mod poll;
mod rx;

pub use iface::{NAME, RcIface};
