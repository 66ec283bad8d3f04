/* Written from the Rust sources by `make headers`: change those, not this file. */
#ifndef FERRUCX_UCT_API_DEVICE_UCT_DEVICE_TYPES_H
#define FERRUCX_UCT_API_DEVICE_UCT_DEVICE_TYPES_H

#include <ucs/type/status.h>
#include <uct/api/uct_def.h>
#include <stdint.h>

BEGIN_C_DECLS

enum uct_device_flags_t {
    UCT_DEVICE_FLAG_NODELAY = UCS_BIT(0),
};

typedef enum uct_device_flags_t uct_device_flags_t;

enum uct_device_tl_id_t {
    UCT_DEVICE_TL_RC_MLX5_GDA = 0,
    UCT_DEVICE_TL_CUDA_IPC = 1,
    UCT_DEVICE_TL_D2P = 2,
    UCT_DEVICE_TL_LAST = 3,
};

typedef enum uct_device_tl_id_t uct_device_tl_id_t;

struct uct_device_completion;

typedef struct uct_cuda_ipc_md_device_mem_element_t uct_cuda_ipc_md_device_mem_element_t;
typedef struct uct_cuda_ipc_completion_t uct_cuda_ipc_completion_t;
typedef struct uct_ib_md_device_mem_element uct_ib_md_device_mem_element_t;
typedef struct uct_device_ep uct_device_ep_t;
typedef struct uct_device_completion uct_device_completion_t;

struct uct_cuda_ipc_md_device_mem_element_t {
    ssize_t mapped_offset;
};

struct uct_cuda_ipc_completion_t {
};

struct uct_ib_md_device_mem_element {
    uint32_t lkey;
    uint32_t rkey;
};

struct uct_device_ep {
    uint8_t uct_tl_id;
};

union uct_device_mem_elem {
    uct_ib_md_device_mem_element_t ib_md_mem_element;
    uct_cuda_ipc_md_device_mem_element_t cuda_ipc_md_mem_element;
};

struct uct_device_local_mem_elem {
    void *addr;
    uct_device_mem_elem_t tl[0];
};

struct uct_device_remote_tl_elem {
    uct_device_ep_h ep;
    uct_device_mem_elem_t uct;
};

struct uct_device_remote_mem_elem {
    uint64_t addr;
    uct_device_remote_tl_elem_t tl[0];
};

END_C_DECLS

#endif
