//! `ucs/async/async_fwd.h`: types and constants.

use crate::c::prelude::*;

opaque! {
    /// What handlers of descriptors and timers belong to.
    pub struct ucs_async_context
}

pub type ucs_async_context_t = ucs_async_context;

/// Called on events of a descriptor or a timer.
///
/// - `id` (in): The descriptor, or the timer's number.
/// - `events` (in): What happened; 0 for a timer.
/// - `arg` (in): As it was given with the handler.
pub type ucs_async_event_cb_t =
    Option<unsafe extern "C" fn(id: c_int, events: ucs_event_set_types_t, arg: *mut c_void)>;
