//! `ucs/type/thread_mode.h`: types and constants.

use crate::c::prelude::*;

c_enum! {
    /// Which threads call into an object.
    pub enum ucs_thread_mode_t: c_uint {
        /// One: always the same.
        UCS_THREAD_MODE_SINGLE = 0,
        /// Any, but one at a time.
        UCS_THREAD_MODE_SERIALIZED = 1,
        /// Any, at any time.
        UCS_THREAD_MODE_MULTI = 2,
        /// Number of modes.
        UCS_THREAD_MODE_LAST = 3,
    }
}
