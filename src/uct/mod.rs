//! Floor 5: transports.
//!
//! `api` says what a transport must state, `table` turns it into C's op tables, `registry` lists
//! the components, `base` is what transports share, and each transport has its own folder with the
//! same file names.

pub mod api;
pub mod auth;
pub mod base;
pub mod cm;
pub mod cma;
pub mod internal;
pub mod local;
pub mod loopback;
pub mod registry;
pub mod shm;
pub mod table;
pub mod tcp;
