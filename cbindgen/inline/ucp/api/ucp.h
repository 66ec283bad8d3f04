#include <ucp/api/ucp_compat.h>
#include <ucp/api/ucp_def.h>
#include <ucp/api/ucp_version.h>
#include <ucs/config/types.h>
#include <ucs/memory/memory_type.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/cpu_set.h>
#include <ucs/type/thread_mode.h>
#include <stdio.h>
#include <sys/types.h>

BEGIN_C_DECLS

/**
 * @defgroup ucp_context Contexts
 * A context is the library as one application uses it. A function that returns a status and gets NULL where it needs
 * something returns UCS_ERR_INVALID_PARAM and logs the argument; a function that returns nothing only logs it.
 *
 * Structures grow from release to release. Of a structure with a `field_mask` only those members are read or written
 * whose bits are set, so a program may pass the shorter structure of an older release.
 *
 * Any thread may use a context, its memory handles and remote keys, as long as none of them frees the object. Options of
 * `ucp_config_read` are used by one thread at a time.
 *
 * A child of fork() cannot use what its parent made: the calls return UCS_ERR_UNSUPPORTED, and freeing does nothing.
 */
/** @defgroup ucp_config Options */
/**
 * @defgroup ucp_worker Workers
 * A worker moves messages when `ucp_worker_progress` is called, or a function that waits. A worker in
 * UCS_THREAD_MODE_SINGLE or UCS_THREAD_MODE_SERIALIZED is used by one thread at a time, with its endpoints, listeners
 * and requests; in UCS_THREAD_MODE_MULTI any thread may use them at any time.
 *
 * Callbacks are called by the thread that makes progress. They may call every function of this library for the same
 * worker, and make progress, but may not destroy the worker. A callback that takes long keeps the peers waiting.
 */
/** @defgroup ucp_listener Listeners */
/** @defgroup ucp_ep Endpoints */
/** @defgroup ucp_mem Memory and remote keys */
/** @defgroup ucp_am Active messages */
/** @defgroup ucp_stream Streams */
/** @defgroup ucp_tag Tagged messages */
/** @defgroup ucp_rma Remote memory access */
/** @defgroup ucp_amo Atomics */
/** @defgroup ucp_dt Datatypes */
/** @defgroup ucp_device Device code */
/**
 * @defgroup ucp_request Requests
 * An operation returns a pointer, `ucs_status_ptr_t`, of one of three kinds:
 * - NULL: it is done, with UCS_OK. No callback is called, and there is nothing to free.
 * - `UCS_PTR_IS_ERR` is true: it failed, and `UCS_PTR_STATUS` gives the error. No callback is called.
 * - else it is a request: the operation goes on. Its callback is called once at its end, `ucp_request_check_status`
 *   tells its result, and `ucp_request_free` gives it back, which must happen once.
 *
 * UCP_OP_ATTR_FLAG_NO_IMM_CMPL demands a request, UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL refuses one: what cannot be done at
 * once fails with UCS_ERR_NO_RESOURCE.
 *
 * Errors of any operation: UCS_ERR_INVALID_PARAM for arguments that do not fit; UCS_ERR_NO_MEMORY; UCS_ERR_UNSUPPORTED
 * for memory of a device and in a child of fork(); UCS_ERR_CANCELED when it was cancelled or its endpoint was closed by
 * force; and the error by which its endpoint failed, such as UCS_ERR_CONNECTION_RESET or UCS_ERR_ENDPOINT_TIMEOUT.
 */

/** Datatype of contiguous elements of `_elem_size` bytes. */
#define ucp_dt_make_contig(_elem_size) \
    ((((ucp_datatype_t)(_elem_size)) << UCP_DATATYPE_SHIFT) | UCP_DATATYPE_CONTIG)
/** Datatype of an array of `ucp_dt_iov_t`. */
#define ucp_dt_make_iov() ((ucp_datatype_t)UCP_DATATYPE_IOV)
/** Datatype of a scatter-gather list: see `ucp_dt_local_sgl_t`. */
#define ucp_dt_make_sgl() ((ucp_datatype_t)UCP_DATATYPE_SGL)

@ITEMS@

/**
 * Creates a context: the library as one application uses it. `config` may be NULL for the defaults of the
 * environment. Passes on the version this program was compiled with; see `ucp_init_version`.
 *
 * @param[in] params What the context is for; `features` must be set. Read during the call only.
 * @param[in] config Options of `ucp_config_read`, which stay the caller's; NULL for those of the environment.
 * @param[out] context_p The context; written on success only.
 * @return As `ucp_init_version`.
 */
static inline ucs_status_t
ucp_init(const ucp_params_t *params, const ucp_config_t *config, ucp_context_h *context_p)
{
    return ucp_init_version(UCP_API_MAJOR, UCP_API_MINOR, params, config, context_p);
}

END_C_DECLS
