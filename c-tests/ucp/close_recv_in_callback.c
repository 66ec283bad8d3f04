/* A close by force ends a request, and the callback of that receives a message whose RTS has come: the
 * endpoint on its way out does not fetch it, another does, and the sender learns of it. */
/* env: UCX_RNDV_THRESH=1 UCX_LOG_LEVEL=error */
#include <ucp/api/ucp.h>

#include "failure.h"

enum { LENGTH = 1 << 20, TAG = 7 };

static const ucp_request_param_t plain;
static side_t a, b;
static char out[LENGTH], in[LENGTH];
static ucs_status_ptr_t receive;

static void on_broken_off(void *request, ucs_status_t status, void *user_data)
{
    CHECK_STATUS(status, UCS_ERR_CANCELED);
    receive = ucp_tag_recv_nbx(b.worker, in, LENGTH, TAG, -1, &plain);
}

static void run(const char *tls)
{
    ucp_request_param_t notice = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK, .cb.send = on_broken_off};
    ucp_tag_recv_info_t info;
    ucs_status_ptr_t send, broken_off;
    failure_t failure;
    ucp_ep_h ab, ba;

    setenv("UCX_TLS", tls, 1);
    side_open(&a, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    side_open(&b, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    ab = side_connect(&a, b.address);
    ba = connect_watched(&b, a.address, &failure);
    fill(out, LENGTH, 1);
    memset(in, 0, LENGTH);
    send = ucp_tag_send_nbx(ab, out, LENGTH, TAG, &plain);
    DRIVE_UNTIL(&a, &b, ucp_tag_probe_nb(b.worker, TAG, -1, 0, &info) != NULL);
    broken_off = ucp_tag_send_sync_nbx(ba, out, 1, TAG, &notice);
    CHECK(UCS_PTR_IS_PTR(send) && UCS_PTR_IS_PTR(broken_off));

    CHECK_OK(side_disconnect(&b, &b, ba, UCP_EP_CLOSE_FLAG_FORCE));
    CHECK_STATUS(side_wait(&a, &b, broken_off), UCS_ERR_CANCELED);
    CHECK_OK(side_wait(&a, &b, receive));
    CHECK_OK(side_wait(&a, &b, send));
    CHECK_PATTERN(in, LENGTH, 1);
    CHECK_OK(side_disconnect(&a, &b, ab, 0));
    side_close(&b);
    side_close(&a);
    OK("%s", tls);
}

int main(void)
{
    run("posix");
    run("tcp");
    return 0;
}
