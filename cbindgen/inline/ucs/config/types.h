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

@ITEMS@

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
