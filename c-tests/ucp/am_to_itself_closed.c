/* A worker has announced an active message to itself, which its handler keeps or receives, and its endpoint is closed meanwhile.
 * Upstream has no endpoints with error handling to the own process. */
/* env: UCX_TLS=self UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n */
#include "failure.h"

enum { ID = 1, LENGTH = 100000 };

static const ucp_request_param_t plain;
static side_t side;
static char source[LENGTH], target[LENGTH];
static void *kept, *inside, *closing;
static ucp_ep_h to_close;

static ucs_status_t finish(ucs_status_ptr_t request)
{
    return side_wait(&side, &side, request);
}

static void *close_by_force(ucp_ep_h ep)
{
    const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_EP_CLOSE_FLAG_FORCE};

    return ucp_ep_close_nbx(ep, &param);
}

static ucs_status_t on_message(void *arg, const void *header, size_t header_length, void *data, size_t length,
                               const ucp_am_recv_param_t *param)
{
    CHECK(param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV);
    kept = data;
    if (to_close != NULL) {
        inside = ucp_am_recv_data_nbx(side.worker, data, target, length, &plain);
        closing = close_by_force(to_close);
    }
    return UCS_INPROGRESS;
}

int main(void)
{
    ucp_am_handler_param_t handler = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB,
                                      .id = ID,
                                      .cb = on_message};
    failure_t failure;
    ucp_ep_h ep;
    void *send;

    side_open(&side, UCP_FEATURE_AM, UCS_THREAD_MODE_SINGLE);
    CHECK_OK(ucp_worker_set_am_recv_handler(side.worker, &handler));

    ep = connect_watched(&side, side.address, &failure);
    send = ucp_am_send_nbx(ep, ID, NULL, 0, source, LENGTH, &plain);
    CHECK(UCS_PTR_IS_PTR(send));
    closing = close_by_force(ep);
    CHECK_EQ(finish(ucp_am_recv_data_nbx(side.worker, kept, target, LENGTH, &plain)), UCS_ERR_CANCELED);
    CHECK_EQ(finish(send), UCS_ERR_CANCELED);
    CHECK_OK(finish(closing));
    OK("closed before it is received");

    ep = connect_watched(&side, side.address, &failure);
    send = ucp_am_send_nbx(ep, ID, NULL, 0, source, LENGTH, &plain);
    CHECK(UCS_PTR_IS_PTR(send));
    closing = close_by_force(ep);
    ucp_am_data_release(side.worker, kept);
    CHECK_EQ(finish(send), UCS_ERR_CANCELED);
    CHECK_OK(finish(closing));
    OK("closed before it is released");

    ep = to_close = connect_watched(&side, side.address, &failure);
    send = ucp_am_send_nbx(ep, ID, NULL, 0, source, LENGTH, &plain);
    CHECK_EQ(finish(send), UCS_ERR_CANCELED);
    CHECK_EQ(finish(inside), UCS_ERR_CANCELED);
    CHECK_OK(finish(closing));
    OK("closed in the handler");

    side_close(&side);
    return 0;
}
