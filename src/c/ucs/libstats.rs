//! `ucs/stats/libstats.h`: types and constants.

use crate::c::prelude::*;

opaque! {
    /// Collects statistics of other processes.
    pub struct ucs_stats_server
}

opaque! {
    /// Sends statistics.
    pub struct ucs_stats_client
}

pub type ucs_stats_server_h = *mut ucs_stats_server;

pub type ucs_stats_client_h = *mut ucs_stats_client;

/// Write nodes that have ended.
pub const UCS_STATS_SERIALIZE_INACTVIVE: c_uint = 1 << 0;
/// Write binary data.
pub const UCS_STATS_SERIALIZE_BINARY: c_uint = 1 << 1;
/// Compress them.
pub const UCS_STATS_SERIALIZE_COMPRESS: c_uint = 1 << 2;

c_enum! {
    /// Children of a node.
    pub enum ucs_stats_children_sel: c_uint {
        /// Those that have ended.
        UCS_STATS_INACTIVE_CHILDREN = 0,
        /// Those that live.
        UCS_STATS_ACTIVE_CHILDREN = 1,
        /// Number of choices.
        UCS_STATS_CHILDREN_LAST = 2,
    }
}

pub type ucs_stats_children_sel_t = ucs_stats_children_sel;

/// Statistics of one object.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_stats_node {
    /// Kind of the statistics.
    pub cls: *mut ucs_stats_class_t,
    /// The node above.
    pub parent: *mut ucs_stats_node_t,
    /// Name, NUL-terminated.
    pub name: [c_char; 40],
    /// Its place among the parent's children.
    pub list: ucs_list_link_t,
    /// Ended and living children.
    pub children: [ucs_list_link_t; 2],
    /// Its place among those of the same classes.
    pub type_list: ucs_list_link_t,
    /// What is printed of it.
    pub filter_node: *mut ucs_stats_filter_node_t,
    /// As many as the class has.
    pub counters: [ucs_stats_counter_t; 1],
}
const _: () = {
    assert!(size_of::<ucs_stats_node>() == 136);
    assert!(offset_of!(ucs_stats_node, name) == 16);
    assert!(offset_of!(ucs_stats_node, list) == 56);
    assert!(offset_of!(ucs_stats_node, children) == 72);
    assert!(offset_of!(ucs_stats_node, type_list) == 104);
    assert!(offset_of!(ucs_stats_node, filter_node) == 120);
    assert!(offset_of!(ucs_stats_node, counters) == 128);
};

/// What is printed of the nodes of the same classes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_stats_filter_node {
    /// The node above.
    pub parent: *mut ucs_stats_filter_node_t,
    /// Its place among the parent's children.
    pub list: ucs_list_link_t,
    /// The nodes below.
    pub children: ucs_list_link_t,
    /// The nodes.
    pub type_list_head: ucs_list_link_t,
    /// How many.
    pub type_list_len: c_int,
    /// Nonzero to print them.
    pub ref_count: c_int,
    /// The counters to print.
    pub counters_bitmask: u64,
}
const _: () = {
    assert!(size_of::<ucs_stats_filter_node>() == 72);
    assert!(offset_of!(ucs_stats_filter_node, children) == 24);
    assert!(offset_of!(ucs_stats_filter_node, type_list_head) == 40);
    assert!(offset_of!(ucs_stats_filter_node, type_list_len) == 56);
    assert!(offset_of!(ucs_stats_filter_node, counters_bitmask) == 64);
};
