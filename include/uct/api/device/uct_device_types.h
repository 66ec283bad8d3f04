/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCT_API_DEVICE_UCT_DEVICE_TYPES_H
#define FERRUCX_UCT_API_DEVICE_UCT_DEVICE_TYPES_H

#include <ucs/type/status.h>
#include <uct/api/uct_def.h>
#include <stdint.h>

/** A completion of CUDA transports: nothing. It has no size in C, and one byte in C++. */
typedef struct uct_cuda_ipc_completion_t {
} uct_cuda_ipc_completion_t;

BEGIN_C_DECLS

/** A completion of device code. */
typedef union uct_device_completion uct_device_completion_t;

/** Flags of operations of device code. */
enum uct_device_flags_t {
    /** Send at once. */
    UCT_DEVICE_FLAG_NODELAY = UCS_BIT(0),
};

typedef enum uct_device_flags_t uct_device_flags_t;

/** Transports that device code knows. */
enum uct_device_tl_id_t {
    /** InfiniBand, driven by the device. */
    UCT_DEVICE_TL_RC_MLX5_GDA = 0,
    /** Memory of another device. */
    UCT_DEVICE_TL_CUDA_IPC = 1,
    /** From device to host process. */
    UCT_DEVICE_TL_D2P = 2,
    /** Number of transports. */
    UCT_DEVICE_TL_LAST = 3,
};

typedef enum uct_device_tl_id_t uct_device_tl_id_t;

typedef struct uct_cuda_ipc_md_device_mem_element_t uct_cuda_ipc_md_device_mem_element_t;
typedef struct uct_ib_md_device_mem_element uct_ib_md_device_mem_element_t;
typedef struct uct_device_ep uct_device_ep_t;

/** CUDA memory for device code. */
struct uct_cuda_ipc_md_device_mem_element_t {
    /** From the owner's addresses to the mapped ones. */
    ssize_t mapped_offset;
};

/** InfiniBand memory for device code. */
struct uct_ib_md_device_mem_element {
    /** Local key. */
    uint32_t lkey;
    /** Remote key. */
    uint32_t rkey;
};

/** An endpoint for device code. */
struct uct_device_ep {
    /** Which transport, a `uct_device_tl_id_t`. */
    uint8_t uct_tl_id;
};

/** Memory of one transport for device code. */
union uct_device_mem_elem {
    /** InfiniBand. */
    uct_ib_md_device_mem_element_t ib_md_mem_element;
    /** CUDA. */
    uct_cuda_ipc_md_device_mem_element_t cuda_ipc_md_mem_element;
};

/** A piece of local memory for device code. */
struct uct_device_local_mem_elem {
    /** Start. */
    void *addr;
    /** Its forms, one a transport. */
    __extension__ uct_device_mem_elem_t tl[0];
};

/** Remote memory by one transport. */
struct uct_device_remote_tl_elem {
    /** Endpoint to its owner. */
    uct_device_ep_h ep;
    /** Form of the memory. */
    uct_device_mem_elem_t uct;
};

/** A piece of remote memory for device code. */
struct uct_device_remote_mem_elem {
    /** Start. */
    uint64_t addr;
    /** Ways to it, one a transport. */
    __extension__ uct_device_remote_tl_elem_t tl[0];
};

END_C_DECLS

#endif
