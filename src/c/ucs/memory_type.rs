//! `ucs/memory/memory_type.h`: types and constants.

use crate::c::prelude::*;

/// Bitmap of the types that a processor can read and write in place.
pub const UCS_MEMORY_TYPES_CPU_ACCESSIBLE: u64 = 337;

c_enum! {
    /// Kinds of memory.
    pub enum ucs_memory_type: c_uint {
        /// Of the host.
        UCS_MEMORY_TYPE_HOST = 0,
        /// Of an NVIDIA device.
        UCS_MEMORY_TYPE_CUDA = 1,
        /// Shared by host and NVIDIA device.
        UCS_MEMORY_TYPE_CUDA_MANAGED = 2,
        /// Of an AMD device.
        UCS_MEMORY_TYPE_ROCM = 3,
        /// Shared by host and AMD device.
        UCS_MEMORY_TYPE_ROCM_MANAGED = 4,
        /// Of a network device.
        UCS_MEMORY_TYPE_RDMA = 5,
        /// Of the host, for Intel devices.
        UCS_MEMORY_TYPE_ZE_HOST = 6,
        /// Of an Intel device.
        UCS_MEMORY_TYPE_ZE_DEVICE = 7,
        /// Shared by host and Intel device.
        UCS_MEMORY_TYPE_ZE_MANAGED = 8,
        /// Of a Gaudi device.
        UCS_MEMORY_TYPE_GAUDI = 9,
        /// Number of types.
        UCS_MEMORY_TYPE_LAST = 10,
        /// To be found out. Its value differs by release: each release's own is understood.
        UCS_MEMORY_TYPE_UNKNOWN = 10,
    }
}

pub type ucs_memory_type_t = ucs_memory_type;

c_enum! {
    /// Properties of memory.
    pub enum ucs_mem_flags: c_uint {
        /// Memory domains can register it.
        UCS_MEM_FLAG_REGISTRABLE = 1 << 0,
    }
}

pub type ucs_mem_flags_t = ucs_mem_flags;
