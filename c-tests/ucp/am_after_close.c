/* An active message with a way back that an endpoint sent to its own worker, over a transport that takes its time,
 * is delivered although the endpoint was closed meanwhile, and the handler can reply. */
/* env: UCX_TLS=posix UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n */
#include <ucp/api/ucp.h>

#include "peers.h"

enum { MESSAGE = 1, REPLY = 2, SMALL = 24, LARGE = 1 << 20 };

static side_t side;
static unsigned messages, replies;
static char *source, *target;
static const ucp_request_param_t plain;
static ucs_status_ptr_t fetch, reply;

static ucs_status_t on_reply(void *arg, const void *header, size_t header_length, void *data, size_t length,
                             const ucp_am_recv_param_t *param)
{
    ++replies;
    return UCS_OK;
}

static ucs_status_t on_message(void *arg, const void *header, size_t header_length, void *data, size_t length,
                               const ucp_am_recv_param_t *param)
{
    ++messages;
    CHECK(param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP);
    CHECK(param->reply_ep != NULL);
    reply = ucp_am_send_nbx(param->reply_ep, REPLY, NULL, 0, NULL, 0, &plain);
    if (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) {
        CHECK_EQ(length, LARGE);
        fetch = ucp_am_recv_data_nbx(side.worker, data, target, length, &plain);
        return UCS_INPROGRESS;
    }
    CHECK_EQ(length, SMALL);
    CHECK_PATTERN(data, length, SMALL);
    return UCS_OK;
}

static void handle(unsigned id, ucp_am_recv_callback_t cb)
{
    ucp_am_handler_param_t param = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB,
                                    .id = id,
                                    .cb = cb};

    CHECK_OK(ucp_worker_set_am_recv_handler(side.worker, &param));
}

static void send_and_close(size_t length, unsigned flags)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                 .flags = UCP_AM_SEND_FLAG_REPLY | flags};
    ucp_ep_h ep = side_connect(&side, side.address);
    ucs_status_ptr_t send, closed;

    messages = replies = 0;
    fill(source, length, length);
    send = ucp_am_send_nbx(ep, MESSAGE, NULL, 0, source, length, &param);
    closed = ucp_ep_close_nbx(ep, &plain);
    DRIVE_UNTIL(&side, &side, messages == 1);
    CHECK_OK(side_wait(&side, &side, fetch));
    CHECK_OK(side_wait(&side, &side, closed));
    CHECK_OK(side_wait(&side, &side, send));
    CHECK_OK(side_wait(&side, &side, reply));
    DRIVE_UNTIL(&side, &side, replies == 1);
    if (fetch != NULL) {
        CHECK_PATTERN(target, length, length);
    }
    OK("%zu bytes", length);
}

int main(void)
{
    source = malloc(LARGE);
    target = malloc(LARGE);
    side_open(&side, UCP_FEATURE_AM, UCS_THREAD_MODE_SINGLE);
    handle(MESSAGE, on_message);
    handle(REPLY, on_reply);
    send_and_close(SMALL, UCP_AM_SEND_FLAG_EAGER);
    send_and_close(LARGE, UCP_AM_SEND_FLAG_RNDV);
    side_close(&side);
    free(source);
    free(target);
    return 0;
}
