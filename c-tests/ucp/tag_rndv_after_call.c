/* A receive that finds the announcement of a long message returns a request that has not ended, and calls back later:
 * MPICH writes into the request after the call. */
/* oracle: 1.13.1 1.22.0 */
#include "peers.h"

enum { LENGTH = 1 << 20, TAG = 7 };

static two_t two;
static unsigned calls;

static void received(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info, void *arg)
{
    CHECK_OK(status);
    CHECK_EQ(info->length, LENGTH);
    CHECK_EQ(info->sender_tag, TAG);
    CHECK(arg == &calls);
    ++calls;
}

static void once(uint32_t flag, int by_probe)
{
    ucp_request_param_t plain = {.op_attr_mask = 0};
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | flag,
                                 .cb.recv = received,
                                 .user_data = &calls};
    char *out = malloc(LENGTH), *in = calloc(1, LENGTH);
    ucp_tag_message_h message = NULL;
    ucp_tag_recv_info_t info;
    void *send, *receive;

    memset(out, 'x', LENGTH);
    calls = 0;
    send = ucp_tag_send_nbx(two.ep[0], out, LENGTH, TAG, &plain);
    CHECK(UCS_PTR_IS_PTR(send));
    TWO_UNTIL(&two, (message = ucp_tag_probe_nb(two.worker[1], TAG, -1, by_probe, &info)) != NULL);
    receive = by_probe ? ucp_tag_msg_recv_nbx(two.worker[1], in, LENGTH, message, &param) :
                         ucp_tag_recv_nbx(two.worker[1], in, LENGTH, TAG, -1, &param);
    CHECK(UCS_PTR_IS_PTR(receive));
    CHECK_EQ(calls, 0);
    CHECK_EQ(ucp_request_check_status(receive), UCS_INPROGRESS);
    TWO_UNTIL(&two, calls > 0);
    CHECK_EQ(calls, 1);
    ucp_request_free(receive);
    CHECK_OK(two_wait(&two, send));
    CHECK(memcmp(in, out, LENGTH) == 0);
    free(out);
    free(in);
}

int main(void)
{
    int by_probe;

    two_open(&two, UCP_FEATURE_TAG, 0);
    for (by_probe = 0; by_probe < 2; ++by_probe) {
        once(0, by_probe);
        once(UCP_OP_ATTR_FLAG_NO_IMM_CMPL, by_probe);
    }
    two_close(&two);
    OK("tag_rndv_after_call");
    return 0;
}
