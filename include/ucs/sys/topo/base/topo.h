/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
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
typedef struct ucs_sys_topo_ops ucs_sys_topo_ops_t;
typedef struct ucs_sys_bus_id ucs_sys_bus_id_t;
typedef struct ucs_global_state ucs_global_state_t;

/** Number of a device of this machine, in the order of discovery. */
typedef uint8_t ucs_sys_device_t;

/** Way from one device to another. */
struct ucs_sys_dev_distance {
    /** Seconds. */
    double latency;
    /** Bytes a second. */
    double bandwidth;
};

/**
 * Tells the distance of two devices.
 *
 * @param[in] device1 Number of a device.
 * @param[in] device2 Number of another one.
 * @param[out] distance Seconds, and bytes a second.
 * @return UCS_OK, or UCS_ERR_INVALID_PARAM.
 */
typedef ucs_status_t (*ucs_topo_get_distance_func_t)(ucs_sys_device_t device1,
                                                     ucs_sys_device_t device2,
                                                     ucs_sys_dev_distance_t *distance);

/**
 * Tells the distance of a device from the host's memory.
 *
 * @param[in] device Number of a device.
 * @param[out] distance Seconds, and bytes a second.
 */
typedef void (*ucs_topo_get_memory_distance_func_t)(ucs_sys_device_t device,
                                                    ucs_sys_dev_distance_t *distance);

/**
 * Tells the distance of a device from memory near processors.
 *
 * @param[in] device Number of a device.
 * @param[in] cpuset The processors.
 * @param[out] distance Seconds, and bytes a second.
 */
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

/** Has `UCX_TOPO_PRIO` looked at again: nothing is kept of it. */
void ucs_sys_topo_reset_provider(void);

/**
 * Puts a source of distances in the place of those before.
 *
 * @param[in] ops The functions; alive until the source is taken away.
 * @return UCS_OK, or an error.
 */
ucs_status_t ucs_sys_topo_provider_push(const ucs_sys_topo_ops_t *ops);

/** Takes the last source of distances away. */
void ucs_sys_topo_provider_pop(void);

/**
 * The device of a PCI function, new if it was not met before.
 *
 * @param[in] bus_id The PCI function.
 * @param[out] sys_dev Number of the device.
 * @return UCS_OK, or an error.
 */
ucs_status_t ucs_topo_find_device_by_bus_id(const ucs_sys_bus_id_t *bus_id,
                                            ucs_sys_device_t *sys_dev);

/**
 * The same where several devices have one function, told apart by a value.
 *
 * @param[in] bus_id The PCI function.
 * @param[in] user_value The value.
 * @param[out] sys_dev_p Number of the device.
 * @return UCS_OK, or an error.
 */
ucs_status_t ucs_topo_find_device_by_bus_id_and_user_value(const ucs_sys_bus_id_t *bus_id,
                                                           size_t user_value,
                                                           ucs_sys_device_t *sys_dev_p);

/**
 * The PCI function of a device. UCS_ERR_NO_ELEM.
 *
 * @param[in] sys_dev Number of a device.
 * @param[out] bus_id The PCI function.
 * @return UCS_OK; UCS_ERR_NO_ELEM when it has none.
 */
ucs_status_t ucs_topo_get_device_bus_id(ucs_sys_device_t sys_dev,
                                        ucs_sys_bus_id_t *bus_id);

/**
 * A PCI function as one number.
 *
 * @param[in] bus_id The PCI function.
 * @return The number.
 */
ucs_bus_id_bit_rep_t ucs_topo_get_bus_id_bit_repr(const ucs_sys_bus_id_t *bus_id);

/**
 * How far apart two devices are, in seconds and bytes a second; nothing and infinite when one is
 * unknown.
 *
 * @param[in] device1 Number of a device.
 * @param[in] device2 Number of another one.
 * @param[out] distance Seconds, and bytes a second.
 * @return UCS_OK, or UCS_ERR_INVALID_PARAM.
 */
ucs_status_t ucs_topo_get_distance(ucs_sys_device_t device1,
                                   ucs_sys_device_t device2,
                                   ucs_sys_dev_distance_t *distance);

