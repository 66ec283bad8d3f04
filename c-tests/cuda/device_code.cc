/* The device code of device_lists.c. With UPSTREAM_HEADERS it is upstream's inline code that reads the lists; that part of it
 * which stores at the peer is for devices alone, and done here. */
#ifdef UPSTREAM_HEADERS
#include <stdio.h>
static struct {
    int x;
} threadIdx, blockIdx;
#endif
#include <ucp/api/device/ucp_device_impl.h>
#include "device_code.h"
#include <string.h>

static ucp_device_local_mem_list_h local_list(void *list)
{
    return static_cast<ucp_device_local_mem_list_h>(list);
}

static ucp_device_remote_mem_list_h remote_list(void *list)
{
    return static_cast<ucp_device_remote_mem_list_h>(list);
}

#ifdef UPSTREAM_HEADERS

struct place_t {
    const void *from;
    uint64_t to;
    uct_device_ep_t *ep;
    const uct_device_mem_elem_t *source, *elem;
    uct_device_completion_t *comp;

    char *mapped(size_t offset) const
    {
        return reinterpret_cast<char*>(to + offset + elem->cuda_ipc_md_mem_element.mapped_offset);
    }
};

int code_put(void *local, unsigned from, size_t from_offset, void *remote, unsigned to, size_t to_offset, size_t length,
             unsigned channel)
{
    ucp_device_request_t request;
    unsigned lane, uct_channel;
    place_t place;

    UCP_DEVICE_GET_LANE(remote_list(remote), channel, lane, uct_channel);
    (void)uct_channel;
    ucs_status_t status = ucp_device_prepare_send(local_list(local), from, remote_list(remote), to, place.from, place.to,
                                                  lane, &request, place.ep, place.source, place.elem, place.comp);
    if (status == UCS_OK && place.ep->uct_tl_id != UCT_DEVICE_TL_CUDA_IPC) {
        status = UCS_ERR_UNSUPPORTED;
    }
    if (status == UCS_OK) {
        memcpy(place.mapped(to_offset), static_cast<const char*>(place.from) + from_offset, length);
    }
    return status;
}

int code_add(uint64_t value, void *remote, unsigned to, size_t offset, unsigned channel)
{
    ucp_device_request_t request;
    place_t place;

    ucs_status_t status = ucp_device_prepare_send_remote(remote_list(remote), to, place.to, 0, &request, place.ep,
                                                         place.elem, place.comp);
    if (status == UCS_OK) {
        __atomic_fetch_add(reinterpret_cast<uint64_t*>(place.mapped(offset)), value, __ATOMIC_RELEASE);
    }
    return status;
}

int code_pointer(void *remote, unsigned at, void **pointer)
{
    ucp_device_request_t request;
    place_t place;

    ucs_status_t status = ucp_device_prepare_send_remote(remote_list(remote), at, place.to, 0, &request, place.ep,
                                                         place.elem, place.comp);
    *pointer = place.mapped(0);
    return status;
}

#else

int code_put(void *local, unsigned from, size_t from_offset, void *remote, unsigned to, size_t to_offset, size_t length,
             unsigned channel)
{
    ucp_device_request_t request;
    int status = ucp_device_put<UCS_DEVICE_LEVEL_THREAD>(local_list(local), from, from_offset, remote_list(remote), to,
                                                         to_offset, length, channel, UCP_DEVICE_FLAG_NODELAY, &request);

    return ucp_device_progress_req<UCS_DEVICE_LEVEL_THREAD>(&request) == status ? status : UCS_ERR_IO_ERROR;
}

int code_add(uint64_t value, void *remote, unsigned to, size_t offset, unsigned channel)
{
    return ucp_device_counter_inc<UCS_DEVICE_LEVEL_THREAD>(value, remote_list(remote), to, offset, channel, 0, nullptr);
}

int code_pointer(void *remote, unsigned at, void **pointer)
{
    return ucp_device_get_ptr(remote_list(remote), at, pointer);
}

#endif

uint64_t code_read(const void *counter)
{
    return ucp_device_counter_read<UCS_DEVICE_LEVEL_THREAD>(counter);
}
