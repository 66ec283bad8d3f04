/* A peer over shared memory that is killed, wherever it is: the error handler is called once, from
 * progress, within 100 ms; a sleeping owner is woken for it; sends then answer the error; pending
 * requests wait for the purge; and the messages of other senders still come. */
/* timeout: 60 */
#define _GNU_SOURCE
#include <uct/api/uct.h>

#include "transport.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

enum { ID = 3, KILLS = 8 };

typedef struct {
    unsigned errors, received, purged;
    uct_ep_h ep;
    ucs_status_t status;
} state_t;

static state_t state;

static ucs_status_t on_message(void *arg, void *data, size_t length, unsigned flags)
{
    state.received++;
    return UCS_OK;
}

static ucs_status_t on_error(void *arg, uct_ep_h ep, ucs_status_t status)
{
    CHECK(arg == &state);
    CHECK(ep == state.ep);
    state.errors++;
    state.status = status;
    return UCS_OK;
}

static ucs_status_t never(uct_pending_req_t *request)
{
    return UCS_ERR_NO_RESOURCE;
}

static void on_purge(uct_pending_req_t *request, void *arg)
{
    state.purged++;
}

/* The process that is killed: sends as fast as it can, so that it dies at any point of a message. */
static void victim(const char *name, pair_t *pair)
{
    transport_t t;
    uct_ep_h ep;
    char payload[64] = {0};

    transport_open(&t, name, NULL, 0);
    ep = transport_connect(&t, pair);
    pair_barrier(pair);
    for (;;) {
        uct_ep_am_short(ep, ID, 1, payload, sizeof(payload));
    }
}

static void kill_one(const char *name, unsigned round)
{
    uct_pending_req_t requests[2];
    transport_t t;
    struct pollfd fd;
    siginfo_t end;
    double killed, limit;
    unsigned before;
    int status;
    uct_ep_h own;
    pair_t pair = pair_start();

    if (pair_is_child(&pair)) {
        victim(name, &pair);
    }
    memset(&state, 0, sizeof(state));
    transport_open_handled(&t, name, NULL, on_error, &state);
    CHECK(t.attr.cap.flags & UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE);
    CHECK_OK(uct_iface_set_am_handler(t.iface, ID, on_message, NULL, 0));
    own = transport_connect(&t, NULL);
    state.ep = transport_connect(&t, &pair);
    pair_barrier(&pair);
    PROGRESS_UNTIL(&t, state.received >= 100 + round * 37);

    /* Our ring to the victim, who never reads, gets full; what waits for room stays queued. */
    for (status = UCS_OK; status == UCS_OK;) {
        status = uct_ep_am_short(state.ep, ID, 0, NULL, 0);
    }
    CHECK_EQ(status, UCS_ERR_NO_RESOURCE);
    requests[0].func = requests[1].func = never;
    CHECK_OK(uct_ep_pending_add(state.ep, &requests[0], 0));
    CHECK_OK(uct_ep_pending_add(state.ep, &requests[1], 0));
    CHECK_OK(uct_ep_check(state.ep, 0, NULL));
    CHECK_EQ(state.errors, 0);

    /* Where the kernel (or valgrind) has no pidfds, the library looks every 50 ms. */
    limit = (syscall(SYS_pidfd_open, getpid(), 0) < 0) ? 2.0 : 0.1;
    CHECK(kill(pair.child, SIGKILL) == 0);
    killed = now();
    if (round & 1) {
        /* Asleep: the descriptor wakes us. With no message left, the first progress reports the death. */
        CHECK_OK(uct_iface_event_fd_get(t.iface, &fd.fd));
        fd.events = POLLIN;
        CHECK(waitid(P_PID, pair.child, &end, WEXITED | WNOWAIT) == 0);
        while (!state.errors) {
            while (uct_worker_progress(t.worker)) {}
            if (!state.errors && (uct_iface_event_arm(t.iface, UCT_EVENT_RECV) == UCS_OK)) {
                CHECK(poll(&fd, 1, 5000) == 1);
                uct_worker_progress(t.worker);
                CHECK_EQ(state.errors, 1);
            }
        }
    } else {
        PROGRESS_UNTIL(&t, state.errors);
    }
    CHECK(now() - killed < limit);
    CHECK_STATUS(state.status, UCS_ERR_ENDPOINT_TIMEOUT);
    CHECK_STATUS(uct_ep_am_short(state.ep, ID, 0, NULL, 0), UCS_ERR_ENDPOINT_TIMEOUT);
    CHECK_STATUS(uct_ep_flush(state.ep, 0, NULL), UCS_ERR_ENDPOINT_TIMEOUT);
    CHECK_OK(uct_ep_flush(state.ep, UCT_FLUSH_FLAG_CANCEL, NULL));

    /* The dead sender's half message blocks nobody. */
    while (uct_worker_progress(t.worker)) {}
    before = state.received;
    CHECK_OK(uct_ep_am_short(own, ID, 0, NULL, 0));
    PROGRESS_UNTIL(&t, state.received == before + 1);

    uct_ep_pending_purge(state.ep, on_purge, NULL);
    CHECK_EQ(state.purged, 2);
    CHECK_EQ(state.errors, 1);
    uct_ep_destroy(state.ep);
    uct_ep_destroy(own);
    transport_close(&t);
    CHECK(waitpid(pair.child, &status, 0) == pair.child);
    CHECK(WIFSIGNALED(status));
    close(pair.fd);
}

/* Without an error handler nobody watches, but sends do not wait for ever. */
static void kill_unwatched(const char *name)
{
    transport_t t;
    ucs_status_t status;
    pid_t child;
    uct_ep_h ep;
    pair_t pair = pair_start();

    if (pair_is_child(&pair)) {
        victim(name, &pair);
    }
    transport_open(&t, name, NULL, 0);
    CHECK_OK(uct_iface_set_am_handler(t.iface, ID, on_message, NULL, 0));
    ep = transport_connect(&t, &pair);
    pair_barrier(&pair);
    child = pair.child;
    CHECK(kill(child, SIGKILL) == 0);
    CHECK(waitpid(child, NULL, 0) == child);
    do {
        status = uct_ep_am_short(ep, ID, 0, NULL, 0);
    } while ((status == UCS_OK) || (status == UCS_ERR_NO_RESOURCE));
    CHECK_STATUS(status, UCS_ERR_ENDPOINT_TIMEOUT);
    while (uct_worker_progress(t.worker)) {}
    uct_ep_destroy(ep);
    transport_close(&t);
    close(pair.fd);
}

int main(void)
{
    static const char *names[] = {"posix", "sysv"};
    unsigned i, round;

    for (i = 0; i < 2; ++i) {
        for (round = 0; round < KILLS; ++round) {
            kill_one(names[i], round);
        }
        OK("%s: a killed peer is reported in time", names[i]);
        kill_unwatched(names[i]);
        OK("%s: sends to a dead peer end", names[i]);
    }
    return 0;
}
