/* A worker sends itself active messages by rendezvous: they wait at their send. Received within the handler or later, in
 * parts, released, refused, many at once, sent by the handler, with headers that change after the call. */
/* headers: ours 1.22.0 */
/* oracle: 1.22.0 */
/* env: UCX_TLS=self UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n */
#include "peers.h"

enum { ID = 1, OLD = 2, LENGTH = 100000, MANY = 100, PARTS = 4 };

static side_t side;
static char source[LENGTH], target[LENGTH], head[64], expected_head[64];
static size_t head_length;
static void *kept[MANY], *inside, *echo;
static unsigned calls, echoes;
static int receives, replies;
static ucs_status_t answer;

static ucs_status_t finish(ucs_status_ptr_t request)
{
    return side_wait(&side, &side, request);
}

static void *receive(void *data, size_t length)
{
    const ucp_request_param_t plain = {0};
    void *request = ucp_am_recv_data_nbx(side.worker, data, target, length, &plain);

    /* Announced data are never done within the call, where there are any. */
    CHECK(UCS_PTR_IS_PTR(request) || !length);
    return request;
}

static void *post(ucp_ep_h ep, size_t length, unsigned flags)
{
    const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = flags | UCP_AM_SEND_FLAG_RNDV};
    void *request = ucp_am_send_nbx(ep, ID, head_length ? head : NULL, head_length, source, length, &param);

    if (flags & UCP_AM_SEND_FLAG_COPY_HEADER) {
        memset(head, 'x', sizeof(head));
    }
    return request;
}

static ucs_status_t on_message(void *arg, const void *header, size_t header_length, void *data, size_t length,
                               const ucp_am_recv_param_t *param)
{
    CHECK(param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV);
    CHECK_EQ(header_length, head_length);
    CHECK(!memcmp(header_length ? header : expected_head, expected_head, header_length));
    CHECK_EQ(!!(param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP), replies);
    kept[calls++ % MANY] = data;
    if (receives) {
        inside = receive(data, length);
    }
    if (echoes > 0) {
        --echoes;
        echo = post(param->reply_ep, length, UCP_AM_SEND_FLAG_REPLY);
    }
    return answer;
}

static ucs_status_t on_old(void *arg, void *data, size_t length, ucp_ep_h reply_ep, unsigned flags)
{
    CHECK_EQ(length, LENGTH);
    CHECK(!memcmp(data, source, length));
    ++calls;
    return UCS_OK;
}

static void until_called(unsigned times)
{
    while (calls < times) {
        ucp_worker_progress(side.worker);
    }
    CHECK_EQ(calls, times);
}

static void renew(uint64_t seed)
{
    fill(source, LENGTH, seed);
    fill(head, sizeof(head), seed + 1);
    memcpy(expected_head, head, sizeof(head));
    memset(target, 0, LENGTH);
    calls = 0;
    answer = UCS_INPROGRESS;
    receives = replies = 0;
    head_length = 0;
}

static void within_the_handler(ucp_ep_h ep)
{
    static const size_t lengths[] = {0, 1, 100, 8192, 16384, LENGTH};
    unsigned i, how;
    void *send;

    for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); ++i) {
        for (how = 0; how < 4; ++how) {
            renew(i * 4 + how);
            receives = 1;
            replies = how & 1;
            head_length = (how & 2) ? sizeof(head) : 0;
            answer = (how & 1) ? UCS_OK : UCS_INPROGRESS;
            send = post(ep, lengths[i], ((how & 1) ? UCP_AM_SEND_FLAG_REPLY : 0) |
                                        ((how & 2) ? UCP_AM_SEND_FLAG_COPY_HEADER : 0));
            until_called(1);
            CHECK_OK(finish(inside));
            CHECK_OK(finish(send));
            CHECK(!memcmp(source, target, lengths[i]));
        }
    }
    OK("received within the handler, with headers and replies or without");
}

