#include <ucp/api/device/ucp_device_types.h>
#include <ucp/api/ucp_def.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/sys/device_code.h>
#include <ucs/type/status.h>
#include <uct/api/device/uct_device_impl.h>
#include <stddef.h>
#include <stdint.h>

#ifndef __cplusplus
#  error "ucp_device_impl.h is C++, for device code"
#endif

/** An operation of device code. */
typedef struct ucp_device_request {
    /** Of the transport. */
    uct_device_completion_t comp;
    /** UCS_INPROGRESS until it is done. */
    ucs_status_t status;
    /** Endpoint that it goes by. */
    uct_device_ep_h device_ep;
} ucp_device_request_t;

/** Flags of operations. */
typedef enum {
    /** Send at once. */
    UCP_DEVICE_FLAG_NODELAY = UCT_DEVICE_FLAG_NODELAY
} ucp_device_flags_t;

/**
 * An element of a list, whose elements are longer by its lanes. Checked if UCP_DEVICE_ENABLE_PARAMS_CHECK is 1.
 *
 * @param[in] list List of either kind.
 * @param[in] index Number of the element.
 * @param[out] elem The element.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM for a list of another version, and for an element that it has not.
 */
template<typename list_t, typename elem_t>
UCS_F_DEVICE ucs_status_t ferrucx_device_elem(const list_t *list, unsigned index, const elem_t *&elem)
{
    const size_t size = sizeof(elem_t) + list->num_lanes * sizeof(list->mem_elements->tl[0]);

#if UCP_DEVICE_ENABLE_PARAMS_CHECK
    if (list->version != UCP_DEVICE_MEM_LIST_VERSION_V1 || index >= list->length) {
        return UCS_ERR_INVALID_PARAM;
    }
#endif
    elem = reinterpret_cast<const elem_t*>(reinterpret_cast<const char*>(list->mem_elements) + index * size);
    return UCS_OK;
}

/**
 * Says in a request how its operation went.
 *
 * @param[out] req The request, or NULL.
 * @param[in] device_ep Endpoint that the operation went by.
 * @param[in] status Its status.
 * @return The same status.
 */
UCS_F_DEVICE ucs_status_t ferrucx_device_done(ucp_device_request_t *req, uct_device_ep_h device_ep,
                                              ucs_status_t status)
{
    if (req != nullptr) {
        req->status    = status;
        req->device_ep = device_ep;
    }
    return status;
}

/**
 * Writes local memory to memory of a peer. All threads of the level call it, and share the work.
 *
 * @param[in] src_mem_list_h List with the local memory.
 * @param[in] src_mem_list_index Its element.
 * @param[in] src_offset Where the bytes are in it.
 * @param[in] dst_mem_list_h List with the peer's memory.
 * @param[in] dst_mem_list_index Its element.
 * @param[in] dst_offset Where they go in it.
 * @param[in] length Bytes.
 * @param[in] channel_id Operations of one number are in order; other numbers may use other lanes.
 * @param[in] flags `ucp_device_flags_t`.
 * @param[out] req What `ucp_device_progress_req` asks; or NULL.
 * @return UCS_OK when they are written, UCS_INPROGRESS when they will be; UCS_ERR_INVALID_PARAM for a place that is empty or
 *   not in the list, UCS_ERR_UNSUPPORTED for the threads of a grid.
 */
template<ucs_device_level_t level = UCS_DEVICE_LEVEL_THREAD>
UCS_F_DEVICE ucs_status_t
ucp_device_put(const ucp_device_local_mem_list_h src_mem_list_h, unsigned src_mem_list_index, const size_t src_offset,
               const ucp_device_remote_mem_list_h dst_mem_list_h, unsigned dst_mem_list_index, size_t dst_offset,
               size_t length, unsigned channel_id, uint64_t flags, ucp_device_request_t *req)
{
    const unsigned lane = channel_id % dst_mem_list_h->num_lanes;
    const uct_device_local_mem_elem_t *source;
    const uct_device_remote_mem_elem_t *target;
    ucs_status_t status = ferrucx_device_elem(src_mem_list_h, src_mem_list_index, source);

    if (status == UCS_OK) {
        status = ferrucx_device_elem(dst_mem_list_h, dst_mem_list_index, target);
    }
    if (status != UCS_OK) {
        return ferrucx_device_done(req, nullptr, status);
    }
    const uct_device_remote_tl_elem_t *way = target->tl + lane;
    status = uct_device_ep_put<level>(way->ep, source->tl, &way->uct, static_cast<const char*>(source->addr) + src_offset,
                                      target->addr + dst_offset, length, channel_id / dst_mem_list_h->num_lanes, flags,
                                      req != nullptr ? &req->comp : nullptr);
    return ferrucx_device_done(req, way->ep, status);
}

