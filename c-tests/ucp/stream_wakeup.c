/* Several messages of a stream arrive before a receive. A receiver that takes one after the other and sleeps when
 * there is none is woken for those that the transport still held. */
/* env: UCX_LOG_LEVEL=error UCX_WARN_UNUSED_ENV_VARS=n UCX_NET_DEVICES=lo */
#include <ucp/api/ucp.h>

#include "bytes.h"
#include "peers.h"

#include <poll.h>

enum { LENGTH = 4096, COUNT = 12, ALL = LENGTH * COUNT, PATIENCE_MS = 10000 };

static const ucp_request_param_t plain;

static void send_all(side_t *side, const pair_t *pair, ucp_ep_h ep)
{
    static char data[ALL];
    unsigned i;
    char sent = 1;

    fill(data, ALL, 0);
    for (i = 0; i < COUNT; ++i) {
        CHECK_OK(side_wait(side, side, ucp_stream_send_nbx(ep, data + i * LENGTH, LENGTH, &plain)));
    }
    pair_send(pair, &sent, 1);
}

/* Copies what stands in the stream; how many bytes. */
static size_t take(ucp_ep_h ep, char *to, size_t room)
{
    size_t length;
    void *data = ucp_stream_recv_data_nb(ep, &length);

    CHECK(!UCS_PTR_IS_ERR(data));
    if (data == NULL) {
        return 0;
    }
    CHECK(length <= room);
    memcpy(to, data, length);
    ucp_stream_data_release(ep, data);
    return length;
}

static void receive_all(side_t *side, const pair_t *pair, ucp_ep_h ep)
{
    static char data[ALL];
    struct pollfd p = {.events = POLLIN};
    size_t got = 0, early;
    char sent;

    CHECK_OK(ucp_worker_get_efd(side->worker, &p.fd));
    pair_recv(pair, &sent, 1);
    /* What came while the two met. */
    while ((early = take(ep, data + got, ALL - got)) > 0) {
        got += early;
    }
    for (;;) {
        ucs_status_t status;

        /* One progress and one look at a time, as of one who has other things to do. */
        ucp_worker_progress(side->worker);
        got += take(ep, data + got, ALL - got);
        if (got == ALL) {
            break;
        }
        status = ucp_worker_arm(side->worker);
        if (status == UCS_OK) {
            CHECK_EQ(poll(&p, 1, PATIENCE_MS), 1);
        } else {
            CHECK_EQ(status, UCS_ERR_BUSY);
        }
    }
    CHECK_PATTERN(data, ALL, 0);
    /* Nothing is left: who sleeps now is not told otherwise for long. */
    while (ucp_worker_progress(side->worker) || (ucp_worker_arm(side->worker) == UCS_ERR_BUSY)) {
    }
}

static void run(const char *tls)
{
    char theirs[ADDRESS_ROOM];
    pair_t pair;
    side_t side;
    ucp_ep_h ep;
    char byte;

    setenv("UCX_TLS", tls, 1);
    pair = pair_start();
    side_open(&side, UCP_FEATURE_STREAM | UCP_FEATURE_WAKEUP, UCS_THREAD_MODE_SINGLE);
    side_swap_addresses(&side, &pair, theirs);
    ep = side_connect(&side, theirs);
    /* Both know each other. */
    CHECK_OK(side_wait(&side, &side, ucp_stream_send_nbx(ep, "", 1, &plain)));
    while (take(ep, &byte, 1) == 0) {
        ucp_worker_progress(side.worker);
    }
    side_meet(&side, &pair);
    if (pair_is_child(&pair)) {
        send_all(&side, &pair, ep);
    } else {
        receive_all(&side, &pair, ep);
    }
    side_meet(&side, &pair);
    CHECK_OK(side_disconnect(&side, &side, ep, 0));
    side_close(&side);
    if (!pair_is_child(&pair)) {
        OK("%s", tls);
    }
    pair_finish(&pair);
}

int main(void)
{
    run("tcp");
    run("posix");
    run("sysv");
    run("all");
    return 0;
}
