//! `uct/api/uct.h`: memory domains: what they can do, allocation, registration and remote keys.
//! `uct_allocated_memory_t` grew by 8 bytes in 1.19, without a mask.

use crate::c::prelude::*;

c_enum! {
    /// Where memory comes from.
    pub enum uct_alloc_method_t: c_uint {
        /// Huge pages where the system gives them by itself.
        UCT_ALLOC_METHOD_THP = 0,
        /// The memory domain.
        UCT_ALLOC_METHOD_MD = 1,
        /// malloc().
        UCT_ALLOC_METHOD_HEAP = 2,
        /// mmap().
        UCT_ALLOC_METHOD_MMAP = 3,
        /// Reserved huge pages.
        UCT_ALLOC_METHOD_HUGE = 4,
        /// Number of methods.
        UCT_ALLOC_METHOD_LAST = 5,
        /// Let the interface choose.
        UCT_ALLOC_METHOD_DEFAULT = 5,
    }
}

c_enum! {
    /// Flags of allocation and registration.
    pub enum uct_md_mem_flags: c_uint {
        /// May finish later, at the first use.
        UCT_MD_MEM_FLAG_NONBLOCK = 1 << 0,
        /// At the given address or not at all.
        UCT_MD_MEM_FLAG_FIXED = 1 << 1,
        /// Lock the pages.
        UCT_MD_MEM_FLAG_LOCK = 1 << 2,
        /// Fail without a message.
        UCT_MD_MEM_FLAG_HIDE_ERRORS = 1 << 3,
        /// Peers write.
        UCT_MD_MEM_ACCESS_REMOTE_PUT = 1 << 5,
        /// Peers read.
        UCT_MD_MEM_ACCESS_REMOTE_GET = 1 << 6,
        /// Peers use atomics.
        UCT_MD_MEM_ACCESS_REMOTE_ATOMIC = 1 << 7,
        /// Read here.
        UCT_MD_MEM_ACCESS_LOCAL_READ = 1 << 8,
        /// Write here.
        UCT_MD_MEM_ACCESS_LOCAL_WRITE = 1 << 9,
        /// Try for keys that are the same in all processes.
        UCT_MD_MEM_SYMMETRIC_RKEY = 1 << 10,
        /// One key for the whole address space.
        UCT_MD_MEM_GVA = 1 << 11,
        /// All accesses.
        UCT_MD_MEM_ACCESS_ALL = 992,
        /// All but atomics.
        UCT_MD_MEM_ACCESS_RMA = 864,
    }
}

c_enum! {
    /// How memory will be used.
    pub enum uct_mem_advice_t: c_uint {
        /// No advice.
        UCT_MADV_NORMAL = 0,
        /// It will be accessed soon.
        UCT_MADV_WILLNEED = 1,
    }
}

/// What a memory domain can do; each `*_mem_types` is a bitmap over `ucs_memory_type_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_md_attr_cap {
    /// Largest allocation, bytes.
    pub max_alloc: u64,
    /// Largest registration, bytes.
    pub max_reg: usize,
    /// `UCT_MD_FLAG_*`.
    pub flags: u64,
    /// Types that can be registered.
    pub reg_mem_types: u64,
    /// Types that can be told from an address.
    pub detect_mem_types: u64,
    /// Types that can be allocated.
    pub alloc_mem_types: u64,
    /// Types that can be reached.
    pub access_mem_types: u64,
}
const _: () = {
    assert!(size_of::<uct_md_attr_cap>() == 56);
    assert!(offset_of!(uct_md_attr_cap, max_alloc) == 0);
    assert!(offset_of!(uct_md_attr_cap, max_reg) == 8);
    assert!(offset_of!(uct_md_attr_cap, flags) == 16);
    assert!(offset_of!(uct_md_attr_cap, reg_mem_types) == 24);
    assert!(offset_of!(uct_md_attr_cap, detect_mem_types) == 32);
    assert!(offset_of!(uct_md_attr_cap, alloc_mem_types) == 40);
    assert!(offset_of!(uct_md_attr_cap, access_mem_types) == 48);
};

/// What `uct_md_query` tells.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_md_attr {
    /// What the domain can do.
    pub cap: uct_md_attr_cap,
    /// Seconds that a registration takes, as a function of its bytes.
    pub reg_cost: ucs_linear_func_t,
    /// Name of the component.
    pub component_name: [c_char; UCT_COMPONENT_NAME_MAX],
    /// Bytes of a packed remote key.
    pub rkey_packed_size: usize,
    /// Processors near the device.
    pub local_cpus: ucs_cpu_set_t,
}
const _: () = {
    assert!(size_of::<uct_md_attr>() == 224);
    assert!(offset_of!(uct_md_attr, cap) == 0);
    assert!(offset_of!(uct_md_attr, reg_cost) == 56);
    assert!(offset_of!(uct_md_attr, component_name) == 72);
    assert!(offset_of!(uct_md_attr, rkey_packed_size) == 88);
    assert!(offset_of!(uct_md_attr, local_cpus) == 96);
};

