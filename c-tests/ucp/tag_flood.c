/* One receive at a time from a sender that is far ahead: progress brings in what was asked for and leaves the rest with the
 * sender, so that the messages that nobody has asked for yet stay few, however many are sent. */
#include "peers.h"

enum { MESSAGES = 20, BYTES = 8, TAG = 7, OTHER = 8 };

static two_t two;
static char out[BYTES], in[BYTES];

static void send_all(ucp_tag_t tag, unsigned count)
{
    ucp_request_param_t plain = {.op_attr_mask = 0};
    unsigned i;

    for (i = 0; i < count; ++i) {
        CHECK(ucp_tag_send_nbx(two.ep[0], out, BYTES, tag, &plain) == NULL);
    }
}

static int is_here(ucp_tag_t tag)
{
    ucp_tag_recv_info_t info;

    return ucp_tag_probe_nb(two.worker[1], tag, -1, 0, &info) != NULL;
}

static void received(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info, void *arg)
{
    CHECK_OK(status);
    CHECK_EQ(info->length, BYTES);
    ++*(unsigned *)arg;
}

/* As Open MPI receives: the end is told by the callback. */
static void receive(ucp_tag_t tag)
{
    unsigned done = 0;
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
                                                 UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
                                 .cb.recv = received,
                                 .user_data = &done};
    void *request = ucp_tag_recv_nbx(two.worker[1], in, BYTES, tag, -1, &param);

    CHECK(UCS_PTR_IS_PTR(request));
    while (!done) {
        ucp_worker_progress(two.worker[1]);
    }
    ucp_request_free(request);
}

int main(void)
{
    unsigned i;

    setenv("UCX_TLS", "posix", 1);
    two_open(&two, UCP_FEATURE_TAG, 0);
    send_all(OTHER, 1);
    TWO_UNTIL(&two, is_here(OTHER));
    receive(OTHER);

    /* a receive that waits gets the first message, and those behind it are not taken out */
    send_all(TAG, MESSAGES);
    for (i = 0; i < MESSAGES; ++i) {
        receive(TAG);
        CHECK(!is_here(TAG));
    }

    /* one whose message is here ends without any other being taken out */
    send_all(TAG, 1);
    TWO_UNTIL(&two, is_here(TAG));
    send_all(OTHER, 1);
    receive(TAG);
    CHECK(!is_here(OTHER));
    TWO_UNTIL(&two, is_here(OTHER));
    receive(OTHER);

    two_close(&two);
    OK("tag_flood");
    return 0;
}
