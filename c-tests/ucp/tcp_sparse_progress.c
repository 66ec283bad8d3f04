/* Two processes that compute and make progress now and then: over tcp a first message is there after a few calls of each,
 * connection included, as every call looks what the kernel has. */
/* env: UCX_TLS=tcp UCX_LOG_LEVEL=error UCX_WARN_UNUSED_ENV_VARS=n UCX_NET_DEVICES=lo */
/* valgrind: no, it counts calls */
#include <ucp/api/ucp.h>

#include "peers.h"

enum { LENGTH = 100, TAG = 1, MOST_CALLS = 5, COMPUTING_US = 3000, LONGEST_US = 300000 };

/* A first message with so much time between calls. Returns whether few calls were enough on both sides. */
static int first_message(pair_t *pair, int computing_us)
{
    static const ucp_request_param_t plain;
    char theirs[ADDRESS_ROOM], data[LENGTH];
    ucs_status_ptr_t request;
    side_t side;
    int calls = 0, finished = 0, theirs_too = 0, few = 1, few_there;
    ucp_ep_h ep = NULL;

    side_open(&side, UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
    side_swap_addresses(&side, pair, theirs);
    if (pair_is_child(pair)) {
        fill(data, LENGTH, 3);
        ep = side_connect(&side, theirs);
        request = ucp_tag_send_nbx(ep, data, LENGTH, TAG, &plain);
    } else {
        request = ucp_tag_recv_nbx(side.worker, data, LENGTH, TAG, UINT64_MAX, &plain);
    }
    CHECK(UCS_PTR_IS_PTR(request));
    while (!finished || !theirs_too) {
        /* The time is what is tried here: it stands for a computation. */
        usleep(computing_us);
        ucp_worker_progress(side.worker);
        finished = (ucp_request_check_status(request) != UCS_INPROGRESS);
        calls += !finished;
        few = (calls < MOST_CALLS);
        pair_exchange(pair, &finished, &theirs_too, sizeof(finished));
    }
    CHECK_OK(ucp_request_check_status(request));
    ucp_request_free(request);
    if (!pair_is_child(pair)) {
        CHECK_PATTERN(data, LENGTH, 3);
    }
    side_meet(&side, pair);
    if (ep != NULL) {
        CHECK_OK(side_disconnect(&side, &side, ep, 0));
    }
    side_meet(&side, pair);
    side_close(&side);
    pair_exchange(pair, &few, &few_there, sizeof(few));
    return few && few_there;
}

int main(void)
{
    pair_t pair = pair_start();
    int computing_us = COMPUTING_US;

    /* A busy machine may be late with what the kernel and the library's thread do meanwhile. */
    while (!first_message(&pair, computing_us)) {
        computing_us *= 10;
        CHECK(computing_us <= LONGEST_US);
    }
    if (!pair_is_child(&pair)) {
        OK("%d calls at most", MOST_CALLS);
    }
    pair_finish(&pair);
    return 0;
}
