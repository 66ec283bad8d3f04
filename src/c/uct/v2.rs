//! Layouts of the second-generation UCT calls (`uct_md_query_v2` and its kin) at API level 1.22.
//!
//! No release installs a header for them, so they have no file in `include/`: only the tools of the
//! reference implementation were compiled against them. The offsets of `uct_md_attr_v2_t` were measured
//! by querying one field at a time. Every structure starts with its mask: a callee reads and writes the
//! marked members and nothing else. Members were inserted in the middle up to 1.18, so that a caller
//! built against 1.14 to 1.17 means other offsets by the same bits; UCT calls carry no version to tell.

use crate::c::prelude::*;

c_enum! {
    /// Members of [`uct_md_attr_v2_t`].
    pub enum uct_md_attr_field_t: c_uint {
        UCT_MD_ATTR_FIELD_MAX_ALLOC = 1 << 0,
        UCT_MD_ATTR_FIELD_MAX_REG = 1 << 1,
        UCT_MD_ATTR_FIELD_FLAGS = 1 << 2,
        UCT_MD_ATTR_FIELD_REG_MEM_TYPES = 1 << 3,
        UCT_MD_ATTR_FIELD_REG_NONBLOCK_MEM_TYPES = 1 << 4,
        UCT_MD_ATTR_FIELD_CACHE_MEM_TYPES = 1 << 5,
        UCT_MD_ATTR_FIELD_DETECT_MEM_TYPES = 1 << 6,
        UCT_MD_ATTR_FIELD_ALLOC_MEM_TYPES = 1 << 7,
        UCT_MD_ATTR_FIELD_ACCESS_MEM_TYPES = 1 << 8,
        UCT_MD_ATTR_FIELD_DMABUF_MEM_TYPES = 1 << 9,
        UCT_MD_ATTR_FIELD_REG_COST = 1 << 10,
        UCT_MD_ATTR_FIELD_COMPONENT_NAME = 1 << 11,
        UCT_MD_ATTR_FIELD_RKEY_PACKED_SIZE = 1 << 12,
        UCT_MD_ATTR_FIELD_LOCAL_CPUS = 1 << 13,
        UCT_MD_ATTR_FIELD_EXPORTED_MKEY_PACKED_SIZE = 1 << 14,
        UCT_MD_ATTR_FIELD_GLOBAL_ID = 1 << 15,
        UCT_MD_ATTR_FIELD_REG_ALIGNMENT = 1 << 16,
        UCT_MD_ATTR_FIELD_GVA_MEM_TYPES = 1 << 17,
        UCT_MD_ATTR_FIELD_REG_MEM_FLAGS = 1 << 18,
    }
}

