//! `ucm/api/ucm.h`: types and constants.

use crate::c::prelude::*;

c_enum! {
    /// Events on memory; masks of them in the calls.
    pub enum ucm_event_type: c_uint {
        /// No event.
        UCM_EVENT_NONE = 0,
        /// mmap().
        UCM_EVENT_MMAP = 1 << 0,
        /// munmap().
        UCM_EVENT_MUNMAP = 1 << 1,
        /// mremap().
        UCM_EVENT_MREMAP = 1 << 2,
        /// shmat().
        UCM_EVENT_SHMAT = 1 << 3,
        /// shmdt().
        UCM_EVENT_SHMDT = 1 << 4,
        /// sbrk().
        UCM_EVENT_SBRK = 1 << 5,
        /// madvise().
        UCM_EVENT_MADVISE = 1 << 6,
        /// brk().
        UCM_EVENT_BRK = 1 << 7,
        /// Addresses became valid, by whichever call.
        UCM_EVENT_VM_MAPPED = 1 << 16,
        /// Addresses became invalid, by whichever call.
        UCM_EVENT_VM_UNMAPPED = 1 << 17,
        /// Memory of a device was allocated.
        UCM_EVENT_MEM_TYPE_ALLOC = 1 << 20,
        /// Memory of a device was freed.
        UCM_EVENT_MEM_TYPE_FREE = 1 << 21,
        /// Flag: do not hook; only listen to what comes anyway.
        UCM_EVENT_FLAG_NO_INSTALL = 1 << 24,
        /// Flag: report what is allocated already.
        UCM_EVENT_FLAG_EXISTING_ALLOC = 1 << 25,
    }
}

pub type ucm_event_type_t = ucm_event_type;

c_enum! {
    /// How calls are hooked.
    pub enum ucm_mmap_hook_mode: c_uint {
        /// Not.
        UCM_MMAP_HOOK_NONE = 0,
        /// By the tables of loaded objects.
        UCM_MMAP_HOOK_RELOC = 1,
        /// By patching code, which this library never does.
        UCM_MMAP_HOOK_BISTRO = 2,
        /// Number of modes.
        UCM_MMAP_HOOK_LAST = 3,
    }
}

pub type ucm_mmap_hook_mode_t = ucm_mmap_hook_mode;

c_enum! {
    /// Whether hooked modules may be unloaded.
    pub enum ucm_module_unload_prevent_mode: c_uint {
        /// They stay; symbols are bound when used.
        UCM_UNLOAD_PREVENT_MODE_LAZY = 0,
        /// They stay; symbols are bound at once.
        UCM_UNLOAD_PREVENT_MODE_NOW = 1,
        /// They may go.
        UCM_UNLOAD_PREVENT_MODE_NONE = 2,
        /// Number of modes.
        UCM_UNLOAD_PREVENT_MODE_LAST = 3,
    }
}

pub type ucm_module_unload_prevent_mode_t = ucm_module_unload_prevent_mode;

/// Arguments and result of mmap().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucm_event_mmap {
    /// Result; a handler may set it and so replace the call.
    pub result: *mut c_void,
    /// Start.
    pub address: *mut c_void,
    /// Bytes.
    pub size: usize,
    /// Access, as of mmap().
    pub prot: c_int,
    /// Flags, as of mmap().
    pub flags: c_int,
    /// File, as of mmap().
    pub fd: c_int,
    /// Where in the file, bytes.
    pub offset: off_t,
}
const _: () = {
    assert!(size_of::<ucm_event_mmap>() == 48);
    assert!(offset_of!(ucm_event_mmap, result) == 0);
    assert!(offset_of!(ucm_event_mmap, address) == 8);
    assert!(offset_of!(ucm_event_mmap, size) == 16);
    assert!(offset_of!(ucm_event_mmap, prot) == 24);
    assert!(offset_of!(ucm_event_mmap, flags) == 28);
    assert!(offset_of!(ucm_event_mmap, fd) == 32);
    assert!(offset_of!(ucm_event_mmap, offset) == 40);
};

/// Arguments and result of munmap().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucm_event_munmap {
    /// Result; a handler may set it and so replace the call.
    pub result: c_int,
    /// Start.
    pub address: *mut c_void,
    /// Bytes.
    pub size: usize,
}
const _: () = {
    assert!(size_of::<ucm_event_munmap>() == 24);
    assert!(offset_of!(ucm_event_munmap, result) == 0);
    assert!(offset_of!(ucm_event_munmap, address) == 8);
    assert!(offset_of!(ucm_event_munmap, size) == 16);
};

