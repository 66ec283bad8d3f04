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

/** Bytes of the name of a bus address, with its NUL. */
#define UCS_SYS_BDF_NAME_MAX 16

/** State of the library. */
struct ucs_global_state;

typedef struct ucs_sys_dev_distance ucs_sys_dev_distance_t;
typedef struct ucs_sys_bus_id ucs_sys_bus_id_t;
typedef struct ucs_global_state ucs_global_state_t;
typedef struct ucs_sys_topo_ops ucs_sys_topo_ops_t;

/** Number of a device of this machine, in the order of discovery. */
typedef uint8_t ucs_sys_device_t;

/** Way from one device to another. */
struct ucs_sys_dev_distance {
    /** Seconds. */
    double latency;
    /** Bytes a second. */
    double bandwidth;
};

/** Place of a device on the PCI bus. */
struct ucs_sys_bus_id {
    /** Domain. */
    uint16_t domain;
    /** Bus. */
    uint8_t bus;
    /** Device on the bus. */
    uint8_t slot;
    /** Function of the device. */
    uint8_t function;
};

/** A place on the PCI bus as one number. */
typedef int64_t ucs_bus_id_bit_rep_t;

/** Tells the distance of two devices. */
typedef ucs_status_t (*ucs_topo_get_distance_func_t)(ucs_sys_device_t device1,
                                                     ucs_sys_device_t device2,
                                                     ucs_sys_dev_distance_t *distance);

/** Tells the distance of a device from the host's memory. */
typedef void (*ucs_topo_get_memory_distance_func_t)(ucs_sys_device_t device,
                                                    ucs_sys_dev_distance_t *distance);

/** Tells the distance of a device from memory near processors. */
typedef void (*ucs_topo_get_memory_distance_for_cpuset_func_t)(ucs_sys_device_t device,
                                                               const ucs_cpu_set_t *cpuset,
                                                               ucs_sys_dev_distance_t *distance);

/** Source of distances. */
struct ucs_sys_topo_ops {
    /** Of two devices. */
    ucs_topo_get_distance_func_t get_distance;
    /** Of a device and memory. */
    ucs_topo_get_memory_distance_func_t get_memory_distance;
    /** Of a device and memory near processors. */
    ucs_topo_get_memory_distance_for_cpuset_func_t get_memory_distance_for_cpuset;
};

/**
 * How far apart two devices are, in seconds and bytes a second; nothing and infinite when one is
 * unknown. `ucs/sys/topo/base/topo.h`.
 */
ucs_status_t ucs_topo_get_distance(ucs_sys_device_t device1,
                                   ucs_sys_device_t device2,
                                   ucs_sys_dev_distance_t *distance);

/**
 * How far a device is from memory, averaged over the processors this thread may run on.
 * `ucs/sys/topo/base/topo.h`.
 */
void ucs_topo_get_memory_distance(ucs_sys_device_t device,
                                  ucs_sys_dev_distance_t *distance);

/** A device's name, or words that say that there is none. `ucs/sys/topo/base/topo.h`. */
const char *ucs_topo_sys_device_get_name(ucs_sys_device_t sys_dev);

/** How many system devices were met. `ucs/sys/topo/base/topo.h`. */
unsigned int ucs_topo_num_devices(void);

/** The distance of devices that stand nowhere in particular. */
extern const ucs_sys_dev_distance_t ucs_topo_default_distance;
/** The distance of what cannot reach each other. */
extern const ucs_sys_dev_distance_t ucs_topo_max_distance;

END_C_DECLS

#endif
