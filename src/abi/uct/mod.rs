//! The exported functions of libuct, one file a group of `uct.h`.

pub mod cm;
pub mod component;
pub mod config;
pub mod ep;
pub mod iface;
pub mod md;
pub mod mem;
pub mod names;
pub mod rkey;
pub mod worker;
