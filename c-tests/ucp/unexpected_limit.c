/* A sender is faster than its receiver posts: above UCX_UNEXPECTED_MAX_SIZE the receiver pauses and the sender waits;
 * when receives are posted every message arrives whole and in order. Without the limit the same sender completes
 * everything. A receiver that waits for another message gets it, although unwanted ones precede it. */
/* env: UCX_LOG_LEVEL=error UCX_WARN_UNUSED_ENV_VARS=n */
/* timeout: 120 */
/* valgrind: no, its own memory is measured */
#include <ucp/api/ucp.h>

#include "peers.h"

#include <malloc.h>

enum { LENGTH = 1024, COUNT = 40000, WINDOW = 32, BOUND = 2 << 20, SLACK = 2 << 20, ROUNDS = 100000, LAST = 7 };

static const ucp_request_param_t plain;

static size_t allocated(void)
{
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

static void connect_sides(side_t *side, const pair_t *pair, ucp_ep_h *ep)
{
    char theirs[ADDRESS_ROOM];

    side_open(side, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    side_swap_addresses(side, pair, theirs);
    *ep = side_connect(side, theirs);
}

static void sender(const pair_t *pair)
{
    static char data[WINDOW][LENGTH];
    ucs_status_ptr_t window[WINDOW] = {NULL};
    side_t side;
    ucp_ep_h ep;
    unsigned i;

    connect_sides(&side, pair, &ep);
    for (i = 0; i < COUNT + WINDOW; ++i) {
        CHECK_OK(side_wait(&side, &side, window[i % WINDOW]));
        window[i % WINDOW] = NULL;
        if (i < COUNT) {
            fill(data[i % WINDOW], LENGTH, i);
            window[i % WINDOW] = ucp_tag_send_nbx(ep, data[i % WINDOW], LENGTH, i == COUNT - 1 ? LAST : 1, &plain);
        }
    }
    pair_send(pair, "d", 1);
    while (!pair_ready(pair)) {
        ucp_worker_progress(side.worker);
    }
    CHECK_OK(side_disconnect(&side, &side, ep, 0));
    side_close(&side);
    pair_finish(pair);
}

static void receive(side_t *side, ucp_tag_t tag, unsigned number)
{
    char in[LENGTH];

    CHECK_OK(side_wait(side, side, ucp_tag_recv_nbx(side->worker, in, LENGTH, tag, -1, &plain)));
    CHECK_PATTERN(in, LENGTH, number);
}

static void receiver(const pair_t *pair, int bounded, int last_first)
{
    unsigned i, rounds;
    size_t before;
    side_t side;
    ucp_ep_h ep;
    char done;

    connect_sides(&side, pair, &ep);
    before = allocated();
    for (rounds = 0; bounded ? (rounds < ROUNDS) : !pair_ready(pair); ++rounds) {
        ucp_worker_progress(side.worker);
    }
    if (bounded) {
        CHECK(!pair_ready(pair));
        CHECK(allocated() < before + BOUND + SLACK);
    } else {
        CHECK(allocated() > before + (size_t)COUNT * LENGTH / 2);
    }
    if (last_first) {
        receive(&side, LAST, COUNT - 1);
    }
    for (i = 0; i < COUNT - 1; ++i) {
        receive(&side, 1, i);
        if (bounded && !last_first) {
            CHECK(allocated() < before + BOUND + SLACK);
        }
    }
    if (!last_first) {
        receive(&side, LAST, COUNT - 1);
    }
    while (!pair_ready(pair)) {
        ucp_worker_progress(side.worker);
    }
    pair_recv(pair, &done, 1);
    pair_send(pair, "e", 1);
    CHECK_OK(side_disconnect(&side, &side, ep, 0));
    side_close(&side);
    pair_finish(pair);
}

static void run(const char *tls, const char *bound, int last_first)
{
    pair_t pair;

    setenv("UCX_TLS", tls, 1);
    setenv("UCX_UNEXPECTED_MAX_SIZE", bound, 1);
    pair = pair_start();
    if (pair_is_child(&pair)) {
        sender(&pair);
    }
    receiver(&pair, strcmp(bound, "inf") != 0, last_first);
    OK("%s, %s%s", tls, bound, last_first ? ", the last first" : "");
}

int main(void)
{
    run("posix", "inf", 0);
    run("posix", "2m", 0);
    run("posix", "2m", 1);
    run("tcp", "2m", 0);
    run("tcp", "2m", 1);
    return 0;
}
