/* Bytes that arrive before the receiver creates its endpoint are there afterwards. A receive that is canceled, or
 * whose endpoint is closed, completes; bytes that no receive took stay for the next. */
#include "peers.h"

static two_t two;
static char target[64];
static unsigned ended;
static ucs_status_t ended_status;

static void on_end(void *request, ucs_status_t status, size_t length, void *user_data)
{
    ended++;
    ended_status = status;
}

static void *receive(ucp_ep_h ep, size_t length)
{
    static size_t out;
    ucp_request_param_t param;

    param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_FLAGS;
    param.cb.recv_stream = on_end;
    param.flags = UCP_STREAM_RECV_FLAG_WAITALL;
    return ucp_stream_recv_nbx(ep, target, length, &out, &param);
}

static void send_bytes(const char *bytes, size_t length)
{
    ucp_request_param_t param;

    param.op_attr_mask = 0;
    CHECK_OK(two_wait(&two, ucp_stream_send_nbx(two.ep[0], bytes, length, &param)));
}

/* Takes what stands first in the stream without a copy. */
static void take(const char *expected)
{
    size_t length;
    void *data;

    TWO_UNTIL(&two, (data = ucp_stream_recv_data_nb(two.ep[1], &length)) != NULL);
    CHECK(!UCS_PTR_IS_ERR(data));
    CHECK_EQ(length, strlen(expected));
    CHECK(!memcmp(data, expected, length));
    ucp_stream_data_release(two.ep[1], data);
}

int main(void)
{
    ucp_stream_poll_ep_t ready;
    ucp_request_param_t param;
    void *requests[3], *close;
    int i;

    two_open_workers(&two, UCP_FEATURE_STREAM, 1);
    two.ep[0] = two_connect(&two, 0, 1);
    send_bytes("early", 5);
    for (i = 0; i < 1000; ++i) {
        two_progress(&two);
        CHECK_EQ(ucp_stream_worker_poll(two.worker[1], &ready, 1, 0), 0);
    }
    two.ep[1] = two_connect(&two, 1, 0);
    TWO_UNTIL(&two, ucp_stream_worker_poll(two.worker[1], &ready, 1, 0) == 1);
    CHECK(ready.ep == two.ep[1]);
    CHECK(receive(two.ep[1], 5) == NULL);
    CHECK(!memcmp(target, "early", 5));
    OK("sent early");

    send_bytes("one", 3);
    send_bytes("second", 6);
    take("one");
    take("second");
    OK("bytes that are lent are of one message");

    for (i = 0; i < 3; ++i) {
        requests[i] = receive(two.ep[1], 4);
        CHECK(UCS_PTR_IS_PTR(requests[i]));
    }
    ucp_request_cancel(two.worker[1], requests[1]);
    TWO_UNTIL(&two, ended == 1);
    CHECK_EQ(ended_status, UCS_ERR_CANCELED);
    send_bytes("12345678", 8);
    TWO_UNTIL(&two, ended == 3);
    CHECK_OK(ended_status);
    CHECK_STATUS(ucp_request_check_status(requests[1]), UCS_ERR_CANCELED);
    for (i = 0; i < 3; ++i) {
        ucp_request_free(requests[i]);
    }
    CHECK(!memcmp(target, "5678", 4));
    OK("cancelled between two others");

    requests[0] = receive(two.ep[1], 4);
    requests[1] = receive(two.ep[1], 4);
    send_bytes("ab", 2);
    for (i = 0; i < 1000; ++i) {
        two_progress(&two);
    }
    param.op_attr_mask = 0;
    close = ucp_ep_close_nbx(two.ep[1], &param);
    CHECK_OK(two_wait(&two, close));
    CHECK_EQ(ended, 5);
    CHECK(ended_status != UCS_OK);
    ucp_request_free(requests[0]);
    ucp_request_free(requests[1]);
    OK("ended by the close of the endpoint");

    two_close_workers(&two);
    OK("closed");
    return 0;
}
