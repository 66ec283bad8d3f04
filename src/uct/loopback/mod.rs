//! The `self` transport: an endpoint to its own interface. Also the template for a new transport.
//!
//! Nothing is queued: a send runs the handler before it returns, memory access is a copy.

mod config;
mod ep;
mod iface;
mod md;

pub use md::SelfComponent;
