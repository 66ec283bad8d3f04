#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

@ITEMS@

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
