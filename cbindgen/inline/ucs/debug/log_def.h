#include <ucs/config/global_opts.h>
#include <ucs/sys/compiler_def.h>
#include <stdarg.h>

BEGIN_C_DECLS

/** Messages above this level are left out when a client is compiled. */
#ifndef UCS_MAX_LOG_LEVEL
#  define UCS_MAX_LOG_LEVEL UCS_LOG_LEVEL_LAST
#endif

@ITEMS@

/** Names of the levels, by value; NULL after the last. */
extern const char *ucs_log_level_names[];

/**
 * Logs one message, if a component logs at this level; `format` is as of printf.
 *
 * @param[in] file Source file, NUL-terminated.
 * @param[in] line Line in it.
 * @param[in] function Function, NUL-terminated.
 * @param[in] level Level of the message.
 * @param[in] comp_conf Component that logs.
 * @param[in] format As of printf(3).
 */
void ucs_log_dispatch(const char *file, unsigned line, const char *function,
                      ucs_log_level_t level, ucs_log_component_config_t *comp_conf,
                      const char *format, ...) UCS_F_PRINTF(6, 7);

/**
 * Writes the message of a fatal error to stderr; `format` is as of printf. The process goes on.
 *
 * @param[in] format As of printf(3).
 */
void ucs_log_fatal_error(const char *format, ...) UCS_F_PRINTF(1, 2);

/**
 * Has messages of this thread name it in the place of its number; at most 30 bytes, `format` as of printf.
 *
 * @param[in] format As of printf(3).
 */
void ucs_log_set_thread_name(const char *format, ...) UCS_F_PRINTF(1, 2);

/** Nonzero when a component logs at a level. */
#define ucs_log_component_is_enabled(_level, _comp_log_config) \
    ucs_unlikely(((_level) <= UCS_MAX_LOG_LEVEL) && \
                 ((_level) <= ((const ucs_log_component_config_t*)(_comp_log_config))->log_level))
/** The same for the library itself. */
#define ucs_log_is_enabled(_level) \
    ucs_log_component_is_enabled(_level, &ucs_global_opts.log_component)

/** Logs for a component. */
#define ucs_log_component(_level, _comp_log_config, _fmt, ...) \
    do { \
        if (ucs_log_component_is_enabled(_level, _comp_log_config)) { \
            ucs_log_dispatch(__FILE__, __LINE__, __func__, (ucs_log_level_t)(_level), \
                             _comp_log_config, _fmt, ##__VA_ARGS__); \
        } \
    } while (0)

/** Logs for the library itself. */
#define ucs_log(_level, _fmt, ...) \
    ucs_log_component(_level, &ucs_global_opts.log_component, _fmt, ##__VA_ARGS__)

#define ucs_error(_fmt, ...)       ucs_log(UCS_LOG_LEVEL_ERROR, _fmt, ##__VA_ARGS__)
#define ucs_warn(_fmt, ...)        ucs_log(UCS_LOG_LEVEL_WARN, _fmt, ##__VA_ARGS__)
#define ucs_diag(_fmt, ...)        ucs_log(UCS_LOG_LEVEL_DIAG, _fmt, ##__VA_ARGS__)
#define ucs_info(_fmt, ...)        ucs_log(UCS_LOG_LEVEL_INFO, _fmt, ##__VA_ARGS__)
#define ucs_debug(_fmt, ...)       ucs_log(UCS_LOG_LEVEL_DEBUG, _fmt, ##__VA_ARGS__)
#define ucs_trace(_fmt, ...)       ucs_log(UCS_LOG_LEVEL_TRACE, _fmt, ##__VA_ARGS__)
#define ucs_trace_req(_fmt, ...)   ucs_log(UCS_LOG_LEVEL_TRACE_REQ, _fmt, ##__VA_ARGS__)
#define ucs_trace_data(_fmt, ...)  ucs_log(UCS_LOG_LEVEL_TRACE_DATA, _fmt, ##__VA_ARGS__)
#define ucs_trace_async(_fmt, ...) ucs_log(UCS_LOG_LEVEL_TRACE_ASYNC, _fmt, ##__VA_ARGS__)
#define ucs_trace_func(_fmt, ...) \
    ucs_log(UCS_LOG_LEVEL_TRACE_FUNC, "%s(" _fmt ")", __func__, ##__VA_ARGS__)
#define ucs_trace_poll(_fmt, ...)  ucs_log(UCS_LOG_LEVEL_TRACE_POLL, _fmt, ##__VA_ARGS__)

/** Moves later messages of this thread `_delta` steps to the right, where a level is logged at all. */
#define ucs_log_indent_level(_level, _delta) \
    do { \
        if (ucs_log_is_enabled(_level)) { \
            ucs_log_indent(_delta); \
        } \
    } while (0)

/** Prints a line of output, where UCX_LOG_PRINT_ENABLE is set. */
#define ucs_print(_fmt, ...) \
    do { \
        if (ucs_global_opts.log_print_enable) { \
            ucs_log_dispatch(__FILE__, __LINE__, __func__, UCS_LOG_LEVEL_PRINT, \
                             &ucs_global_opts.log_component, _fmt, ##__VA_ARGS__); \
        } \
    } while (0)

END_C_DECLS
