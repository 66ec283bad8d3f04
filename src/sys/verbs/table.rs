//! The functions of `libibverbs.so.1`.

use crate::c::verbs::*;
use core::ffi::{c_char, c_int, c_uint, c_void};
use once_cell::race::OnceBox;
use std::io;

/// `functions`, whose types the package `rdma-sys` confirms where it is compiled in.
macro_rules! verbs_functions {
    ($(#[$meta:meta])* unsafe $library:literal: $($member:ident: fn($($a:ty),*) $(-> $r:ty)?,)*
        $(; optional $($late:ident: fn($($la:ty),*) $(-> $lr:ty)?,)*)?) => {
        $crate::sys::library::functions! {
            $(#[$meta])* unsafe $library: $($member: fn($($a),*) $(-> $r)?,)*
            $(; optional $($late: fn($($la),*) $(-> $lr)?,)*)?
        }

        // Constants that nobody reads: the functions themselves are not referred to, so the libraries are not needed.
        #[cfg(feature = "rdma-sys")]
        const _: () = {
            use $crate::c::verbs::bindings::Counterpart;
            $(const _: <unsafe extern "C" fn($($a),*) $(-> $r)? as Counterpart>::Theirs = rdma_sys::$member;)*
            $($(const _: <unsafe extern "C" fn($($la),*) $(-> $lr)? as Counterpart>::Theirs = rdma_sys::$late;)*)?
        };
    };
}
pub(super) use verbs_functions;

verbs_functions! {
    /// All functions are in every release from rdma-core 28 on; those of `optional` came later.
    // SAFETY: the types are those of the library's header, in every release.
    unsafe "libibverbs.so.1":
    ibv_get_device_list: fn(*mut c_int) -> *mut *mut ibv_device,
    ibv_free_device_list: fn(*mut *mut ibv_device),
    ibv_open_device: fn(*mut ibv_device) -> *mut ibv_context,
    ibv_close_device: fn(*mut ibv_context) -> c_int,
    ibv_query_device: fn(*mut ibv_context, *mut ibv_device_attr) -> c_int,
    ibv_query_port: fn(*mut ibv_context, u8, *mut _compat_ibv_port_attr) -> c_int,
    ibv_query_gid: fn(*mut ibv_context, u8, c_int, *mut ibv_gid) -> c_int,
    ibv_query_pkey: fn(*mut ibv_context, u8, c_int, *mut u16) -> c_int,
    ibv_get_async_event: fn(*mut ibv_context, *mut ibv_async_event) -> c_int,
    ibv_ack_async_event: fn(*mut ibv_async_event),
    ibv_alloc_pd: fn(*mut ibv_context) -> *mut ibv_pd,
    ibv_dealloc_pd: fn(*mut ibv_pd) -> c_int,
    ibv_reg_mr: fn(*mut ibv_pd, *mut c_void, usize, c_int) -> *mut ibv_mr,
    ibv_dereg_mr: fn(*mut ibv_mr) -> c_int,
    ibv_create_ah: fn(*mut ibv_pd, *mut ibv_ah_attr) -> *mut ibv_ah,
    ibv_destroy_ah: fn(*mut ibv_ah) -> c_int,
    ibv_create_comp_channel: fn(*mut ibv_context) -> *mut ibv_comp_channel,
    ibv_destroy_comp_channel: fn(*mut ibv_comp_channel) -> c_int,
    ibv_create_cq: fn(*mut ibv_context, c_int, *mut c_void, *mut ibv_comp_channel, c_int) -> *mut ibv_cq,
    ibv_destroy_cq: fn(*mut ibv_cq) -> c_int,
    ibv_get_cq_event: fn(*mut ibv_comp_channel, *mut *mut ibv_cq, *mut *mut c_void) -> c_int,
    ibv_ack_cq_events: fn(*mut ibv_cq, c_uint),
    ibv_create_srq: fn(*mut ibv_pd, *mut ibv_srq_init_attr) -> *mut ibv_srq,
    ibv_destroy_srq: fn(*mut ibv_srq) -> c_int,
    ibv_create_qp: fn(*mut ibv_pd, *mut ibv_qp_init_attr) -> *mut ibv_qp,
    ibv_modify_qp: fn(*mut ibv_qp, *mut ibv_qp_attr, c_int) -> c_int,
    ibv_destroy_qp: fn(*mut ibv_qp) -> c_int,
    ibv_wc_status_str: fn(c_uint) -> *const c_char,
    ibv_event_type_str: fn(ibv_event_type) -> *const c_char,
    ibv_fork_init: fn() -> c_int,
    ;
    optional
    ibv_is_fork_initialized: fn() -> c_uint,
    ibv_reg_dmabuf_mr: fn(*mut ibv_pd, u64, usize, u64, c_int, c_int) -> *mut ibv_mr,
}

/// Whether the kernel has a device: a look that costs microseconds, where loading costs milliseconds.
pub fn has_devices() -> bool {
    std::fs::read_dir("/sys/class/infiniband").is_ok_and(|mut entries| entries.next().is_some())
}

/// Whether the kernel lets RDMA devices register memory of NVIDIA's devices by its address: a module of theirs that does that
/// is loaded, under its old or its new name.
pub fn has_peer_memory() -> bool {
    const MODULES: [&str; 2] = [
        "/sys/kernel/mm/memory_peers/nv_mem/version",
        "/sys/module/nvidia_peermem/version",
    ];
    MODULES
        .iter()
        .any(|module| std::path::Path::new(module).exists())
}

/// Whether the kernel has a device of this name.
pub fn is_device(name: &str) -> bool {
    !name.contains('/')
        && std::path::Path::new("/sys/class/infiniband")
            .join(name)
            .exists()
}

/// The functions. `None` where the kernel has no device; an error where the library is missing or too old.
pub fn table() -> io::Result<Option<&'static Table>> {
    static TABLE: OnceBox<Table> = OnceBox::new();
    if let Some(table) = TABLE.get() {
        return Ok(Some(table));
    }
    if !has_devices() {
        return Ok(None);
    }
    TABLE
        .get_or_try_init(|| Ok(Box::new(Table::load()?)))
        .map(Some)
}
