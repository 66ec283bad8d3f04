/* Written from the Rust sources by `make headers`: change those, not this file. */
#ifndef FERRUCX_UCS_MEMORY_NUMA_H
#define FERRUCX_UCS_MEMORY_NUMA_H

#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

#define UCS_NUMA_NODE_DEFAULT 0
#define UCS_NUMA_NODE_UNDEFINED -1

typedef int ucs_numa_distance_t;

typedef int16_t ucs_numa_node_t;

END_C_DECLS

#endif
