/* A rendezvous message over tcp is three packets: the RTS, the RTR with the address of the receive buffer, and the
 * data with their acknowledgement. Each is one system call that sends. */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n UCX_TLS=tcp UCX_RNDV_THRESH=1k */
#define _GNU_SOURCE
#include <ucp/api/ucp.h>

#include "bytes.h"
#include "packets.h"
#include "peers.h"

enum { LENGTH = 30000, WARM = 10, MESSAGES = 50, PACKETS = 3 };

int main(void)
{
    /* Of two contexts, so that none finds the other's memory in its own. */
    two_t contexts[2], two = {.context = NULL};
    ucp_request_param_t plain = {.op_attr_mask = 0};
    static char out[LENGTH], in[LENGTH];
    int i, counted = 0;

    for (i = 0; i < 2; ++i) {
        two_open_workers(&contexts[i], UCP_FEATURE_TAG, 0);
        two.worker[i] = contexts[i].worker[i];
    }
    for (i = 0; i < 2; ++i) {
        two.ep[i] = two_connect(&two, i, !i);
    }
    for (i = 0; i < WARM + MESSAGES; ++i) {
        ucs_status_ptr_t receive, send;

        fill(out, LENGTH, i);
        receive = ucp_tag_recv_nbx(two.worker[1], in, LENGTH, 1, UINT64_MAX, &plain);
        packets = 0;
        send = ucp_tag_send_nbx(two.ep[0], out, LENGTH, 1, &plain);
        CHECK_OK(two_wait(&two, receive));
        CHECK_OK(two_wait(&two, send));
        CHECK_PATTERN(in, LENGTH, i);
        counted += i >= WARM ? packets : 0;
    }
    if (counted > PACKETS * MESSAGES) {
        FAIL("%d messages took %d packets, not %d each", MESSAGES, counted, PACKETS);
    }
    OK("a rendezvous message is %d packets", PACKETS);
    for (i = 0; i < 2; ++i) {
        two_close_ep(&two, two.ep[i]);
    }
    for (i = 0; i < 2; ++i) {
        two_close_workers(&contexts[i]);
    }
    return 0;
}
