#include <ucs/sys/device_code.h>
#include <ucs/type/status.h>
#include <uct/api/device/uct_device_types.h>
#include <uct/api/uct_def.h>
#include <stddef.h>

#ifndef __cplusplus
#  error "uct_device_impl.h is C++, for device code"
#endif

/* Device code accesses memory of a peer by loads and stores, where cuda_ipc has mapped it. The library makes no endpoints for
 * the other transports: what gets one says that it is unsupported. A function of a level is called by all threads of the
 * level, which share the work. Compiled for the host, where one thread calls it, it does the same there. */

#define UCT_CUDA_IPC_SUPPORTED    1
#define UCT_RC_MLX5_GDA_SUPPORTED 0
#define UCT_D2P_SUPPORTED         0

/** A completion of device code: nothing, since accesses have ended when their functions return. */
union uct_device_completion {
    /** CUDA. */
    uct_cuda_ipc_completion_t cuda_ipc;
};

/**
 * The place of the calling thread among those of a level.
 *
 * @param[out] place From 0.
 * @param[out] threads How many there are.
 */
template<ucs_device_level_t level>
UCS_F_DEVICE void ferrucx_device_share(unsigned &place, unsigned &threads)
{
    place   = 0;
    threads = 1;
#ifdef FERRUCX_DEVICE_CODE
    const unsigned me  = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const unsigned all = blockDim.x * blockDim.y * blockDim.z;

    if (level == UCS_DEVICE_LEVEL_WARP) {
        const unsigned first = me - me % UCS_DEVICE_NUM_THREADS_IN_WARP;

        place   = me - first;
        threads = all - first < UCS_DEVICE_NUM_THREADS_IN_WARP ? all - first : UCS_DEVICE_NUM_THREADS_IN_WARP;
    } else if (level == UCS_DEVICE_LEVEL_BLOCK) {
        place   = me;
        threads = all;
    }
#endif
}

/** Waits until all threads of a level are here; each sees what the others have written before. */
template<ucs_device_level_t level>
UCS_F_DEVICE void ferrucx_device_meet()
{
#ifdef FERRUCX_DEVICE_CODE
    if (level == UCS_DEVICE_LEVEL_WARP) {
        __syncwarp();
    } else if (level == UCS_DEVICE_LEVEL_BLOCK) {
        __syncthreads();
    }
#endif
}

/** Sixteen bytes, which a device moves at once. */
struct alignas(16) ferrucx_device_quad_t {
    /** The bytes. */
    uint64_t words[2];
};

/**
 * Copies the thread's share of as many whole words as there are, if both ends are aligned to words.
 *
 * @param[in,out] to Where; behind the words afterwards.
 * @param[in,out] from What.
 * @param[in,out] length Bytes; those that are left afterwards.
 * @param[in] place Place of the thread.
 * @param[in] threads Threads that share the work.
 */
template<typename word_t>
UCS_F_DEVICE void ferrucx_device_copy_words(char *&to, const char *&from, size_t &length, unsigned place,
                                            unsigned threads)
{
    if ((reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from)) % sizeof(word_t) != 0) {
        return;
    }
    word_t *out        = reinterpret_cast<word_t*>(to);
    const word_t *in   = reinterpret_cast<const word_t*>(from);
    const size_t count = length / sizeof(word_t), step = threads;
    size_t i           = place;

    /* Four loads are under way before the first store waits for one. */
    for (; i + 3 * step < count; i += 4 * step) {
        const word_t a = in[i], b = in[i + step], c = in[i + 2 * step], d = in[i + 3 * step];

        out[i]            = a;
        out[i + step]     = b;
        out[i + 2 * step] = c;
        out[i + 3 * step] = d;
    }
    for (; i < count; i += step) {
        out[i] = in[i];
    }
    to     += count * sizeof(word_t);
    from   += count * sizeof(word_t);
    length -= count * sizeof(word_t);
}

/**
 * Where an element's memory is mapped.
 *
 * @param[in] elem Element of the memory.
 * @param[in] address Its address at its owner.
 * @return Its address here.
 */
UCS_F_DEVICE char *ferrucx_device_mapped(const uct_device_mem_elem_t *elem, uint64_t address)
{
    return reinterpret_cast<char*>(static_cast<uintptr_t>(address) + elem->cuda_ipc_md_mem_element.mapped_offset);
}

/**
 * Whether an endpoint is one by which device code accesses mapped memory, with the threads of a level.
 *
 * @param[in] device_ep Endpoint, or NULL of an empty place of a list.
 * @return UCS_OK, UCS_ERR_INVALID_PARAM for no endpoint, or UCS_ERR_UNSUPPORTED.
 */
template<ucs_device_level_t level>
UCS_F_DEVICE ucs_status_t ferrucx_device_check(uct_device_ep_h device_ep)
{
    if (device_ep == nullptr) {
        return UCS_ERR_INVALID_PARAM;
    }
    return (device_ep->uct_tl_id == UCT_DEVICE_TL_CUDA_IPC) && (level != UCS_DEVICE_LEVEL_GRID) ? UCS_OK :
                                                                                       UCS_ERR_UNSUPPORTED;
}

