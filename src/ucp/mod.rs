//! Floor 6: messaging.
//!
//! `context`: transports and configuration. `worker`: the roof, which puts everything together; `worker_core`: the part of
//! it that all floors see. `handlers`: the handlers of received messages. `ep`: endpoints. `request`: requests; `op`: the
//! states of operations in them; `composite` joins several operations in one. `proto`: the protocol engine for all kinds of
//! messages; `plan`: its thresholds, `protocol_info`: which tables of them are printed, `rndv_state`: the states of a rendezvous, `rndv_tuner`: its
//! measured choice between get and fragments, `rts`: a message that
//! waits at its sender. `tag`, `am`, `stream`, `rma`: the kinds of messages; `atomic`: atomics on a word. `mem`: memory
//! for remote access, `reg`: what memory domains know, `reg_cache`: what they keep of it for the next transfer,
//! `regions`: the table of exported regions, `rkey`: keys of peers. `dt`: datatypes. `device_memory`: memory types, `staging`: memory through which messages of such types go to peers that map it. `wireup`: connecting endpoints;
//! `claims`: which addresses are proven; `cm_connection`: connections between clients and servers. `idle`: idle
//! interfaces. `feature`: what a program asked for. `spin`: yielding in callers that spin. `unexpected`: accounting of unexpected messages, receive pause.
//! `after_fork`: objects of the parent in a child of fork(). `counters`: what was sent, received and waited for; `inspect`: the
//! report of a running process.

pub mod after_fork;
pub mod ahead;
pub mod allowed;
pub mod am;
pub mod atomic;
pub mod buffers;
pub mod claims;
pub mod cm_connection;
pub mod composite;
pub mod config;
pub mod context;
pub mod counters;
pub mod device_memory;
pub mod device_reg_cache;
pub mod dt;
pub mod ep;
pub mod failover;
pub mod feature;
pub mod handlers;
pub mod idle;
pub mod info;
pub mod inspect;
pub mod interner;
pub mod mem;
pub mod names;
pub mod nearness;
pub mod op;
pub mod plan;
pub mod progress_thread;
pub mod proto;
pub mod protocol_info;
pub mod reg;
pub mod reg_cache;
pub mod regions;
pub mod request;
pub mod rkey;
pub mod rma;
pub mod rndv_state;
pub mod rndv_tuner;
pub mod rts;
pub mod short_sleeps;
pub mod sleepers;
pub mod spin;
pub mod staging;
pub mod stream;
pub mod tag;
pub mod timer;
pub mod unexpected;
pub mod upstream;
pub mod wakeup;
pub mod wireup;
pub mod worker;
pub mod worker_core;
