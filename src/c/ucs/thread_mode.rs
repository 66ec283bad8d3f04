//! `ucs/type/thread_mode.h`: types and constants.

use crate::c::prelude::*;

c_enum! {
    pub enum ucs_thread_mode_t: c_uint {
        UCS_THREAD_MODE_SINGLE = 0,
        UCS_THREAD_MODE_SERIALIZED = 1,
        UCS_THREAD_MODE_MULTI = 2,
        UCS_THREAD_MODE_LAST = 3,
    }
}
