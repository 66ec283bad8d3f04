#include <ucs/datastruct/string_buffer.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/sys/math.h>
#include <ucs/type/status.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

BEGIN_C_DECLS

#define UCS_NUMERIC_INF_STR   "inf"
#define UCS_VALUE_AUTO_STR    "auto"
#define UCS_VALUE_UNKNOWN_STR "unknown"
/* Sizes and numbers that a configuration gives by word: "inf" and "auto". */
#define UCS_MEMUNITS_INF      SIZE_MAX
#define UCS_MEMUNITS_AUTO     (SIZE_MAX - 1)
#define UCS_ULUNITS_INF       (~0ul)
#define UCS_ULUNITS_AUTO      (~0ul - 1)
#define UCS_HEXUNITS_AUTO     ((uint16_t)(UINT16_MAX - 1))

@ITEMS@

/**
 * As snprintf, but ends the string with a NUL also where `size` bytes are too few.
 *
 * @param[out] buf Gets the text with its NUL, cut to fit.
 * @param[in] size Bytes of that buffer.
 * @param[in] fmt As of printf(3).
 */
void ucs_snprintf_zero(char *buf, size_t size, const char *fmt, ...) UCS_F_PRINTF(3, 4);
/**
 * As snprintf, and the string always ends with a NUL.
 *
 * @param[out] buf Gets the text with its NUL, cut to fit.
 * @param[in] size Bytes of that buffer.
 * @param[in] fmt As of printf(3).
 */
void ucs_snprintf_safe(char *buf, size_t size, const char *fmt, ...) UCS_F_PRINTF(3, 4);
/**
 * The same for a `va_list`.
 *
 * @param[out] buf Gets the text with its NUL, cut to fit.
 * @param[in] size Bytes of that buffer.
 * @param[in] fmt As of printf(3).
 * @param[in] ap Its arguments.
 */
void ucs_vsnprintf_safe(char *buf, size_t size, const char *fmt, va_list ap);
/**
 * Cuts a string at the first `count` characters of `delim`. The further arguments are `count` places of type
 * `char **` for where each part begins: NULL for those that are not there. Answers the rest, NULL where there
 * is none.
 *
 * @param[in,out] str String, NUL-terminated.
 * @param[in] delim Characters to cut at, NUL-terminated.
 * @param[in] count Number of further arguments.
 * @return The rest, or NULL.
 */
char *ucs_string_split(char *str, const char *delim, int count, ...);
/**
 * A formatted path in a new buffer, which the caller frees by `ucs_free`. UCS_ERR_NO_MEMORY.
 *
 * @param[out] buffer_p The buffer; `ucs_free` frees it.
 * @param[in] name Name for statistics of memory.
 * @param[in] fmt As of printf(3).
 * @return UCS_OK or UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucs_string_alloc_formatted_path(char **buffer_p, const char *name, const char *fmt, ...);

/** What stands behind sizes: nothing, "K", "M" and so on; NULL after the last. */
extern const char *ucs_memunits_suffixes[];

/**
 * The part of a path behind its last slash.
 *
 * @param[in] path String, NUL-terminated.
 * @return Place inside `path`.
 */
static inline const char *ucs_basename(const char *path)
{
    const char *slash = strrchr(path, '/');
    return (slash != NULL) ? &slash[1] : path;
}

/**
 * 1 for the empty string, else 0.
 *
 * @param[in] str String, NUL-terminated.
 * @return 1 or 0.
 */
static inline int ucs_string_is_empty(const char *str)
{
    return str[0] == '\0';
}

END_C_DECLS
