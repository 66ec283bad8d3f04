//! Messaging: contexts, workers, endpoints and the protocol engine.
pub mod config;
