//! The `tcp` transport: one device a network interface, one connection a pair of interfaces.
//!
//! | file | holds |
//! |---|---|
//! | `md`, `keys` | the memory domain: what peers may write to |
//! | `device`, `config` | which interfaces there are, what is configured |
//! | `iface`, `ep` | what C calls |
//! | `conn`, `txq`, `pending_acks` | a connection: what is queued, who waits for what |
//! | `backpressure` | who sends and does not read is not read |
//! | `deferred_flush` | the thread that sends what was gathered when nobody makes progress |
//! | `link` | connecting, accepting, greeting, breaking |
//! | `hello` | the signed greeting of who connects |
//! | `proof` | with a secret: the hand-shake before the greeting |
//! | `sealed` | sending and receiving where connections are encrypted |
//! | `deadlines` | what happens when its time has come |
//! | `rx`, `poll` | receiving and progress |
//! | `long` | messages whose bytes go to their place while they come |
//! | `wire` | byte formats |
//!
//! Sends of a quiet connection leave at once; those of a busy one are gathered and sent together, with
//! the next progress or a fence, or a millisecond or two later without.

mod backpressure;
mod config;
mod conn;
mod deadlines;
mod deferred_flush;
mod device;
mod ep;
mod events;
mod hello;
mod iface;
mod keys;
mod link;
mod long;
mod md;
mod pending_acks;
mod poll;
mod proof;
mod rx;
mod sealed;
mod txq;
pub mod wire;

pub use md::TcpComponent;