/// Arguments and result of mremap().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucm_event_mremap {
    /// Result; a handler may set it and so replace the call.
    pub result: *mut c_void,
    /// Start.
    pub address: *mut c_void,
    /// Bytes before.
    pub old_size: usize,
    /// Bytes after.
    pub new_size: usize,
    /// Flags, as of mremap().
    pub flags: c_int,
    /// Where to, with MREMAP_FIXED.
    pub new_address: *mut c_void,
}
const _: () = {
    assert!(size_of::<ucm_event_mremap>() == 48);
    assert!(offset_of!(ucm_event_mremap, result) == 0);
    assert!(offset_of!(ucm_event_mremap, address) == 8);
    assert!(offset_of!(ucm_event_mremap, old_size) == 16);
    assert!(offset_of!(ucm_event_mremap, new_size) == 24);
    assert!(offset_of!(ucm_event_mremap, flags) == 32);
    assert!(offset_of!(ucm_event_mremap, new_address) == 40);
};

/// Arguments and result of shmat().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucm_event_shmat {
    /// Result; a handler may set it and so replace the call.
    pub result: *mut c_void,
    /// Segment.
    pub shmid: c_int,
    /// Where to, or NULL.
    pub shmaddr: *const c_void,
    /// Flags, as of shmat().
    pub shmflg: c_int,
}
const _: () = {
    assert!(size_of::<ucm_event_shmat>() == 32);
    assert!(offset_of!(ucm_event_shmat, result) == 0);
    assert!(offset_of!(ucm_event_shmat, shmid) == 8);
    assert!(offset_of!(ucm_event_shmat, shmaddr) == 16);
    assert!(offset_of!(ucm_event_shmat, shmflg) == 24);
};

/// Arguments and result of shmdt().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucm_event_shmdt {
    /// Result; a handler may set it and so replace the call.
    pub result: c_int,
    /// Start of the attached segment.
    pub shmaddr: *const c_void,
}
const _: () = {
    assert!(size_of::<ucm_event_shmdt>() == 16);
    assert!(offset_of!(ucm_event_shmdt, result) == 0);
    assert!(offset_of!(ucm_event_shmdt, shmaddr) == 8);
};

/// Arguments and result of sbrk().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucm_event_sbrk {
    /// Result; a handler may set it and so replace the call.
    pub result: *mut c_void,
    /// Bytes that are added.
    pub increment: isize,
}
const _: () = {
    assert!(size_of::<ucm_event_sbrk>() == 16);
    assert!(offset_of!(ucm_event_sbrk, result) == 0);
    assert!(offset_of!(ucm_event_sbrk, increment) == 8);
};

/// Arguments and result of madvise().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucm_event_madvise {
    /// Result; a handler may set it and so replace the call.
    pub result: c_int,
    /// Start.
    pub addr: *mut c_void,
    /// Bytes.
    pub length: usize,
    /// Advice, as of madvise().
    pub advice: c_int,
}
const _: () = {
    assert!(size_of::<ucm_event_madvise>() == 32);
    assert!(offset_of!(ucm_event_madvise, result) == 0);
    assert!(offset_of!(ucm_event_madvise, addr) == 8);
    assert!(offset_of!(ucm_event_madvise, length) == 16);
    assert!(offset_of!(ucm_event_madvise, advice) == 24);
};

/// Arguments and result of brk().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucm_event_brk {
    /// Result; a handler may set it and so replace the call.
    pub result: c_int,
    /// New end of the heap.
    pub addr: *mut c_void,
}
const _: () = {
    assert!(size_of::<ucm_event_brk>() == 16);
    assert!(offset_of!(ucm_event_brk, result) == 0);
    assert!(offset_of!(ucm_event_brk, addr) == 8);
};

/// Addresses that changed.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucm_event_vm_mapped {
    /// Start.
    pub address: *mut c_void,
    /// Bytes.
    pub size: usize,
}
const _: () = {
    assert!(size_of::<ucm_event_vm_mapped>() == 16);
    assert!(offset_of!(ucm_event_vm_mapped, address) == 0);
    assert!(offset_of!(ucm_event_vm_mapped, size) == 8);
};

/// Memory of a device.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucm_event_mem_type {
    /// Start.
    pub address: *mut c_void,
    /// Bytes.
    pub size: usize,
    /// Kind of the memory.
    pub mem_type: ucs_memory_type_t,
    /// Device that it is on; 255 where unknown.
    pub sys_dev: ucs_sys_device_t,
    /// `UCS_MEM_FLAG_*`.
    pub mem_flags: u8,
}
const _: () = {
    assert!(size_of::<ucm_event_mem_type>() == 24);
    assert!(offset_of!(ucm_event_mem_type, address) == 0);
    assert!(offset_of!(ucm_event_mem_type, size) == 8);
    assert!(offset_of!(ucm_event_mem_type, mem_type) == 16);
    assert!(offset_of!(ucm_event_mem_type, sys_dev) == 20);
    assert!(offset_of!(ucm_event_mem_type, mem_flags) == 21);
};

