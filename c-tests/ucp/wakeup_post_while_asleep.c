/* A thread makes progress and sleeps on the event descriptor when there is none to make; another thread posts
 * operations. An operation of any size that is posted during the sleep continues at once, not at the next keepalive
 * (20 s). */
/* env: UCX_LOG_LEVEL=error UCX_WARN_UNUSED_ENV_VARS=n UCX_NET_DEVICES=lo */
/* timeout: 120 */
#include <ucp/api/ucp.h>

#include "bytes.h"
#include "peers.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>

enum { TAG = 3, MOST = 16 << 20, PATIENCE_S = 8 };

typedef enum { BY_TAG, BY_STREAM } kind_t;

static const size_t sizes[] = {1, 8192, 65536, 1 << 20, MOST};
static side_t side;
static int events;
static volatile int asleep, stop;

static void *make_progress(void *arg)
{
    while (!stop) {
        struct pollfd p = {.fd = events, .events = POLLIN};

        if (ucp_worker_progress(side.worker) || (ucp_worker_arm(side.worker) != UCS_OK)) {
            continue;
        }
        asleep = 1;
        CHECK(poll(&p, 1, -1) == 1);
        asleep = 0;
    }
    return NULL;
}

static ucs_status_ptr_t post(kind_t kind, int send, ucp_ep_h ep, char *data, size_t length)
{
    static const ucp_request_param_t plain;
    static const ucp_request_param_t all = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_STREAM_RECV_FLAG_WAITALL};
    static size_t got;

    while (!asleep) {
        sched_yield();
    }
    if (kind == BY_TAG) {
        return send ? ucp_tag_send_nbx(ep, data, length, TAG, &plain)
                    : ucp_tag_recv_nbx(side.worker, data, length, TAG, UINT64_MAX, &plain);
    }
    return send ? ucp_stream_send_nbx(ep, data, length, &plain) : ucp_stream_recv_nbx(ep, data, length, &got, &all);
}

static void finish(ucs_status_ptr_t request)
{
    double begun = now();

    if (request == NULL) {
        return;
    }
    CHECK(!UCS_PTR_IS_ERR(request));
    while (ucp_request_check_status(request) == UCS_INPROGRESS) {
        CHECK(now() - begun < PATIENCE_S);
        sched_yield();
    }
    CHECK_OK(ucp_request_check_status(request));
    ucp_request_free(request);
}

static void run(const char *tls, const char *what)
{
    static char data[MOST];
    char theirs[ADDRESS_ROOM];
    unsigned kind, at;
    pthread_t thread;
    pair_t pair;
    ucp_ep_h ep;
    int child;

    setenv("UCX_TLS", tls, 1);
    pair = pair_start();
    child = pair_is_child(&pair);
    side_open(&side, UCP_FEATURE_TAG | UCP_FEATURE_STREAM | UCP_FEATURE_WAKEUP, UCS_THREAD_MODE_MULTI);
    side_swap_addresses(&side, &pair, theirs);
    ep = side_connect(&side, theirs);
    CHECK_OK(ucp_worker_get_efd(side.worker, &events));
    stop = asleep = 0;
    CHECK_EQ(pthread_create(&thread, NULL, make_progress, NULL), 0);
    for (kind = BY_TAG; kind <= BY_STREAM; ++kind) {
        for (at = 0; at < sizeof(sizes) / sizeof(sizes[0]); ++at) {
            if (!child) {
                fill(data, sizes[at], at);
                finish(post(kind, 1, ep, data, sizes[at]));
                memset(data, 0, sizes[at]);
            }
            finish(post(kind, 0, ep, data, sizes[at]));
            CHECK_PATTERN(data, sizes[at], at);
            if (child) {
                finish(post(kind, 1, ep, data, sizes[at]));
            }
        }
    }
    pair_barrier(&pair);
    stop = 1;
    CHECK_OK(ucp_worker_signal(side.worker));
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_OK(side_disconnect(&side, &side, ep, 0));
    side_meet(&side, &pair);
    side_close(&side);
    if (!child) {
        OK("%s%s", tls, what);
    }
    pair_finish(&pair);
}

int main(void)
{
    run("posix", "");
    run("sysv", "");
    run("tcp", "");
    run("all", "");
    /* The kernel takes most of what is posted at once. */
    setenv("UCX_TCP_SNDBUF", "8m", 1);
    run("tcp", ", long send buffer");
    return 0;
}
