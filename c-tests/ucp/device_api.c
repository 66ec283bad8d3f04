/* What device code uses, without a GPU: counters in host memory work, lists of memory are refused. Lists of memory of a GPU are
 * made by c-tests/cuda/device_lists.c. */
/* headers: ours 1.22.0 */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n UCX_TLS=posix,self */
#include <ucp/api/ucp.h>
#include <ucp/api/device/ucp_host.h>

#include "peers.h"

int main(void)
{
    uint64_t counters[3] = {11, 22, 33};
    ucp_mem_map_params_t map = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                .address = counters,
                                .length = 2 * sizeof(counters[0])};
    ucp_device_mem_list_elem_t element = {.field_mask = UCP_DEVICE_MEM_LIST_ELEM_FIELD_LOCAL_ADDR |
                                                        UCP_DEVICE_MEM_LIST_ELEM_FIELD_LENGTH,
                                          .local_addr = counters,
                                          .length = 8};
    ucp_device_counter_params_t params = {.field_mask = 0};
    ucp_device_mem_list_params_t lists = {.field_mask = 0};
    ucp_device_remote_mem_list_h remote;
    ucp_device_local_mem_list_h local;
    side_t side;
    void *packed;
    size_t length;

    side_open(&side, ALL_FEATURES | UCP_FEATURE_DEVICE, UCS_THREAD_MODE_SINGLE);
    CHECK_OK(ucp_device_counter_init(side.worker, &params, &counters[1]));
    CHECK_EQ(ucp_device_counter_read(side.worker, &params, &counters[1]), 0);
    CHECK_EQ(counters[0], 11);
    CHECK_EQ(counters[2], 33);
    params.field_mask = UCP_DEVICE_COUNTER_PARAMS_FIELD_MEM_TYPE | UCP_DEVICE_COUNTER_PARAMS_FIELD_MEMH;
    params.mem_type = UCS_MEMORY_TYPE_HOST;
    CHECK_OK(ucp_mem_map(side.context, &map, &params.memh));
    counters[1] = 77;
    CHECK_EQ(ucp_device_counter_read(side.worker, &params, &counters[1]), 77);
    CHECK_OK(ucp_device_counter_init(side.worker, &params, &counters[0]));
    CHECK_EQ(counters[0], 0);
    CHECK_EQ(counters[1], 77);
    OK("counters");
    CHECK_STATUS(ucp_device_counter_init(side.worker, &params, &counters[2]), UCS_ERR_INVALID_PARAM);
    CHECK_STATUS(ucp_device_counter_init(side.worker, &params, NULL), UCS_ERR_INVALID_PARAM);
    CHECK_OK(ucp_mem_unmap(side.context, params.memh));
    params.field_mask = UCP_DEVICE_COUNTER_PARAMS_FIELD_MEM_TYPE;
    params.mem_type = UCS_MEMORY_TYPE_CUDA;
    CHECK_STATUS(ucp_device_counter_init(side.worker, &params, &counters[2]), UCS_ERR_UNSUPPORTED);
    CHECK_EQ(ucp_device_counter_read(side.worker, &params, &counters[2]), 0);
    CHECK_EQ(counters[2], 33);
    OK("counters that cannot be");
    CHECK_STATUS(ucp_device_local_mem_list_create(&lists, &local), UCS_ERR_INVALID_PARAM);
    CHECK_STATUS(ucp_device_remote_mem_list_create(&lists, &remote), UCS_ERR_INVALID_PARAM);
    CHECK_STATUS(ucp_device_local_mem_list_create(NULL, &local), UCS_ERR_INVALID_PARAM);
    CHECK_STATUS(ucp_device_remote_mem_list_create(&lists, NULL), UCS_ERR_INVALID_PARAM);
    lists.field_mask = UCP_DEVICE_MEM_LIST_PARAMS_FIELD_ELEMENTS | UCP_DEVICE_MEM_LIST_PARAMS_FIELD_ELEMENT_SIZE |
                       UCP_DEVICE_MEM_LIST_PARAMS_FIELD_NUM_ELEMENTS | UCP_DEVICE_MEM_LIST_PARAMS_FIELD_WORKER;
    lists.elements = &element;
    lists.element_size = sizeof(element);
    lists.num_elements = 1;
    lists.worker = side.worker;
    CHECK_STATUS(ucp_device_local_mem_list_create(&lists, &local), UCS_ERR_INVALID_PARAM);
    CHECK_STATUS(ucp_device_remote_mem_list_create(&lists, &remote), UCS_ERR_INVALID_PARAM);
    CHECK_OK(ucp_mem_map(side.context, &map, &element.memh));
    element.field_mask |= UCP_DEVICE_MEM_LIST_ELEM_FIELD_MEMH;
    CHECK_STATUS(ucp_device_local_mem_list_create(&lists, &local), UCS_ERR_UNSUPPORTED);
    CHECK_OK(ucp_rkey_pack(side.context, element.memh, &packed, &length));
    element.ep = side_connect(&side, side.address);
    CHECK_OK(ucp_ep_rkey_unpack(element.ep, packed, &element.rkey));
    ucp_rkey_buffer_release(packed);
    element.remote_addr = (uintptr_t)counters;
    element.field_mask = UCP_DEVICE_MEM_LIST_ELEM_FIELD_RKEY | UCP_DEVICE_MEM_LIST_ELEM_FIELD_REMOTE_ADDR |
                         UCP_DEVICE_MEM_LIST_ELEM_FIELD_EP;
    CHECK_STATUS(ucp_device_remote_mem_list_create(&lists, &remote), UCS_ERR_UNSUPPORTED);
    ucp_rkey_destroy(element.rkey);
    request_finish(side.worker, ucp_ep_close_nb(element.ep, UCP_EP_CLOSE_MODE_FLUSH));
    CHECK_OK(ucp_mem_unmap(side.context, element.memh));
    CHECK_EQ(ucp_device_get_mem_list_length(counters), 0);
    ucp_device_mem_list_release(counters);
    OK("lists");
    side_close(&side);
    return 0;
}
