//! `ucs/memory/numa.h`: types and constants.

use crate::c::prelude::*;

pub const UCS_NUMA_NODE_DEFAULT: c_uint = 0;
pub const UCS_NUMA_NODE_UNDEFINED: c_int = -1;

pub type ucs_numa_distance_t = c_int;

pub type ucs_numa_node_t = i16;
