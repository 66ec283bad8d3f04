/* What the tracepoints are to tell: 10 messages of 8 bytes that are expected, 5 that are not, 3 of a mebibyte by
 * rendezvous, and an endpoint whose peer closes it by force. Run by tests/tracing. */
#include "peers.h"

enum { EXPECTED = 10, UNEXPECTED = 5, RENDEZVOUS = 3, LARGE = 1 << 20 };

static side_t one, two;
static char out[LARGE], in[LARGE];
static const ucp_request_param_t plain;

static void on_failure(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    *(int *)arg = 1;
}

static ucs_status_ptr_t receive(size_t length)
{
    return ucp_tag_recv_nbx(two.worker, in, length, 1, UINT64_MAX, &plain);
}

int main(void)
{
    int i, failed = 0;
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                                            UCP_EP_PARAM_FIELD_ERR_HANDLER,
                              .err_mode = UCP_ERR_HANDLING_MODE_PEER,
                              .err_handler = {on_failure, &failed}};
    ucp_tag_recv_info_t info;
    ucp_ep_h ep, back;
    ucs_status_ptr_t request;

    side_open(&one, UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
    side_open(&two, UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
    params.address = two.address;
    CHECK_OK(ucp_ep_create(one.worker, &params, &ep));
    params.address = one.address;
    CHECK_OK(ucp_ep_create(two.worker, &params, &back));
    for (i = 0; i < EXPECTED; ++i) {
        request = receive(8);
        CHECK_OK(side_wait(&one, &two, ucp_tag_send_nbx(ep, out, 8, 1, &plain)));
        CHECK_OK(side_wait(&one, &two, request));
    }
    for (i = 0; i < UNEXPECTED; ++i) {
        request = ucp_tag_send_nbx(ep, out, 8, 1, &plain);
        DRIVE_UNTIL(&one, &two, ucp_tag_probe_nb(two.worker, 1, UINT64_MAX, 0, &info) != NULL);
        CHECK_OK(side_wait(&one, &two, request));
        CHECK_OK(side_wait(&one, &two, receive(8)));
    }
    for (i = 0; i < RENDEZVOUS; ++i) {
        request = receive(LARGE);
        CHECK_OK(side_wait(&one, &two, ucp_tag_send_nbx(ep, out, LARGE, 1, &plain)));
        CHECK_OK(side_wait(&one, &two, request));
    }
    CHECK_OK(side_disconnect(&one, &two, back, UCP_EP_CLOSE_FLAG_FORCE));
    DRIVE_UNTIL(&one, &two, failed);
    side_disconnect(&one, &two, ep, UCP_EP_CLOSE_FLAG_FORCE);
    side_close(&one);
    side_close(&two);
    OK("messages");
    return 0;
}
