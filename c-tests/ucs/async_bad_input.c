/* What async contexts refuse. No oracle: upstream crashes on some of it. */
/* env: UCX_LOG_LEVEL=fatal */
#include "check.h"

#include <ucs/async/async_fwd.h>
#include <ucs/config/types.h>
#include <ucs/sys/event_set.h>

static void never(int id, ucs_event_set_types_t events, void *arg)
{
    FAIL("a refused handler was called");
}

static void refused(void)
{
    ucs_async_context_t *ctx;
    int fds[2], timer;

    CHECK(pipe(fds) == 0);
    CHECK_OK(ucs_async_context_create(UCS_ASYNC_MODE_THREAD_MUTEX, &ctx));
    CHECK_STATUS(ucs_async_set_event_handler(UCS_ASYNC_MODE_POLL, fds[0], UCS_EVENT_SET_EVREAD, never, NULL, ctx),
                 UCS_ERR_INVALID_PARAM);
    CHECK_STATUS(ucs_async_set_event_handler(UCS_ASYNC_MODE_THREAD_MUTEX, 1000000, UCS_EVENT_SET_EVREAD, never,
                                             NULL, ctx),
                 UCS_ERR_EXCEEDS_LIMIT);
    CHECK_STATUS(ucs_async_set_event_handler(UCS_ASYNC_MODE_THREAD_MUTEX, 999999, UCS_EVENT_SET_EVREAD, never,
                                             NULL, ctx),
                 UCS_ERR_IO_ERROR);
    CHECK_OK(ucs_async_set_event_handler(UCS_ASYNC_MODE_THREAD_MUTEX, fds[0], UCS_EVENT_SET_EVREAD, never, NULL,
                                         ctx));
    CHECK_STATUS(ucs_async_set_event_handler(UCS_ASYNC_MODE_THREAD_MUTEX, fds[0], UCS_EVENT_SET_EVREAD, never,
                                             NULL, ctx),
                 UCS_ERR_ALREADY_EXISTS);
    CHECK_STATUS(ucs_async_add_timer(UCS_ASYNC_MODE_THREAD_MUTEX, 0, never, NULL, ctx, &timer),
                 UCS_ERR_INVALID_PARAM);
    CHECK_OK(ucs_async_remove_handler(fds[0], 1));
    ucs_async_context_destroy(ctx);
    close(fds[0]);
    close(fds[1]);
    OK("refused");
}

int main(void)
{
    ucs_async_context_t *ctx;

    refused();
    CHECK_STATUS(ucs_async_context_create((ucs_async_mode_t)77, &ctx), UCS_ERR_INVALID_PARAM);
    CHECK_STATUS(ucs_async_remove_handler(12345, 1), UCS_ERR_NO_ELEM);
    CHECK_STATUS(ucs_async_remove_handler(-1, 0), UCS_ERR_NO_ELEM);
    ucs_async_poll(NULL);
    OK("no such thing");
    return 0;
}
