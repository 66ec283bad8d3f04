/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_ALGORITHM_STRING_DISTANCE_H
#define FERRUCX_UCS_ALGORITHM_STRING_DISTANCE_H

#include <ucs/sys/compiler_def.h>
#include <stddef.h>
#include <stdint.h>

BEGIN_C_DECLS

/**
 * Characters to insert, remove or replace to make one string of another.
 *
 * @param[in] str1 String, NUL-terminated.
 * @param[in] str2 String, NUL-terminated.
 * @return Number of changes.
 */
size_t ucs_string_distance(const char *str1, const char *str2);

END_C_DECLS

#endif