c_enum! {
    /// Members of `uct_md_mem_attr`.
    pub enum uct_md_mem_attr_field: c_uint {
        /// `mem_type` is wanted.
        UCT_MD_MEM_ATTR_FIELD_MEM_TYPE = 1 << 0,
        /// `sys_dev` is wanted.
        UCT_MD_MEM_ATTR_FIELD_SYS_DEV = 1 << 1,
        /// `base_address` is wanted.
        UCT_MD_MEM_ATTR_FIELD_BASE_ADDRESS = 1 << 2,
        /// `alloc_length` is wanted.
        UCT_MD_MEM_ATTR_FIELD_ALLOC_LENGTH = 1 << 3,
        /// `dmabuf_fd` is wanted.
        UCT_MD_MEM_ATTR_FIELD_DMABUF_FD = 1 << 4,
        /// `dmabuf_offset` is wanted.
        UCT_MD_MEM_ATTR_FIELD_DMABUF_OFFSET = 1 << 5,
    }
}

pub type uct_md_mem_attr_field_t = uct_md_mem_attr_field;

/// What `uct_md_mem_query` tells of memory.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_md_mem_attr {
    /// In: members to fill, bits of `uct_md_mem_attr_field`.
    pub field_mask: u64,
    /// Kind of the memory.
    pub mem_type: ucs_memory_type_t,
    /// Device that it is on.
    pub sys_dev: ucs_sys_device_t,
    /// Start of the allocation that it is in.
    pub base_address: *mut c_void,
    /// Bytes of that allocation.
    pub alloc_length: usize,
    /// A dmabuf descriptor for it, which the caller closes.
    pub dmabuf_fd: c_int,
    /// Where it starts in the dmabuf, bytes.
    pub dmabuf_offset: usize,
}
const _: () = {
    assert!(size_of::<uct_md_mem_attr>() == 48);
    assert!(offset_of!(uct_md_mem_attr, field_mask) == 0);
    assert!(offset_of!(uct_md_mem_attr, mem_type) == 8);
    assert!(offset_of!(uct_md_mem_attr, sys_dev) == 12);
    assert!(offset_of!(uct_md_mem_attr, base_address) == 16);
    assert!(offset_of!(uct_md_mem_attr, alloc_length) == 24);
    assert!(offset_of!(uct_md_mem_attr, dmabuf_fd) == 32);
    assert!(offset_of!(uct_md_mem_attr, dmabuf_offset) == 40);
};

pub type uct_md_mem_attr_t = uct_md_mem_attr;

/// Memory of `uct_mem_alloc` or `uct_iface_mem_alloc`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_allocated_memory {
    /// Start.
    pub address: *mut c_void,
    /// Bytes, which may be more than were asked for.
    pub length: usize,
    /// Where it comes from.
    pub method: uct_alloc_method_t,
    /// Kind of the memory.
    pub mem_type: ucs_memory_type_t,
    /// Domain that it is registered with, or NULL.
    pub md: uct_md_h,
    /// Its registration.
    pub memh: uct_mem_h,
    /// Device that it is on. Since 1.19: filled only for callers that can know.
    pub sys_device: ucs_sys_device_t,
}
const _: () = {
    assert!(size_of::<uct_allocated_memory>() == 48);
    assert!(offset_of!(uct_allocated_memory, address) == 0);
    assert!(offset_of!(uct_allocated_memory, length) == 8);
    assert!(offset_of!(uct_allocated_memory, method) == 16);
    assert!(offset_of!(uct_allocated_memory, mem_type) == 20);
    assert!(offset_of!(uct_allocated_memory, md) == 24);
    assert!(offset_of!(uct_allocated_memory, memh) == 32);
    assert!(offset_of!(uct_allocated_memory, sys_device) == 40);
};

pub type uct_allocated_memory_t = uct_allocated_memory;

