#include <ucs/datastruct/list.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>

BEGIN_C_DECLS

@ITEMS@

/**
 * Calls the callbacks of a queue in order, up to the first empty place. Returns the sum of what they
 * returned.
 *
 * @param[in,out] cbq The queue.
 * @return Sum of what they returned.
 */
static inline unsigned ucs_callbackq_dispatch(ucs_callbackq_t *cbq)
{
    unsigned count = 0;
    ucs_callbackq_elem_t *elem;

    for (elem = cbq->fast_elems; elem->cb != NULL; ++elem) {
        count += elem->cb(elem->arg);
    }
    return count;
}

END_C_DECLS
