/* Callbacks of stream receives that post receives, poll for ready streams and close: a receive that completes within
 * such a call has the right length, and a poll does not return an endpoint that is being closed. */
#include <ucp/api/ucp.h>

#include "failure.h"

enum { FIRST = 185, SECOND = 48, THIRD = 20, ALL = FIRST + SECOND + THIRD + 7 };

static side_t side[2];
static failure_t failure[2];
static ucp_ep_h ep[2];
static char source[ALL], target[ALL];
static unsigned ended;

static void on_count(void *request, ucs_status_t status, size_t length, void *user_data)
{
    CHECK_OK(status);
    CHECK_EQ(length, *(size_t *)user_data);
    ++ended;
}

/* The third receive is posted behind the second, and both have their bytes at once. */
static void on_first(void *request, ucs_status_t status, size_t length, void *user_data)
{
    static size_t wanted = THIRD;
    size_t got = -1;
    ucp_request_param_t param;
    ucs_status_ptr_t third;

    CHECK_OK(status);
    CHECK_EQ(length, FIRST);
    ++ended;
    param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    param.cb.recv_stream = on_count;
    param.user_data = &wanted;
    third = ucp_stream_recv_nbx(ep[1], target + FIRST + SECOND, THIRD, &got, &param);
    if (third == NULL) {
        CHECK_EQ(got, THIRD);
        ++ended;
    } else {
        CHECK(UCS_PTR_IS_PTR(third));
        ucp_request_free(third);
    }
}

static void receives_on(void)
{
    static size_t second = SECOND;
    static const ucp_request_param_t plain;
    ucp_request_param_t param;
    ucs_status_ptr_t requests[2];
    size_t length;

    param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    param.cb.recv_stream = on_first;
    param.user_data = NULL;
    requests[0] = ucp_stream_recv_nbx(ep[1], target, FIRST, &length, &param);
    param.cb.recv_stream = on_count;
    param.user_data = &second;
    requests[1] = ucp_stream_recv_nbx(ep[1], target + FIRST, SECOND, &length, &param);
    CHECK(UCS_PTR_IS_PTR(requests[0]) && UCS_PTR_IS_PTR(requests[1]));
    fill(source, ALL, 1);
    CHECK_OK(side_wait(&side[0], &side[1], ucp_stream_send_nbx(ep[0], source, ALL, &plain)));
    DRIVE_UNTIL(&side[0], &side[1], ended == 3);
    CHECK_PATTERN(target, FIRST + SECOND + THIRD, 1);
    ucp_request_free(requests[0]);
    ucp_request_free(requests[1]);
    OK("receive in a callback");
}

static void polls(void *request, ucs_status_t status, void *user_data)
{
    ucp_stream_poll_ep_t ready;

    CHECK_STATUS(status, UCS_ERR_CANCELED);
    CHECK_EQ(ucp_stream_worker_poll(side[1].worker, &ready, 1, 0), 0);
    ++ended;
}

/* Bytes stand at the endpoint that is closed, and a message of it is broken off by that. */
static void polls_while_closing(void)
{
    enum { LARGE = 1 << 20 };
    char *large = calloc(1, LARGE);
    ucp_stream_poll_ep_t ready;
    ucp_request_param_t param;
    ucs_status_ptr_t send;

    param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK;
    param.cb.send = polls;
    send = ucp_tag_send_sync_nbx(ep[1], large, LARGE, 1, &param);
    CHECK(UCS_PTR_IS_PTR(send));
    CHECK_EQ(ucp_stream_worker_poll(side[1].worker, &ready, 1, 0), 1);
    CHECK(ready.ep == ep[1]);
    /* What came later is listed anew. */
    param.op_attr_mask = 0;
    CHECK_OK(side_wait(&side[0], &side[1], ucp_stream_send_nbx(ep[0], source, ALL, &param)));
    DRIVE_UNTIL(&side[0], &side[1], ucp_stream_worker_poll(side[1].worker, &ready, 1, 0) == 1);
    CHECK_OK(side_wait(&side[0], &side[1], ucp_stream_send_nbx(ep[0], source, ALL, &param)));
    while (ucp_worker_progress(side[1].worker) == 0) {
    }
    ended = 0;
    CHECK_OK(side_disconnect(&side[0], &side[1], ep[1], UCP_EP_CLOSE_FLAG_FORCE));
    CHECK_EQ(ended, 1);
    ucp_request_free(send);
    free(large);
    OK("poll while an endpoint closes");
}

int main(void)
{
    int i;

    for (i = 0; i < 2; ++i) {
        side_open(&side[i], UCP_FEATURE_STREAM | UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
    }
    for (i = 0; i < 2; ++i) {
        ep[i] = connect_watched(&side[i], side[!i].address, &failure[i]);
    }
    receives_on();
    polls_while_closing();
    CHECK_OK(side_disconnect(&side[0], &side[1], ep[0], UCP_EP_CLOSE_FLAG_FORCE));
    for (i = 0; i < 2; ++i) {
        side_close(&side[i]);
    }
    return 0;
}
