/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_ARCH_X86_64_GLOBAL_OPTS_H
#define FERRUCX_UCS_ARCH_X86_64_GLOBAL_OPTS_H

#include <ucs/sys/compiler_def.h>
#include <stddef.h>

BEGIN_C_DECLS

/** Every option decided by the library. */
#define UCS_ARCH_GLOBAL_OPTS_INITALIZER \
    {UCS_MEMUNITS_AUTO, UCS_MEMUNITS_AUTO, UCS_MEMUNITS_AUTO, UCS_MEMUNITS_AUTO}

typedef struct ucs_arch_global_opts ucs_arch_global_opts_t;

/** Options of x86-64. */
struct ucs_arch_global_opts {
    /** Shortest copy by a string instruction, bytes. */
    size_t builtin_memcpy_min;
    /** Longest copy by a string instruction, bytes. */
    size_t builtin_memcpy_max;
    /** Shortest copy past the caches, bytes. */
    size_t nt_buffer_transfer_min;
    /** Longest copy whose destination stays in the caches, bytes. */
    size_t nt_dest_threshold;
};

END_C_DECLS

#endif
