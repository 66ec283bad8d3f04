//! Statistics, which are off.

use crate::c::prelude::*;

/// The root of the statistics tree: null, as statistics are off. `ucs/stats/stats_fwd.h`.
#[unsafe(no_mangle)]
pub extern "C" fn ucs_stats_get_root() -> *mut ucs_stats_node_t {
    core::ptr::null_mut()
}
