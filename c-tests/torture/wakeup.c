/* Ping-pong between two processes that sleep for every message, by arm and epoll: no wake-up is lost, so no round takes
 * long, and who waits for nothing uses no processor. */
/* env: UCX_LOG_LEVEL=error UCX_WARN_UNUSED_ENV_VARS=n UCX_NET_DEVICES=lo */
#define _GNU_SOURCE
#include "failure.h"
#include "peers.h"
#include "torture.h"

#include <poll.h>
#include <sys/resource.h>

enum { STALL_MS = 1000, IDLE_S = 1 };

static const ucp_request_param_t plain;

static void sleep_until_ended(side_t *side, int fd, ucs_status_ptr_t request)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};

    CHECK(!UCS_PTR_IS_ERR(request));
    while ((request != NULL) && (ucp_request_check_status(request) == UCS_INPROGRESS)) {
        ucs_status_t status;

        if (ucp_worker_progress(side->worker)) {
            continue;
        }
        status = ucp_worker_arm(side->worker);
        if (status == UCS_OK) {
            if (poll(&p, 1, STALL_MS) == 0) {
                /* Late on a busy machine, or lost: then the message is there although nobody rang. */
                while (ucp_worker_progress(side->worker)) {
                }
                CHECK(ucp_request_check_status(request) == UCS_INPROGRESS);
            }
        } else {
            CHECK_EQ(status, UCS_ERR_BUSY);
        }
    }
    if (request != NULL) {
        CHECK_OK(ucp_request_check_status(request));
        ucp_request_free(request);
    }
}

static double used(void)
{
    struct rusage usage;

    CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
    return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

static void play(const char *tls, uint64_t count)
{
    char theirs[ADDRESS_ROOM];
    double from, took, longest = 0, busy;
    uint64_t word = 0, i;
    struct pollfd p = {.events = POLLIN};
    failure_t failure;
    pair_t pair;
    side_t side;
    ucp_ep_h ep;
    int me;

    setenv("UCX_TLS", tls, 1);
    pair = pair_start();
    me = pair_is_child(&pair);
    side_open(&side, ALL_FEATURES | UCP_FEATURE_WAKEUP, UCS_THREAD_MODE_SINGLE);
    side_swap_addresses(&side, &pair, theirs);
    ep = connect_watched(&side, theirs, &failure);
    CHECK_OK(ucp_worker_get_efd(side.worker, &p.fd));
    for (i = 0; i < count; ++i) {
        from = seconds();
        if (me == i % 2) {
            word = i;
            sleep_until_ended(&side, p.fd, ucp_tag_send_nbx(ep, &word, sizeof(word), 1, &plain));
        } else {
            sleep_until_ended(&side, p.fd, ucp_tag_recv_nbx(side.worker, &word, sizeof(word), 1, -1, &plain));
            CHECK_EQ(word, i);
        }
        took = seconds() - from;
        longest = took > longest ? took : longest;
    }
    /* Nothing comes: armed, and asleep. */
    pair_barrier(&pair);
    busy = used();
    from = seconds();
    while (seconds() - from < IDLE_S) {
        while (ucp_worker_progress(side.worker) || (ucp_worker_arm(side.worker) != UCS_OK)) {
        }
        poll(&p, 1, IDLE_S * 1000);
    }
    busy = (used() - busy) / (seconds() - from);
    if (busy > 0.01) {
        FAIL("%s: idle, and %.1f %% of a processor", tls, busy * 100);
    }
    pair_barrier(&pair);
    CHECK_OK(side_disconnect(&side, &side, ep, UCP_EP_CLOSE_FLAG_FORCE));
    side_close(&side);
    if (!me) {
        FIGURE("%s: %" PRIu64 " messages slept for, none lost, longest %.1f ms, idle %.2f %%", tls, count, longest * 1e3,
               busy * 100);
    }
    pair_finish(&pair);
}

int main(void)
{
    uint64_t count = torture_count(60000);

    torture_seed(1);
    play("posix", count / 2);
    play("tcp", count / 2);
    return 0;
}
