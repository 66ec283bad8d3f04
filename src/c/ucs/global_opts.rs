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
    /// UCX_LOG_FILE: Where messages go: a file, `stdout` or `stderr` (when empty). Patterns in the
    /// name stand for the process, the host, the time and so on.
    pub log_file: *mut c_char,
    /// UCX_LOG_FILE_SIZE, bytes.
    pub log_file_size: usize,
    /// UCX_LOG_FILE_ROTATE: How many old log files are kept, as NAME.1, NAME.2 and so on.
    pub log_file_rotate: c_uint,
    /// UCX_LOG_BUFFER, bytes.
    pub log_buffer_size: usize,
    /// UCX_LOG_DATA_SIZE, bytes.
    pub log_data_size: usize,
    /// UCX_LOG_PRINT_ENABLE: Write the messages of ucs_print().
    pub log_print_enable: c_int,
    /// UCX_MPOOL_FIFO, which has no effect here.
    pub mpool_fifo: c_int,
    /// UCX_HANDLE_ERRORS: What upstream does in its signal handlers. This library installs none: no
    /// effect.
    pub handle_errors: u64,
    /// UCX_ERROR_SIGNALS: Belongs to HANDLE_ERRORS: no effect.
    pub error_signals: ucs_global_opts_t_error_signals,
    /// UCX_ERROR_MAIL_TO: Belongs to HANDLE_ERRORS: no effect.
    pub error_mail_to: *mut c_char,
    /// UCX_ERROR_MAIL_FOOTER: Belongs to HANDLE_ERRORS: no effect.
    pub error_mail_footer: *mut c_char,
    /// UCX_GDB_COMMAND: Belongs to HANDLE_ERRORS: no effect.
    pub gdb_command: *mut c_char,
    /// UCX_DEBUG_SIGNO: Belongs to HANDLE_ERRORS: no effect.
    pub debug_signo: c_uint,
    /// UCX_LOG_LEVEL_TRIGGER: Belongs to HANDLE_ERRORS: no effect.
    pub log_level_trigger: ucs_log_level_t,
    /// UCX_WARN_UNUSED_ENV_VARS: Warn about UCX_ variables of the environment that no release of
    /// UCX knows.
    pub warn_unused_env_vars: c_int,
    /// UCX_MEMTYPE_CACHE: Remember which addresses are device memory. Only host memory is known
    /// here: no effect.
    pub enable_memtype_cache: ucs_ternary_auto_value_t,
    /// UCX_STATS_DEST, which has no effect here.
    pub stats_dest: *mut c_char,
    /// UCX_STATS_TRIGGER, which has no effect here.
    pub stats_trigger: *mut c_char,
    /// UCX_TUNING_PATH, which has no effect here.
    pub tuning_path: *mut c_char,
    /// UCX_PERF_STALL_LOOPS, which has no effect here.
    pub perf_stall_loops: usize,
    /// UCX_ASYNC_SIGNO: Signal of asynchronous progress in signal mode. No effect here.
    pub async_signo: c_uint,
    /// UCX_MEMTRACK_DEST: Where the memory tracker reports. No effect here.
    pub memtrack_dest: *mut c_char,
    /// UCX_MEMTRACK_LIMIT: Most memory that the tracker lets the library take. No effect here.
    pub memtrack_limit: usize,
    /// UCX_PROFILE_MODE: What is recorded where a client profiles its code with ucs/profile. The
    /// library's own code is not profiled.
    pub profile_mode: u64,
    /// UCX_PROFILE_FILE: File of a profile; %h stands for the host, %p for the process.
    pub profile_file: *mut c_char,
    /// UCX_PROFILE_LOG_SIZE: Most bytes of a thread's records in a profile: the latest ones are
    /// kept.
    pub profile_log_size: usize,
    /// UCX_STATS_FILTER, which has no effect here.
    pub stats_filter: ucs_config_names_array_t,
    /// UCX_STATS_FORMAT, which has no effect here.
    pub stats_format: ucs_stats_formats_t,
    /// UCX_TOPO_PRIO: Where distances between devices come from, the first that answers counts. No effect here.
    pub topo_prio: ucs_config_names_array_t,
    /// UCX_VFS_ENABLE: Show the objects of the library to the ucx_vfs daemon. No effect here.
    pub vfs_enable: c_int,
    /// UCX_VFS_SOCK_PATH: Socket of the ucx_vfs daemon. No effect here.
    pub vfs_sock_path: *mut c_char,
    /// UCX_RCACHE_CHECK_PFN: How many page frames of a cached registration are compared on use. No effect here.
    pub rcache_check_pfn: c_uint,
    /// UCX_MODULE_DIR: Folder of plug-ins of programs.
    pub module_dir: *mut c_char,
    /// UCX_MODULE_LOG_LEVEL: Log level of loading plug-ins. No effect here.
    pub module_log_level: ucs_log_level_t,
    /// UCX_MODULES: Names of the plug-ins of programs that are loaded.
    pub modules: ucs_config_allow_list_t,
    /// UCX_PLUGIN_PATH: Folders of plug-ins. No effect here.
    pub plugin_path: ucs_config_names_array_t,
    /// Options of this processor.
    pub arch: ucs_arch_global_opts_t,
    /// UCX_VFS_THREAD_AFFINITY: Whether the thread for the ucx_vfs daemon stays on the processors
    /// of its maker. No effect here.
    pub vfs_thread_affinity: c_int,
    /// UCX_RCACHE_STAT_MIN: Smallest size class of the registration cache's statistics. No effect here.
    pub rcache_stat_min: usize,
    /// UCX_RCACHE_STAT_MAX: Largest size class of the registration cache's statistics. No effect here.
    pub rcache_stat_max: usize,
    /// Distances of devices, by how they are connected.
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
