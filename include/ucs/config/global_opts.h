/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_CONFIG_GLOBAL_OPTS_H
#define FERRUCX_UCS_CONFIG_GLOBAL_OPTS_H

#include <ucs/arch/global_opts.h>
#include <ucs/config/types.h>
#include <ucs/stats/stats_fwd.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/sys/topo/base/topo.h>
#include <ucs/type/status.h>
#include <stddef.h>
#include <stdio.h>

BEGIN_C_DECLS

/** Name of the option that warns of unknown variables. */
#define UCS_GLOBAL_OPTS_WARN_UNUSED_CONFIG "WARN_UNUSED_ENV_VARS"

typedef struct ucs_global_opts_t ucs_global_opts_t;

/** Signals of errors. */
struct ucs_global_opts_t_error_signals {
    /** The signals. */
    int *signals;
    /** How many. */
    unsigned int count;
    /** Nonzero: there were more. */
    unsigned int truncated;
};

/** Distances by how two devices are connected. */
struct ucs_global_opts_t_dist {
    /** By one host bridge. */
    ucs_sys_dev_distance_t phb;
    /** On one node. */
    ucs_sys_dev_distance_t node;
    /** Across nodes. */
    ucs_sys_dev_distance_t sys;
};

/**
 * Options of the library as its own tools look at them. The library keeps the real ones for
 * itself.
 */
struct ucs_global_opts_t {
    /** Log level of the library, UCX_LOG_LEVEL. */
    ucs_log_component_config_t log_component;
    /**
     * UCX_LOG_FILE: Where messages go: a file, `stdout` or `stderr` (when empty). Patterns in the
     * name stand for the process, the host, the time and so on.
     */
    char *log_file;
    /** UCX_LOG_FILE_SIZE, bytes. */
    size_t log_file_size;
    /** UCX_LOG_FILE_ROTATE: How many old log files are kept, as NAME.1, NAME.2 and so on. */
    unsigned int log_file_rotate;
    /** UCX_LOG_BUFFER, bytes. */
    size_t log_buffer_size;
    /** UCX_LOG_DATA_SIZE, bytes. */
    size_t log_data_size;
    /** UCX_LOG_PRINT_ENABLE: Write the messages of ucs_print(). */
    int log_print_enable;
    /** UCX_MPOOL_FIFO, which has no effect here. */
    int mpool_fifo;
    /**
     * UCX_HANDLE_ERRORS: What upstream does in its signal handlers. This library installs none: no
     * effect.
     */
    uint64_t handle_errors;
    /** UCX_ERROR_SIGNALS: Belongs to HANDLE_ERRORS: no effect. */
    struct ucs_global_opts_t_error_signals error_signals;
    /** UCX_ERROR_MAIL_TO: Belongs to HANDLE_ERRORS: no effect. */
    char *error_mail_to;
    /** UCX_ERROR_MAIL_FOOTER: Belongs to HANDLE_ERRORS: no effect. */
    char *error_mail_footer;
    /** UCX_GDB_COMMAND: Belongs to HANDLE_ERRORS: no effect. */
    char *gdb_command;
    /** UCX_DEBUG_SIGNO: Belongs to HANDLE_ERRORS: no effect. */
    unsigned int debug_signo;
    /** UCX_LOG_LEVEL_TRIGGER: Belongs to HANDLE_ERRORS: no effect. */
    ucs_log_level_t log_level_trigger;
    /**
     * UCX_WARN_UNUSED_ENV_VARS: Warn about UCX_ variables of the environment that no release of
     * UCX knows.
     */
    int warn_unused_env_vars;
    /**
     * UCX_MEMTYPE_CACHE: Remember which addresses are device memory. Only host memory is known
     * here: no effect.
     */
    ucs_ternary_auto_value_t enable_memtype_cache;
    /** UCX_STATS_DEST, which has no effect here. */
    char *stats_dest;
    /** UCX_STATS_TRIGGER, which has no effect here. */
    char *stats_trigger;
    /** UCX_TUNING_PATH, which has no effect here. */
    char *tuning_path;
    /** UCX_PERF_STALL_LOOPS, which has no effect here. */
    size_t perf_stall_loops;
    /** UCX_ASYNC_SIGNO: Signal of asynchronous progress in signal mode. No effect here. */
    unsigned int async_signo;
    /** UCX_MEMTRACK_DEST: Where the memory tracker reports. No effect here. */
    char *memtrack_dest;
    /** UCX_MEMTRACK_LIMIT: Most memory that the tracker lets the library take. No effect here. */
    size_t memtrack_limit;
    /**
     * UCX_PROFILE_MODE: What is recorded where a client profiles its code with ucs/profile. The
     * library's own code is not profiled.
     */
    uint64_t profile_mode;
    /** UCX_PROFILE_FILE: File of a profile; %h stands for the host, %p for the process. */
    char *profile_file;
    /**
     * UCX_PROFILE_LOG_SIZE: Most bytes of a thread's records in a profile: the latest ones are
     * kept.
     */
    size_t profile_log_size;
    /** UCX_STATS_FILTER, which has no effect here. */
    ucs_config_names_array_t stats_filter;
    /** UCX_STATS_FORMAT, which has no effect here. */
    ucs_stats_formats_t stats_format;
    /** UCX_TOPO_PRIO: Where distances between devices come from, the first that answers counts. No effect here. */
    ucs_config_names_array_t topo_prio;
    /** UCX_VFS_ENABLE: Show the objects of the library to the ucx_vfs daemon. No effect here. */
    int vfs_enable;
    /** UCX_VFS_SOCK_PATH: Socket of the ucx_vfs daemon. No effect here. */
    char *vfs_sock_path;
    /** UCX_RCACHE_CHECK_PFN: How many page frames of a cached registration are compared on use. No effect here. */
    unsigned int rcache_check_pfn;
    /** UCX_MODULE_DIR: Folder of plug-ins of programs. */
    char *module_dir;
    /** UCX_MODULE_LOG_LEVEL: Log level of loading plug-ins. No effect here. */
    ucs_log_level_t module_log_level;
    /** UCX_MODULES: Names of the plug-ins of programs that are loaded. */
    ucs_config_allow_list_t modules;
    /** UCX_PLUGIN_PATH: Folders of plug-ins. No effect here. */
    ucs_config_names_array_t plugin_path;
    /** Options of this processor. */
    ucs_arch_global_opts_t arch;
    /**
     * UCX_VFS_THREAD_AFFINITY: Whether the thread for the ucx_vfs daemon stays on the processors
     * of its maker. No effect here.
     */
    int vfs_thread_affinity;
    /** UCX_RCACHE_STAT_MIN: Smallest size class of the registration cache's statistics. No effect here. */
    size_t rcache_stat_min;
    /** UCX_RCACHE_STAT_MAX: Largest size class of the registration cache's statistics. No effect here. */
    size_t rcache_stat_max;
    /** Distances of devices, by how they are connected. */
    struct ucs_global_opts_t_dist dist;
};

