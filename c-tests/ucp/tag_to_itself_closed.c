/* A long message of a worker to itself waits for its receive, and its endpoint is closed meanwhile. Upstream has no endpoints
 * with error handling to the own process, and the send never ends there. */
/* env: UCX_TLS=self UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n */
#include "failure.h"

enum { LENGTH = 100000, TAG = 7 };

static const ucp_request_param_t plain;
static side_t side;
static char source[LENGTH], target[LENGTH];

static ucs_status_t finish(ucs_status_ptr_t request)
{
    return side_wait(&side, &side, request);
}

static void close_endpoint(int forced)
{
    failure_t failure;
    ucp_ep_h ep = connect_watched(&side, side.address, &failure);
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                 .flags = forced ? UCP_EP_CLOSE_FLAG_FORCE : 0};
    ucs_status_t outcome = forced ? UCS_ERR_CANCELED : UCS_OK;
    void *send, *closing, *receive;

    fill(source, LENGTH, 4);
    /* Both ends know each other. */
    CHECK_OK(finish(ucp_tag_send_nbx(ep, source, 1, TAG, &plain)));
    CHECK_OK(finish(ucp_tag_recv_nbx(side.worker, target, 1, TAG, -1, &plain)));
    send = ucp_tag_send_nbx(ep, source, LENGTH, TAG, &plain);
    CHECK(UCS_PTR_IS_PTR(send));
    closing = ucp_ep_close_nbx(ep, &param);
    receive = ucp_tag_recv_nbx(side.worker, target, LENGTH, TAG, -1, &plain);
    CHECK_EQ(finish(receive), outcome);
    CHECK_EQ(finish(send), outcome);
    CHECK_OK(finish(closing));
    OK("closed%s", forced ? " by force" : "");
}

int main(void)
{
    side_open(&side, UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
    close_endpoint(0);
    close_endpoint(1);
    side_close(&side);
    return 0;
}
