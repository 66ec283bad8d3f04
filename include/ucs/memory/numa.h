/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_MEMORY_NUMA_H
#define FERRUCX_UCS_MEMORY_NUMA_H

#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

/** The only node, where there are no others. */
#define UCS_NUMA_NODE_DEFAULT 0

/** No node. */
#define UCS_NUMA_NODE_UNDEFINED -1

/** Number of a node. */
typedef int16_t ucs_numa_node_t;

/** Distance of two nodes, as the system counts it. */
typedef int ucs_numa_distance_t;

/** Begins: what is asked for is read when it is. */
void ucs_numa_init(void);

/** Ends: nothing is kept. */
void ucs_numa_cleanup(void);

/**
 * Processors that the system may have.
 *
 * @return Their number.
 */
unsigned int ucs_numa_num_configured_cpus(void);

/**
 * Memory nodes that the system may have.
 *
 * @return Their number.
 */
unsigned int ucs_numa_num_configured_nodes(void);

/**
 * The node of a processor; the first one where the system has but one.
 *
 * @param[in] cpu Number of the processor.
 * @return The node.
 */
ucs_numa_node_t ucs_numa_node_of_cpu(int cpu);

/**
 * The node of a device by its folder in sysfs; UCS_NUMA_NODE_UNDEFINED where it has none.
 *
 * @param[in] dev_path Folder, NUL-terminated.
 * @return The node.
 */
ucs_numa_node_t ucs_numa_node_of_device(const char *dev_path);

/**
 * How far two nodes are apart, as the system counts it.
 *
 * @param[in] node1 A node.
 * @param[in] node2 Another one.
 * @return The distance.
 */
ucs_numa_distance_t ucs_numa_distance(ucs_numa_node_t node1, ucs_numa_node_t node2);

/** Names of policies of memory on nodes: default, bind, preferred; NULL after the last. */
extern const char *ucs_numa_policy_names[];

END_C_DECLS

#endif
