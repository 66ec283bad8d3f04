/* Written from the Rust sources by `make headers`: change those, not this file. */
#ifndef FERRUCX_UCS_TYPE_STATUS_H
#define FERRUCX_UCS_TYPE_STATUS_H

#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

enum ucs_status_t {
    UCS_OK = 0,
    UCS_INPROGRESS = 1,
    UCS_ERR_NO_MESSAGE = -1,
    UCS_ERR_NO_RESOURCE = -2,
    UCS_ERR_IO_ERROR = -3,
    UCS_ERR_NO_MEMORY = -4,
    UCS_ERR_INVALID_PARAM = -5,
    UCS_ERR_UNREACHABLE = -6,
    UCS_ERR_INVALID_ADDR = -7,
    UCS_ERR_NOT_IMPLEMENTED = -8,
    UCS_ERR_MESSAGE_TRUNCATED = -9,
    UCS_ERR_NO_PROGRESS = -10,
    UCS_ERR_BUFFER_TOO_SMALL = -11,
    UCS_ERR_NO_ELEM = -12,
    UCS_ERR_SOME_CONNECTS_FAILED = -13,
    UCS_ERR_NO_DEVICE = -14,
    UCS_ERR_BUSY = -15,
    UCS_ERR_CANCELED = -16,
    UCS_ERR_SHMEM_SEGMENT = -17,
    UCS_ERR_ALREADY_EXISTS = -18,
    UCS_ERR_OUT_OF_RANGE = -19,
    UCS_ERR_TIMED_OUT = -20,
    UCS_ERR_EXCEEDS_LIMIT = -21,
    UCS_ERR_UNSUPPORTED = -22,
    UCS_ERR_REJECTED = -23,
    UCS_ERR_NOT_CONNECTED = -24,
    UCS_ERR_CONNECTION_RESET = -25,
    UCS_ERR_FIRST_LINK_FAILURE = -40,
    UCS_ERR_LAST_LINK_FAILURE = -59,
    UCS_ERR_FIRST_ENDPOINT_FAILURE = -60,
    UCS_ERR_ENDPOINT_TIMEOUT = -80,
    UCS_ERR_LAST_ENDPOINT_FAILURE = -89,
    UCS_ERR_LAST = -100,
} UCS_S_PACKED;

typedef enum ucs_status_t ucs_status_t;

typedef void *ucs_status_ptr_t;

/* Some functions return a `ucs_status_ptr_t`: NULL when all is done, a pointer to a request that goes on,
 * or one of the negative codes above, widened to a pointer. */

/** The address that stands for a status. */
#define UCS_STATUS_PTR(_status) ((void*)(intptr_t)(_status))
/** The status that an address stands for; only for addresses that are no pointer. */
#define UCS_PTR_RAW_STATUS(_ptr) ((ucs_status_t)(intptr_t)(_ptr))
/** Nonzero when an address stands for an error. */
#define UCS_PTR_IS_ERR(_ptr) ((uintptr_t)(_ptr) >= (uintptr_t)(intptr_t)UCS_ERR_LAST)
/** Nonzero when it is a pointer: neither NULL nor an error. */
#define UCS_PTR_IS_PTR(_ptr) (((uintptr_t)(_ptr) != 0) && !UCS_PTR_IS_ERR(_ptr))
/** UCS_OK for NULL, UCS_INPROGRESS for a pointer, else the error. */
#define UCS_PTR_STATUS(_ptr) (UCS_PTR_IS_PTR(_ptr) ? UCS_INPROGRESS : UCS_PTR_RAW_STATUS(_ptr))

#define UCS_STATUS_IS_ERR(_status) ((_status) < UCS_OK)
/** Nonzero for the codes that tell of a broken link. */
#define UCS_IS_LINK_ERROR(_code) \
    (((_code) >= UCS_ERR_LAST_LINK_FAILURE) && ((_code) <= UCS_ERR_FIRST_LINK_FAILURE))
/** Nonzero for the codes that tell of a broken endpoint. */
#define UCS_IS_ENDPOINT_ERROR(_code) \
    (((_code) >= UCS_ERR_LAST_ENDPOINT_FAILURE) && ((_code) <= UCS_ERR_FIRST_ENDPOINT_FAILURE))

END_C_DECLS

#endif
