/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_DEBUG_MEMTRACK_H
#define FERRUCX_UCS_DEBUG_MEMTRACK_H

#include <ucs/sys/compiler_def.h>
#include <stddef.h>
#include <stdint.h>

BEGIN_C_DECLS

/**
 * Tells the allocation statistics of memory; they are off.
 *
 * @param[in] ptr The memory.
 * @param[in] size Bytes.
 * @param[in] name Name, NUL-terminated.
 */
void ucs_memtrack_allocated(void *ptr, size_t size, const char *name);

/**
 * Tells the allocation statistics that memory goes; they are off.
 *
 * @param[in] ptr The memory.
 */
void ucs_memtrack_releasing(void *ptr);

END_C_DECLS

#endif
