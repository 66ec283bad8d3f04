/* Async contexts: descriptors and timers of thread modes, removal from inside and outside. */
/* oracle: 1.13.1 1.22.0 */
/* env: UCX_LOG_LEVEL=fatal */
#include "check.h"

#include <ucs/async/async_fwd.h>
#include <ucs/config/types.h>
#include <ucs/sys/event_set.h>

#include <pthread.h>
#include <sys/eventfd.h>

double ucs_get_cpu_clocks_per_sec(void);

static pthread_mutex_t lock   = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int calls, last_id, last_events, removed_status;

static void note(int id, ucs_event_set_types_t events)
{
    pthread_mutex_lock(&lock);
    ++calls;
    last_id     = id;
    last_events = events;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void on_event(int id, ucs_event_set_types_t events, void *arg)
{
    uint64_t value;

    CHECK(read(*(int *)arg, &value, sizeof(value)) == sizeof(value));
    note(id, events);
}

static void on_timer(int id, ucs_event_set_types_t events, void *arg)
{
    note(id, 0);
}

static void on_event_remove(int id, ucs_event_set_types_t events, void *arg)
{
    removed_status = ucs_async_remove_handler(id, 1);
    note(id, events);
}

/* Ends when `calls` is at least `wanted`; the runner ends a test that never does. */
static void wait_calls(int wanted, ucs_async_context_t *polled)
{
    for (;;) {
        pthread_mutex_lock(&lock);
        while ((calls < wanted) && (polled == NULL)) {
            pthread_cond_wait(&changed, &lock);
        }
        int done = calls >= wanted;
        pthread_mutex_unlock(&lock);
        if (done) {
            return;
        }
        ucs_async_poll(polled);
    }
}

static void run_mode(ucs_async_mode_t mode, const char *name)
{
    ucs_time_t interval = ucs_get_cpu_clocks_per_sec() / 200;
    uint64_t one        = 1;
    int fd              = eventfd(0, EFD_NONBLOCK);
    ucs_async_context_t *ctx, *polled;
    int timer;

    CHECK(fd >= 0);
    calls = 0;
    CHECK_OK(ucs_async_context_create(mode, &ctx));
    polled = (mode == UCS_ASYNC_MODE_POLL) ? ctx : NULL;

    CHECK_OK(ucs_async_set_event_handler(mode, fd, UCS_EVENT_SET_EVREAD, on_event, &fd, ctx));
    for (int i = 1; i <= 3; ++i) {
        CHECK(write(fd, &one, sizeof(one)) == sizeof(one));
        wait_calls(i, polled);
    }
    CHECK_EQ(last_id, fd);
    CHECK_EQ(last_events, UCS_EVENT_SET_EVREAD);
    CHECK_OK(ucs_async_modify_handler(fd, UCS_EVENT_SET_EVREAD));
    CHECK(write(fd, &one, sizeof(one)) == sizeof(one));
    wait_calls(4, polled);
    CHECK_OK(ucs_async_remove_handler(fd, 1));
    CHECK(write(fd, &one, sizeof(one)) == sizeof(one));
    CHECK_STATUS(ucs_async_remove_handler(fd, 1), UCS_ERR_NO_ELEM);
    CHECK_STATUS(ucs_async_modify_handler(fd, UCS_EVENT_SET_EVREAD), UCS_ERR_NO_ELEM);

    calls = 0;
    CHECK_OK(ucs_async_set_event_handler(mode, fd, UCS_EVENT_SET_EVREAD, on_event_remove, NULL, ctx));
    wait_calls(1, polled);
    CHECK_STATUS(removed_status, UCS_OK);
    CHECK_STATUS(ucs_async_remove_handler(fd, 1), UCS_ERR_NO_ELEM);

    calls = 0;
    CHECK_OK(ucs_async_add_timer(mode, interval, on_timer, NULL, ctx, &timer));
    CHECK(timer >= 1000000);
    wait_calls(3, polled);
    CHECK_EQ(last_id, timer);
    CHECK_OK(ucs_async_remove_handler(timer, 1));
    CHECK_STATUS(ucs_async_modify_handler(timer, 0), UCS_ERR_INVALID_PARAM);

    CHECK_EQ(calls >= 3, 1);
    ucs_async_context_destroy(ctx);
    close(fd);
    OK("%s", name);
}

int main(void)
{
    run_mode(UCS_ASYNC_MODE_THREAD_SPINLOCK, "thread_spinlock");
    run_mode(UCS_ASYNC_MODE_THREAD_MUTEX, "thread_mutex");
    return 0;
}
