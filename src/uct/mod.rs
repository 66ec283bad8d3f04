//! Floor 5: transports.
//!
//! `api`: the contract of a transport. `table`: C's op tables. `registry`: the list of components. `base`: code that
//! transports share. Each transport has its own folder with the same file names.

pub mod api;
pub mod auth;
pub mod base;
pub mod cm;
pub mod cma;
pub mod ib;
pub mod internal;
pub mod local;
pub mod loopback;
pub mod registry;
pub mod shm;
pub mod table;
pub mod tcp;
