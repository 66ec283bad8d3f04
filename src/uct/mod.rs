//! Floor 5: transports.
//!
//! `api`: the contract of a transport. `internal`: what UCP uses of it beyond C's op table. `table`: C's op tables.
//! `registry`: the list of components. `base`: code that transports share. `tag`: UCT's tag matching, over the active
//! messages of any transport. `overlay`: endpoints over the endpoints of other interfaces. Each transport has its own folder with the same file names; `src/sim/skeleton` shows the
//! smallest one.

pub mod api;
pub mod auth;
pub mod base;
pub mod cm;
pub mod cma;
pub mod cuda;
pub mod ib;
pub mod internal;
pub mod local;
pub mod loopback;
pub mod overlay;
pub mod registry;
pub mod shm;
pub mod table;
pub mod tag;
pub mod tcp;
