//! `ucs/stats/stats_fwd.h`: types and constants.

use crate::c::prelude::*;

pub type ucs_stats_counter_t = u64;

pub type ucs_stats_class_t = ucs_stats_class;

pub type ucs_stats_node_t = ucs_stats_node;

pub type ucs_stats_filter_node_t = ucs_stats_filter_node;

c_enum! {
    pub enum ucs_stats_formats_t: c_uint {
        UCS_STATS_FULL = 0,
        UCS_STATS_FULL_AGG = 1,
        UCS_STATS_SUMMARY = 2,
        UCS_STATS_LAST = 3,
    }
}

opaque! { pub struct ucs_stats_class }
opaque! { pub struct ucs_stats_node }
opaque! { pub struct ucs_stats_filter_node }
