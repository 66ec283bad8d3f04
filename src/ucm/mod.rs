//! Memory events: who asks for them, and what answers without patching any code.
//!
//! `events` keeps the handlers and runs them in order; `calls` are the memory calls of the API,
//! which make events; `hooks` says which events come by themselves: none, unless the program
//! delivers them. `lock` guards the handlers.

pub mod calls;
pub mod events;
pub mod hooks;
mod lock;

use crate::c::ucm_event_type_t;

/// A set of `ucm_event_type_t` bits.
pub type EventSet = ucm_event_type_t;
