//! Code that the transports share: handles with their common part, active-message dispatch, receive descriptors,
//! pending queues, gather lists, parameter structs, the thread for deferred work. All opt-in.

pub mod am;
pub mod block;
pub mod config;
pub mod copy;
pub mod death_watch;
pub mod deferred_work;
pub mod desc;
pub mod iface;
pub mod iov;
pub mod load_store;
pub mod loan;
pub mod md;
pub mod mem;
pub mod memory_copier;
pub mod node;
pub mod params;
pub mod pending;
pub mod staged;
pub mod worker;
