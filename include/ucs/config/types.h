/* Written from the Rust sources by `make headers`: change those, not this file. */
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

enum ucs_log_level_t {
    UCS_LOG_LEVEL_FATAL = 0,
    UCS_LOG_LEVEL_ERROR = 1,
    UCS_LOG_LEVEL_WARN = 2,
    UCS_LOG_LEVEL_DIAG = 3,
    UCS_LOG_LEVEL_INFO = 4,
    UCS_LOG_LEVEL_DEBUG = 5,
    UCS_LOG_LEVEL_TRACE = 6,
    UCS_LOG_LEVEL_TRACE_REQ = 7,
    UCS_LOG_LEVEL_TRACE_DATA = 8,
    UCS_LOG_LEVEL_TRACE_ASYNC = 9,
    UCS_LOG_LEVEL_TRACE_FUNC = 10,
    UCS_LOG_LEVEL_TRACE_POLL = 11,
    UCS_LOG_LEVEL_LAST = 12,
    UCS_LOG_LEVEL_PRINT = 13,
};

typedef enum ucs_log_level_t ucs_log_level_t;

enum ucs_async_mode_t {
    UCS_ASYNC_MODE_SIGNAL = 0,
    UCS_ASYNC_MODE_THREAD = 1,
    UCS_ASYNC_MODE_THREAD_SPINLOCK = 1,
    UCS_ASYNC_MODE_THREAD_MUTEX = 2,
    UCS_ASYNC_MODE_POLL = 3,
    UCS_ASYNC_MODE_LAST = 4,
};

typedef enum ucs_async_mode_t ucs_async_mode_t;

enum ucs_ternary_auto_value {
    UCS_NO = 0,
    UCS_YES = 1,
    UCS_TRY = 2,
    UCS_AUTO = 3,
    UCS_TERNARY_LAST = 4,
};

typedef enum ucs_ternary_auto_value ucs_ternary_auto_value_t;

enum ucs_on_off_auto_value {
    UCS_CONFIG_OFF = 0,
    UCS_CONFIG_ON = 1,
    UCS_CONFIG_AUTO = 2,
    UCS_CONFIG_ON_OFF_LAST = 3,
};

typedef enum ucs_on_off_auto_value ucs_on_off_auto_value_t;

enum ucs_handle_error_t {
    UCS_HANDLE_ERROR_BACKTRACE = 0,
    UCS_HANDLE_ERROR_FREEZE = 1,
    UCS_HANDLE_ERROR_DEBUG = 2,
    UCS_HANDLE_ERROR_NONE = 3,
    UCS_HANDLE_ERROR_LAST = 4,
};

typedef enum ucs_handle_error_t ucs_handle_error_t;

enum ucs_config_print_flags_t {
    UCS_CONFIG_PRINT_CONFIG = UCS_BIT(0),
    UCS_CONFIG_PRINT_HEADER = UCS_BIT(1),
    UCS_CONFIG_PRINT_DOC = UCS_BIT(2),
    UCS_CONFIG_PRINT_HIDDEN = UCS_BIT(3),
    UCS_CONFIG_PRINT_COMMENT_DEFAULT = UCS_BIT(4),
};

typedef enum ucs_config_print_flags_t ucs_config_print_flags_t;

enum ucs_config_allow_list_mode_t {
    UCS_CONFIG_ALLOW_LIST_ALLOW_ALL = 0,
    UCS_CONFIG_ALLOW_LIST_ALLOW = 1,
    UCS_CONFIG_ALLOW_LIST_NEGATE = 2,
};

typedef enum ucs_config_allow_list_mode_t ucs_config_allow_list_mode_t;

typedef struct ucs_config_names_array_t ucs_config_names_array_t;
typedef struct ucs_config_allow_list_t ucs_config_allow_list_t;
typedef struct ucs_sock_addr ucs_sock_addr_t;
typedef struct ucs_log_component_config ucs_log_component_config_t;

struct ucs_config_names_array_t {
    char **names;
    unsigned int count;
    unsigned int truncated;
};

struct ucs_config_allow_list_t {
    ucs_config_names_array_t array;
    ucs_config_allow_list_mode_t mode;
};

struct ucs_sock_addr {
    const struct sockaddr *addr;
    socklen_t addrlen;
};

struct ucs_log_component_config {
    ucs_log_level_t log_level;
    char name[16];
    const char *file_filter;
};

/** Names of the asynchronous modes, by value; NULL after the last. */
extern const char *ucs_async_mode_names[];

/** Nonzero for UCS_YES and UCS_TRY. */
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

/** Nonzero for UCS_YES and UCS_NO. */
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
