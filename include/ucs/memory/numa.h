/* Written from the Rust sources by `make headers`: change those, not this file. */
#ifndef FERRUCX_UCS_MEMORY_NUMA_H
#define FERRUCX_UCS_MEMORY_NUMA_H

#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

/** The only node, where there are no others. */
#define UCS_NUMA_NODE_DEFAULT 0

/** No node. */
#define UCS_NUMA_NODE_UNDEFINED -1

/** Distance of two nodes, as the system counts it. */
typedef int ucs_numa_distance_t;

/** Number of a node. */
typedef int16_t ucs_numa_node_t;

/** Names of policies of memory on nodes: default, bind, preferred; NULL after the last. */
extern const char *ucs_numa_policy_names[];

END_C_DECLS

#endif
