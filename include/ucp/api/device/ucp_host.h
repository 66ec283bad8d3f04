/* Written from the Rust sources by `make headers`: change those, not this file. */
#ifndef FERRUCX_UCP_API_DEVICE_UCP_HOST_H
#define FERRUCX_UCP_API_DEVICE_UCP_HOST_H

#include <ucp/api/ucp_def.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>
#include <sys/types.h>

BEGIN_C_DECLS

enum ucp_device_mem_list_elem_field {
    UCP_DEVICE_MEM_LIST_ELEM_FIELD_MEMH = UCS_BIT(0),
    UCP_DEVICE_MEM_LIST_ELEM_FIELD_RKEY = UCS_BIT(1),
    UCP_DEVICE_MEM_LIST_ELEM_FIELD_LOCAL_ADDR = UCS_BIT(2),
    UCP_DEVICE_MEM_LIST_ELEM_FIELD_REMOTE_ADDR = UCS_BIT(3),
    UCP_DEVICE_MEM_LIST_ELEM_FIELD_LENGTH = UCS_BIT(4),
    UCP_DEVICE_MEM_LIST_ELEM_FIELD_EP = UCS_BIT(5),
};

enum ucp_device_mem_list_params_field {
    UCP_DEVICE_MEM_LIST_PARAMS_FIELD_ELEMENTS = UCS_BIT(0),
    UCP_DEVICE_MEM_LIST_PARAMS_FIELD_ELEMENT_SIZE = UCS_BIT(1),
    UCP_DEVICE_MEM_LIST_PARAMS_FIELD_NUM_ELEMENTS = UCS_BIT(2),
    UCP_DEVICE_MEM_LIST_PARAMS_FIELD_WORKER = UCS_BIT(3),
};

enum ucp_device_counter_params_field {
    UCP_DEVICE_COUNTER_PARAMS_FIELD_MEM_TYPE = UCS_BIT(0),
    UCP_DEVICE_COUNTER_PARAMS_FIELD_MEMH = UCS_BIT(1),
};

typedef struct ucp_device_mem_list_elem ucp_device_mem_list_elem_t;
typedef struct ucp_device_mem_list_params ucp_device_mem_list_params_t;
typedef struct ucp_device_counter_params ucp_device_counter_params_t;

struct ucp_device_mem_list_elem {
    uint64_t field_mask;
    ucp_mem_h memh;
    void *local_addr;
    size_t length;
    uint64_t remote_addr;
    ucp_rkey_h rkey;
    ucp_ep_h ep;
};

struct ucp_device_mem_list_params {
    uint64_t field_mask;
    size_t element_size;
    size_t num_elements;
    ucp_worker_h worker;
    const ucp_device_mem_list_elem_t *elements;
};

struct ucp_device_counter_params {
    uint64_t field_mask;
    ucs_memory_type_t mem_type;
    ucp_mem_h memh;
};

/**
 * `ucp/api/device/ucp_host.h`, group `device`: not implemented yet.
 */
ucs_status_t ucp_device_local_mem_list_create(const ucp_device_mem_list_params_t *params,
                                              ucp_device_local_mem_list_h *mem_list_h);

/**
 * `ucp/api/device/ucp_host.h`, group `device`: not implemented yet.
 */
ucs_status_t ucp_device_remote_mem_list_create(const ucp_device_mem_list_params_t *params,
                                               ucp_device_remote_mem_list_h *mem_list_h);

/**
 * `ucp/api/device/ucp_host.h`, group `device`: not implemented yet.
 */
uint32_t ucp_device_get_mem_list_length(const void *mem_list_h);

/**
 * `ucp/api/device/ucp_host.h`, group `device`: not implemented yet.
 */
void ucp_device_mem_list_release(void *mem_list_h);

/**
 * `ucp/api/device/ucp_host.h`, group `device`: not implemented yet.
 */
ucs_status_t ucp_device_counter_init(ucp_worker_h worker,
                                     const ucp_device_counter_params_t *params,
                                     void *counter_ptr);

/**
 * `ucp/api/device/ucp_host.h`, group `device`: not implemented yet.
 */
uint64_t ucp_device_counter_read(ucp_worker_h worker,
                                 const ucp_device_counter_params_t *params,
                                 void *counter_ptr);

END_C_DECLS

#endif
