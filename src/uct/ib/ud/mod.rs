//! `ud_verbs`: datagrams through one queue pair an interface, made reliable here.
//!
//! `iface` opens an interface, `ep` has the operations of users, `poll` is the user's progress. All three work on a
//! `Engine`, which stands under a lock: the async thread works on it too, so that packets are acknowledged and sent again
//! while the application computes. Handlers and completions run in the user's progress alone. Of the engine, `conn` is a
//! connection, `sender` posts datagrams, `receiver` posts buffers, `timer` is what the async thread does. `window`
//! and `wire` decide, and call nothing.
//!
//! An endpoint that is connected to an interface sends only; the interface has a passive connection for it, which only
//! receives. Endpoints that are connected to each other do both.

mod config;
mod conn;
mod engine;
mod ep;
mod iface;
mod incoming;
mod poll;
mod receiver;
mod sender;
mod timer;
mod window;
#[cfg(test)]
mod window_tests;
pub mod wire;

pub use config::UD_VERBS;
pub use iface::{NAME, UdIface};
