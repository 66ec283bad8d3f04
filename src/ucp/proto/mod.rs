//! The protocol engine: one set of steps for every kind of message.
//!
//! `op` is the state of an operation, `send` takes a message through eager or rendezvous,
//! `receive` is where the interfaces' handlers arrive, `assembly` puts pieces together, `rndv` moves
//! data that was announced, `fetched` into memory of the library's own, `pledge` tells whether they are still
//! there, `weigh` which way is the faster one on this machine, `zcopy` lets transports copy between user memory of two processes. Control messages are posted by
//! `control`. `plan` has the lengths that decide, `table` shows them.

pub mod assembly;
pub mod control;
pub mod fetched;
pub mod op;
pub mod plan;
pub mod receive;
pub mod revocation;
pub mod rndv;
pub mod rndv_tuner;
pub mod send;
pub mod table;
pub mod zcopy;
