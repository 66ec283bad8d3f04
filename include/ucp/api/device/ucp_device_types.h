/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCP_API_DEVICE_UCP_DEVICE_TYPES_H
#define FERRUCX_UCP_API_DEVICE_UCP_DEVICE_TYPES_H

#include <uct/api/device/uct_device_types.h>
#include <uct/api/uct.h>
#include <uct/api/uct_def.h>

BEGIN_C_DECLS

/** Version of the two lists below. */
#define UCP_DEVICE_MEM_LIST_VERSION_V1 2

/** Memory of peers, as device code reads it: made by `ucp_device_remote_mem_list_create`. */
typedef struct ucp_device_remote_mem_list {
    /** UCP_DEVICE_MEM_LIST_VERSION_V1. */
    uint16_t version;
    /** Lanes of each element, which is longer by so many. */
    uint16_t num_lanes;
    /** Number of elements. */
    uint32_t length;
    /** The elements. */
    __extension__ uct_device_remote_mem_elem_t mem_elements[0];
} ucp_device_remote_mem_list_t;

/** Memory of this process, as device code reads it: made by `ucp_device_local_mem_list_create`. */
typedef struct ucp_device_local_mem_list {
    /** UCP_DEVICE_MEM_LIST_VERSION_V1. */
    uint16_t version;
    /** Lanes of each element, which is longer by so many. */
    uint16_t num_lanes;
    /** Number of elements. */
    uint32_t length;
    /** The elements. */
    __extension__ uct_device_local_mem_elem_t mem_elements[0];
} ucp_device_local_mem_list_t;

END_C_DECLS

#endif
