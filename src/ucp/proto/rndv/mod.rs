//! Rendezvous: a long message stays at its sender until the receiver has matched it.
//!
//! `sender` and `receiver` are the two sides, each a state machine (`rndv_state`). `mapped`: what a sender offers in an RTS,
//! and copies from memory that both sides map. `by_parts`: long messages of devices, part by part by such memory. Tagged messages, active messages and streams use the same sender and
//! receiver; a stream also copies parts by itself (`stream::rndv`).

#![forbid(unsafe_code)]

pub mod by_parts;
pub mod mapped;
pub mod receiver;
pub mod sender;
