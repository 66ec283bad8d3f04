/* Two processes that compute and make progress now and then: over tcp a first message is there after a few calls of each,
 * connection included, as every call looks what the kernel has. */
/* env: UCX_TLS=tcp UCX_LOG_LEVEL=error UCX_WARN_UNUSED_ENV_VARS=n UCX_NET_DEVICES=lo */
/* valgrind: no, it counts calls */
#include <ucp/api/ucp.h>

#include "peers.h"

enum { LENGTH = 100, TAG = 1, MOST_CALLS = 5, COMPUTING_US = 3000 };

int main(void)
{
    static const ucp_request_param_t plain;
    char theirs[ADDRESS_ROOM], data[LENGTH];
    ucs_status_ptr_t request;
    side_t side;
    pair_t pair = pair_start();
    int child = pair_is_child(&pair), calls = 0, others = 0;
    ucp_ep_h ep = NULL;

    side_open(&side, UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
    side_swap_addresses(&side, &pair, theirs);
    if (child) {
        fill(data, LENGTH, 3);
        ep = side_connect(&side, theirs);
        request = ucp_tag_send_nbx(ep, data, LENGTH, TAG, &plain);
    } else {
        request = ucp_tag_recv_nbx(side.worker, data, LENGTH, TAG, UINT64_MAX, &plain);
    }
    CHECK(UCS_PTR_IS_PTR(request));
    do {
        int done;

        /* The time is what is tried here: it stands for a computation. */
        usleep(COMPUTING_US);
        ucp_worker_progress(side.worker);
        done = (ucp_request_check_status(request) != UCS_INPROGRESS);
        calls += !done;
        pair_exchange(&pair, &done, &others, sizeof(done));
        others = done && others;
    } while (!others && (calls < MOST_CALLS));
    CHECK_OK(ucp_request_check_status(request));
    ucp_request_free(request);
    if (!child) {
        CHECK_PATTERN(data, LENGTH, 3);
    }
    side_meet(&side, &pair);
    if (ep != NULL) {
        CHECK_OK(side_disconnect(&side, &side, ep, 0));
    }
    side_meet(&side, &pair);
    side_close(&side);
    if (!child) {
        OK("%d calls at most", MOST_CALLS);
    }
    pair_finish(&pair);
    return 0;
}
