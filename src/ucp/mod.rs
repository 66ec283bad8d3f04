//! Floor 6: messaging.
//!
//! `context`: transports and configuration. `worker`: the roof, which puts everything together; `worker_core`: the part of
//! it that all floors see. `handlers`: the handlers of received messages. `ep`: endpoints. `request`: requests; `composite`
//! joins several operations in one. `proto`: the protocol engine for all kinds of messages. `tag`, `am`, `stream`, `rma`:
//! the kinds. `mem`: memory for remote access; `regions`: the table of exported regions. `dt`: datatypes. `wireup`:
//! connecting endpoints. `idle`: idle interfaces. `spin`: yielding in callers that spin. `unexpected`: accounting of
//! unexpected messages, receive pause. `after_fork`: objects of the parent in a child of fork().

pub mod after_fork;
pub mod allowed;
pub mod am;
pub mod buffers;
pub mod composite;
pub mod config;
pub mod context;
pub mod dt;
pub mod ep;
pub mod handlers;
pub mod idle;
pub mod info;
pub mod interner;
pub mod mem;
pub mod names;
pub mod proto;
pub mod regions;
pub mod request;
pub mod rma;
pub mod spin;
pub mod stream;
pub mod tag;
pub mod timer;
pub mod unexpected;
pub mod wakeup;
pub mod wireup;
pub mod worker;
pub mod worker_core;
