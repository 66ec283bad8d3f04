//! `ucs/memory/memory_type.h`: types and constants.

use crate::c::prelude::*;

pub const UCS_MEMORY_TYPES_CPU_ACCESSIBLE: u64 = 337;

c_enum! {
    pub enum ucs_memory_type: c_uint {
        UCS_MEMORY_TYPE_HOST = 0,
        UCS_MEMORY_TYPE_CUDA = 1,
        UCS_MEMORY_TYPE_CUDA_MANAGED = 2,
        UCS_MEMORY_TYPE_ROCM = 3,
        UCS_MEMORY_TYPE_ROCM_MANAGED = 4,
        UCS_MEMORY_TYPE_RDMA = 5,
        UCS_MEMORY_TYPE_ZE_HOST = 6,
        UCS_MEMORY_TYPE_ZE_DEVICE = 7,
        UCS_MEMORY_TYPE_ZE_MANAGED = 8,
        UCS_MEMORY_TYPE_GAUDI = 9,
        UCS_MEMORY_TYPE_LAST = 10,
        UCS_MEMORY_TYPE_UNKNOWN = 10,
    }
}

pub type ucs_memory_type_t = ucs_memory_type;

c_enum! {
    pub enum ucs_mem_flags: c_uint {
        UCS_MEM_FLAG_REGISTRABLE = 1 << 0,
    }
}

pub type ucs_mem_flags_t = ucs_mem_flags;
