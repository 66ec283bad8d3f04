//! `ucs/sys/device_code.h`: types and constants.

use crate::c::prelude::*;

c_enum! {
    /// Threads of a device that call a function together.
    pub enum ucs_device_level_t: c_uint {
        /// One.
        UCS_DEVICE_LEVEL_THREAD = 0,
        /// A warp.
        UCS_DEVICE_LEVEL_WARP = 1,
        /// A block.
        UCS_DEVICE_LEVEL_BLOCK = 2,
        /// All of a grid.
        UCS_DEVICE_LEVEL_GRID = 3,
    }
}
