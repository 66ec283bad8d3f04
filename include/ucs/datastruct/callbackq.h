/* Written from the Rust sources by `make headers`: change those, not this file. */
#ifndef FERRUCX_UCS_DATASTRUCT_CALLBACKQ_H
#define FERRUCX_UCS_DATASTRUCT_CALLBACKQ_H

#include <ucs/datastruct/list.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>

BEGIN_C_DECLS

#define UCS_CALLBACKQ_FAST_COUNT 7
#define UCS_CALLBACKQ_ID_NULL -1

struct ucs_callbackq_priv;

typedef struct ucs_callbackq_elem ucs_callbackq_elem_t;
typedef struct ucs_callbackq_priv ucs_callbackq_priv_t;
typedef struct ucs_callbackq ucs_callbackq_t;

typedef unsigned int (*ucs_callback_t)(void *arg);

struct ucs_callbackq_elem {
    ucs_callback_t cb;
    void *arg;
};

struct ucs_callbackq {
    ucs_callbackq_elem_t fast_elems[8];
    ucs_callbackq_priv_t *priv;
};

typedef void *ucs_callbackq_key_t;

typedef int (*ucs_callbackq_predicate_t)(const ucs_callbackq_elem_t *elem, void *arg);

/**
 * Calls the callbacks of a queue in order, up to the first empty place.
 * Returns the sum of what they returned.
 */
static inline unsigned ucs_callbackq_dispatch(ucs_callbackq_t *cbq)
{
    unsigned count = 0;
    for (ucs_callbackq_elem_t *elem = cbq->fast_elems; elem->cb != NULL; ++elem) {
        count += elem->cb(elem->arg);
    }
    return count;
}

END_C_DECLS

#endif
