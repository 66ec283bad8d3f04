//! `ucs/async/async_fwd.h`: types and constants.

use crate::c::prelude::*;

opaque! {
    /// What handlers of descriptors and timers belong to.
    pub struct ucs_async_context
}

pub type ucs_async_context_t = ucs_async_context;

/// Called on events of a descriptor or a timer.
pub type ucs_async_event_cb_t =
    Option<unsafe extern "C" fn(id: c_int, events: ucs_event_set_types_t, arg: *mut c_void)>;
