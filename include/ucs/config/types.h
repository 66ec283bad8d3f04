/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_CONFIG_TYPES_H
#define FERRUCX_UCS_CONFIG_TYPES_H

#include <ucs/sys/compiler_def.h>
#include <sys/socket.h>

BEGIN_C_DECLS

/** A member that holds an array of configured values: the array, how many, and whether some were cut off. */
#define UCS_CONFIG_ARRAY_FIELD(_type, _array_name) \
    struct { \
        _type    *_array_name; \
        unsigned count; \
        unsigned truncated; \
    }
/** The same for strings. */
#define UCS_CONFIG_STRING_ARRAY_FIELD(_array_name) UCS_CONFIG_ARRAY_FIELD(char*, _array_name)

/** Levels of messages. */
enum ucs_log_level_t {
    /** The process ends. */
    UCS_LOG_LEVEL_FATAL = 0,
    /** A failure. */
    UCS_LOG_LEVEL_ERROR = 1,
    /** Something to look at. */
    UCS_LOG_LEVEL_WARN = 2,
    /** What a user may ask for when something is odd. */
    UCS_LOG_LEVEL_DIAG = 3,
    /** What happens, roughly. */
    UCS_LOG_LEVEL_INFO = 4,
    /** What happens, closely. */
    UCS_LOG_LEVEL_DEBUG = 5,
    /** Each step. */
    UCS_LOG_LEVEL_TRACE = 6,
    /** Requests. */
    UCS_LOG_LEVEL_TRACE_REQ = 7,
    /** Messages. */
    UCS_LOG_LEVEL_TRACE_DATA = 8,
    /** Asynchronous events. */
    UCS_LOG_LEVEL_TRACE_ASYNC = 9,
    /** Calls. */
    UCS_LOG_LEVEL_TRACE_FUNC = 10,
    /** Polls. */
    UCS_LOG_LEVEL_TRACE_POLL = 11,
    /** Number of levels. */
    UCS_LOG_LEVEL_LAST = 12,
    /** Output, not a message. */
    UCS_LOG_LEVEL_PRINT = 13,
};

typedef enum ucs_log_level_t ucs_log_level_t;

/** How asynchronous events are delivered. */
enum ucs_async_mode_t {
    /** By a signal. */
    UCS_ASYNC_MODE_SIGNAL = 0,
    /** By a thread. */
    UCS_ASYNC_MODE_THREAD = 1,
    /** By a thread; the context is locked by spinning. */
    UCS_ASYNC_MODE_THREAD_SPINLOCK = 1,
    /** By a thread; the context is locked by a mutex. */
    UCS_ASYNC_MODE_THREAD_MUTEX = 2,
    /** When the owner asks. */
    UCS_ASYNC_MODE_POLL = 3,
    /** Number of modes. */
    UCS_ASYNC_MODE_LAST = 4,
};

typedef enum ucs_async_mode_t ucs_async_mode_t;

/** An option that can be left to the library. */
enum ucs_ternary_auto_value {
    /** No. */
    UCS_NO = 0,
    /** Yes, or fail. */
    UCS_YES = 1,
    /** Yes, if it can be. */
    UCS_TRY = 2,
    /** As the library thinks best. */
    UCS_AUTO = 3,
    /** Number of values. */
    UCS_TERNARY_LAST = 4,
};

typedef enum ucs_ternary_auto_value ucs_ternary_auto_value_t;

/** A switch that can be left to the library. */
enum ucs_on_off_auto_value {
    /** Off. */
    UCS_CONFIG_OFF = 0,
    /** On. */
    UCS_CONFIG_ON = 1,
    /** As the library thinks best. */
    UCS_CONFIG_AUTO = 2,
    /** Number of values. */
    UCS_CONFIG_ON_OFF_LAST = 3,
};

typedef enum ucs_on_off_auto_value ucs_on_off_auto_value_t;