/**
 * Changes an option of the library for the whole process, by its name without `UCX_`. What counts only at the start of
 * the process is checked, with no other effect. UCS_ERR_NO_ELEM: no such option; UCS_ERR_INVALID_PARAM: the text does
 * not fit.
 *
 * @param[in] name Name without `UCX_`, NUL-terminated.
 * @param[in] value New value as text, NUL-terminated; copied.
 * @return UCS_OK; UCS_ERR_NO_ELEM: no such option; UCS_ERR_INVALID_PARAM: the text does not
 *   fit.
 */
ucs_status_t ucs_global_opts_set_value(const char *name,
                                       const char *value);

/**
 * Writes an option's text, cut off to fit into `max` bytes with its terminator. UCS_ERR_NO_ELEM: no such option.
 *
 *
 * @param[in] name Name without `UCX_`, NUL-terminated.
 * @param[out] value Gets the text with its NUL, cut to fit.
 * @param[in] max Bytes of `value`.
 * @return UCS_OK; UCS_ERR_NO_ELEM: no such option.
 */
ucs_status_t ucs_global_opts_get_value(const char *name,
                                       char *value,
                                       size_t max);

/**
 * Prints the options of the library as `print_flags` say.
 *
 * @param[in] stream Open for writing.
 * @param[in] print_flags What to print, bits of `ucs_config_print_flags_t`.
 */
void ucs_global_opts_print(FILE *stream, ucs_config_print_flags_t print_flags);

/**
 * 1 for an option that counts only at the start of the process, else 0.
 *
 * @param[in] name Name without `UCX_`, NUL-terminated.
 * @return 1 or 0.
 */
int ucs_global_opts_is_read_only(const char *name);

/**
 * Options of the library, for clients that read the log level. The members up to `warn_unused_env_vars` are
 * filled; later ones moved from release to release and are not.
 */
extern ucs_global_opts_t ucs_global_opts;

END_C_DECLS

#endif
