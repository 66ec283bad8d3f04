/* Kernels that call every function of device code, at every level: they have to compile. Run by tests/cuda. */
#include <ucp/api/device/ucp_device_impl.h>

template<ucs_device_level_t level>
__global__ void send(ucp_device_local_mem_list_h source, ucp_device_remote_mem_list_h target, size_t length,
                     ucs_status_t *status)
{
    ucp_device_request_t request;

    *status = ucp_device_put<level>(source, 0, 16, target, 0, 32, length, blockIdx.x, UCP_DEVICE_FLAG_NODELAY, &request);
    while (*status == UCS_INPROGRESS) {
        *status = ucp_device_progress_req<level>(&request);
    }
    *status = ucp_device_counter_inc<level>(1, target, 1, 0, blockIdx.x, 0, nullptr);
}

template<ucs_device_level_t level>
__global__ void receive(void *counter, uint64_t until)
{
    while (ucp_device_counter_read<level>(counter) < until) {
    }
    ucp_device_counter_write<level>(counter, 0);
}

__global__ void store(ucp_device_remote_mem_list_h target, int value)
{
    void *at;

    if (ucp_device_get_ptr(target, 0, &at) == UCS_OK) {
        static_cast<int*>(at)[threadIdx.x] = value;
    }
}

#define KERNELS(level) \
    template __global__ void send<level>(ucp_device_local_mem_list_h, ucp_device_remote_mem_list_h, size_t, ucs_status_t*); \
    template __global__ void receive<level>(void*, uint64_t)

KERNELS(UCS_DEVICE_LEVEL_THREAD);
KERNELS(UCS_DEVICE_LEVEL_WARP);
KERNELS(UCS_DEVICE_LEVEL_BLOCK);
KERNELS(UCS_DEVICE_LEVEL_GRID);