/**
 * How far a device is from memory, averaged over the processors this thread may run on.
 *
 *
 * @param[in] device Number of a device.
 * @param[out] distance Seconds, and bytes a second.
 */
void ucs_topo_get_memory_distance(ucs_sys_device_t device,
                                  ucs_sys_dev_distance_t *distance);

/**
 * How far a device is from memory, averaged over some processors.
 *
 * @param[in] device Number of a device.
 * @param[in] cpuset The processors.
 * @param[out] distance Seconds, and bytes a second.
 */
void ucs_topo_get_memory_distance_for_cpuset(ucs_sys_device_t device,
                                             const ucs_cpu_set_t *cpuset,
                                             ucs_sys_dev_distance_t *distance);

/**
 * A distance as text; answers `buffer`.
 *
 * @param[in] distance The distance.
 * @param[out] buffer Gets the text with its NUL.
 * @param[in] max Bytes of `buffer`.
 * @return `buffer`.
 */
const char *ucs_topo_distance_str(const ucs_sys_dev_distance_t *distance,
                                  char *buffer,
                                  size_t max);

/**
 * Compares distances: by latency, then by bandwidth, of which more is nearer.
 *
 * @param[in] distance1 A distance.
 * @param[in] distance2 Another one.
 * @return Negative, 0 or positive.
 */
int ucs_topo_distance_cmp(const ucs_sys_dev_distance_t *distance1,
                          const ucs_sys_dev_distance_t *distance2);

/**
 * The device of a folder that is named as a PCI function, with a name for it; UCS_SYS_DEVICE_ID_UNKNOWN for others.
 *
 *
 * @param[in] dev_name Name, NUL-terminated.
 * @param[in] sysfs_path Folder in sysfs, NUL-terminated.
 * @param[in] name_priority Priority of the name.
 * @return Number of the device.
 */
ucs_sys_device_t ucs_topo_get_sysfs_dev(const char *dev_name,
                                        const char *sysfs_path,
                                        unsigned int name_priority);

/**
 * A device's PCI function as text, or words that say that there is none; answers `buffer`.
 *
 * @param[in] sys_dev Number of a device.
 * @param[out] buffer Gets the text with its NUL.
 * @param[in] max Bytes of `buffer`.
 * @return Text.
 */
const char *ucs_topo_sys_device_bdf_name(ucs_sys_device_t sys_dev,
                                         char *buffer,
                                         size_t max);

/**
 * The device of a PCI function named as 0000:01:02.3, or without a domain. UCS_ERR_INVALID_PARAM for other names.
 *
 *
 * @param[in] name Name, NUL-terminated.
 * @param[out] sys_dev Number of the device.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM for another name.
 */
ucs_status_t ucs_topo_find_device_by_bdf_name(const char *name,
                                              ucs_sys_device_t *sys_dev);

/**
 * Names a device, unless it has a name of the same or a higher priority. UCS_ERR_INVALID_PARAM.
 *
 *
 * @param[in] sys_dev Number of a device.
 * @param[in] name Name, NUL-terminated; copied.
 * @param[in] priority Its priority.
 * @return UCS_OK, or UCS_ERR_INVALID_PARAM.
 */
ucs_status_t ucs_topo_sys_device_set_name(ucs_sys_device_t sys_dev,
                                          const char *name,
                                          unsigned int priority);

/**
 * Bytes a second of the link of a PCI function, by its folder in sysfs; infinite where that does not say.
 *
 *
 * @param[in] dev_name Name, NUL-terminated.
 * @param[in] sysfs_path Folder in sysfs, NUL-terminated.
 * @return Bytes a second.
 */
double ucs_topo_get_pci_bw(const char *dev_name,
                           const char *sysfs_path);

/**
 * The folder two steps above a device in sysfs, where it is on PCI; answers `path_buffer`, or NULL.
 *
 *
 * @param[in] dev_path Folder in sysfs, NUL-terminated.
 * @param[out] path_buffer Gets the path with its NUL; PATH_MAX bytes.
 * @return `path_buffer`, or NULL.
 */
