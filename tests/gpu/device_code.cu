/* The device code of c-tests/cuda/device_lists.c where there is a device: each function is a kernel of one thread. */
#include <ucp/api/device/ucp_device_impl.h>
#include "../../c-tests/cuda/device_code.h"
#include <stdio.h>

struct answer_t {
    int status;
    void *pointer;
    uint64_t value;
};

static answer_t *answer;

/* The answer of the kernel that was started last. */
static answer_t finish()
{
    cudaError_t error = cudaDeviceSynchronize();

    if (error != cudaSuccess) {
        fprintf(stderr, "a kernel failed: %s\n", cudaGetErrorString(error));
        return {UCS_ERR_IO_ERROR, nullptr, 0};
    }
    return *answer;
}

static answer_t *prepared()
{
    if (!answer && cudaMallocHost(&answer, sizeof(*answer)) != cudaSuccess) {
        fprintf(stderr, "no memory for answers of kernels\n");
        abort();
    }
    return answer;
}

__global__ void put(void *local, unsigned from, size_t from_offset, void *remote, unsigned to, size_t to_offset,
                    size_t length, unsigned channel, answer_t *answer)
{
    ucp_device_request_t request;
    ucs_status_t status = ucp_device_put<UCS_DEVICE_LEVEL_THREAD>(
            static_cast<ucp_device_local_mem_list_h>(local), from, from_offset,
            static_cast<ucp_device_remote_mem_list_h>(remote), to, to_offset, length, channel, UCP_DEVICE_FLAG_NODELAY,
            &request);

    while (status == UCS_INPROGRESS) {
        status = ucp_device_progress_req<UCS_DEVICE_LEVEL_THREAD>(&request);
    }
    answer->status = status;
}

__global__ void add(uint64_t value, void *remote, unsigned to, size_t offset, unsigned channel, answer_t *answer)
{
    answer->status = ucp_device_counter_inc<UCS_DEVICE_LEVEL_THREAD>(
            value, static_cast<ucp_device_remote_mem_list_h>(remote), to, offset, channel, 0, nullptr);
}

__global__ void pointer_of(void *remote, unsigned at, answer_t *answer)
{
    answer->status = ucp_device_get_ptr(static_cast<ucp_device_remote_mem_list_h>(remote), at, &answer->pointer);
}

__global__ void read_counter(const void *counter, answer_t *answer)
{
    answer->value = ucp_device_counter_read<UCS_DEVICE_LEVEL_THREAD>(counter);
}

int code_put(void *local, unsigned from, size_t from_offset, void *remote, unsigned to, size_t to_offset, size_t length,
             unsigned channel)
{
    put<<<1, 1>>>(local, from, from_offset, remote, to, to_offset, length, channel, prepared());
    return finish().status;
}

int code_add(uint64_t value, void *remote, unsigned to, size_t offset, unsigned channel)
{
    add<<<1, 1>>>(value, remote, to, offset, channel, prepared());
    return finish().status;
}

int code_pointer(void *remote, unsigned at, void **pointer)
{
    pointer_of<<<1, 1>>>(remote, at, prepared());
    *pointer = finish().pointer;
    return answer->status;
}

uint64_t code_read(const void *counter)
{
    read_counter<<<1, 1>>>(counter, prepared());
    return finish().value;
}
