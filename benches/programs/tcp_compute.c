/* A sender that computes after a burst of messages and makes no progress meanwhile, over the transport of UCX_TLS.
 *
 *     tcp_compute MESSAGES BYTES COMPUTE_US ROUNDS
 *
 * Prints the medians over the rounds, in microseconds: the time of the send calls, the time of the computation (a fixed
 * number of steps, so that it shows what a second thread takes from it), and the time from the first send call until the
 * receiver has the last message. Each process has a processor of its own, which its threads share. */
#define _GNU_SOURCE
#include <ucp/api/ucp.h>

#include "../../c-tests/peers.h"
#include "clock.h"

enum { TAG = 1, WARM_UP = 20 };

static volatile uint64_t state = 1;

static void compute(uint64_t steps)
{
    uint64_t x = state;

    for (; steps > 0; --steps) {
        x = x * 6364136223846793005 + 1442695040888963407;
    }
    state = x;
}

/* The steps of a computation of so many microseconds. */
static uint64_t calibrate(double us)
{
    enum { STEPS = 10 * 1000 * 1000 };
    double best = 1e9;
    int i;

    for (i = 0; i < 5; ++i) {
        double begin = now_us(), took;

        compute(STEPS);
        took = now_us() - begin;
        best = took < best ? took : best;
    }
    return us / best * STEPS;
}

int main(int argc, char **argv)
{
    static const ucp_request_param_t plain;
    int messages = atoi(argv[argc == 5 ? 1 : 0]), rounds = argc == 5 ? atoi(argv[4]) : 0, round, i;
    size_t bytes = argc == 5 ? strtoul(argv[2], NULL, 0) : 0;
    double compute_us = argc == 5 ? atof(argv[3]) : 0, *sends, *computations, *arrivals;
    ucs_status_ptr_t *requests;
    char theirs[ADDRESS_ROOM], *data;
    pair_t pair;
    side_t side;
    int is_sender;
    ucp_ep_h ep = NULL;
    uint64_t steps;

    if (messages < 1 || bytes < sizeof(double) || rounds < 1) {
        fprintf(stderr, "tcp_compute MESSAGES BYTES COMPUTE_US ROUNDS\n");
        return 2;
    }
    steps = calibrate(compute_us);
    pair = pair_start();
    is_sender = !pair_is_child(&pair);
    pin(is_sender);
    sends = calloc(rounds, sizeof(double));
    computations = calloc(rounds, sizeof(double));
    arrivals = calloc(rounds, sizeof(double));
    requests = calloc(messages, sizeof(*requests));
    data = calloc(messages, bytes);
    side_open(&side, UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
    side_swap_addresses(&side, &pair, theirs);
    if (is_sender) {
        ep = side_connect(&side, theirs);
    }
    for (round = -WARM_UP; round < rounds; ++round) {
        double begin, sent, computed, arrived;

        side_meet(&side, &pair);
        begin = now_us();
        for (i = 0; i < messages; ++i) {
            requests[i] = is_sender ? ucp_tag_send_nbx(ep, data + i * bytes, bytes, TAG, &plain) :
                                      ucp_tag_recv_nbx(side.worker, data + i * bytes, bytes, TAG, UINT64_MAX, &plain);
            CHECK(!UCS_PTR_IS_ERR(requests[i]));
        }
        sent = now_us();
        if (is_sender) {
            compute(steps);
        }
        computed = now_us();
        for (i = 0; i < messages; ++i) {
            while (requests[i] && ucp_request_check_status(requests[i]) == UCS_INPROGRESS) {
                ucp_worker_progress(side.worker);
            }
            if (requests[i]) {
                CHECK_OK(ucp_request_check_status(requests[i]));
                ucp_request_free(requests[i]);
            }
        }
        if (is_sender) {
            pair_send(&pair, &begin, sizeof(begin));
            /* What is not sent yet leaves now. */
            while (!pair_ready(&pair)) {
                ucp_worker_progress(side.worker);
            }
            pair_recv(&pair, &arrived, sizeof(arrived));
        } else {
            arrived = now_us();
            pair_recv(&pair, &begin, sizeof(begin));
            arrived -= begin;
            pair_send(&pair, &arrived, sizeof(arrived));
        }
        if (round >= 0) {
            sends[round] = sent - begin;
            computations[round] = computed - sent;
            arrivals[round] = arrived;
        }
    }
    side_meet(&side, &pair);
    if (is_sender) {
        CHECK_OK(side_disconnect(&side, &side, ep, 0));
        printf("sends %.1f us, computation %.1f us, last message after %.1f us\n", median(sends, rounds),
               median(computations, rounds), median(arrivals, rounds));
    }
    side_meet(&side, &pair);
    side_close(&side);
    pair_finish(&pair);
    return 0;
}
