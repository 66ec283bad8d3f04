/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCP_API_DEVICE_UCP_HOST_H
#define FERRUCX_UCP_API_DEVICE_UCP_HOST_H

#include <ucp/api/ucp_def.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>
#include <sys/types.h>

BEGIN_C_DECLS

/** Members of `ucp_device_mem_list_elem`. */
enum ucp_device_mem_list_elem_field {
    /** `memh` is set. */
    UCP_DEVICE_MEM_LIST_ELEM_FIELD_MEMH = UCS_BIT(0),
    /** `rkey` is set. */
    UCP_DEVICE_MEM_LIST_ELEM_FIELD_RKEY = UCS_BIT(1),
    /** `local_addr` is set. */
    UCP_DEVICE_MEM_LIST_ELEM_FIELD_LOCAL_ADDR = UCS_BIT(2),
    /** `remote_addr` is set. */
    UCP_DEVICE_MEM_LIST_ELEM_FIELD_REMOTE_ADDR = UCS_BIT(3),
    /** `length` is set. */
    UCP_DEVICE_MEM_LIST_ELEM_FIELD_LENGTH = UCS_BIT(4),
    /** `ep` is set. */
    UCP_DEVICE_MEM_LIST_ELEM_FIELD_EP = UCS_BIT(5),
};

/** Members of `ucp_device_mem_list_params`. */
enum ucp_device_mem_list_params_field {
    /** `elements` is set. */
    UCP_DEVICE_MEM_LIST_PARAMS_FIELD_ELEMENTS = UCS_BIT(0),
    /** `element_size` is set. */
    UCP_DEVICE_MEM_LIST_PARAMS_FIELD_ELEMENT_SIZE = UCS_BIT(1),
    /** `num_elements` is set. */
    UCP_DEVICE_MEM_LIST_PARAMS_FIELD_NUM_ELEMENTS = UCS_BIT(2),
    /** `worker` is set. */
    UCP_DEVICE_MEM_LIST_PARAMS_FIELD_WORKER = UCS_BIT(3),
};

/** Members of `ucp_device_counter_params`. */
enum ucp_device_counter_params_field {
    /** `mem_type` is set. */
    UCP_DEVICE_COUNTER_PARAMS_FIELD_MEM_TYPE = UCS_BIT(0),
    /** `memh` is set. */
    UCP_DEVICE_COUNTER_PARAMS_FIELD_MEMH = UCS_BIT(1),
};

typedef struct ucp_device_mem_list_elem ucp_device_mem_list_elem_t;
typedef struct ucp_device_mem_list_params ucp_device_mem_list_params_t;
typedef struct ucp_device_counter_params ucp_device_counter_params_t;

/** One piece of memory for device code. */
struct ucp_device_mem_list_elem {
    /** Members that are set, bits of `ucp_device_mem_list_elem_field`. */
    uint64_t field_mask;
    /** Handle of local memory. */
    ucp_mem_h memh;
    /** Its start. */
    void *local_addr;
    /** Bytes. */
    size_t length;
    /** Start of remote memory. */
    uint64_t remote_addr;
    /** Key to it. */
    ucp_rkey_h rkey;
    /** Endpoint to its owner. */
    ucp_ep_h ep;
};

/** What a list for device code is made of. */
struct ucp_device_mem_list_params {
    /** Members that are set, bits of `ucp_device_mem_list_params_field`. */
    uint64_t field_mask;
    /** Bytes of one element, as the caller was compiled with. */
    size_t element_size;
    /** Number of elements. */
    size_t num_elements;
    /** The worker. */
    ucp_worker_h worker;
    /** The elements. */
    const ucp_device_mem_list_elem_t *elements;
};

/** Where a device counter is. */
struct ucp_device_counter_params {
    /** Members that are set, bits of `ucp_device_counter_params_field`. */
    uint64_t field_mask;
    /** Kind of its memory. */
    ucs_memory_type_t mem_type;
    /** Handle of its memory. */
    ucp_mem_h memh;
};

/**
 * Makes a list of local memory for device code.
 *
 * @param[in] params The worker, the elements, their size and number; an element has a memory
 *   handle, an address in its memory, and a length.
 * @param[out] mem_list_h The list, in memory of a device: only code that runs there reads it.
 * @return UCS_OK. UCS_ERR_INVALID_PARAM when a member is missing or an address is not of the
 *   element's memory, UCS_ERR_UNSUPPORTED for memory that no transport copies from by a device.
 *
 * @ingroup ucp_device
 */
ucs_status_t ucp_device_local_mem_list_create(const ucp_device_mem_list_params_t *params,
                                              ucp_device_local_mem_list_h *mem_list_h);

/**
 * Makes a list of remote memory for device code, which stays mapped until the list is released.
 *
 * @param[in] params The elements, their size and number; an element has an endpoint, a remote key
 *   and a remote address, or neither endpoint nor key, which leaves its place empty.
 * @param[out] mem_list_h The list, in memory of a device: only code that runs there reads it.
 * @return UCS_OK. UCS_ERR_INVALID_PARAM when a member is missing or an address is not of the
 *   element's key, UCS_ERR_NOT_CONNECTED while an endpoint is being connected: try again after
 *   progress. UCS_ERR_UNSUPPORTED for memory that no transport lets device code access, and
 *   UCS_ERR_UNREACHABLE where the driver does not map it.
 *
 * @ingroup ucp_device
 */
ucs_status_t ucp_device_remote_mem_list_create(const ucp_device_mem_list_params_t *params,
                                               ucp_device_remote_mem_list_h *mem_list_h);

/**
 * Number of elements of a list for device code.
 *
 * @param[in] mem_list_h A list of one of the two functions above.
 * @return Its elements; 0 for what is no list.
 *
 * @ingroup ucp_device
 */
uint32_t ucp_device_get_mem_list_length(const void *mem_list_h);

/**
 * Frees a list for device code. No code that uses it may run any more.
 *
 * @param[in] mem_list_h A list of one of the functions above.
 *
 * @ingroup ucp_device
 */
void ucp_device_mem_list_release(void *mem_list_h);

/**
 * Sets a counter to 0, in memory of the host or of a device.
 *
 * @param[in] worker Worker of `ucp_worker_create`, not destroyed yet.
 * @param[in] params Kind and handle of the counter's memory, both optional; not NULL.
 * @param[out] counter_ptr The counter: 8 bytes, aligned to 8.
 * @return UCS_OK. UCS_ERR_INVALID_PARAM for a counter that is not aligned or outside the
 *   handle's memory. UCS_ERR_UNSUPPORTED for a type of memory that there is none of.
 *
 * @ingroup ucp_device
 */
ucs_status_t ucp_device_counter_init(ucp_worker_h worker,
                                     const ucp_device_counter_params_t *params,
                                     void *counter_ptr);

/**
 * Reads a counter; 0 for one that cannot be read.
 *
 * @param[in] worker Worker of `ucp_worker_create`, not destroyed yet.
 * @param[in] params Kind and handle of the counter's memory, both optional; not NULL.
 * @param[in] counter_ptr The counter: 8 bytes, aligned to 8.
 * @return Its value; 0 for one that cannot be read.
 *
 * @ingroup ucp_device
 */
uint64_t ucp_device_counter_read(ucp_worker_h worker,
                                 const ucp_device_counter_params_t *params,
                                 void *counter_ptr);

END_C_DECLS

#endif