const char *ucs_topo_resolve_sysfs_path(const char *dev_path,
                                        char *path_buffer);

/**
 * A device's name, or words that say that there is none.
 *
 * @param[in] sys_dev Number of a device.
 * @return Text that is not freed.
 */
const char *ucs_topo_sys_device_get_name(ucs_sys_device_t sys_dev);

/**
 * The memory node of a device; UCS_NUMA_NODE_UNDEFINED without any.
 *
 * @param[in] sys_dev Number of a device.
 * @return The node.
 */
ucs_numa_node_t ucs_topo_sys_device_get_numa_node(ucs_sys_device_t sys_dev);

/**
 * Says which memory node a device has. UCS_ERR_INVALID_PARAM.
 *
 * @param[in] sys_dev Number of a device.
 * @param[in] numa_node The node.
 * @return UCS_OK, or UCS_ERR_INVALID_PARAM.
 */
ucs_status_t ucs_topo_sys_device_set_numa_node(ucs_sys_device_t sys_dev,
                                               ucs_numa_node_t numa_node);

/**
 * The value that a device was found by; UCS_SYS_DEVICE_USER_VALUE_EMPTY without any.
 *
 * @param[in] sys_dev Number of a device.
 * @return The value.
 */
size_t ucs_topo_sys_device_get_user_value(ucs_sys_device_t sys_dev);

/**
 * Names a further way to a device: accepted, as no transport here has two.
 *
 * @param[in] sys_dev Number of a device.
 * @param[in] sys_dev_aux Number of another one.
 * @return UCS_OK, or UCS_ERR_INVALID_PARAM.
 */
ucs_status_t ucs_topo_sys_device_set_sys_dev_aux(ucs_sys_device_t sys_dev,
                                                 ucs_sys_device_t sys_dev_aux);

/**
 * Allows the further way: accepted, as no transport here has two.
 *
 * @param[in] sys_dev Number of a device.
 * @return UCS_OK, or UCS_ERR_INVALID_PARAM.
 */
ucs_status_t ucs_topo_sys_device_enable_aux_path(ucs_sys_device_t sys_dev);

/**
 * Whether a device reaches memory of another: all do that are known here.
 *
 * @param[in] sys_dev Number of a device.
 * @param[in] sys_dev_mem Number of another one.
 * @return 1 or 0.
 */
int ucs_topo_is_reachable(ucs_sys_device_t sys_dev, ucs_sys_device_t sys_dev_mem);

/**
 * Whether two devices are one with two functions: none that is known here.
 *
 * @param[in] sys_dev Number of a device.
 * @param[in] sys_dev_mem Number of another one.
 * @return 1 or 0.
 */
int ucs_topo_is_sibling(ucs_sys_device_t sys_dev, ucs_sys_device_t sys_dev_mem);

/**
 * Whether a device has such another: none that is known here.
 *
 * @param[in] sys_dev Number of a device.
 * @return 1 or 0.
 */
int ucs_topo_device_has_sibling(ucs_sys_device_t sys_dev);

/**
 * How many system devices were met.
 *
 * @return Their number.
 */
unsigned int ucs_topo_num_devices(void);

/**
 * Writes the devices.
 *
 * @param[in] stream Open for writing.
 */
void ucs_topo_print_info(FILE *stream);

/**
 * Takes all devices away; they are given back once.
 *
 * @return The devices, for `ucs_topo_restore_state`.
 */
ucs_global_state_t *ucs_topo_extract_state(void);

/**
 * Gives devices back, in the place of all.
 *
 * @param[in] state Devices of `ucs_topo_extract_state`, once.
 */
void ucs_topo_restore_state(ucs_global_state_t *state);

/** Begins: devices are looked at when they are asked for. */
void ucs_topo_init(void);

/** Ends: forgets all devices. */
void ucs_topo_cleanup(void);

/** The distance of devices that stand nowhere in particular. */
extern const ucs_sys_dev_distance_t ucs_topo_default_distance;
/** The distance of what cannot reach each other. */
extern const ucs_sys_dev_distance_t ucs_topo_max_distance;

END_C_DECLS

#endif
