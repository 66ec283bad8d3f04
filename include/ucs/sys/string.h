/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_SYS_STRING_H
#define FERRUCX_UCS_SYS_STRING_H

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

/** Makes a path absolute by the current folder; `fullpath` is cut to `max` bytes. `ucs/sys/string.h`. */
void ucs_expand_path(const char *path,
                     char *fullpath,
                     size_t max);

/** Fills the patterns of `UCX_LOG_FILE` into a name. `ucs/sys/string.h`. */
void ucs_fill_filename_template(const char *tmpl, char *buf, size_t max);

/** Takes `num_layers` parts from the end of a path, in place. `ucs/sys/string.h`. */
char *ucs_dirname(char *path, int num_layers);

/**
 * Copies `src` cut to `max` bytes with a terminator; the rest of `dest` becomes zero.
 * `ucs/sys/string.h`.
 */
void ucs_strncpy_zero(char *dest, const char *src, size_t max);

/** The first seven characters as a number. `ucs/sys/string.h`. */
uint64_t ucs_string_to_id(const char *str);

/** A size as `8K`, `inf`, `auto`; answers `buf`. `ucs/sys/string.h`. */
char *ucs_memunits_to_str(size_t value, char *buf, size_t max);

/** Two sizes as `1K..2K`, or one where they are the same; answers `buf`. `ucs/sys/string.h`. */
const char *ucs_memunits_range_str(size_t range_start,
                                   size_t range_end,
                                   char *buf,
                                   size_t max);

/**
 * Reads a size into the `size_t` at `dest`. `UCS_ERR_INVALID_PARAM` for other text.
 * `ucs/sys/string.h`.
 */
ucs_status_t ucs_str_to_memunits(const char *buf, void *dest);

/** What the suffix of a size multiplies by; 0 for other letters. `ucs/sys/string.h`. */
size_t ucs_string_quantity_prefix_value(char prefix);

/** Copies `src` cut to `len` bytes with a terminator; answers `dst`. `ucs/sys/string.h`. */
char *ucs_strncpy_safe(char *dst, const char *src, size_t len);

/** Takes white space from both ends, in place; answers where the text begins. `ucs/sys/string.h`. */
char *ucs_strtrim(char *str);

/** Bytes as hexadecimal digits, `per_line` on each line, as many as fit; answers `buf`. `ucs/sys/string.h`. */
const char *ucs_str_dump_hex(const void *data,
                             size_t length,
                             char *buf,
                             size_t max,
                             size_t per_line);

/**
 * The names of the bits set in `flags`, comma between them, cut to `max`; answers `str`.
 * `ucs/sys/string.h`.
 */
const char *ucs_flags_str(char *str, size_t max, uint64_t flags, const char **str_table);

/** How often a character occurs. `ucs/sys/string.h`. */
size_t ucs_string_count_char(const char *str, char c);

/** Characters that both strings begin with. `ucs/sys/string.h`. */
size_t ucs_string_common_prefix_len(const char *str1, const char *str2);

/** Characters of the path that both are, or are below. `ucs/sys/string.h`. */
size_t ucs_path_common_parent_length(const char *path1, const char *path2);

/** That path. `ucs/sys/string.h`. */
void ucs_path_get_common_parent(const char *path1, const char *path2, char *common_path);

/** Steps from one path to the other by way of it. `ucs/sys/string.h`. */
size_t ucs_path_calc_distance(const char *path1, const char *path2);

/** The numbers of the bits that are set, as text in `strb`; answers it. `ucs/sys/string.h`. */
const char *ucs_mask_str(uint64_t mask,
                         ucs_string_buffer_t *strb);

/** Where a string stands in a list that a NULL ends, or -1. `ucs/sys/string.h`. */
ssize_t ucs_string_find_in_list(const char *str,
                                const char **string_list,
                                int case_sensitive);

/** Room for any path, the caller's for `ucs_free`. UCS_ERR_NO_MEMORY. `ucs/sys/string.h`. */
ucs_status_t ucs_string_alloc_path_buffer(char **buffer_p, const char *name);

/** A path's folder in such room; `dir_p` gets where it begins. UCS_ERR_NO_MEMORY. `ucs/sys/string.h`. */
ucs_status_t ucs_string_alloc_path_buffer_and_get_dirname(char **buffer_p,
                                                          const char *name,
                                                          const char *path,
                                                          const char **dir_p);

/** As snprintf, but ends the string with a NUL also where `size` bytes are too few. */
void ucs_snprintf_zero(char *buf, size_t size, const char *fmt, ...) UCS_F_PRINTF(3, 4);
/** As snprintf, and the string always ends with a NUL. */
void ucs_snprintf_safe(char *buf, size_t size, const char *fmt, ...) UCS_F_PRINTF(3, 4);
/** The same for a `va_list`. */
void ucs_vsnprintf_safe(char *buf, size_t size, const char *fmt, va_list ap);
/**
 * Cuts a string at the first `count` characters of `delim`. The further arguments are `count` places of type `char **`
 * for where each part begins: NULL for those that are not there. Answers the rest, NULL where there is none.
 */
char *ucs_string_split(char *str, const char *delim, int count, ...);
/** A formatted path in a new buffer, which the caller frees by `ucs_free`. UCS_ERR_NO_MEMORY. */
ucs_status_t ucs_string_alloc_formatted_path(char **buffer_p, const char *name, const char *fmt, ...);

/** What stands behind sizes: nothing, "K", "M" and so on; NULL after the last. */
extern const char *ucs_memunits_suffixes[];

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
