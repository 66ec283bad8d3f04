/* A receiver that computes while long messages come: how long until it has all of them.
 *
 *     overlap MESSAGES BYTES COMPUTE_US
 *
 * It posts all receives, then computes and calls progress once, by turns. Prints the milliseconds from the first
 * computation until the last message is there. UCX_TLS says by which transport, UCX_PROGRESS_THREAD whether a thread makes
 * progress meanwhile. */
#define _GNU_SOURCE
#include <ucp/api/ucp.h>

#include "../../c-tests/peers.h"
#include "clock.h"

enum { TAG = 1 };

static const ucp_request_param_t plain;

static void compute(double us)
{
    double end = now_us() + us;

    while (now_us() < end) {
    }
}

static int all_done(ucs_status_ptr_t *requests, int count)
{
    int i;

    for (i = 0; i < count; ++i) {
        if (UCS_PTR_IS_PTR(requests[i]) && (ucp_request_check_status(requests[i]) == UCS_INPROGRESS)) {
            return 0;
        }
    }
    return 1;
}

int main(int argc, char **argv)
{
    int i, messages = argc > 3 ? atoi(argv[1]) : 0;
    size_t bytes = argc > 3 ? strtoull(argv[2], NULL, 10) : 0;
    double begin, compute_us = argc > 3 ? atof(argv[3]) : 0;
    char theirs[ADDRESS_ROOM], *data;
    ucs_status_ptr_t *requests;
    pair_t pair;
    side_t side;
    ucp_ep_h ep;

    if (messages <= 0 || bytes == 0) {
        fprintf(stderr, "overlap MESSAGES BYTES COMPUTE_US\n");
        return 2;
    }
    pair = pair_start();
    pin(pair_is_child(&pair));
    side_open(&side, UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
    side_swap_addresses(&side, &pair, theirs);
    ep = side_connect(&side, theirs);
    data = calloc(messages, bytes);
    requests = calloc(messages, sizeof(*requests));
    side_meet(&side, &pair);
    for (i = 0; i < messages; ++i) {
        requests[i] = pair_is_child(&pair) ?
                              ucp_tag_recv_nbx(side.worker, data + i * bytes, bytes, TAG, UINT64_MAX, &plain) :
                              ucp_tag_send_nbx(ep, data + i * bytes, bytes, TAG, &plain);
        CHECK(!UCS_PTR_IS_ERR(requests[i]));
    }
    begin = now_us();
    while (!all_done(requests, messages)) {
        if (pair_is_child(&pair)) {
            compute(compute_us);
        }
        ucp_worker_progress(side.worker);
    }
    if (pair_is_child(&pair)) {
        printf("%.1f\n", (now_us() - begin) / 1e3);
    }
    for (i = 0; i < messages; ++i) {
        if (requests[i]) {
            ucp_request_free(requests[i]);
        }
    }
    side_meet(&side, &pair);
    request_finish(side.worker, ucp_ep_close_nbx(ep, &plain));
    side_meet(&side, &pair);
    side_close(&side);
    pair_finish(&pair);
    return 0;
}