/**
 * Writes to memory of a peer.
 *
 * @param[in] device_ep Endpoint to the peer.
 * @param[in] src_uct_elem Element of the local memory; not read.
 * @param[in] mem_elem Element of the peer's memory.
 * @param[in] address Where the bytes are here.
 * @param[in] remote_address Where they go, as its owner sees it.
 * @param[in] length Bytes.
 * @param[in] channel_id Not read.
 * @param[in] flags `uct_device_flags_t`; none changes anything.
 * @param[in] comp Not read.
 * @return UCS_OK when they are written, UCS_ERR_INVALID_PARAM for an empty place, UCS_ERR_UNSUPPORTED for another transport's
 *   endpoint and for the threads of a grid.
 */
template<ucs_device_level_t level>
UCS_F_DEVICE ucs_status_t
uct_device_ep_put(uct_device_ep_h device_ep, const uct_device_mem_elem_t *src_uct_elem,
                  const uct_device_mem_elem_t *mem_elem, const void *address, uint64_t remote_address, size_t length,
                  unsigned channel_id, uint64_t flags, uct_device_completion_t *comp)
{
    const ucs_status_t status = ferrucx_device_check<level>(device_ep);
    const char *from          = static_cast<const char*>(address);
    unsigned place, threads;

    (void)src_uct_elem;
    (void)channel_id;
    (void)flags;
    (void)comp;
    if (status != UCS_OK) {
        return status;
    }
    char *to = ferrucx_device_mapped(mem_elem, remote_address);
    ferrucx_device_share<level>(place, threads);
    ferrucx_device_copy_words<ferrucx_device_quad_t>(to, from, length, place, threads);
    ferrucx_device_copy_words<uint64_t>(to, from, length, place, threads);
    ferrucx_device_copy_words<uint32_t>(to, from, length, place, threads);
    ferrucx_device_copy_words<uint8_t>(to, from, length, place, threads);
    ferrucx_device_meet<level>();
    return UCS_OK;
}

/**
 * Adds to a word of a peer, once for all threads of the level. Whoever sees the sum sees what they have written before.
 *
 * @param[in] device_ep Endpoint to the peer.
 * @param[in] mem_elem Element of the peer's memory.
 * @param[in] inc_value What is added.
 * @param[in] remote_address The word, as its owner sees it; aligned to 8.
 * @param[in] channel_id Not read.
 * @param[in] flags `uct_device_flags_t`; none changes anything.
 * @param[in] comp Not read.
 * @return As `uct_device_ep_put`.
 */
template<ucs_device_level_t level>
UCS_F_DEVICE ucs_status_t
uct_device_ep_atomic_add(uct_device_ep_h device_ep, const uct_device_mem_elem_t *mem_elem, uint64_t inc_value,
                         uint64_t remote_address, unsigned channel_id, uint64_t flags, uct_device_completion_t *comp)
{
    const ucs_status_t status = ferrucx_device_check<level>(device_ep);
    unsigned place, threads;

    (void)channel_id;
    (void)flags;
    (void)comp;
    if (status != UCS_OK) {
        return status;
    }
    ferrucx_device_meet<level>();
    ferrucx_device_share<level>(place, threads);
    if (place == 0) {
        uint64_t *word = reinterpret_cast<uint64_t*>(ferrucx_device_mapped(mem_elem, remote_address));
#ifdef FERRUCX_DEVICE_CODE
        asm volatile("red.release.sys.global.add.u64 [%0], %1;" : : "l"(word), "l"(inc_value) : "memory");
#else
        __atomic_fetch_add(word, inc_value, __ATOMIC_RELEASE);
#endif
    }
    ferrucx_device_meet<level>();
    return UCS_OK;
}

/**
 * Where memory of a peer is in this one's addresses.
 *
 * @param[in] device_ep Endpoint to the peer.
 * @param[in] mem_elem Element of its memory.
 * @param[in] address The memory, as its owner sees it.
 * @param[out] addr_p The memory, as this process's devices see it.
 * @return UCS_OK, or as `uct_device_ep_put`.
 */
UCS_F_DEVICE ucs_status_t uct_device_ep_get_ptr(uct_device_ep_h device_ep, const uct_device_mem_elem_t *mem_elem,
                                                uint64_t address, void **addr_p)
{
    const ucs_status_t status = ferrucx_device_check<UCS_DEVICE_LEVEL_THREAD>(device_ep);

    if (status == UCS_OK) {
        *addr_p = ferrucx_device_mapped(mem_elem, address);
    }
    return status;
}

/**
 * Makes progress: nothing, as accesses have ended when they return.
 *
 * @param[in] device_ep Not read.
 */
template<ucs_device_level_t level>
UCS_F_DEVICE void uct_device_ep_progress(uct_device_ep_h device_ep)
{
    (void)device_ep;
}

/**
 * Whether an access is done that was under way: none ever is.
 *
 * @param[in] device_ep Not read.
 * @param[in] comp Not read.
 * @return UCS_ERR_UNSUPPORTED.
 */
template<ucs_device_level_t level>
UCS_F_DEVICE ucs_status_t uct_device_ep_check_completion(uct_device_ep_h device_ep, uct_device_completion_t *comp)
{
    (void)device_ep;
    (void)comp;
    return UCS_ERR_UNSUPPORTED;
}
