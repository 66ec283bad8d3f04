//! The protocol engine: one set of steps for every kind of message.
//!
//! `op` is the state of an operation, `send` takes a message through eager or rendezvous,
//! `receive` is where the interfaces' handlers arrive, `assembly` puts pieces together, `rndv` moves
//! data that was announced, `copy` lets the kernel move memory. Control messages are posted by `control`.

pub mod assembly;
pub mod control;
pub mod copy;
pub mod op;
pub mod receive;
pub mod rndv;
pub mod send;
