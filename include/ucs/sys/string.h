/* Written from the Rust sources by `make headers`: change those, not this file. */
#ifndef FERRUCX_UCS_SYS_STRING_H
#define FERRUCX_UCS_SYS_STRING_H

#include <ucs/datastruct/string_buffer.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/sys/math.h>
#include <ucs/type/status.h>
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

/**
 * Copies `src` cut to `max` bytes with a terminator; the rest of `dest` becomes zero.
 * `ucs/sys/string.h`.
 */
void ucs_strncpy_zero(char *dest, const char *src, size_t max);

/** A size as `8K`, `inf`, `auto`; answers `buf`. `ucs/sys/string.h`. */
char *ucs_memunits_to_str(size_t value, char *buf, size_t max);

/**
 * Reads a size into the `size_t` at `dest`. `UCS_ERR_INVALID_PARAM` for other text.
 * `ucs/sys/string.h`.
 */
ucs_status_t ucs_str_to_memunits(const char *buf, void *dest);

/** Copies `src` cut to `len` bytes with a terminator; answers `dst`. `ucs/sys/string.h`. */
char *ucs_strncpy_safe(char *dst, const char *src, size_t len);

/**
 * The names of the bits set in `flags`, comma between them, cut to `max`; answers `str`.
 * `ucs/sys/string.h`.
 */
const char *ucs_flags_str(char *str, size_t max, uint64_t flags, const char **str_table);

/** As snprintf, but ends the string with a NUL also where `size` bytes are too few. */
void ucs_snprintf_zero(char *buf, size_t size, const char *fmt, ...) UCS_F_PRINTF(3, 4);
/** As snprintf, and the string always ends with a NUL. */
void ucs_snprintf_safe(char *buf, size_t size, const char *fmt, ...) UCS_F_PRINTF(3, 4);

/** The part of a path behind its last slash. */
static inline const char *ucs_basename(const char *path)
{
    const char *slash = strrchr(path, '/');
    return (slash != NULL) ? &slash[1] : path;
}

/** 1 for the empty string, else 0. */
static inline int ucs_string_is_empty(const char *str)
{
    return str[0] == '\0';
}

END_C_DECLS

#endif
