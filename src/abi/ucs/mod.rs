//! The exported functions of libucs, a file for each group of headers.

pub mod log;
pub mod opts;
