#include <ucs/type/status.h>
#include <uct/api/uct_def.h>
#include <stdint.h>

/** A completion of CUDA transports: nothing. It has no size in C, and one byte in C++. */
typedef struct uct_cuda_ipc_completion_t {
} uct_cuda_ipc_completion_t;

BEGIN_C_DECLS

/** A completion of device code. */
typedef union uct_device_completion uct_device_completion_t;

@ITEMS@

END_C_DECLS
