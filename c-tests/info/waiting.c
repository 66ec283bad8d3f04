/* Sends three messages to itself, posts two receives that none of them matches, and makes progress until its stdin ends. */
#include <ucp/api/ucp.h>

#include "peers.h"

#include <poll.h>

static const ucp_request_param_t plain;
static char data[1 << 16];

int main(void)
{
    struct pollfd input = {.fd = 0, .events = POLLIN};
    side_t side;
    ucp_ep_h ep;
    void *receives[2];
    int i;

    side_open(&side, UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
    ep = side_connect(&side, side.address);
    for (i = 0; i < 3; ++i) {
        request_finish(side.worker, ucp_tag_send_nbx(ep, data, 8, 1, &plain));
    }
    for (i = 0; i < 2; ++i) {
        receives[i] = ucp_tag_recv_nbx(side.worker, data, (i == 0) ? sizeof(data) : 16, 77, -1, &plain);
        CHECK(UCS_PTR_IS_PTR(receives[i]));
    }
    printf("waits\n");
    fflush(stdout);
    while (poll(&input, 1, 0) == 0) {
        ucp_worker_progress(side.worker);
    }
    for (i = 0; i < 2; ++i) {
        ucp_request_cancel(side.worker, receives[i]);
        CHECK_STATUS(side_wait(&side, &side, receives[i]), UCS_ERR_CANCELED);
    }
    side_close(&side);
    return 0;
}
