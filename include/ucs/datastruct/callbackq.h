/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_DATASTRUCT_CALLBACKQ_H
#define FERRUCX_UCS_DATASTRUCT_CALLBACKQ_H

#include <ucs/datastruct/list.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>

BEGIN_C_DECLS

/** Callbacks that are called directly. */
#define UCS_CALLBACKQ_FAST_COUNT 7

/** No callback. */
#define UCS_CALLBACKQ_ID_NULL -1

/** The part of a queue that is the library's. */
struct ucs_callbackq_priv;

typedef struct ucs_callbackq_elem ucs_callbackq_elem_t;
typedef struct ucs_callbackq_priv ucs_callbackq_priv_t;
typedef struct ucs_callbackq ucs_callbackq_t;

/**
 * Makes progress; returns how much.
 *
 * @param[in] arg As it was given with the callback.
 * @return How much was done.
 */
typedef unsigned int (*ucs_callback_t)(void *arg);

/** One callback. */
struct ucs_callbackq_elem {
    /** The function; NULL ends the array. */
    ucs_callback_t cb;
    /** Its argument. */
    void *arg;
};

/** A queue of callbacks, as inline functions walk it. */
struct ucs_callbackq {
    /** What is called. */
    ucs_callbackq_elem_t fast_elems[8];
    /** The library's part. */
    ucs_callbackq_priv_t *priv;
};

/** Names callbacks that are removed together. */
typedef void *ucs_callbackq_key_t;

/**
 * Chooses callbacks: nonzero for those meant.
 *
 * @param[in] elem A callback and its argument.
 * @param[in] arg As it was given to the caller.
 * @return Nonzero for those that are meant.
 */
typedef int (*ucs_callbackq_predicate_t)(const ucs_callbackq_elem_t *elem, void *arg);

/**
 * Makes an empty queue.
 *
 * @param[in,out] cbq The queue.
 * @return UCS_OK, or an error; the cause is logged.
 */
ucs_status_t ucs_callbackq_init(ucs_callbackq_t *cbq);

/**
 * Ends a queue.
 *
 * @param[in] cbq The queue; not to be used afterwards.
 */
void ucs_callbackq_cleanup(ucs_callbackq_t *cbq);

/**
 * Adds a callback; its number, or UCS_CALLBACKQ_ID_NULL. Not while another thread dispatches.
 *
 *
 * @param[in,out] cbq The queue.
 * @param[in] cb The callback.
 * @param[in] arg Its argument.
 * @return Number of the callback, or UCS_CALLBACKQ_ID_NULL.
 */
int ucs_callbackq_add(ucs_callbackq_t *cbq,
                      ucs_callback_t cb,
                      void *arg);

/**
 * Removes a callback, and gives its argument back. Not while another thread dispatches.
 *
 * @param[in,out] cbq The queue.
 * @param[in] id Number of the callback.
 * @return Argument of the callback.
 */
void *ucs_callbackq_remove(ucs_callbackq_t *cbq, int id);

/**
 * Adds a callback, from any thread; its number, or UCS_CALLBACKQ_ID_NULL.
 *
 * @param[in,out] cbq The queue.
 * @param[in] cb The callback.
 * @param[in] arg Its argument.
 * @return Number of the callback, or UCS_CALLBACKQ_ID_NULL.
 */
int ucs_callbackq_add_safe(ucs_callbackq_t *cbq, ucs_callback_t cb, void *arg);

/**
 * Removes a callback, from any thread, and gives its argument back. It may be called until the next dispatch begins.
 *
 *
 * @param[in,out] cbq The queue.
 * @param[in] id Number of the callback.
 * @return Argument of the callback.
 */
void *ucs_callbackq_remove_safe(ucs_callbackq_t *cbq,
                                int id);

/**
 * Has a callback called once, from any thread. Those of one key are called in order.
 *
 * @param[in,out] cbq The queue.
 * @param[in] key Key.
 * @param[in] cb The callback.
 * @param[in] arg Its argument.
 */
void ucs_callbackq_add_oneshot(ucs_callbackq_t *cbq,
                               ucs_callbackq_key_t key,
                               ucs_callback_t cb,
                               void *arg);

/**
 * Removes those that are to be called once, have a key, and that `pred` chooses, from any thread.
 *
 *
 * @param[in,out] cbq The queue.
 * @param[in] key Key.
 * @param[in] pred Chooses among those.
 * @param[in] arg Its last argument.
 */
void ucs_callbackq_remove_oneshot(ucs_callbackq_t *cbq,
                                  ucs_callbackq_key_t key,
                                  ucs_callbackq_predicate_t pred,
                                  void *arg);

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

#endif
