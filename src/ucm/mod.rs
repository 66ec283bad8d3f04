//! Memory events and their handlers, without patching any code.
//!
//! `events` keeps the handlers and runs them in order. `calls` has the memory calls of the API, which cause events.
//! `hooks` says which events are reported without the program's help: none. `lock` guards the handlers.

pub mod calls;
pub mod events;
pub mod hooks;
mod lock;

use crate::c::ucm_event_type_t;

/// A set of `ucm_event_type_t` bits.
pub type EventSet = ucm_event_type_t;
