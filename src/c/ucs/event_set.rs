//! `ucs/sys/event_set.h`: types and constants.

use crate::c::prelude::*;

opaque! {
    /// A set of descriptors to wait on.
    pub struct ucs_sys_event_set
}

pub type ucs_sys_event_set_t = ucs_sys_event_set;

/// Bits of `ucs_event_set_type_t`.
pub type ucs_event_set_types_t = u8;

/// Called for each descriptor with events.
///
/// - `callback_data` (in): Word that was given for the descriptor.
/// - `events` (in): What happened.
/// - `arg` (in): As it was given to `ucs_event_set_wait`.
pub type ucs_event_set_handler_t = Option<
    unsafe extern "C" fn(
        callback_data: *mut c_void,
        events: ucs_event_set_types_t,
        arg: *mut c_void,
    ),
>;

c_enum! {
    /// Events of a descriptor.
    pub enum ucs_event_set_type_t: c_uint {
        /// It can be read.
        UCS_EVENT_SET_EVREAD = 1 << 0,
        /// It can be written.
        UCS_EVENT_SET_EVWRITE = 1 << 1,
        /// It failed.
        UCS_EVENT_SET_EVERR = 1 << 2,
        /// Report a change once.
        UCS_EVENT_SET_EDGE_TRIGGERED = 1 << 3,
    }
}
