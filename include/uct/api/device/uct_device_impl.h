/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCT_API_DEVICE_UCT_DEVICE_IMPL_H
#define FERRUCX_UCT_API_DEVICE_UCT_DEVICE_IMPL_H

#include <ucs/sys/device_code.h>
#include <ucs/type/status.h>
#include <uct/api/device/uct_device_types.h>
#include <uct/api/uct_def.h>

#ifndef __cplusplus
#  error "uct_device_impl.h is C++, for device code"
#endif

/* The library has no transport for devices, and hands no endpoint to device code: each function says so. */

#define UCT_CUDA_IPC_SUPPORTED    0
#define UCT_RC_MLX5_GDA_SUPPORTED 0
#define UCT_D2P_SUPPORTED         0

union uct_device_completion {
};

/** Writes to memory of a peer. */
template<ucs_device_level_t level>
UCS_F_DEVICE ucs_status_t
uct_device_ep_put(uct_device_ep_h, const uct_device_mem_elem_t *, const uct_device_mem_elem_t *, const void *,
                  uint64_t, size_t, unsigned, uint64_t, uct_device_completion_t *)
{
    return UCS_ERR_UNSUPPORTED;
}

/** Adds to a word of a peer. */
template<ucs_device_level_t level>
UCS_F_DEVICE ucs_status_t
uct_device_ep_atomic_add(uct_device_ep_h, const uct_device_mem_elem_t *, uint64_t, uint64_t, unsigned, uint64_t,
                         uct_device_completion_t *)
{
    return UCS_ERR_UNSUPPORTED;
}

/** Where memory of a peer is in this one's addresses. */
UCS_F_DEVICE ucs_status_t
uct_device_ep_get_ptr(uct_device_ep_h, const uct_device_mem_elem_t *, uint64_t, void **)
{
    return UCS_ERR_UNSUPPORTED;
}

/** Makes progress. */
template<ucs_device_level_t level>
UCS_F_DEVICE void uct_device_ep_progress(uct_device_ep_h)
{
}

/** Whether an operation is done. */
template<ucs_device_level_t level>
UCS_F_DEVICE ucs_status_t uct_device_ep_check_completion(uct_device_ep_h, uct_device_completion_t *)
{
    return UCS_ERR_UNSUPPORTED;
}

#endif
