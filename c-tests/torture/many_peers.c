/* One worker and TORTURE_COUNT peers over tcp on one host, all at a time: each sends its address, is answered over the
 * connection there is, and both directions carry a larger message. One descriptor a peer, and memory back when they went. */
/* env: UCX_LOG_LEVEL=error UCX_WARN_UNUSED_ENV_VARS=n UCX_TLS=tcp UCX_NET_DEVICES=lo */
#include <ucp/api/ucp.h>

#include "peers.h"
#include "torture.h"

#include <sys/resource.h>

/* Peers of one process. */
enum { CROWD = 125, LARGE = 20000, ASK = 1, ANSWER = 2, SPARE = 8 };

typedef struct {
    ucp_worker_h worker;
    ucp_ep_h ep;
    char word;
    ucs_status_ptr_t pending[3];
} peer_t;

static const ucp_request_param_t plain;
static char out[LARGE];

/* Many workers that ask the one at `address`. */
static void crowd(const pair_t *pair, unsigned count)
{
    static peer_t peers[CROWD];
    static char in[CROWD][LARGE], asks[CROWD][ADDRESS_ROOM], address[ADDRESS_ROOM];
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG};
    ucp_worker_params_t worker_params = {.field_mask = 0};
    ucp_ep_params_t ep_params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS, .address = (ucp_address_t *)address};
    ucp_address_t *own;
    ucp_context_h context;
    unsigned i, k, left;
    size_t length;

    pair_recv(pair, address, sizeof(address));
    CHECK_OK(ucp_init(&params, NULL, &context));
    for (i = 0; i < count; ++i) {
        peer_t *peer = &peers[i];
        CHECK_OK(ucp_worker_create(context, &worker_params, &peer->worker));
        CHECK_OK(ucp_worker_get_address(peer->worker, &own, &length));
        CHECK(length <= ADDRESS_ROOM);
        memcpy(asks[i], own, length);
        ucp_worker_release_address(peer->worker, own);
        CHECK_OK(ucp_ep_create(peer->worker, &ep_params, &peer->ep));
        peer->pending[0] = ucp_tag_recv_nbx(peer->worker, in[i], LARGE, ANSWER, -1, &plain);
        peer->pending[1] = ucp_tag_send_nbx(peer->ep, asks[i], ADDRESS_ROOM, ASK, &plain);
        peer->pending[2] = ucp_tag_send_nbx(peer->ep, out, LARGE, ANSWER, &plain);
    }
    do {
        for (i = left = 0; i < count; ++i) {
            ucp_worker_progress(peers[i].worker);
            for (k = 0; k < 3; ++k) {
                CHECK(!UCS_PTR_IS_ERR(peers[i].pending[k]));
                left += (peers[i].pending[k] != NULL) &&
                        (ucp_request_check_status(peers[i].pending[k]) == UCS_INPROGRESS);
            }
        }
    } while (left > 0);
    for (i = 0; i < count; ++i) {
        for (k = 0; k < 3; ++k) {
            request_finish(peers[i].worker, peers[i].pending[k]);
        }
        CHECK(memcmp(in[i], out, LARGE) == 0);
    }
    pair_barrier(pair);
    for (i = 0; i < count; ++i) {
        peers[i].pending[0] = ucp_ep_close_nbx(peers[i].ep, &plain);
    }
    for (i = 0; i < count; ++i) {
        request_finish(peers[i].worker, peers[i].pending[0]);
        ucp_worker_destroy(peers[i].worker);
    }
    ucp_cleanup(context);
}

/* Receives a message while everything goes on. */
static void take(side_t *side, void *buffer, size_t length, ucp_tag_t tag)
{
    request_finish(side->worker, ucp_tag_recv_nbx(side->worker, buffer, length, tag, -1, &plain));
}

int main(void)
{
    unsigned count = torture_count(200), crowds = (count + CROWD - 1) / CROWD, i;
    pair_t *pairs = calloc(crowds, sizeof(*pairs));
    ucp_ep_h *eps = calloc(count, sizeof(*eps));
    char ask[ADDRESS_ROOM], in[LARGE];
    ucs_status_ptr_t sent;
    struct rlimit limit;
    int before, during;
    double start;
    side_t side;
    long memory;

    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = limit.rlim_max;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    if (limit.rlim_cur < count + 100) {
        SKIP("%u peers need as many descriptors, and the limit is %lu", count, (unsigned long)limit.rlim_cur);
    }
    fill(out, LARGE, 3);
    alarm(60 + count / 5);
    for (i = 0; i < crowds; ++i) {
        pairs[i] = pair_start();
        if (pair_is_child(&pairs[i])) {
            alarm(60 + count / 5);
            crowd(&pairs[i], (i + 1 < crowds) ? CROWD : count - i * CROWD);
            pair_finish(&pairs[i]);
        }
    }
    side_open(&side, UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
    before = open_descriptors();
    memory = resident_kb();
    start = seconds();
    memset(ask, 0, sizeof(ask));
    memcpy(ask, side.address, side.address_length);
    for (i = 0; i < crowds; ++i) {
        pair_send(&pairs[i], ask, sizeof(ask));
    }
    for (i = 0; i < count; ++i) {
        take(&side, ask, sizeof(ask), ASK);
        eps[i] = side_connect(&side, ask);
        sent = ucp_tag_send_nbx(eps[i], out, LARGE, ANSWER, &plain);
        take(&side, in, LARGE, ANSWER);
        CHECK(memcmp(in, out, LARGE) == 0);
        request_finish(side.worker, sent);
    }
    during = open_descriptors();
    if (during > before + (int)count + SPARE) {
        FAIL("%d descriptors for %u peers", during - before, count);
    }
    FIGURE("%u peers at a time, %d descriptors, %.1f KB each, all answered within %.1f s", count, during - before,
           (resident_kb() - memory) / (double)count, seconds() - start);
    for (i = 0; i < crowds; ++i) {
        while (!pair_ready(&pairs[i])) {
            ucp_worker_progress(side.worker);
        }
        pair_barrier(&pairs[i]);
    }
    for (i = 0; i < count; ++i) {
        side_disconnect(&side, &side, eps[i], 0);
    }
    for (i = 0; i < crowds; ++i) {
        pair_finish(&pairs[i]);
    }
    while (open_descriptors() > before + SPARE - (int)crowds) {
        ucp_worker_progress(side.worker);
    }
    side_close(&side);
    return 0;
}
