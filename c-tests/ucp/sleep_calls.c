/* System calls of a message between two workers that sleep for it: over shared memory one of the sender, which wakes, and two of
 * the receiver, which finds out what woke it. No barrier interrupts the other processors, and other transports of the worker are
 * not asked. Over tcp there are those of the socket, which takes a long message whole: its sender is not woken for each part of it
 * that the receiver has read. */
/* env: UCX_LOG_LEVEL=error UCX_WARN_UNUSED_ENV_VARS=n */
/* valgrind: no, it counts what the library calls */
#define _GNU_SOURCE
#include <ucp/api/ucp.h>

#include "faults.h"
#include "peers.h"

enum { WARM_UP = 20, ROUNDS = 300, SLACK = 30, PATIENCE_MS = 20000, LONG = 1 << 20 };

static const ucp_request_param_t plain;
static char out[LONG], in[LONG];

/* Progresses until there is nothing to do and the worker may sleep. */
static void arm(ucp_worker_h worker)
{
    ucs_status_t status;

    do {
        while (ucp_worker_progress(worker)) {
        }
        status = ucp_worker_arm(worker);
    } while (status == UCS_ERR_BUSY);
    CHECK_OK(status);
}

/* One message; its receiver is armed, and awake again when it is there. */
static void pass(ucp_worker_h from, ucp_ep_h ep, ucp_worker_h to, int event_fd, size_t length)
{
    struct pollfd fd = {.fd = event_fd, .events = POLLIN};
    ucs_status_ptr_t request, sent;

    out[length - 1] ^= 1;
    request = ucp_tag_recv_nbx(to, in, length, 1, UINT64_MAX, &plain);
    CHECK(UCS_PTR_IS_PTR(request));
    arm(to);
    sent = ucp_tag_send_nbx(ep, out, length, 1, &plain);
    while (ucp_request_check_status(request) == UCS_INPROGRESS) {
        /* The first messages are sent by progress, as the two have to be connected. */
        while (UCS_PTR_IS_PTR(sent) && (poll(&fd, 1, 0) == 0)) {
            ucp_worker_progress(from);
        }
        CHECK_EQ(poll(&fd, 1, PATIENCE_MS), 1);
        ucp_worker_progress(to);
        if (ucp_request_check_status(request) == UCS_INPROGRESS) {
            arm(to);
        }
    }
    CHECK_EQ(in[length - 1], out[length - 1]);
    ucp_request_free(request);
    request_finish(from, sent);
}

/* Messages of that length: at most so many calls of all kinds, or waits for room where they are long, for each. */
static void run(const char *tls, size_t length, unsigned bound)
{
    static fault_record_t record;
    const fault_t none = {.call = FAULT_NUM_CALLS};
    ucp_ep_h ep[2];
    int fd[2], i, calls = 0;
    side_t side[2];

    setenv("UCX_TLS", tls, 1);
    for (i = 0; i < 2; ++i) {
        side_open(&side[i], UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP, UCS_THREAD_MODE_SINGLE);
        CHECK_OK(ucp_worker_get_efd(side[i].worker, &fd[i]));
    }
    for (i = 0; i < 2; ++i) {
        ep[i] = side_connect(&side[i], side[!i].address);
    }
    for (i = 0; i < WARM_UP + ROUNDS; ++i) {
        int from = i % 2, to = !from;

        if (i == WARM_UP) {
            memset(&record, 0, sizeof(record));
            fault_arm(&none, &record);
        }
        pass(side[from].worker, ep[from], side[to].worker, fd[to], length);
    }
    fault_disarm();
    for (i = 0; i < FAULT_NUM_CALLS; ++i) {
        calls += ((length < LONG) || (i == FAULT_epoll_ctl)) ? record.seen[i] : 0;
    }
    if ((unsigned)calls > bound * ROUNDS + SLACK) {
        for (i = 0; i < FAULT_NUM_CALLS; ++i) {
            if (record.seen[i] > 0) {
                fprintf(stderr, "%s: %u\n", fault_names[i], record.seen[i]);
            }
        }
        FAIL("%s: %d calls for %d messages of %zu bytes", tls, calls, ROUNDS, length);
    }
    for (i = 0; i < 2; ++i) {
        CHECK_OK(side_disconnect(&side[i], &side[!i], ep[i], 0));
    }
    for (i = 0; i < 2; ++i) {
        side_close(&side[i]);
    }
    OK("%s, %zu bytes", tls, length);
}

int main(void)
{
    setenv("UCX_NET_DEVICES", "lo", 1);
    run("posix", 8, 3);
    run("sysv", 8, 3);
    run("tcp", 8, 6);
    run("tcp", LONG, 0);
    unsetenv("UCX_NET_DEVICES");
    run("all", 8, 3);
    return 0;
}