static void later(ucp_ep_h ep)
{
    ucp_request_param_t as_list = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = UCP_DATATYPE_IOV};
    ucp_dt_iov_t parts[PARTS];
    void *sends[MANY];
    unsigned i;

    renew(1);
    for (i = 0; i < MANY; ++i) {
        sends[i] = post(ep, LENGTH - i, 0);
        CHECK(UCS_PTR_IS_PTR(sends[i]));
    }
    until_called(MANY);
    for (i = MANY; i-- > 0;) {
        CHECK_EQ(ucp_request_check_status(sends[i]), UCS_INPROGRESS);
        CHECK_OK(finish(receive(kept[i], LENGTH - i)));
        CHECK_OK(finish(sends[i]));
        CHECK(!memcmp(source, target, LENGTH - i));
    }
    OK("%u messages received later, the last first", (unsigned)MANY);

    renew(2);
    for (i = 0; i < PARTS; ++i) {
        parts[i] = (ucp_dt_iov_t){target + i * LENGTH / PARTS, LENGTH / PARTS};
    }
    sends[0] = post(ep, LENGTH, 0);
    until_called(1);
    CHECK_OK(finish(ucp_am_recv_data_nbx(side.worker, kept[0], parts, PARTS, &as_list)));
    CHECK_OK(finish(sends[0]));
    CHECK(!memcmp(source, target, LENGTH));
    sends[0] = post(ep, LENGTH, 0);
    until_called(2);
    CHECK_EQ(finish(receive(kept[1], LENGTH / 2)), UCS_ERR_MESSAGE_TRUNCATED);
    CHECK_OK(finish(sends[0]));
    OK("received in parts, and one that is too long");
}

static void not_received(ucp_ep_h ep)
{
    void *send;

    renew(3);
    send = post(ep, LENGTH, 0);
    until_called(1);
    CHECK_EQ(ucp_request_check_status(send), UCS_INPROGRESS);
    ucp_am_data_release(side.worker, kept[0]);
    CHECK_OK(finish(send));
    answer = UCS_OK;
    CHECK_OK(finish(post(ep, LENGTH, 0)));
    answer = UCS_ERR_REJECTED;
    CHECK_EQ(finish(post(ep, LENGTH, 0)), UCS_ERR_REJECTED);
    OK("released, dropped, refused");
}

static void in_the_handler(ucp_ep_h ep)
{
    void *send;

    renew(4);
    echoes = replies = 1;
    send = post(ep, LENGTH, UCP_AM_SEND_FLAG_REPLY);
    until_called(2);
    CHECK_OK(finish(receive(kept[1], LENGTH)));
    CHECK_OK(finish(echo));
    CHECK(!memcmp(source, target, LENGTH));
    CHECK_EQ(ucp_request_check_status(send), UCS_INPROGRESS);
    memset(target, 0, LENGTH);
    CHECK_OK(finish(receive(kept[0], LENGTH)));
    CHECK_OK(finish(send));
    CHECK(!memcmp(source, target, LENGTH));
    OK("a send in the handler");
}

static void old_handler(ucp_ep_h ep)
{
    const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_AM_SEND_FLAG_EAGER};

    renew(5);
    CHECK_OK(finish(ucp_am_send_nbx(ep, OLD, NULL, 0, source, LENGTH, &param)));
    until_called(1);
    OK("a handler of the old kind");
}

int main(void)
{
    ucp_am_handler_param_t handler = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB,
                                      .id = ID,
                                      .cb = on_message};
    ucp_ep_h ep;

    side_open(&side, UCP_FEATURE_AM, UCS_THREAD_MODE_SINGLE);
    CHECK_OK(ucp_worker_set_am_recv_handler(side.worker, &handler));
    CHECK_OK(ucp_worker_set_am_handler(side.worker, OLD, on_old, NULL, 0));
    ep = side_connect(&side, side.address);
    within_the_handler(ep);
    later(ep);
    not_received(ep);
    in_the_handler(ep);
    old_handler(ep);
    CHECK_OK(side_disconnect(&side, &side, ep, 0));
    side_close(&side);
    return 0;
}
