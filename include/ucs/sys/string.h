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

/**
 * Makes a path absolute by the current folder; `fullpath` is cut to `max` bytes.
 *
 * @param[in] path String, NUL-terminated.
 * @param[out] fullpath Gets the path with its NUL.
 * @param[in] max Bytes of that buffer.
 */
void ucs_expand_path(const char *path, char *fullpath, size_t max);

/**
 * Fills the patterns of `UCX_LOG_FILE` into a name.
 *
 * @param[in] tmpl Name with patterns such as %h and %p, NUL-terminated.
 * @param[out] buf Gets the text with its NUL, cut to fit.
 * @param[in] max Bytes of that buffer.
 */
void ucs_fill_filename_template(const char *tmpl, char *buf, size_t max);

/**
 * Takes `num_layers` parts from the end of a path, in place.
 *
 * @param[in,out] path Path, NUL-terminated.
 * @param[in] num_layers Parts to take.
 * @return `path`.
 */
char *ucs_dirname(char *path, int num_layers);

/**
 * Copies `src` cut to `max` bytes with a terminator; the rest of `dest` becomes zero.
 *
 *
 * @param[out] dest Gets the copy.
 * @param[in] src String, NUL-terminated.
 * @param[in] max Bytes of `dest`.
 */
void ucs_strncpy_zero(char *dest, const char *src, size_t max);

/**
 * The first seven characters as a number.
 *
 * @param[in] str String, NUL-terminated.
 * @return The number; the same for strings that begin alike.
 */
uint64_t ucs_string_to_id(const char *str);

/**
 * A size as `8K`, `inf`, `auto`; answers `buf`.
 *
 * @param[in] value Bytes.
 * @param[out] buf Gets the text with its NUL, cut to fit.
 * @param[in] max Bytes of that buffer.
 * @return `buf`.
 */
char *ucs_memunits_to_str(size_t value, char *buf, size_t max);

/**
 * Two sizes as `1K..2K`, or one where they are the same; answers `buf`.
 *
 * @param[in] range_start First size, bytes.
 * @param[in] range_end Last size, bytes.
 * @param[out] buf Gets the text with its NUL, cut to fit.
 * @param[in] max Bytes of that buffer.
 * @return `buf`.
 */
const char *ucs_memunits_range_str(size_t range_start,
                                   size_t range_end,
                                   char *buf,
                                   size_t max);

/**
 * Reads a size into the `size_t` at `dest`. `UCS_ERR_INVALID_PARAM` for other text.
 *
 *
 * @param[in] buf Text, NUL-terminated.
 * @param[out] dest A `size_t` that gets the bytes.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM for another text.
 */
ucs_status_t ucs_str_to_memunits(const char *buf, void *dest);

/**
 * What the suffix of a size multiplies by; 0 for other letters.
 *
 * @param[in] prefix Letter, such as K.
 * @return The factor, or 0.
 */
size_t ucs_string_quantity_prefix_value(char prefix);

/**
 * Copies `src` cut to `len` bytes with a terminator; answers `dst`.
 *
 * @param[out] dst Gets the copy.
 * @param[in] src String, NUL-terminated.
 * @param[in] len Bytes of `dst`.
 * @return `dst`.
 */
char *ucs_strncpy_safe(char *dst, const char *src, size_t len);

/**
 * Takes white space from both ends, in place; answers where the text begins.
 *
 * @param[in,out] str String, NUL-terminated.
 * @return Place inside `str`.
 */
char *ucs_strtrim(char *str);

/**
 * Bytes as hexadecimal digits, `per_line` on each line, as many as fit; answers `buf`.
 *
 * @param[in] data The bytes.
 * @param[in] length Their number.
 * @param[out] buf Gets the text with its NUL, cut to fit.
 * @param[in] max Bytes of that buffer.
 * @param[in] per_line Bytes on each line.
 * @return `buf`.
 */
const char *ucs_str_dump_hex(const void *data,
                             size_t length,
                             char *buf,
                             size_t max,
                             size_t per_line);

/**
 * The names of the bits set in `flags`, comma between them, cut to `max`; answers `str`.
 *
 *
 * @param[out] str Gets the text with its NUL.
 * @param[in] max Bytes of that buffer.
 * @param[in] flags The bits.
 * @param[in] str_table Name of each bit, ended by NULL.
 * @return `str`.
 */
const char *ucs_flags_str(char *str, size_t max, uint64_t flags, const char **str_table);

/**
 * How often a character occurs.
 *
 * @param[in] str String, NUL-terminated.
 * @param[in] c The character.
 * @return How often.
 */
size_t ucs_string_count_char(const char *str, char c);

/**
 * Characters that both strings begin with.
 *
 * @param[in] str1 String, NUL-terminated.
 * @param[in] str2 String, NUL-terminated.
 * @return Number of characters.
 */
size_t ucs_string_common_prefix_len(const char *str1, const char *str2);

/**
 * Characters of the path that both are, or are below.
 *
 * @param[in] path1 String, NUL-terminated.
 * @param[in] path2 String, NUL-terminated.
 * @return Number of characters.
 */
size_t ucs_path_common_parent_length(const char *path1, const char *path2);

/**
 * Writes the path that both paths are, or are below.
 *
 * @param[in] path1 String, NUL-terminated.
 * @param[in] path2 String, NUL-terminated.
 * @param[out] common_path Room for the longer of the two.
 */
void ucs_path_get_common_parent(const char *path1, const char *path2, char *common_path);

/**
 * Steps from one path to the other by way of it.
 *
 * @param[in] path1 String, NUL-terminated.
 * @param[in] path2 String, NUL-terminated.
 * @return Number of steps.
 */
size_t ucs_path_calc_distance(const char *path1, const char *path2);

/**
 * The numbers of the bits that are set, as text in `strb`; answers it.
 *
 * @param[in] mask The bits.
 * @param[in,out] strb Gets the text behind what it holds.
 * @return The text of `strb`.
 */
const char *ucs_mask_str(uint64_t mask, ucs_string_buffer_t *strb);

/**
 * Where a string stands in a list that a NULL ends, or -1.
 *
 * @param[in] str String, NUL-terminated.
 * @param[in] string_list Strings, ended by NULL.
 * @param[in] case_sensitive 0: small and capital letters are equal.
 * @return Its number, or -1.
 */
ssize_t ucs_string_find_in_list(const char *str,
                                const char **string_list,
                                int case_sensitive);

/**
 * Room for any path, the caller's for `ucs_free`. UCS_ERR_NO_MEMORY.
 *
 * @param[out] buffer_p The buffer; `ucs_free` frees it.
 * @param[in] name Name for statistics of memory.
 * @return UCS_OK or UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucs_string_alloc_path_buffer(char **buffer_p, const char *name);

/**
 * A path's folder in such room; `dir_p` gets where it begins. UCS_ERR_NO_MEMORY.
 *
 * @param[out] buffer_p The buffer; `ucs_free` frees it.
 * @param[in] name Name for statistics of memory.
 * @param[in] path String, NUL-terminated.
 * @param[out] dir_p The folder, inside the buffer.
 * @return UCS_OK or UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucs_string_alloc_path_buffer_and_get_dirname(char **buffer_p,
                                                          const char *name,
                                                          const char *path,
                                                          const char **dir_p);

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

#endif
