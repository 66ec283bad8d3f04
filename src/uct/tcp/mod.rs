//! The `tcp` transport: one device a network interface, one connection a pair of interfaces.
//!
//! | file | holds |
//! |---|---|
//! | `md`, `keys` | the memory domain: what peers may write to |
//! | `device`, `config` | which interfaces there are, what is configured |
//! | `iface`, `ops`, `ep` | the interface, what C and UCP call on it and on its endpoints |
//! | `poll`, `events` | the interface's progress and its epoll set |
//! | `conn`, `post` | a connection, the operations of endpoints on it |
//! | `conn_socket` | a connection's socket |
//! | `send_queue`, `txq` | what a connection sends |
//! | `send_policy` | when it sends |
//! | `deferred_flush` | the thread that sends what was gathered when the owner makes no progress |
//! | `acks`, `pending_acks` | acknowledgements that a connection owes and waits for |
//! | `rx_state`, `rx`, `long` | what a connection receives, how frames are read, direct placement of long messages |
//! | `backpressure` | pauses reading from peers that do not read their replies |
//! | `link`, `accept`, `deadlines` | connecting and disconnecting; accepting; what happens at a time |
//! | `hello` | the signed greeting of a peer that connects |
//! | `proof`, `sealed` | with a secret: the handshake before the greeting, encrypted sending and receiving |
//! | `wire` | byte formats |
//! | `upstream/` | connections with upstream UCX, by its formats |

mod accept;
mod acks;
mod backpressure;
mod config;
mod conn;
mod conn_socket;
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
mod ops;
mod pending_acks;
mod poll;
mod post;
mod proof;
mod rx;
mod rx_state;
mod sealed;
mod send_policy;
mod send_queue;
mod txq;
pub mod upstream;
pub mod wire;

pub use md::TcpComponent;
