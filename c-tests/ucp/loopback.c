/* Client and server are one worker: what an endpoint sends is received within the call and answered by the other
 * endpoint. Every kind of message that has an answer, each way, received early and late, many under way at once. */
/* oracle: 1.22.0 */
/* env: UCX_LOG_LEVEL=error UCX_WARN_UNUSED_ENV_VARS=n */
#include <ucp/api/ucp.h>

#include "listener.h"

enum { LONGEST = 300000, TOGETHER = 50 };

static const ucp_request_param_t plain;
static const size_t lengths[] = {1, 1000, 8192, LONGEST};
static side_t side;
static ucp_conn_request_h arrived;
static char source[LONGEST], target[TOGETHER][LONGEST];

static void on_request(ucp_conn_request_h request, void *arg)
{
    arrived = request;
}

static void wait_for(ucs_status_ptr_t request)
{
    CHECK_OK(side_wait(&side, &side, request));
}

static ucs_status_ptr_t post(ucp_ep_h ep, size_t length, int sync)
{
    return sync ? ucp_tag_send_sync_nbx(ep, source, length, 7, &plain) :
                  ucp_tag_send_nbx(ep, source, length, 7, &plain);
}

static void messages(ucp_ep_h ep, size_t length, int sync, int early)
{
    ucs_status_ptr_t sent[TOGETHER], received[TOGETHER];
    int i;

    for (i = 0; early && i < TOGETHER; ++i) {
        received[i] = ucp_tag_recv_nbx(side.worker, target[i], length, 7, -1, &plain);
    }
    for (i = 0; i < TOGETHER; ++i) {
        sent[i] = post(ep, length, sync);
    }
    for (i = 0; !early && i < TOGETHER; ++i) {
        received[i] = ucp_tag_recv_nbx(side.worker, target[i], length, 7, -1, &plain);
    }
    for (i = 0; i < TOGETHER; ++i) {
        wait_for(received[i]);
        wait_for(sent[i]);
        CHECK(!memcmp(source, target[i], length));
        memset(target[i], 0, length);
    }
}

int main(void)
{
    struct sockaddr_storage at;
    ucp_listener_h listener;
    failure_t failure[2];
    ucp_ep_h ep[2];
    unsigned i, n;

    for (i = 0; i < LONGEST; ++i) {
        source[i] = (char)(i * 5 + i / 256);
    }
    side_open(&side, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    listener = listen_at(&side, AF_INET, on_request, &at);
    ep[0] = connect_client(&side, &at, 0, &failure[0]);
    DRIVE_UNTIL(&side, &side, arrived);
    ep[1] = accept_client(&side, arrived, &failure[1]);
    OK("connected");

    for (n = 0; n < sizeof(lengths) / sizeof(*lengths); ++n) {
        for (i = 0; i < 8; ++i) {
            messages(ep[i & 1], lengths[n], i & 2, i & 4);
        }
    }
    OK("messages");

    for (i = 0; i < 2; ++i) {
        wait_for(ucp_ep_flush_nbx(ep[i], &plain));
    }
    OK("flushed");

    for (i = 0; i < 2; ++i) {
        ucs_status_ptr_t closing = ucp_ep_close_nbx(ep[i], &plain);

        DRIVE_UNTIL(&side, &side, has_ended(closing));
        drop(closing);
    }
    ucp_listener_destroy(listener);
    side_close(&side);
    OK("closed");
    return 0;
}
