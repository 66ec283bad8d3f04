/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_DATASTRUCT_STRING_SET_H
#define FERRUCX_UCS_DATASTRUCT_STRING_SET_H

#include <ucs/datastruct/khash.h>
#include <ucs/datastruct/string_buffer.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>
#include <stddef.h>

BEGIN_C_DECLS

/** A set of strings, which are copies that the set owns. */
KHASH_INIT(ucs_string_set, char*, char, 0, kh_str_hash_func, kh_str_hash_equal)
typedef khash_t(ucs_string_set) ucs_string_set_t;

/**
 * Makes an empty set.
 *
 * @param[in,out] sset The set.
 */
void ucs_string_set_init(ucs_string_set_t *sset);

/**
 * Frees the members.
 *
 * @param[in,out] sset The set.
 */
void ucs_string_set_cleanup(ucs_string_set_t *sset);

/**
 * Adds a copy of `str` unless it is a member.
 *
 * @param[in,out] sset The set.
 * @param[in] str String, NUL-terminated.
 * @return UCS_OK or UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucs_string_set_add(ucs_string_set_t *sset, const char *str);

/**
 * 1 for a member, else 0.
 *
 * @param[in] sset The set.
 * @param[in] str String, NUL-terminated.
 * @return 1 or 0.
 */
int ucs_string_set_contains(const ucs_string_set_t *sset, const char *str);

/**
 * Appends the members in byte order, `sep` between them.
 *
 * @param[in,out] sset The set.
 * @param[in,out] strb Gets the text behind what it holds.
 * @param[in] sep Text between two members, NUL-terminated.
 * @return UCS_OK or UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucs_string_set_print_sorted(const ucs_string_set_t *sset,
                                         ucs_string_buffer_t *strb,
                                         const char *sep);

/**
 * Adds a formatted string; `fmt` is as of printf. UCS_OK or UCS_ERR_NO_MEMORY.
 *
 * @param[in,out] sset The set.
 * @param[in] fmt As of printf(3).
 * @return UCS_OK or UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucs_string_set_addf(ucs_string_set_t *sset, const char *fmt, ...) UCS_F_PRINTF(2, 3);

/**
 * 1 when a set has no member, else 0.
 *
 * @param[in] sset The set.
 * @return 1 or 0.
 */
static UCS_F_ALWAYS_INLINE int ucs_string_set_is_empty(const ucs_string_set_t *sset)
{
    return !kh_size(sset);
}

END_C_DECLS

#endif
