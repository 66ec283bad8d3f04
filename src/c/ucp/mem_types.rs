//! `ucp/api/ucp.h`: memory that the library knows, and how it is handed to peers.

use crate::c::prelude::*;

c_enum! {
    /// Members of `ucp_mem_map_params`.
    pub enum ucp_mem_map_params_field: c_uint {
        /// `address` is set.
        UCP_MEM_MAP_PARAM_FIELD_ADDRESS = 1 << 0,
        /// `length` is set.
        UCP_MEM_MAP_PARAM_FIELD_LENGTH = 1 << 1,
        /// `flags` is set.
        UCP_MEM_MAP_PARAM_FIELD_FLAGS = 1 << 2,
        /// `prot` is set.
        UCP_MEM_MAP_PARAM_FIELD_PROT = 1 << 3,
        /// `memory_type` is set.
        UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE = 1 << 4,
        /// `exported_memh_buffer` is set.
        UCP_MEM_MAP_PARAM_FIELD_EXPORTED_MEMH_BUFFER = 1 << 5,
    }
}

c_enum! {
    /// Members of `ucp_mem_advise_params`.
    pub enum ucp_mem_advise_params_field: c_uint {
        /// `address` is set.
        UCP_MEM_ADVISE_PARAM_FIELD_ADDRESS = 1 << 0,
        /// `length` is set.
        UCP_MEM_ADVISE_PARAM_FIELD_LENGTH = 1 << 1,
        /// `advice` is set.
        UCP_MEM_ADVISE_PARAM_FIELD_ADVICE = 1 << 2,
    }
}

/// How `ucp_rkey_compare` works; nothing to choose yet.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_rkey_compare_params {
    /// 0.
    pub field_mask: u64,
}
const _: () = {
    assert!(size_of::<ucp_rkey_compare_params>() == 8);
    assert!(offset_of!(ucp_rkey_compare_params, field_mask) == 0);
};

pub type ucp_rkey_compare_params_t = ucp_rkey_compare_params;

/// What `ucp_mem_map` makes known, or allocates.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_mem_map_params {
    /// Members that are set, bits of `ucp_mem_map_params_field`.
    pub field_mask: u64,
    /// Start; may be NULL with UCP_MEM_MAP_ALLOCATE.
    pub address: *mut c_void,
    /// Bytes; must be set, unless memory is attached to.
    pub length: usize,
    /// `UCP_MEM_MAP_*`.
    pub flags: c_uint,
    /// `UCP_MEM_MAP_PROT_*`; everything when not set.
    pub prot: c_uint,
    /// Kind of the memory; when not set, new memory is the host's, and what there is is found out.
    pub memory_type: ucs_memory_type_t,
    /// A handle that another process packed for export: attach to its memory.
    pub exported_memh_buffer: *const c_void,
}
const _: () = {
    assert!(size_of::<ucp_mem_map_params>() == 48);
    assert!(offset_of!(ucp_mem_map_params, field_mask) == 0);
    assert!(offset_of!(ucp_mem_map_params, address) == 8);
    assert!(offset_of!(ucp_mem_map_params, length) == 16);
    assert!(offset_of!(ucp_mem_map_params, flags) == 24);
    assert!(offset_of!(ucp_mem_map_params, prot) == 28);
    assert!(offset_of!(ucp_mem_map_params, memory_type) == 32);
    assert!(offset_of!(ucp_mem_map_params, exported_memh_buffer) == 40);
};

pub type ucp_mem_map_params_t = ucp_mem_map_params;

c_enum! {
    /// How memory will be used.
    pub enum ucp_mem_advice: c_uint {
        /// No advice.
        UCP_MADV_NORMAL = 0,
        /// It will be accessed soon.
        UCP_MADV_WILLNEED = 1,
    }
}

pub type ucp_mem_advice_t = ucp_mem_advice;

/// Advice on a part of mapped memory.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_mem_advise_params {
    /// Members that are set, bits of `ucp_mem_advise_params_field`; all must be.
    pub field_mask: u64,
    /// Start.
    pub address: *mut c_void,
    /// Bytes.
    pub length: usize,
    /// The advice.
    pub advice: ucp_mem_advice_t,
}
const _: () = {
    assert!(size_of::<ucp_mem_advise_params>() == 32);
    assert!(offset_of!(ucp_mem_advise_params, field_mask) == 0);
    assert!(offset_of!(ucp_mem_advise_params, address) == 8);
    assert!(offset_of!(ucp_mem_advise_params, length) == 16);
    assert!(offset_of!(ucp_mem_advise_params, advice) == 24);
};

pub type ucp_mem_advise_params_t = ucp_mem_advise_params;

c_enum! {
    /// Members of `ucp_memh_pack_params`.
    pub enum ucp_memh_pack_params_field: c_uint {
        /// `flags` is set.
        UCP_MEMH_PACK_PARAM_FIELD_FLAGS = 1 << 0,
    }
}

c_enum! {
    /// Flags of `ucp_memh_pack`.
    pub enum ucp_memh_pack_flags: c_uint {
        /// For use as `exported_memh_buffer` by another process; else a remote key.
        UCP_MEMH_PACK_FLAG_EXPORT = 1 << 0,
    }
}

/// How `ucp_memh_pack` packs a handle.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_memh_pack_params {
    /// Members that are set, bits of `ucp_memh_pack_params_field`.
    pub field_mask: u64,
    /// Bits of `ucp_memh_pack_flags`.
    pub flags: u64,
}
const _: () = {
    assert!(size_of::<ucp_memh_pack_params>() == 16);
    assert!(offset_of!(ucp_memh_pack_params, field_mask) == 0);
    assert!(offset_of!(ucp_memh_pack_params, flags) == 8);
};

pub type ucp_memh_pack_params_t = ucp_memh_pack_params;

/// How `ucp_memh_buffer_release` works; nothing to choose yet.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucp_memh_buffer_release_params {
    /// 0.
    pub field_mask: u64,
}
const _: () = {
    assert!(size_of::<ucp_memh_buffer_release_params>() == 8);
    assert!(offset_of!(ucp_memh_buffer_release_params, field_mask) == 0);
};

pub type ucp_memh_buffer_release_params_t = ucp_memh_buffer_release_params;

c_enum! {
    /// Flags of `ucp_mem_map`.
    pub enum ucp_mem_map_bits: c_uint {
        /// The mapping may be finished at the first use; no effect here. Not with UCP_MEM_MAP_LOCK.
        UCP_MEM_MAP_NONBLOCK = 1 << 0,
        /// Allocate the memory, where other processes of the machine can map it if possible.
        UCP_MEM_MAP_ALLOCATE = 1 << 1,
        /// Allocate at the given address, which must be aligned to pages.
        UCP_MEM_MAP_FIXED = 1 << 2,
        /// Remote keys may be the same in all processes; no effect here.
        UCP_MEM_MAP_SYMMETRIC_RKEY = 1 << 3,
        /// Lock the pages.
        UCP_MEM_MAP_LOCK = 1 << 4,
    }
}

c_enum! {
    /// Accesses that a mapping allows.
    pub enum ucp_mem_map_prot_bits: c_uint {
        /// Read by this process.
        UCP_MEM_MAP_PROT_LOCAL_READ = 1 << 0,
        /// Write by this process.
        UCP_MEM_MAP_PROT_LOCAL_WRITE = 1 << 1,
        /// Read by peers.
        UCP_MEM_MAP_PROT_REMOTE_READ = 1 << 8,
        /// Write by peers.
        UCP_MEM_MAP_PROT_REMOTE_WRITE = 1 << 9,
    }
}
