/* A peer that ends: by exit without closing anything, and after closing in order. The error handler is called
 * once on every transport that promises it; calls on the failed endpoint answer statuses and nothing hangs. */
/* env: UCX_LOG_LEVEL=fatal */
/* timeout: 60 */
/* valgrind: errors, not leaks: what a thread has on its stack counts as lost when _exit() ends it */
#include <uct/api/uct.h>

#include "transport.h"

typedef struct {
    unsigned calls;
    uct_ep_h ep;
    ucs_status_t status;
} failure_t;

static ucs_status_t on_failure(void *arg, uct_ep_h ep, ucs_status_t status)
{
    failure_t *failure = arg;

    failure->calls++;
    failure->ep = ep;
    failure->status = status;
    return UCS_OK;
}

static ucs_status_t ignore(void *arg, void *data, size_t length, unsigned flags)
{
    return UCS_OK;
}

static size_t pack_eight(void *dest, void *arg)
{
    memset(dest, 0, 8);
    return 8;
}

static void send_one(transport_t *t, uct_ep_h ep)
{
    ssize_t sent;

    if (!(t->attr.cap.flags & UCT_IFACE_FLAG_AM_BCOPY)) {
        return;
    }
    while ((sent = uct_ep_am_bcopy(ep, 0, pack_eight, NULL, 0)) != 8) {
        CHECK_EQ(sent, UCS_ERR_NO_RESOURCE);
        uct_worker_progress(t->worker);
    }
}

static void run(const char *name, const char *device, int in_order)
{
    pair_t pair = pair_start();
    failure_t failure = {0};
    uint64_t word = 0;
    uct_iov_t iov = {.buffer = &word, .length = 8, .memh = NULL, .stride = 0, .count = 1};
    transport_t t;
    uct_ep_h ep;
    int i, status;

    transport_open_handled(&t, name, device, on_failure, &failure);
    if (t.attr.cap.flags & UCT_IFACE_FLAG_AM_BCOPY) {
        CHECK_OK(uct_iface_set_am_handler(t.iface, 0, ignore, NULL, 0));
    }
    CHECK(t.attr.cap.flags & UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE);
    ep = transport_connect(&t, &pair);
    send_one(&t, ep);
    pair_send(&pair, "", 1);
    while (!pair_ready(&pair)) {
        uct_worker_progress(t.worker);
    }
    if (pair_is_child(&pair)) {
        if (in_order) {
            uct_ep_destroy(ep);
            transport_close(&t);
        }
        _exit(0);
    }
    /* Not waited for yet: the child is a zombie, and yet it is known to have ended. */
    PROGRESS_UNTIL(&t, failure.calls > 0);
    CHECK(waitpid(pair.child, &status, 0) == pair.child);
    CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
    CHECK(failure.ep == ep);
    CHECK(failure.status < 0);

    if (t.attr.cap.flags & UCT_IFACE_FLAG_AM_BCOPY) {
        ssize_t sent = uct_ep_am_bcopy(ep, 0, pack_eight, NULL, 0);
        CHECK((sent < 0) && (sent != UCS_ERR_NO_RESOURCE));
    }
    if (t.attr.cap.flags & UCT_IFACE_FLAG_PUT_ZCOPY) {
        ucs_status_t put = uct_ep_put_zcopy(ep, &iov, 1, (uintptr_t)&word, 0, NULL);
        CHECK((put < 0) && (put != UCS_ERR_NO_RESOURCE));
    }
    uct_ep_check(ep, 0, NULL);
    CHECK(uct_ep_flush(ep, UCT_FLUSH_FLAG_CANCEL, NULL) != UCS_INPROGRESS);
    for (i = 0; i < 2000; ++i) {
        uct_worker_progress(t.worker);
    }
    CHECK_EQ(failure.calls, 1);
    uct_ep_pending_purge(ep, NULL, NULL);
    uct_ep_destroy(ep);
    transport_close(&t);
    close(pair.fd);
    OK("%s, %s", name, in_order ? "closed in order" : "exit");
}

int main(void)
{
    static const char *names[][2] = {{"posix", NULL}, {"sysv", NULL}, {"cma", NULL}, {"tcp", "lo"}};
    unsigned i;

    for (i = 0; i < 4; ++i) {
        run(names[i][0], names[i][1], 0);
        run(names[i][0], names[i][1], 1);
    }
    return 0;
}
