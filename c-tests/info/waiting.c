/* Sends three messages to itself, posts a receive that none of them matches, and makes progress until its stdin ends. */
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
    void *receive;
    int i;

    side_open(&side, UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
    ep = side_connect(&side, side.address);
    for (i = 0; i < 3; ++i) {
        request_finish(side.worker, ucp_tag_send_nbx(ep, data, 8, 1, &plain));
    }
    receive = ucp_tag_recv_nbx(side.worker, data, sizeof(data), 77, -1, &plain);
    CHECK(UCS_PTR_IS_PTR(receive));
    printf("waits\n");
    fflush(stdout);
    while (poll(&input, 1, 0) == 0) {
        ucp_worker_progress(side.worker);
    }
    ucp_request_cancel(side.worker, receive);
    CHECK_STATUS(side_wait(&side, &side, receive), UCS_ERR_CANCELED);
    side_close(&side);
    return 0;
}
