//! Floor 3: support that every layer uses and no protocol knows.

pub mod async_ctx;
mod callback_slot;
pub mod callbackq;
pub mod compat;
pub mod config;
pub mod deque;
pub mod event_loop;
pub mod event_set;
pub mod events;
pub mod fork;
pub mod front_queue;
pub mod json;
pub mod keyed_hash;
pub mod log;
pub mod memtype;
pub mod memunits;
pub mod mpool;
pub mod nonces;
pub mod plug_ins;
pub mod service;
pub mod shared_slots;
pub mod slots;
pub mod sockaddr;
pub mod status;
pub mod string_buffer;
pub mod string_set;
pub mod sync;
pub mod table;
pub mod tag_match;
#[cfg(test)]
pub mod test_rng;
pub mod time;
pub mod topo;
pub mod tracepoint;
pub mod unmapped;

pub use events::Events;
pub use status::{Failure, Result, Status};
