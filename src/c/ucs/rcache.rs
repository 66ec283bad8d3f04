//! `ucs/memory/rcache.h`: types and constants.

use crate::c::prelude::*;

opaque! {
    /// A registration cache.
    pub struct ucs_rcache
}

pub type ucs_rcache_t = ucs_rcache;

pub type ucs_rcache_ops_t = ucs_rcache_ops;

pub type ucs_rcache_params_t = ucs_rcache_params;

pub type ucs_rcache_region_t = ucs_rcache_region;

pub type ucs_rcache_config_t = ucs_rcache_config;

/// The range is registered.
pub const UCS_RCACHE_REGION_FLAG_REGISTERED: c_uint = 1 << 0;
/// The region is in the table.
pub const UCS_RCACHE_REGION_FLAG_PGTABLE: c_uint = 1 << 1;

/// The registration may fail, and is not to log that.
pub const UCS_RCACHE_MEM_REG_HIDE_ERRORS: c_uint = 1 << 0;

/// Page frames are not compared.
pub const UCS_RCACHE_FLAG_NO_PFN_CHECK: c_uint = 1 << 0;
/// The child of a fork begins with an empty cache.
pub const UCS_RCACHE_FLAG_PURGE_ON_FORK: c_uint = 1 << 1;
/// An event takes its effect before the call that causes it goes on.
pub const UCS_RCACHE_FLAG_SYNC_EVENTS: c_uint = 1 << 2;
/// The list of unused regions needs a lock of its own.
pub const UCS_RCACHE_FLAG_NEED_LRU_LOCK: c_uint = 1 << 3;

/// The region is in the list of unused ones.
pub const UCS_RCACHE_LRU_FLAG_IN_LRU: c_uint = 1 << 0;

/// Told that an invalidated region is gone; must not use the cache.
///
/// - `arg` (in): As it was given with the callback.
pub type ucs_rcache_invalidate_comp_func_t = Option<unsafe extern "C" fn(arg: *mut c_void)>;

/// What the owner of a cache does itself.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_rcache_ops {
    /// Registers the range of a region; `arg` is that of `ucs_rcache_get`.
    pub mem_reg: Option<
        unsafe extern "C" fn(
            context: *mut c_void,
            rcache: *mut ucs_rcache_t,
            arg: *mut c_void,
            region: *mut ucs_rcache_region_t,
            flags: u16,
        ) -> ucs_status_t,
    >,
    /// Ends a registration.
    pub mem_dereg: Option<
        unsafe extern "C" fn(
            context: *mut c_void,
            rcache: *mut ucs_rcache_t,
            region: *mut ucs_rcache_region_t,
        ),
    >,
    /// Told of each region that a new one takes in; NULL where nothing is to be done.
    pub merge: Option<
        unsafe extern "C" fn(
            context: *mut c_void,
            rcache: *mut ucs_rcache_t,
            arg: *mut c_void,
            region: *mut ucs_rcache_region_t,
        ),
    >,
    /// Writes the owner's part of a region as text; NULL where there is none.
    pub dump_region: Option<
        unsafe extern "C" fn(
            context: *mut c_void,
            rcache: *mut ucs_rcache_t,
            region: *mut ucs_rcache_region_t,
            buf: *mut c_char,
            max: usize,
        ),
    >,
}
const _: () = {
    assert!(size_of::<ucs_rcache_ops>() == 32);
    assert!(offset_of!(ucs_rcache_ops, merge) == 16);
    assert!(offset_of!(ucs_rcache_ops, dump_region) == 24);
};

/// How a cache is made.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_rcache_params {
    /// Bytes of a region with the owner's part.
    pub region_struct_size: usize,
    /// Events that invalidate ranges: UCM_EVENT_VM_UNMAPPED, UCM_EVENT_MEM_TYPE_FREE.
    pub ucm_events: c_int,
    /// Priority of their handler.
    pub ucm_event_priority: c_int,
    /// Functions.
    pub ops: *const ucs_rcache_ops_t,
    /// Handed to the functions above.
    pub context: *mut c_void,
    /// UCS_RCACHE_FLAG_NO_PFN_CHECK and the others.
    pub flags: c_int,
    /// Most regions.
    pub max_regions: c_ulong,
    /// Most bytes of all regions.
    pub max_size: usize,
    /// Bytes of invalidated regions that wait for their end, until they are ended at once.
    pub max_unreleased: usize,
}
const _: () = {
    assert!(size_of::<ucs_rcache_params>() == 64);
    assert!(offset_of!(ucs_rcache_params, ucm_events) == 8);
    assert!(offset_of!(ucs_rcache_params, ucm_event_priority) == 12);
    assert!(offset_of!(ucs_rcache_params, ops) == 16);
    assert!(offset_of!(ucs_rcache_params, context) == 24);
    assert!(offset_of!(ucs_rcache_params, flags) == 32);
    assert!(offset_of!(ucs_rcache_params, max_regions) == 40);
    assert!(offset_of!(ucs_rcache_params, max_size) == 48);
    assert!(offset_of!(ucs_rcache_params, max_unreleased) == 56);
};

/// What a user chooses of it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_rcache_config {
    /// Priority of the handler of memory events.
    pub event_prio: c_uint,
    /// Time of a lookup, as an estimate.
    pub overhead: ucs_time_t,
    /// Most regions.
    pub max_regions: c_ulong,
    /// Most bytes of all regions.
    pub max_size: usize,
    /// Bytes of invalidated regions that may wait for their end.
    pub max_unreleased: usize,
    /// Nonzero to begin with an empty cache after a fork.
    pub purge_on_fork: c_int,
}
const _: () = {
    assert!(size_of::<ucs_rcache_config>() == 48);
    assert!(offset_of!(ucs_rcache_config, overhead) == 8);
    assert!(offset_of!(ucs_rcache_config, max_regions) == 16);
    assert!(offset_of!(ucs_rcache_config, max_size) == 24);
    assert!(offset_of!(ucs_rcache_config, max_unreleased) == 32);
    assert!(offset_of!(ucs_rcache_config, purge_on_fork) == 40);
};

/// One registered range of memory. The owner's own part follows it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_rcache_region {
    pub super_: ucs_pgt_region_t,
    pub lru_list: ucs_list_link_t,
    pub tmp_list: ucs_list_link_t,
    pub comp_list: ucs_list_link_t,
    /// Alignment of the objects, bytes.
    pub alignment: usize,
    pub refcount: u32,
    pub status: ucs_status_t,
    pub prot: u8,
    pub flags: u8,
    pub lru_flags: u8,
    pub r#priv: u64,
}
const _: () = {
    assert!(size_of::<ucs_rcache_region>() == 88);
    assert!(offset_of!(ucs_rcache_region, lru_list) == 16);
    assert!(offset_of!(ucs_rcache_region, tmp_list) == 32);
    assert!(offset_of!(ucs_rcache_region, comp_list) == 48);
    assert!(offset_of!(ucs_rcache_region, alignment) == 64);
    assert!(offset_of!(ucs_rcache_region, refcount) == 72);
    assert!(offset_of!(ucs_rcache_region, status) == 76);
    assert!(offset_of!(ucs_rcache_region, prot) == 77);
    assert!(offset_of!(ucs_rcache_region, flags) == 78);
    assert!(offset_of!(ucs_rcache_region, lru_flags) == 79);
    assert!(offset_of!(ucs_rcache_region, r#priv) == 80);
};
