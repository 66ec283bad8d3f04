//! The protocol engine: the same steps for every kind of message.
//!
//! `op`: state of an operation, and what the engine asks of it. `send`: eager and rendezvous sends.
//! `reassembly`: fragmented messages. `rndv`: rendezvous data; `fetched`: rendezvous into buffers of the library;
//! `revocation`: the epoch that tells whether rendezvous buffers are still valid; `rndv_tuner`: measured choice between get
//! and fragments. `zcopy`: transfers that a transport performs between the memory of two processes. `control`: control
//! messages. `plan`: thresholds; `table` prints them.

pub mod control;
pub mod fetched;
pub mod op;
pub mod plan;
pub mod reassembly;
pub mod revocation;
pub mod rndv;
pub mod rndv_tuner;
pub mod send;
pub mod table;
pub mod zcopy;
