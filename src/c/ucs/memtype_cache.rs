//! `ucs/memory/memtype_cache.h`: types and constants.

use crate::c::prelude::*;

pub type ucs_memtype_cache_t = ucs_memtype_cache;

opaque! {
    /// A range of memory whose type is known.
    pub struct ucs_memtype_cache_region
}

pub type ucs_memtype_cache_region_t = ucs_memtype_cache_region;

/// What is known of memory.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_memory_info {
    /// Type of the memory.
    pub r#type: ucs_memory_type_t,
    /// The device that it belongs to.
    pub sys_dev: ucs_sys_device_t,
    /// Start of the whole allocation.
    pub base_address: *mut c_void,
    /// Its bytes.
    pub alloc_length: usize,
    /// UCS_MEM_FLAG_REGISTRABLE. `ucs_memtype_cache_lookup` does not set it.
    pub mem_flags: u8,
}
const _: () = {
    assert!(size_of::<ucs_memory_info>() == 32);
    assert!(offset_of!(ucs_memory_info, sys_dev) == 4);
    assert!(offset_of!(ucs_memory_info, base_address) == 8);
    assert!(offset_of!(ucs_memory_info, alloc_length) == 16);
    assert!(offset_of!(ucs_memory_info, mem_flags) == 24);
};

pub type ucs_memory_info_t = ucs_memory_info;

/// The ranges of memory that is not the host's.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_memtype_cache {
    /// Held while the table is used.
    pub lock: ucs_spinlock_t,
    /// The ranges.
    pub pgtable: ucs_pgtable_t,
}
const _: () = {
    assert!(size_of::<ucs_memtype_cache>() == 56);
    assert!(offset_of!(ucs_memtype_cache, pgtable) == 8);
};
