/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_TYPE_STATUS_H
#define FERRUCX_UCS_TYPE_STATUS_H

#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

/** Result of a call: 0 or 1 for success, negative for a failure. One byte wide. */
enum ucs_status_t {
    /** Done. */
    UCS_OK = 0,
    /** Started; the end is told later. */
    UCS_INPROGRESS = 1,
    /** No message is there. */
    UCS_ERR_NO_MESSAGE = -1,
    /** Nothing free right now: try again later. */
    UCS_ERR_NO_RESOURCE = -2,
    /** Input or output failed. */
    UCS_ERR_IO_ERROR = -3,
    /** Out of memory. */
    UCS_ERR_NO_MEMORY = -4,
    /** An argument is wrong. */
    UCS_ERR_INVALID_PARAM = -5,
    /** The destination cannot be reached. */
    UCS_ERR_UNREACHABLE = -6,
    /** An address is wrong. */
    UCS_ERR_INVALID_ADDR = -7,
    /** Not implemented. */
    UCS_ERR_NOT_IMPLEMENTED = -8,
    /** The message was longer than the buffer. */
    UCS_ERR_MESSAGE_TRUNCATED = -9,
    /** Nothing moved. */
    UCS_ERR_NO_PROGRESS = -10,
    /** The buffer is too short. */
    UCS_ERR_BUFFER_TOO_SMALL = -11,
    /** No such element. */
    UCS_ERR_NO_ELEM = -12,
    /** Not all connections stand. */
    UCS_ERR_SOME_CONNECTS_FAILED = -13,
    /** No such device. */
    UCS_ERR_NO_DEVICE = -14,
    /** In use, or something is there already. */
    UCS_ERR_BUSY = -15,
    /** Cancelled. */
    UCS_ERR_CANCELED = -16,
    /** Shared memory failed. */
    UCS_ERR_SHMEM_SEGMENT = -17,
    /** Exists already. */
    UCS_ERR_ALREADY_EXISTS = -18,
    /** A number is out of range. */
    UCS_ERR_OUT_OF_RANGE = -19,
    /** Took too long. */
    UCS_ERR_TIMED_OUT = -20,
    /** More than a limit allows. */
    UCS_ERR_EXCEEDS_LIMIT = -21,
    /** Not supported here. */
    UCS_ERR_UNSUPPORTED = -22,
    /** The other side refused. */
    UCS_ERR_REJECTED = -23,
    /** Not connected. */
    UCS_ERR_NOT_CONNECTED = -24,
    /** The other side is gone. */
    UCS_ERR_CONNECTION_RESET = -25,
    /** First code of broken links. */
    UCS_ERR_FIRST_LINK_FAILURE = -40,
    /** Last code of broken links. */
    UCS_ERR_LAST_LINK_FAILURE = -59,
    /** First code of broken endpoints. */
    UCS_ERR_FIRST_ENDPOINT_FAILURE = -60,
    /** The peer of an endpoint does not answer. */
    UCS_ERR_ENDPOINT_TIMEOUT = -80,
    /** Last code of broken endpoints. */
    UCS_ERR_LAST_ENDPOINT_FAILURE = -89,
    /** Below all codes. */
    UCS_ERR_LAST = -100,
} UCS_S_PACKED;

typedef enum ucs_status_t ucs_status_t;

/** A status or a request: see `UCS_PTR_STATUS`. */
typedef void *ucs_status_ptr_t;

/**
 * The sentence for a status, also for values that no release knows.
 *
 * @param[in] status The status.
 * @return Text that is not freed.
 */
const char *ucs_status_string(ucs_status_t status);

/* Some functions return a `ucs_status_ptr_t`: NULL when all is done, a pointer to a request that goes on,
 * or one of the negative codes above, widened to a pointer. */

/** The address that stands for a status. */
#define UCS_STATUS_PTR(_status) ((void*)(intptr_t)(_status))
/** The status that an address stands for; only for addresses that are no pointer. */
#define UCS_PTR_RAW_STATUS(_ptr) ((ucs_status_t)(intptr_t)(_ptr))
/** Nonzero when an address stands for an error. */
#define UCS_PTR_IS_ERR(_ptr) ((uintptr_t)(_ptr) >= (uintptr_t)(intptr_t)UCS_ERR_LAST)
/** Nonzero when it is a pointer: neither NULL nor an error. */
#define UCS_PTR_IS_PTR(_ptr) (((uintptr_t)(_ptr) - 1) < ((uintptr_t)(intptr_t)UCS_ERR_LAST - 1))
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
