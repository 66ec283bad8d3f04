/* A close by force while the transport still has bytes to take from the program's buffers, since the peer does not
 * read: everything of the endpoint has ended when the close has, and the buffers are the program's again. What
 * the peer gets afterwards is whole messages, in order. */
/* env: UCX_TLS=tcp UCX_NET_DEVICES=lo UCX_RNDV_THRESH=inf UCX_ZCOPY_THRESH=4k UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n */
/* timeout: 60 */
#include <ucp/api/ucp.h>

#include "failure.h"

enum { LENGTH = 60000, MOST = 512, LAST = MOST, MANY = 128 };

static side_t side[2];
static failure_t failure;
static ucs_status_ptr_t sends[MOST];
static unsigned char buffers[MOST][LENGTH], got[LENGTH];
static const ucp_request_param_t plain;

/* The tag of the next message; its bytes are in `got`. */
static ucp_tag_t receive_next(void)
{
    ucp_tag_message_h message;
    ucp_tag_recv_info_t info;

    DRIVE_UNTIL(&side[0], &side[1], (message = ucp_tag_probe_nb(side[1].worker, 0, 0, 1, &info)) != NULL);
    CHECK_OK(side_wait(&side[0], &side[1], ucp_tag_msg_recv_nbx(side[1].worker, got, LENGTH, message, &plain)));
    CHECK_EQ(info.length, info.sender_tag == LAST ? 1 : LENGTH);
    return info.sender_tag;
}

int main(void)
{
    unsigned count, delivered, waiting = 0, i;
    ucs_status_ptr_t closed;
    ucp_request_param_t force = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_EP_CLOSE_FLAG_FORCE};
    ucp_tag_t tag;
    ucp_ep_h ep;

    for (i = 0; i < 2; ++i) {
        side_open(&side[i], UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
    }
    ep = connect_watched(&side[0], side[1].address, &failure);
    CHECK_OK(side_wait(&side[0], &side[1], ucp_tag_send_nbx(ep, got, 1, LAST, &plain)));
    CHECK_EQ(receive_next(), LAST);
    /* The peer does not read from here on: the kernel's buffers fill. */
    for (count = 0; (count < MOST) && (waiting < MANY); ++count) {
        fill(buffers[count], LENGTH, count);
        sends[count] = ucp_tag_send_nbx(ep, buffers[count], LENGTH, count, &plain);
        ucp_worker_progress(side[0].worker);
        waiting += !has_ended(sends[count]);
    }
    CHECK_EQ(waiting, MANY);
    closed = ucp_ep_close_nbx(ep, &force);
    while (!has_ended(closed)) {
        ucp_worker_progress(side[0].worker);
    }
    drop(closed);
    for (i = delivered = 0; i < count; ++i) {
        CHECK(has_ended(sends[i]));
        delivered += !strcmp(outcome(sends[i]), ucs_status_string(UCS_OK));
        drop(sends[i]);
        memset(buffers[i], 0xee, LENGTH);
    }
    OK("nothing is under way");

    /* The way to the same peer is the same connection. */
    ep = connect_watched(&side[0], side[1].address, &failure);
    CHECK_OK(side_wait(&side[0], &side[1], ucp_tag_send_nbx(ep, got, 1, LAST, &plain)));
    for (i = 0; (tag = receive_next()) != LAST; ++i) {
        CHECK_EQ(tag, i);
        CHECK_PATTERN(got, LENGTH, i);
    }
    CHECK(i >= delivered);
    OK("whole messages");

    CHECK_OK(side_disconnect(&side[0], &side[1], ep, 0));
    for (i = 0; i < 2; ++i) {
        side_close(&side[i]);
    }
    return 0;
}
