/* Written from the Rust sources by `make headers`: change those, not this file. */
#ifndef FERRUCX_UCS_SYS_TOPO_BASE_TOPO_H
#define FERRUCX_UCS_SYS_TOPO_BASE_TOPO_H

#include <ucs/datastruct/list.h>
#include <ucs/memory/numa.h>
#include <ucs/type/cpu_set.h>
#include <ucs/type/status.h>
#include <limits.h>
#include <stdio.h>

BEGIN_C_DECLS

/** System devices that can be known at a time. */
#define UCS_SYS_DEVICE_ID_MAX UINT8_MAX
/** No device, or one that is not known. */
#define UCS_SYS_DEVICE_ID_UNKNOWN UINT8_MAX
/** A device without a user value. */
#define UCS_SYS_DEVICE_USER_VALUE_EMPTY UINTPTR_MAX

#define UCS_SYS_BDF_NAME_MAX 16

struct ucs_global_state;

typedef struct ucs_sys_bus_id ucs_sys_bus_id_t;
typedef struct ucs_global_state ucs_global_state_t;
typedef struct ucs_sys_dev_distance ucs_sys_dev_distance_t;
typedef struct ucs_sys_topo_ops ucs_sys_topo_ops_t;

struct ucs_sys_bus_id {
    uint16_t domain;
    uint8_t bus;
    uint8_t slot;
    uint8_t function;
};

typedef int64_t ucs_bus_id_bit_rep_t;

typedef uint8_t ucs_sys_device_t;

struct ucs_sys_dev_distance {
    double latency;
    double bandwidth;
};

typedef ucs_status_t (*ucs_topo_get_distance_func_t)(ucs_sys_device_t device1,
                                                     ucs_sys_device_t device2,
                                                     ucs_sys_dev_distance_t *distance);

typedef void (*ucs_topo_get_memory_distance_func_t)(ucs_sys_device_t device,
                                                    ucs_sys_dev_distance_t *distance);

typedef void (*ucs_topo_get_memory_distance_for_cpuset_func_t)(ucs_sys_device_t device,
                                                               const ucs_cpu_set_t *cpuset,
                                                               ucs_sys_dev_distance_t *distance);

struct ucs_sys_topo_ops {
    ucs_topo_get_distance_func_t get_distance;
    ucs_topo_get_memory_distance_func_t get_memory_distance;
    ucs_topo_get_memory_distance_for_cpuset_func_t get_memory_distance_for_cpuset;
};

/** Distance where nothing is known. */
extern const ucs_sys_dev_distance_t ucs_topo_default_distance;
/** The largest distance. */
extern const ucs_sys_dev_distance_t ucs_topo_max_distance;

END_C_DECLS

#endif
