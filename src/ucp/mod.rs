//! Floor 6: messaging.
//!
//! `context` knows the transports, `worker` has the interfaces and everything received, `ep` is the
//! way to one peer, `request` what the user holds. `proto` is the engine that every kind of message
//! goes through; `parts` joins operations under one request; `tag`, `am`, `stream` and `rma` are the
//! kinds; `mem` is memory that peers can reach and `regions` how they name it; `dt` the buffers; `wireup` connects;
//! `idle` looks at interfaces that nobody uses; `spin` lets others run while nothing comes; `keepalive` checks who is
//! there; `unexpected` bounds what nobody receives; `after_fork` is what a child of fork() finds.

pub mod after_fork;
pub mod allowed;
pub mod am;
pub mod buffers;
pub mod composite;
pub mod config;
pub mod context;
pub mod dt;
pub mod ep;
pub mod idle;
pub mod info;
pub mod interner;
pub mod keepalive;
pub mod mem;
pub mod names;
pub mod proto;
pub mod regions;
pub mod request;
pub mod rma;
pub mod spin;
pub mod stream;
pub mod tag;
pub mod timer;
pub mod unexpected;
pub mod wakeup;
pub mod wireup;
pub mod worker;