/// What a memory domain can do; every `*_mem_types` is a bitmap over `ucs_memory_type_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_md_attr_v2_t {
    /// In: members to fill, bits of [`uct_md_attr_field_t`].
    pub field_mask: u64,
    /// Largest allocation, bytes; 0 where the domain does not allocate.
    pub max_alloc: u64,
    /// Largest registration, bytes; 0 where the domain does not register.
    pub max_reg: usize,
    /// `UCT_MD_FLAG_*`, with the two `UCT_MD_FLAG_INVALIDATE_*` of this file.
    pub flags: u64,
    /// Types that can be registered.
    pub reg_mem_types: u64,
    /// Types whose registration may be deferred to the first access.
    pub reg_nonblock_mem_types: u64,
    /// Types whose registrations may be cached.
    pub cache_mem_types: u64,
    /// Types that can be registered by one key for the whole address space.
    pub gva_mem_types: u64,
    /// Types the domain can tell from an address.
    pub detect_mem_types: u64,
    /// Types it can allocate.
    pub alloc_mem_types: u64,
    /// Types it can reach.
    pub access_mem_types: u64,
    /// Types for which it can hand out a dmabuf descriptor.
    pub dmabuf_mem_types: u64,
    /// Seconds that a registration takes, as a function of its bytes.
    pub reg_cost: ucs_linear_func_t,
    /// Name of the component, NUL-terminated.
    pub component_name: [c_char; UCT_COMPONENT_NAME_MAX],
    /// Bytes of a packed remote key.
    pub rkey_packed_size: usize,
    /// Processors near the device.
    pub local_cpus: ucs_cpu_set_t,
    /// Bytes of a packed exported key; 0 where keys cannot be exported.
    pub exported_mkey_packed_size: usize,
    /// Equal in two domains only when they drive the same device.
    pub global_id: [c_char; UCT_MD_GLOBAL_ID_MAX],
    /// Registrations start and end at multiples of this, bytes.
    pub reg_alignment: usize,
    /// `UCS_MEM_FLAG_*` that memory must have for its registration. 1.22 writes 0 on host transports.
    pub reg_mem_flags: u8,
}
const _: () = {
    assert!(size_of::<uct_md_attr_v2_t>() == 544);
    assert!(offset_of!(uct_md_attr_v2_t, max_alloc) == 8);
    assert!(offset_of!(uct_md_attr_v2_t, max_reg) == 16);
    assert!(offset_of!(uct_md_attr_v2_t, flags) == 24);
    assert!(offset_of!(uct_md_attr_v2_t, reg_mem_types) == 32);
    assert!(offset_of!(uct_md_attr_v2_t, reg_nonblock_mem_types) == 40);
    assert!(offset_of!(uct_md_attr_v2_t, cache_mem_types) == 48);
    assert!(offset_of!(uct_md_attr_v2_t, gva_mem_types) == 56);
    assert!(offset_of!(uct_md_attr_v2_t, detect_mem_types) == 64);
    assert!(offset_of!(uct_md_attr_v2_t, alloc_mem_types) == 72);
    assert!(offset_of!(uct_md_attr_v2_t, access_mem_types) == 80);
    assert!(offset_of!(uct_md_attr_v2_t, dmabuf_mem_types) == 88);
    assert!(offset_of!(uct_md_attr_v2_t, reg_cost) == 96);
    assert!(offset_of!(uct_md_attr_v2_t, component_name) == 112);
    assert!(offset_of!(uct_md_attr_v2_t, rkey_packed_size) == 128);
    assert!(offset_of!(uct_md_attr_v2_t, local_cpus) == 136);
    assert!(offset_of!(uct_md_attr_v2_t, exported_mkey_packed_size) == 264);
    assert!(offset_of!(uct_md_attr_v2_t, global_id) == 272);
    assert!(offset_of!(uct_md_attr_v2_t, reg_alignment) == 528);
    assert!(offset_of!(uct_md_attr_v2_t, reg_mem_flags) == 536);
};

/// Remote writes and reads stop working once an invalidated key's memory is deregistered.
pub const UCT_MD_FLAG_INVALIDATE_RMA: u64 = 1 << 11;
/// Atomics stop working once an invalidated key's memory is deregistered.
pub const UCT_MD_FLAG_INVALIDATE_AMO: u64 = 1 << 12;

c_enum! {
    /// Members of [`uct_md_mem_reg_params_t`].
    pub enum uct_md_mem_reg_field_mask_t: c_uint {
        UCT_MD_MEM_REG_FIELD_FLAGS = 1 << 0,
        UCT_MD_MEM_REG_FIELD_DMABUF_FD = 1 << 1,
        UCT_MD_MEM_REG_FIELD_DMABUF_OFFSET = 1 << 2,
    }
}

/// How to register memory. 32 bytes up to 1.21; 1.22 appended 8 that no host transport reads, so that
/// they are left out here: a callee gets a pointer and never copies the whole.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_md_mem_reg_params_t {
    /// Members that are set, bits of [`uct_md_mem_reg_field_mask_t`].
    pub field_mask: u64,
    /// `UCT_MD_MEM_*`, as in `uct_md_mem_reg`.
    pub flags: u64,
    /// Descriptor of a dmabuf that holds the memory; -1 when unset.
    pub dmabuf_fd: c_int,
    /// Where the memory starts in the dmabuf, bytes; 0 when unset.
    pub dmabuf_offset: usize,
}
const _: () = {
    assert!(size_of::<uct_md_mem_reg_params_t>() == 32);
    assert!(offset_of!(uct_md_mem_reg_params_t, flags) == 8);
    assert!(offset_of!(uct_md_mem_reg_params_t, dmabuf_fd) == 16);
    assert!(offset_of!(uct_md_mem_reg_params_t, dmabuf_offset) == 24);
};

c_enum! {
    /// Members of [`uct_md_mem_dereg_params_t`].
    pub enum uct_md_mem_dereg_field_mask_t: c_uint {
        UCT_MD_MEM_DEREG_FIELD_MEMH = 1 << 0,
        UCT_MD_MEM_DEREG_FIELD_FLAGS = 1 << 1,
        UCT_MD_MEM_DEREG_FIELD_COMPLETION = 1 << 2,
    }
}

c_enum! {
    /// Flags of `uct_md_mem_dereg_v2`.
    pub enum uct_md_mem_dereg_flags_t: c_uint {
        /// Refuse later accesses of the peers that hold a key, and complete when none can come.
        UCT_MD_MEM_DEREG_FLAG_INVALIDATE = 1 << 0,
    }
}

