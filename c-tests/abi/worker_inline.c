/* uct_worker_progress() is compiled into the program and walks an array at the start of the worker whose
 * stride is 24 bytes in headers up to 1.15 and 16 after. With each set of headers it has to call every
 * registered callback exactly once a turn, and to add up what they return. */
/* oracle: 1.13.1 1.22.0 */
#include <uct/api/uct.h>

#include "check.h"

enum { CALLBACKS = 40 };

static unsigned calls[CALLBACKS];

static unsigned count(void *arg)
{
    ++*(unsigned *)arg;
    return 1;
}

static void expect(uct_worker_h worker, unsigned turns, unsigned from, unsigned to)
{
    unsigned turn, i;

    /* Registration and removal of the safe kind may take effect a turn later. */
    for (turn = 0; turn < 4; ++turn) {
        uct_worker_progress(worker);
    }
    memset(calls, 0, sizeof(calls));
    for (turn = 0; turn < turns; ++turn) {
        uct_worker_progress(worker);
    }
    for (i = 0; i < CALLBACKS; ++i) {
        CHECK_EQ(calls[i], ((i >= from) && (i < to)) ? turns : 0);
    }
}

int main(void)
{
    uct_worker_cb_id_t ids[CALLBACKS];
    ucs_async_context_t *async;
    uct_worker_h worker;
    unsigned i, n;

    CHECK_OK(ucs_async_context_create(UCS_ASYNC_MODE_THREAD_SPINLOCK, &async));
    CHECK_OK(uct_worker_create(async, UCS_THREAD_MODE_SINGLE, &worker));
    expect(worker, 10, 0, 0);
    OK("no callback");

    for (n = 0; n < CALLBACKS; ++n) {
        ids[n] = UCS_CALLBACKQ_ID_NULL;
        uct_worker_progress_register_safe(worker, count, &calls[n], 0, &ids[n]);
        CHECK(ids[n] != UCS_CALLBACKQ_ID_NULL);
        expect(worker, 5, 0, n + 1);
    }
    OK("%d callbacks, once a turn each", CALLBACKS);

    for (i = 0; i < CALLBACKS; ++i) {
        uct_worker_progress_unregister_safe(worker, &ids[i]);
        CHECK_EQ(ids[i], UCS_CALLBACKQ_ID_NULL);
        expect(worker, 5, i + 1, CALLBACKS);
    }
    OK("removed one by one");

    uct_worker_destroy(worker);
    ucs_async_context_destroy(async);
    return 0;
}
