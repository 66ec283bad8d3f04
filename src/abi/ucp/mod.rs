//! The exported functions of libucp, one file a group of the header.

pub mod am;
pub mod amo;
pub(crate) mod blob;
pub mod config;
pub mod context;
pub mod device;
pub mod dt;
pub mod ep;
pub mod listener;
pub mod mem;
pub(crate) mod param;
pub mod request;
pub mod rma;
pub mod stream;
pub mod tag;
pub mod worker;
