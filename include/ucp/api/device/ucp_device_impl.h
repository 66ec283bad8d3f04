/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCP_API_DEVICE_UCP_DEVICE_IMPL_H
#define FERRUCX_UCP_API_DEVICE_UCP_DEVICE_IMPL_H

#include <ucp/api/device/ucp_device_types.h>
#include <ucp/api/ucp_def.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/sys/device_code.h>
#include <ucs/type/status.h>
#include <uct/api/device/uct_device_impl.h>
#include <stdint.h>

#ifndef __cplusplus
#  error "ucp_device_impl.h is C++, for device code"
#endif

/* The host functions that make memory lists answer UCS_ERR_UNSUPPORTED, so device code gets none to work on; if it
 * calls these functions all the same, they say so too. Counters are words of memory that device code can read. */

/** An operation of device code. */
typedef struct ucp_device_request {
    uct_device_completion_t comp;
    ucs_status_t status;
    uct_device_ep_h device_ep;
} ucp_device_request_t;

/** Flags of operations. */
typedef enum {
    /** Send at once. */
    UCP_DEVICE_FLAG_NODELAY = UCT_DEVICE_FLAG_NODELAY
} ucp_device_flags_t;

UCS_F_DEVICE ucs_status_t ucp_device_unsupported(ucp_device_request_t *req)
{
    if (req != nullptr) {
        req->status    = UCS_ERR_UNSUPPORTED;
        req->device_ep = nullptr;
    }
    return UCS_ERR_UNSUPPORTED;
}

/** Writes local memory to memory of a peer. */
template<ucs_device_level_t level = UCS_DEVICE_LEVEL_THREAD>
UCS_F_DEVICE ucs_status_t
ucp_device_put(const ucp_device_local_mem_list_h, unsigned, const size_t, const ucp_device_remote_mem_list_h,
               unsigned, size_t, size_t, unsigned, uint64_t, ucp_device_request_t *req)
{
    return ucp_device_unsupported(req);
}

/** Adds to a counter of a peer. */
template<ucs_device_level_t level = UCS_DEVICE_LEVEL_THREAD>
UCS_F_DEVICE ucs_status_t
ucp_device_counter_inc(const uint64_t, const ucp_device_remote_mem_list_h, unsigned, size_t, unsigned, uint64_t,
                       ucp_device_request_t *req)
{
    return ucp_device_unsupported(req);
}

/** Where memory of a peer is in this one's addresses. */
UCS_F_DEVICE ucs_status_t ucp_device_get_ptr(const ucp_device_remote_mem_list_h, unsigned, void **)
{
    return UCS_ERR_UNSUPPORTED;
}

/** Reads a counter of this process. */
template<ucs_device_level_t level = UCS_DEVICE_LEVEL_THREAD>
UCS_F_DEVICE uint64_t ucp_device_counter_read(const void *counter_ptr)
{
    return ucs_device_atomic64_read(static_cast<const uint64_t*>(counter_ptr));
}

/** Writes a counter of this process. */
template<ucs_device_level_t level = UCS_DEVICE_LEVEL_THREAD>
UCS_F_DEVICE void ucp_device_counter_write(void *counter_ptr, uint64_t value)
{
    ucs_device_atomic64_write(static_cast<uint64_t*>(counter_ptr), value);
}

/** Makes progress on an operation; its status. */
template<ucs_device_level_t level = UCS_DEVICE_LEVEL_THREAD>
UCS_F_DEVICE ucs_status_t ucp_device_progress_req(ucp_device_request_t *req)
{
    return req->status;
}

#endif
