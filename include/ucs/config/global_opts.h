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
    /** UCX_LOG_FILE. */
    char *log_file;
    /** UCX_LOG_FILE_SIZE, bytes. */
    size_t log_file_size;
    /** UCX_LOG_FILE_ROTATE. */
    unsigned int log_file_rotate;
    /** UCX_LOG_BUFFER, bytes. */
    size_t log_buffer_size;
    /** UCX_LOG_DATA_SIZE, bytes. */
    size_t log_data_size;
    /** UCX_LOG_PRINT_ENABLE. */
    int log_print_enable;
    int mpool_fifo;
    uint64_t handle_errors;
    struct ucs_global_opts_t_error_signals error_signals;
    char *error_mail_to;
    char *error_mail_footer;
    char *gdb_command;
    unsigned int debug_signo;
    ucs_log_level_t log_level_trigger;
    /** UCX_WARN_UNUSED_ENV_VARS. */
    int warn_unused_env_vars;
    ucs_ternary_auto_value_t enable_memtype_cache;
    char *stats_dest;
    char *stats_trigger;
    char *tuning_path;
    size_t perf_stall_loops;
    unsigned int async_signo;
    char *memtrack_dest;
    size_t memtrack_limit;
    uint64_t profile_mode;
    char *profile_file;
    size_t profile_log_size;
    ucs_config_names_array_t stats_filter;
    ucs_stats_formats_t stats_format;
    ucs_config_names_array_t topo_prio;
    int vfs_enable;
    char *vfs_sock_path;
    unsigned int rcache_check_pfn;
    char *module_dir;
    ucs_log_level_t module_log_level;
    ucs_config_allow_list_t modules;
    ucs_config_names_array_t plugin_path;
    ucs_arch_global_opts_t arch;
    int vfs_thread_affinity;
    size_t rcache_stat_min;
    size_t rcache_stat_max;
    struct ucs_global_opts_t_dist dist;
};

/**
 * Changes an option of the library for the whole process, by its name without `UCX_`. What counts only at the start of
 * the process is checked, with no other effect. UCS_ERR_NO_ELEM: no such option; UCS_ERR_INVALID_PARAM: the text does
 * not fit.
 */
ucs_status_t ucs_global_opts_set_value(const char *name,
                                       const char *value);

/** Writes an option's text, cut off to fit into `max` bytes with its terminator. UCS_ERR_NO_ELEM: no such option. */
ucs_status_t ucs_global_opts_get_value(const char *name,
                                       char *value,
                                       size_t max);

/** Prints the options of the library as `print_flags` say. */
void ucs_global_opts_print(FILE *stream, ucs_config_print_flags_t print_flags);

/** 1 for an option that counts only at the start of the process, else 0. */
int ucs_global_opts_is_read_only(const char *name);

/**
 * Options of the library, for clients that read the log level. The members up to `warn_unused_env_vars` are
 * filled; later ones moved from release to release and are not.
 */
extern ucs_global_opts_t ucs_global_opts;

END_C_DECLS

#endif