/// An unpacked remote key.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_rkey_bundle {
    /// The key, for operations.
    pub rkey: uct_rkey_t,
    /// What belongs to it, for its release.
    pub handle: *mut c_void,
    /// The component.
    pub r#type: *mut c_void,
}
const _: () = {
    assert!(size_of::<uct_rkey_bundle>() == 24);
    assert!(offset_of!(uct_rkey_bundle, rkey) == 0);
    assert!(offset_of!(uct_rkey_bundle, handle) == 8);
    assert!(offset_of!(uct_rkey_bundle, r#type) == 16);
};

pub type uct_rkey_bundle_t = uct_rkey_bundle;

c_enum! {
    /// Members of `uct_mem_alloc_params_t`.
    pub enum uct_mem_alloc_params_field_t: c_uint {
        /// `flags` is set.
        UCT_MEM_ALLOC_PARAM_FIELD_FLAGS = 1 << 0,
        /// `address` is set.
        UCT_MEM_ALLOC_PARAM_FIELD_ADDRESS = 1 << 1,
        /// `mem_type` is set.
        UCT_MEM_ALLOC_PARAM_FIELD_MEM_TYPE = 1 << 2,
        /// `mds` is set.
        UCT_MEM_ALLOC_PARAM_FIELD_MDS = 1 << 3,
        /// `name` is set.
        UCT_MEM_ALLOC_PARAM_FIELD_NAME = 1 << 4,
        /// `sys_device` is set.
        UCT_MEM_ALLOC_PARAM_FIELD_SYS_DEVICE = 1 << 5,
    }
}

/// Memory domains to try.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_mem_alloc_params_t_mds {
    /// The domains.
    pub mds: *const uct_md_h,
    /// Number of them.
    pub count: c_uint,
}
const _: () = {
    assert!(size_of::<uct_mem_alloc_params_t_mds>() == 16);
    assert!(offset_of!(uct_mem_alloc_params_t_mds, mds) == 0);
    assert!(offset_of!(uct_mem_alloc_params_t_mds, count) == 8);
};

/// How `uct_mem_alloc` allocates.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct uct_mem_alloc_params_t {
    /// Members that are set, bits of `uct_mem_alloc_params_field_t`.
    pub field_mask: u64,
    /// Bits of `uct_md_mem_flags`.
    pub flags: c_uint,
    /// Where, as of mmap().
    pub address: *mut c_void,
    /// Kind of the memory; host when not set.
    pub mem_type: ucs_memory_type_t,
    /// Domains for UCT_ALLOC_METHOD_MD.
    pub mds: uct_mem_alloc_params_t_mds,
    /// Name for messages.
    pub name: *const c_char,
    /// Device to allocate on.
    pub sys_device: ucs_sys_device_t,
}
const _: () = {
    assert!(size_of::<uct_mem_alloc_params_t>() == 64);
    assert!(offset_of!(uct_mem_alloc_params_t, field_mask) == 0);
    assert!(offset_of!(uct_mem_alloc_params_t, flags) == 8);
    assert!(offset_of!(uct_mem_alloc_params_t, address) == 16);
    assert!(offset_of!(uct_mem_alloc_params_t, mem_type) == 24);
    assert!(offset_of!(uct_mem_alloc_params_t, mds) == 32);
    assert!(offset_of!(uct_mem_alloc_params_t, name) == 48);
    assert!(offset_of!(uct_mem_alloc_params_t, sys_device) == 56);
};

c_enum! {
    /// Flags of a memory domain.
    pub enum uct_md_flag_bits: c_uint {
        /// It allocates.
        UCT_MD_FLAG_ALLOC = 1 << 0,
        /// It registers.
        UCT_MD_FLAG_REG = 1 << 1,
        /// Local memory of zero-copy operations must be registered.
        UCT_MD_FLAG_NEED_MEMH = 1 << 2,
        /// Remote memory needs a key.
        UCT_MD_FLAG_NEED_RKEY = 1 << 3,
        /// It takes advice.
        UCT_MD_FLAG_ADVISE = 1 << 4,
        /// It allocates at fixed addresses.
        UCT_MD_FLAG_FIXED = 1 << 5,
        /// Remote memory can be reached by a pointer: `uct_rkey_ptr`.
        UCT_MD_FLAG_RKEY_PTR = 1 << 6,
        /// It connects by socket addresses.
        UCT_MD_FLAG_SOCKADDR = 1 << 7,
        /// It revokes keys.
        UCT_MD_FLAG_INVALIDATE = 1 << 8,
        /// It exports registrations to other processes.
        UCT_MD_FLAG_EXPORTED_MKEY = 1 << 9,
        /// It registers dmabufs.
        UCT_MD_FLAG_REG_DMABUF = 1 << 10,
        /// One behind the last flag.
        UCT_MD_FLAG_LAST = 1 << 11,
    }
}
