//! `ucs/config/global_opts.h`: types and constants.

use crate::c::prelude::*;

/// Signals of errors.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_global_opts_t_error_signals {
    /// The signals.
    pub signals: *mut c_int,
    /// How many.
    pub count: c_uint,
    /// Nonzero: there were more.
    pub truncated: c_uint,
}
const _: () = {
    assert!(size_of::<ucs_global_opts_t_error_signals>() == 16);
    assert!(offset_of!(ucs_global_opts_t_error_signals, signals) == 0);
    assert!(offset_of!(ucs_global_opts_t_error_signals, count) == 8);
    assert!(offset_of!(ucs_global_opts_t_error_signals, truncated) == 12);
};

/// Distances by how two devices are connected.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_global_opts_t_dist {
    /// By one host bridge.
    pub phb: ucs_sys_dev_distance_t,
    /// On one node.
    pub node: ucs_sys_dev_distance_t,
    /// Across nodes.
    pub sys: ucs_sys_dev_distance_t,
}
const _: () = {
    assert!(size_of::<ucs_global_opts_t_dist>() == 48);
    assert!(offset_of!(ucs_global_opts_t_dist, phb) == 0);
    assert!(offset_of!(ucs_global_opts_t_dist, node) == 16);
    assert!(offset_of!(ucs_global_opts_t_dist, sys) == 32);
};

/// Options of the library as its own tools look at them. The library keeps the real ones for
/// itself.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ucs_global_opts_t {
    /// Log level of the library, UCX_LOG_LEVEL.
    pub log_component: ucs_log_component_config_t,
    /// UCX_LOG_FILE.
    pub log_file: *mut c_char,
    /// UCX_LOG_FILE_SIZE, bytes.
    pub log_file_size: usize,
    /// UCX_LOG_FILE_ROTATE.
    pub log_file_rotate: c_uint,
    /// UCX_LOG_BUFFER, bytes.
    pub log_buffer_size: usize,
    /// UCX_LOG_DATA_SIZE, bytes.
    pub log_data_size: usize,
    /// UCX_LOG_PRINT_ENABLE.
    pub log_print_enable: c_int,
    pub mpool_fifo: c_int,
    pub handle_errors: u64,
    pub error_signals: ucs_global_opts_t_error_signals,
    pub error_mail_to: *mut c_char,
    pub error_mail_footer: *mut c_char,
    pub gdb_command: *mut c_char,
    pub debug_signo: c_uint,
    pub log_level_trigger: ucs_log_level_t,
    /// UCX_WARN_UNUSED_ENV_VARS.
    pub warn_unused_env_vars: c_int,
    pub enable_memtype_cache: ucs_ternary_auto_value_t,
    pub stats_dest: *mut c_char,
    pub stats_trigger: *mut c_char,
    pub tuning_path: *mut c_char,
    pub perf_stall_loops: usize,
    pub async_signo: c_uint,
    pub memtrack_dest: *mut c_char,
    pub memtrack_limit: usize,
    pub profile_mode: u64,
    pub profile_file: *mut c_char,
    pub profile_log_size: usize,
    pub stats_filter: ucs_config_names_array_t,
    pub stats_format: ucs_stats_formats_t,
    pub topo_prio: ucs_config_names_array_t,
    pub vfs_enable: c_int,
    pub vfs_sock_path: *mut c_char,
    pub rcache_check_pfn: c_uint,
    pub module_dir: *mut c_char,
    pub module_log_level: ucs_log_level_t,
    pub modules: ucs_config_allow_list_t,
    pub plugin_path: ucs_config_names_array_t,
    pub arch: ucs_arch_global_opts_t,
    pub vfs_thread_affinity: c_int,
    pub rcache_stat_min: usize,
    pub rcache_stat_max: usize,
    pub dist: ucs_global_opts_t_dist,
}
const _: () = {
    assert!(size_of::<ucs_global_opts_t>() == 448);
    assert!(offset_of!(ucs_global_opts_t, log_component) == 0);
    assert!(offset_of!(ucs_global_opts_t, log_file) == 32);
    assert!(offset_of!(ucs_global_opts_t, log_file_size) == 40);
    assert!(offset_of!(ucs_global_opts_t, log_file_rotate) == 48);
    assert!(offset_of!(ucs_global_opts_t, log_buffer_size) == 56);
    assert!(offset_of!(ucs_global_opts_t, log_data_size) == 64);
    assert!(offset_of!(ucs_global_opts_t, log_print_enable) == 72);
    assert!(offset_of!(ucs_global_opts_t, mpool_fifo) == 76);
    assert!(offset_of!(ucs_global_opts_t, handle_errors) == 80);
    assert!(offset_of!(ucs_global_opts_t, error_signals) == 88);
    assert!(offset_of!(ucs_global_opts_t, error_mail_to) == 104);
    assert!(offset_of!(ucs_global_opts_t, error_mail_footer) == 112);
    assert!(offset_of!(ucs_global_opts_t, gdb_command) == 120);
    assert!(offset_of!(ucs_global_opts_t, debug_signo) == 128);
    assert!(offset_of!(ucs_global_opts_t, log_level_trigger) == 132);
    assert!(offset_of!(ucs_global_opts_t, warn_unused_env_vars) == 136);
    assert!(offset_of!(ucs_global_opts_t, enable_memtype_cache) == 140);
    assert!(offset_of!(ucs_global_opts_t, stats_dest) == 144);
    assert!(offset_of!(ucs_global_opts_t, stats_trigger) == 152);
    assert!(offset_of!(ucs_global_opts_t, tuning_path) == 160);
    assert!(offset_of!(ucs_global_opts_t, perf_stall_loops) == 168);
    assert!(offset_of!(ucs_global_opts_t, async_signo) == 176);
    assert!(offset_of!(ucs_global_opts_t, memtrack_dest) == 184);
    assert!(offset_of!(ucs_global_opts_t, memtrack_limit) == 192);
    assert!(offset_of!(ucs_global_opts_t, profile_mode) == 200);
    assert!(offset_of!(ucs_global_opts_t, profile_file) == 208);
    assert!(offset_of!(ucs_global_opts_t, profile_log_size) == 216);
    assert!(offset_of!(ucs_global_opts_t, stats_filter) == 224);
    assert!(offset_of!(ucs_global_opts_t, stats_format) == 240);
    assert!(offset_of!(ucs_global_opts_t, topo_prio) == 248);
    assert!(offset_of!(ucs_global_opts_t, vfs_enable) == 264);
    assert!(offset_of!(ucs_global_opts_t, vfs_sock_path) == 272);
    assert!(offset_of!(ucs_global_opts_t, rcache_check_pfn) == 280);
    assert!(offset_of!(ucs_global_opts_t, module_dir) == 288);
    assert!(offset_of!(ucs_global_opts_t, module_log_level) == 296);
    assert!(offset_of!(ucs_global_opts_t, modules) == 304);
    assert!(offset_of!(ucs_global_opts_t, plugin_path) == 328);
    assert!(offset_of!(ucs_global_opts_t, arch) == 344);
    assert!(offset_of!(ucs_global_opts_t, vfs_thread_affinity) == 376);
    assert!(offset_of!(ucs_global_opts_t, rcache_stat_min) == 384);
    assert!(offset_of!(ucs_global_opts_t, rcache_stat_max) == 392);
    assert!(offset_of!(ucs_global_opts_t, dist) == 400);
};