/// What to deregister.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_md_mem_dereg_params_t {
    /// Members that are set, bits of [`uct_md_mem_dereg_field_mask_t`].
    pub field_mask: u64,
    /// Bits of [`uct_md_mem_dereg_flags_t`].
    pub flags: c_uint,
    /// The registration; must be set.
    pub memh: uct_mem_h,
    /// Counted down once the memory cannot be reached any more; goes with the invalidate flag.
    pub comp: *mut uct_completion_t,
}
const _: () = {
    assert!(size_of::<uct_md_mem_dereg_params_t>() == 32);
    assert!(offset_of!(uct_md_mem_dereg_params_t, flags) == 8);
    assert!(offset_of!(uct_md_mem_dereg_params_t, memh) == 16);
    assert!(offset_of!(uct_md_mem_dereg_params_t, comp) == 24);
};

c_enum! {
    /// Members of [`uct_md_mkey_pack_params_t`].
    pub enum uct_md_mkey_pack_field_mask_t: c_uint {
        UCT_MD_MKEY_PACK_FIELD_FLAGS = 1 << 0,
    }
}

c_enum! {
    /// Flags of `uct_md_mkey_pack_v2`.
    pub enum uct_md_mkey_pack_flags_t: c_uint {
        /// The key must be revocable for writes and reads.
        UCT_MD_MKEY_PACK_FLAG_INVALIDATE_RMA = 1 << 0,
        /// The key must be revocable for atomics.
        UCT_MD_MKEY_PACK_FLAG_INVALIDATE_AMO = 1 << 1,
        /// The key is for another process on the same device.
        UCT_MD_MKEY_PACK_FLAG_EXPORT = 1 << 2,
    }
}

/// How to pack a key.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_md_mkey_pack_params_t {
    /// Members that are set, bits of [`uct_md_mkey_pack_field_mask_t`].
    pub field_mask: u64,
    /// Bits of [`uct_md_mkey_pack_flags_t`].
    pub flags: c_uint,
}
const _: () = {
    assert!(size_of::<uct_md_mkey_pack_params_t>() == 16);
    assert!(offset_of!(uct_md_mkey_pack_params_t, flags) == 8);
};

c_enum! {
    /// Members of [`uct_iface_is_reachable_params_t`].
    pub enum uct_iface_is_reachable_field_mask_t: c_uint {
        UCT_IFACE_IS_REACHABLE_FIELD_DEVICE_ADDR = 1 << 0,
        UCT_IFACE_IS_REACHABLE_FIELD_IFACE_ADDR = 1 << 1,
        UCT_IFACE_IS_REACHABLE_FIELD_INFO_STRING = 1 << 2,
        UCT_IFACE_IS_REACHABLE_FIELD_INFO_STRING_LENGTH = 1 << 3,
        UCT_IFACE_IS_REACHABLE_FIELD_SCOPE = 1 << 4,
    }
}

c_enum! {
    /// How far `uct_iface_is_reachable_v2` looks.
    pub enum uct_iface_reachability_scope_t: c_uint {
        /// The same device only.
        UCT_IFACE_REACHABILITY_SCOPE_DEVICE = 0,
        /// Any device of the network.
        UCT_IFACE_REACHABILITY_SCOPE_NETWORK = 1,
    }
}

/// What `uct_iface_is_reachable_v2` is asked.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_iface_is_reachable_params_t {
    /// Members that are set, bits of [`uct_iface_is_reachable_field_mask_t`].
    pub field_mask: u64,
    /// Address of the peer's device.
    pub device_addr: *const uct_device_addr_t,
    /// Address of the peer's interface.
    pub iface_addr: *const uct_iface_addr_t,
    /// Buffer of the caller for the reason of a refusal, NUL-terminated.
    pub info_string: *mut c_char,
    /// Bytes of that buffer.
    pub info_string_length: usize,
    /// Whether another device will do.
    pub scope: uct_iface_reachability_scope_t,
}
const _: () = {
    assert!(size_of::<uct_iface_is_reachable_params_t>() == 48);
    assert!(offset_of!(uct_iface_is_reachable_params_t, device_addr) == 8);
    assert!(offset_of!(uct_iface_is_reachable_params_t, iface_addr) == 16);
    assert!(offset_of!(uct_iface_is_reachable_params_t, info_string) == 24);
    assert!(offset_of!(uct_iface_is_reachable_params_t, info_string_length) == 32);
    assert!(offset_of!(uct_iface_is_reachable_params_t, scope) == 40);
};