/** What to do at a fatal error. */
enum ucs_handle_error_t {
    /** Print the stack. */
    UCS_HANDLE_ERROR_BACKTRACE = 0,
    /** Wait for a debugger. */
    UCS_HANDLE_ERROR_FREEZE = 1,
    /** Start a debugger. */
    UCS_HANDLE_ERROR_DEBUG = 2,
    /** Nothing. */
    UCS_HANDLE_ERROR_NONE = 3,
    /** Number of ways. */
    UCS_HANDLE_ERROR_LAST = 4,
};

typedef enum ucs_handle_error_t ucs_handle_error_t;

/** What to print of a configuration. */
enum ucs_config_print_flags_t {
    /** Values. */
    UCS_CONFIG_PRINT_CONFIG = UCS_BIT(0),
    /** A title. */
    UCS_CONFIG_PRINT_HEADER = UCS_BIT(1),
    /** What each option means. */
    UCS_CONFIG_PRINT_DOC = UCS_BIT(2),
    /** Hidden options too. */
    UCS_CONFIG_PRINT_HIDDEN = UCS_BIT(3),
    /** Values that are the default, as comments. */
    UCS_CONFIG_PRINT_COMMENT_DEFAULT = UCS_BIT(4),
};

typedef enum ucs_config_print_flags_t ucs_config_print_flags_t;

/** What a list of names means. */
enum ucs_config_allow_list_mode_t {
    /** All are allowed. */
    UCS_CONFIG_ALLOW_LIST_ALLOW_ALL = 0,
    /** The names are allowed. */
    UCS_CONFIG_ALLOW_LIST_ALLOW = 1,
    /** All but the names are allowed. */
    UCS_CONFIG_ALLOW_LIST_NEGATE = 2,
};

typedef enum ucs_config_allow_list_mode_t ucs_config_allow_list_mode_t;

typedef struct ucs_config_names_array_t ucs_config_names_array_t;
typedef struct ucs_config_allow_list_t ucs_config_allow_list_t;
typedef struct ucs_sock_addr ucs_sock_addr_t;
typedef struct ucs_log_component_config ucs_log_component_config_t;

/** A list of names. */
struct ucs_config_names_array_t {
    /** The names. */
    char **names;
    /** Number of names. */
    unsigned int count;
    /** Nonzero: there were more. */
    unsigned int truncated;
};

/** A list of names, and what it means. */
struct ucs_config_allow_list_t {
    /** The names. */
    ucs_config_names_array_t array;
    /** What they mean. */
    ucs_config_allow_list_mode_t mode;
};

/** A socket address with its size. */
struct ucs_sock_addr {
    /** The address. */
    const struct sockaddr *addr;
    /** Bytes of it. */
    socklen_t addrlen;
};

/** How a component logs. */
struct ucs_log_component_config {
    /** Messages up to this level. */
    ucs_log_level_t log_level;
    /** Name before each message, NUL-terminated. */
    char name[16];
    /** Pattern of the source files whose messages are wanted. */
    const char *file_filter;
};

/** Names of the asynchronous modes, by value; NULL after the last. */
extern const char *ucs_async_mode_names[];

/**
 * Nonzero for UCS_YES and UCS_TRY.
 *
 * @param[in] value The value.
 * @return 1 or 0.
 */
static inline int ucs_ternary_auto_value_is_yes_or_try(ucs_ternary_auto_value_t value)
{
    switch (value) {
    case UCS_YES:
    case UCS_TRY:
        return 1;
    default:
        return 0;
    }
}

/**
 * Nonzero for UCS_YES and UCS_NO.
 *
 * @param[in] value The value.
 * @return 1 or 0.
 */
static inline int ucs_ternary_auto_value_is_yes_or_no(ucs_ternary_auto_value_t value)
{
    switch (value) {
    case UCS_YES:
    case UCS_NO:
        return 1;
    default:
        return 0;
    }
}

END_C_DECLS

#endif