/**
 * Adds to a counter of a peer, once for all threads of the level, which call it. Whoever reads the sum sees what they have put
 * before.
 *
 * @param[in] inc_value What is added.
 * @param[in] mem_list_h List with the counter.
 * @param[in] mem_list_index Its element.
 * @param[in] offset Where the counter is in it.
 * @param[in] channel_id As for `ucp_device_put`.
 * @param[in] flags `ucp_device_flags_t`.
 * @param[out] req What `ucp_device_progress_req` asks; or NULL.
 * @return As `ucp_device_put`.
 */
template<ucs_device_level_t level = UCS_DEVICE_LEVEL_THREAD>
UCS_F_DEVICE ucs_status_t
ucp_device_counter_inc(const uint64_t inc_value, const ucp_device_remote_mem_list_h mem_list_h, unsigned mem_list_index,
                       size_t offset, unsigned channel_id, uint64_t flags, ucp_device_request_t *req)
{
    const unsigned lane = channel_id % mem_list_h->num_lanes;
    const uct_device_remote_mem_elem_t *target;
    ucs_status_t status = ferrucx_device_elem(mem_list_h, mem_list_index, target);

    if (status != UCS_OK) {
        return ferrucx_device_done(req, nullptr, status);
    }
    const uct_device_remote_tl_elem_t *way = target->tl + lane;
    status = uct_device_ep_atomic_add<level>(way->ep, &way->uct, inc_value, target->addr + offset,
                                             channel_id / mem_list_h->num_lanes, flags,
                                             req != nullptr ? &req->comp : nullptr);
    return ferrucx_device_done(req, way->ep, status);
}

/**
 * Where memory of a peer is in this one's addresses.
 *
 * @param[in] mem_list_h List with the memory.
 * @param[in] mem_list_index Its element.
 * @param[out] addr_p Its start, for loads and stores of device code.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM for a place that is empty or not in the list.
 */
UCS_F_DEVICE ucs_status_t ucp_device_get_ptr(const ucp_device_remote_mem_list_h mem_list_h, unsigned mem_list_index,
                                             void **addr_p)
{
    const uct_device_remote_mem_elem_t *target;
    const ucs_status_t status = ferrucx_device_elem(mem_list_h, mem_list_index, target);

    return status == UCS_OK ? uct_device_ep_get_ptr(target->tl->ep, &target->tl->uct, target->addr, addr_p) : status;
}

/**
 * Reads a counter of this process.
 *
 * @param[in] counter_ptr The counter, which `ucp_device_counter_init` has set.
 * @return Its value.
 */
template<ucs_device_level_t level = UCS_DEVICE_LEVEL_THREAD>
UCS_F_DEVICE uint64_t ucp_device_counter_read(const void *counter_ptr)
{
    return ucs_device_atomic64_read(static_cast<const uint64_t*>(counter_ptr));
}

/**
 * Writes a counter of this process.
 *
 * @param[out] counter_ptr The counter.
 * @param[in] value Its value from now on.
 */
template<ucs_device_level_t level = UCS_DEVICE_LEVEL_THREAD>
UCS_F_DEVICE void ucp_device_counter_write(void *counter_ptr, uint64_t value)
{
    ucs_device_atomic64_write(static_cast<uint64_t*>(counter_ptr), value);
}

/**
 * Makes progress on an operation.
 *
 * @param[in,out] req Its request.
 * @return Its status: UCS_INPROGRESS while it is not done.
 */
template<ucs_device_level_t level = UCS_DEVICE_LEVEL_THREAD>
UCS_F_DEVICE ucs_status_t ucp_device_progress_req(ucp_device_request_t *req)
{
    if (req->status == UCS_INPROGRESS) {
        uct_device_ep_progress<level>(req->device_ep);
        req->status = uct_device_ep_check_completion<level>(req->device_ep, &req->comp);
    }
    return req->status;
}