/// One event, by its type.
#[repr(C)]
#[derive(Clone, Copy)]
pub union ucm_event {
    /// With UCM_EVENT_MMAP.
    pub mmap: ucm_event_mmap,
    /// With UCM_EVENT_MUNMAP.
    pub munmap: ucm_event_munmap,
    /// With UCM_EVENT_MREMAP.
    pub mremap: ucm_event_mremap,
    /// With UCM_EVENT_SHMAT.
    pub shmat: ucm_event_shmat,
    /// With UCM_EVENT_SHMDT.
    pub shmdt: ucm_event_shmdt,
    /// With UCM_EVENT_SBRK.
    pub sbrk: ucm_event_sbrk,
    /// With UCM_EVENT_MADVISE.
    pub madvise: ucm_event_madvise,
    /// With UCM_EVENT_BRK.
    pub brk: ucm_event_brk,
    /// With UCM_EVENT_VM_MAPPED.
    pub vm_mapped: ucm_event_vm_mapped,
    /// With UCM_EVENT_VM_UNMAPPED.
    pub vm_unmapped: ucm_event_vm_mapped,
    /// With UCM_EVENT_MEM_TYPE_ALLOC and UCM_EVENT_MEM_TYPE_FREE.
    pub mem_type: ucm_event_mem_type,
}
const _: () = {
    assert!(size_of::<ucm_event>() == 48);
};

pub type ucm_event_t = ucm_event;

/// Options of the library that watches memory.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucm_global_config {
    /// Messages up to this level.
    pub log_level: ucs_log_level_t,
    /// Nonzero: events are on.
    pub enable_events: c_int,
    /// How calls are hooked.
    pub mmap_hook_mode: ucm_mmap_hook_mode_t,
    /// Nonzero: malloc() is hooked.
    pub enable_malloc_hooks: c_int,
    /// Nonzero: by the tables of loaded objects.
    pub enable_malloc_reloc: c_int,
    /// Ways to hook CUDA; none is used.
    pub cuda_hook_modes: u64,
    /// Nonzero: malloc() adapts its threshold.
    pub enable_dynamic_mmap_thresh: c_int,
    /// Least alignment of malloc(), bytes.
    pub alloc_alignment: usize,
    /// Nonzero: a hooked dlopen() honours the caller's RPATH.
    pub dlopen_process_rpath: c_int,
    /// Whether hooked modules may be unloaded.
    pub module_unload_prevent_mode: c_int,
    /// Not used.
    pub bistro_force_far_jump: c_int,
    /// Not used.
    pub bistro_grace_duration: f64,
}
const _: () = {
    assert!(size_of::<ucm_global_config>() == 72);
    assert!(offset_of!(ucm_global_config, log_level) == 0);
    assert!(offset_of!(ucm_global_config, enable_events) == 4);
    assert!(offset_of!(ucm_global_config, mmap_hook_mode) == 8);
    assert!(offset_of!(ucm_global_config, enable_malloc_hooks) == 12);
    assert!(offset_of!(ucm_global_config, enable_malloc_reloc) == 16);
    assert!(offset_of!(ucm_global_config, cuda_hook_modes) == 24);
    assert!(offset_of!(ucm_global_config, enable_dynamic_mmap_thresh) == 32);
    assert!(offset_of!(ucm_global_config, alloc_alignment) == 40);
    assert!(offset_of!(ucm_global_config, dlopen_process_rpath) == 48);
    assert!(offset_of!(ucm_global_config, module_unload_prevent_mode) == 52);
    assert!(offset_of!(ucm_global_config, bistro_force_far_jump) == 56);
    assert!(offset_of!(ucm_global_config, bistro_grace_duration) == 64);
};

pub type ucm_global_config_t = ucm_global_config;

/// Gets an event. It may be called in any thread and must not allocate.
///
/// - `event_type` (in): What happens, one bit of `ucm_event_type_t`.
/// - `event` (in,out): The call and its result; valid during the call.
/// - `arg` (in): As it was given with the handler.
pub type ucm_event_callback_t = Option<
    unsafe extern "C" fn(event_type: ucm_event_type_t, event: *mut ucm_event_t, arg: *mut c_void),
>;
