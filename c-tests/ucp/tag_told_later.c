/* The callback of a tagged receive with UCP_OP_ATTR_FLAG_NO_IMM_CMPL never runs within the call, also when the message is
 * here: MPICH (4.1 to 5.0) notes the other half of a receive from any source after the call, and waits forever for one that
 * has ended before. Upstream calls it within the call, so it is no oracle. */
#include "peers.h"

enum { SMALL = 8, LARGE = 5000, TAG = 7 };

static two_t two;
static unsigned calls;
static ucs_status_t ended;
static ucp_tag_recv_info_t told;

static void received(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info, void *arg)
{
    CHECK(arg == &calls);
    ended = status;
    told = *info;
    ++calls;
}

static char out[LARGE], in[LARGE];

static void *receive(size_t room, uint32_t flags)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | flags,
                                 .cb.recv = received,
                                 .user_data = &calls};

    calls = 0;
    memset(in, 0, sizeof(in));
    return ucp_tag_recv_nbx(two.worker[1], in, room, TAG, -1, &param);
}

static void arrives(size_t length)
{
    ucp_request_param_t plain = {.op_attr_mask = 0};
    ucp_tag_recv_info_t info;

    CHECK_OK(two_wait(&two, ucp_tag_send_nbx(two.ep[0], out, length, TAG, &plain)));
    TWO_UNTIL(&two, ucp_tag_probe_nb(two.worker[1], TAG, -1, 0, &info) != NULL);
}

static void ends_later(size_t length, size_t room, ucs_status_t expected)
{
    void *request;

    arrives(length);
    request = receive(room, UCP_OP_ATTR_FLAG_NO_IMM_CMPL);
    CHECK(UCS_PTR_IS_PTR(request));
    CHECK_EQ(calls, 0);
    CHECK_EQ(ucp_request_check_status(request), UCS_INPROGRESS);
    /* it has its message, so it cannot be taken back */
    ucp_request_cancel(two.worker[1], request);
    CHECK_EQ(calls, 0);
    CHECK_EQ(ucp_worker_progress(two.worker[1]) > 0, 1);
    CHECK_EQ(calls, 1);
    CHECK_STATUS(ended, expected);
    CHECK_STATUS(ucp_request_check_status(request), expected);
    CHECK_EQ(told.sender_tag, TAG);
    if (expected == UCS_OK) {
        CHECK_EQ(told.length, length);
        CHECK(memcmp(in, out, length) == 0);
    }
    ucp_request_free(request);
}

int main(void)
{
    void *request[2];

    memset(out, 'x', sizeof(out));
    two_open(&two, UCP_FEATURE_TAG, 0);
    ends_later(SMALL, LARGE, UCS_OK);
    ends_later(LARGE, LARGE, UCS_OK);
    ends_later(LARGE, SMALL, UCS_ERR_MESSAGE_TRUNCATED);

    /* freed before it is told: it is told nevertheless */
    arrives(SMALL);
    request[0] = receive(LARGE, UCP_OP_ATTR_FLAG_NO_IMM_CMPL);
    ucp_request_free(request[0]);
    ucp_worker_progress(two.worker[1]);
    CHECK_EQ(calls, 1);

    /* who does not refuse gets no request and no call */
    arrives(SMALL);
    CHECK(receive(LARGE, 0) == NULL);
    CHECK_EQ(calls, 0);

    /* the worker's end tells what is left */
    arrives(SMALL);
    request[0] = receive(LARGE, UCP_OP_ATTR_FLAG_NO_IMM_CMPL);
    ucp_request_free(request[0]);
    two_close_workers(&two);
    CHECK_EQ(calls, 1);
    CHECK_STATUS(ended, UCS_OK);
    OK("tag_told_later");
    return 0;
}
