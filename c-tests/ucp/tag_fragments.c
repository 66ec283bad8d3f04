/* Messages in many fragments: taken by a probe while they still arrive, and received before or after the last
 * fragment; synchronous ones, matched by the first fragment while the sender still has others to send. */
/* oracle: 1.13.1 1.22.0 */
/* env: UCX_RNDV_THRESH=inf UCX_WARN_UNUSED_ENV_VARS=n */
/* timeout: 60 */
#include <ucp/api/ucp.h>

#include "peers.h"

enum { LENGTH = 3000001, FEW = 20, MANY = 2000 };

static side_t a, b;
static ucp_ep_h ab;
static char out[LENGTH], in[LENGTH];

static void drive(unsigned rounds)
{
    while (rounds--) {
        ucp_worker_progress(a.worker);
        ucp_worker_progress(b.worker);
    }
}

static ucs_status_ptr_t start(int sync, ucp_tag_t tag)
{
    ucp_request_param_t plain = {.op_attr_mask = 0};

    fill(out, LENGTH, tag);
    memset(in, 0, LENGTH);
    return sync ? ucp_tag_send_sync_nbx(ab, out, LENGTH, tag, &plain) : ucp_tag_send_nbx(ab, out, LENGTH, tag, &plain);
}

/* `rounds` of progress lie between the probe that takes the message and its receive. */
static void probed(int sync, ucp_tag_t tag, unsigned rounds)
{
    ucp_request_param_t plain = {.op_attr_mask = 0};
    ucs_status_ptr_t s = start(sync, tag), r;
    ucp_tag_message_h message = NULL;
    ucp_tag_recv_info_t info;

    DRIVE_UNTIL(&a, &b, (message = ucp_tag_probe_nb(b.worker, tag, -1, 1, &info)) != NULL);
    CHECK_EQ(info.length, LENGTH);
    drive(rounds);
    if (sync) {
        CHECK_STATUS(ucp_request_check_status(s), UCS_INPROGRESS);
    }
    r = ucp_tag_msg_recv_nbx(b.worker, in, LENGTH, message, &plain);
    CHECK_OK(side_wait(&a, &b, r));
    CHECK_OK(side_wait(&a, &b, s));
    CHECK_PATTERN(in, LENGTH, tag);
}

/* The receive is there before the message, or comes `rounds` of progress after its first fragment. */
static void received(int sync, ucp_tag_t tag, int first, unsigned rounds)
{
    ucp_request_param_t plain = {.op_attr_mask = 0};
    ucs_status_ptr_t s, r = NULL;
    ucp_tag_recv_info_t info;

    if (first) {
        r = ucp_tag_recv_nbx(b.worker, in, LENGTH, tag, -1, &plain);
    }
    s = start(sync, tag);
    if (!first) {
        DRIVE_UNTIL(&a, &b, ucp_tag_probe_nb(b.worker, tag, -1, 0, &info) != NULL);
        drive(rounds);
        r = ucp_tag_recv_nbx(b.worker, in, LENGTH, tag, -1, &plain);
    }
    CHECK_OK(side_wait(&a, &b, r));
    CHECK_OK(side_wait(&a, &b, s));
    CHECK_PATTERN(in, LENGTH, tag);
}

static void run(const char *tls)
{
    int sync;

    setenv("UCX_TLS", tls, 1);
    side_open(&a, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    side_open(&b, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    ab = side_connect(&a, b.address);
    for (sync = 0; sync < 2; ++sync) {
        probed(sync, 1, 0);
        probed(sync, 2, FEW);
        probed(sync, 3, MANY);
        received(sync, 4, 1, 0);
        received(sync, 5, 0, 0);
        received(sync, 6, 0, FEW);
        received(sync, 7, 0, MANY);
    }
    CHECK_OK(side_disconnect(&a, &b, ab, 0));
    side_close(&b);
    side_close(&a);
    OK("%s", tls);
}

int main(void)
{
    run("posix");
    run("sysv");
    run("tcp");
    return 0;
}
