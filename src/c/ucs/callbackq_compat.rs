//! `ucs/datastruct/callbackq_compat.h`: flags of progress callbacks.

use crate::c::prelude::*;

c_enum! {
    /// Flags of the functions that add a callback to a worker.
    pub enum ucs_callbackq_flags: c_uint {
        /// Called often: keep it among the few that are cheap to call.
        UCS_CALLBACKQ_FLAG_FAST = 1 << 0,
        /// Called once, then removed.
        UCS_CALLBACKQ_FLAG_ONESHOT = 1 << 1,
    }
}
