//! `ucs/memory/numa.h`: types and constants.

use crate::c::prelude::*;

/// The only node, where there are no others.
pub const UCS_NUMA_NODE_DEFAULT: c_uint = 0;
/// No node.
pub const UCS_NUMA_NODE_UNDEFINED: c_int = -1;

/// Distance of two nodes, as the system counts it.
pub type ucs_numa_distance_t = c_int;

/// Number of a node.
pub type ucs_numa_node_t = i16;
