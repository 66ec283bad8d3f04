/* A child of fork() may not use its parent's async contexts, is not hurt by them, and makes its own. */
/* valgrind: no, it counts what the parent's thread held as leaks of the child */
#include "check.h"

#include <ucs/async/async_fwd.h>
#include <ucs/config/types.h>
#include <ucs/sys/event_set.h>

#include <sys/eventfd.h>
#include <sys/wait.h>

static void drain(int id, ucs_event_set_types_t events, void *arg)
{
    uint64_t value;

    CHECK(read(id, &value, sizeof(value)) == sizeof(value));
    CHECK(write(*(int *)arg, "x", 1) == 1);
}

/* A context whose handler runs once. */
static ucs_async_context_t *use_context(int *fd_p)
{
    ucs_async_context_t *ctx;
    uint64_t one = 1;
    int fds[2];
    char byte;

    *fd_p = eventfd(0, EFD_NONBLOCK);
    CHECK(*fd_p >= 0);
    CHECK(pipe(fds) == 0);
    CHECK_OK(ucs_async_context_create(UCS_ASYNC_MODE_THREAD_MUTEX, &ctx));
    CHECK_OK(ucs_async_set_event_handler(UCS_ASYNC_MODE_THREAD_MUTEX, *fd_p, UCS_EVENT_SET_EVREAD, drain, &fds[1],
                                         ctx));
    CHECK(write(*fd_p, &one, sizeof(one)) == sizeof(one));
    CHECK(read(fds[0], &byte, 1) == 1);
    CHECK_OK(ucs_async_remove_handler(*fd_p, 1));
    close(fds[0]);
    close(fds[1]);
    return ctx;
}

int main(void)
{
    int parents_fd, childs_fd, status, unused = -1;
    ucs_async_context_t *parents, *childs;
    pid_t child;

    parents = use_context(&parents_fd);
    /* The parent's thread is alive while the child is made. */
    CHECK_OK(ucs_async_set_event_handler(UCS_ASYNC_MODE_THREAD_MUTEX, parents_fd, UCS_EVENT_SET_EVREAD, drain,
                                         &unused, parents));
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK_STATUS(ucs_async_set_event_handler(UCS_ASYNC_MODE_THREAD_MUTEX, parents_fd, UCS_EVENT_SET_EVREAD,
                                                 drain, &unused, parents),
                     UCS_ERR_UNSUPPORTED);
        CHECK_STATUS(ucs_async_remove_handler(parents_fd, 1), UCS_ERR_NO_ELEM);
        ucs_async_poll(parents);
        ucs_async_poll(NULL);
        childs = use_context(&childs_fd);
        ucs_async_context_destroy(childs);
        ucs_async_context_destroy(parents);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && (WEXITSTATUS(status) == 0));
    OK("child");

    CHECK_OK(ucs_async_remove_handler(parents_fd, 1));
    ucs_async_context_destroy(parents);
    close(parents_fd);
    OK("parent");
    return 0;
}
