/* A receiver closes its endpoint by force while a matched message still arrives in fragments. The sender's endpoint
 * ends, so the remaining fragments do not arrive; the receive belongs to the worker and not to the endpoint, and
 * completes with an error. */
/* env: UCX_RNDV_THRESH=inf UCX_LOG_LEVEL=error */
#include <ucp/api/ucp.h>

#include "failure.h"

enum { LENGTH = 24000001, TAG = 7 };

static char out[LENGTH], in[LENGTH];

static void run(const char *tls)
{
    ucp_request_param_t plain = {.op_attr_mask = 0};
    ucp_request_param_t force = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_EP_CLOSE_FLAG_FORCE};
    ucs_status_ptr_t send, receive;
    failure_t of_a, of_b;
    ucp_tag_recv_info_t info;
    ucp_ep_h ab, ba;
    side_t a, b;

    setenv("UCX_TLS", tls, 1);
    side_open(&a, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    side_open(&b, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    ab = connect_watched(&a, b.address, &of_a);
    ba = connect_watched(&b, a.address, &of_b);
    send = ucp_tag_send_nbx(ab, out, LENGTH, TAG, &plain);
    DRIVE_UNTIL(&a, &b, ucp_tag_probe_nb(b.worker, TAG, -1, 0, &info) != NULL);
    receive = ucp_tag_recv_nbx(b.worker, in, LENGTH, TAG, -1, &plain);
    CHECK(!has_ended(send) && !has_ended(receive));

    CHECK_OK(side_wait(&b, &b, ucp_ep_close_nbx(ba, &force)));
    CHECK_STATUS(side_wait(&a, &b, receive), UCS_ERR_CONNECTION_RESET);
    CHECK_STATUS(side_wait(&a, &b, send), UCS_ERR_CONNECTION_RESET);
    DRIVE_UNTIL(&a, &b, of_a.calls > 0);
    CHECK_STATUS(of_a.status, UCS_ERR_CONNECTION_RESET);
    CHECK_EQ(of_b.calls, 0);
    CHECK_OK(side_wait(&a, &b, ucp_ep_close_nbx(ab, &force)));
    side_close(&b);
    side_close(&a);
    OK("%s", tls);
}

int main(void)
{
    run("posix");
    run("sysv");
    run("tcp");
    return 0;
}
