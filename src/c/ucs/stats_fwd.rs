//! `ucs/stats/stats_fwd.h`: types and constants.

use crate::c::prelude::*;

/// A counter of statistics.
pub type ucs_stats_counter_t = u64;

pub type ucs_stats_class_t = ucs_stats_class;

pub type ucs_stats_node_t = ucs_stats_node;

pub type ucs_stats_filter_node_t = ucs_stats_filter_node;

c_enum! {
    /// Forms of statistics, which this library does not collect.
    pub enum ucs_stats_formats_t: c_uint {
        /// Everything.
        UCS_STATS_FULL = 0,
        /// Everything, added up.
        UCS_STATS_FULL_AGG = 1,
        /// The sums.
        UCS_STATS_SUMMARY = 2,
        /// Number of formats.
        UCS_STATS_LAST = 3,
    }
}

opaque! {
    /// A kind of statistics.
    pub struct ucs_stats_class
}
