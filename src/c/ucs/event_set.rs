//! `ucs/sys/event_set.h`: types and constants.

use crate::c::prelude::*;

opaque! { pub struct ucs_sys_event_set }

pub type ucs_sys_event_set_t = ucs_sys_event_set;

pub type ucs_event_set_types_t = u8;

pub type ucs_event_set_handler_t = Option<
    unsafe extern "C" fn(
        callback_data: *mut c_void,
        events: ucs_event_set_types_t,
        arg: *mut c_void,
    ),
>;

c_enum! {
    pub enum ucs_event_set_type_t: c_uint {
        UCS_EVENT_SET_EVREAD = 1 << 0,
        UCS_EVENT_SET_EVWRITE = 1 << 1,
        UCS_EVENT_SET_EVERR = 1 << 2,
        UCS_EVENT_SET_EDGE_TRIGGERED = 1 << 3,
    }
}
