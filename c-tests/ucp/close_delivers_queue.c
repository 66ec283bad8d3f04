/* A client sends until the transport is full, closes by force and exits: every message whose send succeeded reaches
 * the server, in order and before the server's endpoint fails. */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n */
/* timeout: 120 */
#include "listener.h"
#include "peers.h"

enum { ROUNDS = 10, MESSAGE = 8000, SPINS = 3000, MOST = 64 << 20 };

static const ucp_request_param_t plain;
static ucp_conn_request_h request;

static void on_request(ucp_conn_request_h asked, void *arg)
{
    request = asked;
}

/* Sends until nothing goes on; how many bytes were told to be sent. */
static uint64_t send_all(side_t *side, ucp_ep_h ep)
{
    static unsigned char data[MESSAGE];
    uint64_t told = 0;
    int spins, i;

    while (told < MOST) {
        ucs_status_ptr_t sending;

        for (i = 0; i < MESSAGE; ++i) {
            data[i] = pattern(told + i, 1);
        }
        sending = ucp_stream_send_nbx(ep, data, MESSAGE, &plain);
        CHECK(!UCS_PTR_IS_ERR(sending));
        /* The first one waits for the server, which progresses until it has some of it. */
        for (spins = 0; !has_ended(sending) && (told == 0 || spins < SPINS); ++spins) {
            ucp_worker_progress(side->worker);
        }
        if (!has_ended(sending)) {
            ucp_request_free(sending);
            return told;
        }
        CHECK_STR(outcome(sending), ucs_status_string(UCS_OK));
        drop(sending);
        told += MESSAGE;
    }
    return told;
}

static void client(const pair_t *pair)
{
    struct sockaddr_storage at;
    ucs_status_ptr_t close;
    failure_t failure;
    uint64_t told;
    ucp_ep_h ep;
    side_t side;

    pair_recv(pair, &at, sizeof(at));
    side_open(&side, UCP_FEATURE_STREAM, UCS_THREAD_MODE_SINGLE);
    ep = connect_client(&side, &at, 0, &failure);
    told = send_all(&side, ep);
    pair_send(pair, &told, sizeof(told));
    close = ucp_ep_close_nb(ep, UCP_EP_CLOSE_MODE_FORCE);
    DRIVE_UNTIL(&side, &side, has_ended(close));
    drop(close);
    side_close(&side);
    pair_finish(pair);
}

/* Receives until the stream's end; how many bytes. */
static uint64_t receive_all(side_t *side, ucp_ep_h ep, uint64_t at, int some)
{
    static unsigned char data[50000];

    for (;;) {
        size_t length = 0, i;
        ucs_status_ptr_t receive = ucp_stream_recv_nbx(ep, data, sizeof(data), &length, &plain);

        if (UCS_PTR_IS_ERR(receive)) {
            return at;
        }
        if (receive != NULL) {
            DRIVE_UNTIL(side, side, has_ended(receive));
            if (ucp_stream_recv_request_test(receive, &length) != UCS_OK) {
                drop(receive);
                return at;
            }
            drop(receive);
        }
        for (i = 0; i < length; ++i) {
            CHECK_EQ(data[i], pattern(at + i, 1));
        }
        at += length;
        if (some) {
            return at;
        }
    }
}

static void serve(const pair_t *pair)
{
    struct sockaddr_storage at;
    uint64_t told, came;
    ucp_listener_h listener;
    ucs_status_ptr_t close;
    failure_t failure;
    ucp_ep_h ep;
    side_t side;

    side_open(&side, UCP_FEATURE_STREAM, UCS_THREAD_MODE_SINGLE);
    listener = listen_at(&side, AF_INET, on_request, &at);
    pair_send(pair, &at, sizeof(at));
    request = NULL;
    DRIVE_UNTIL(&side, &side, request != NULL);
    ep = accept_client(&side, request, &failure);
    came = receive_all(&side, ep, 0, 1);
    /* Nothing is received now, until the client has filled whatever takes something. */
    pair_recv(pair, &told, sizeof(told));
    came = receive_all(&side, ep, came, 0);
    DRIVE_UNTIL(&side, &side, failure.calls);
    /* The latter when the client's last words found no room in shared memory. */
    if (failure.status != UCS_ERR_ENDPOINT_TIMEOUT) {
        CHECK_STATUS(failure.status, UCS_ERR_CONNECTION_RESET);
    }
    CHECK_EQ(failure.calls, 1);
    if (came < told) {
        FAIL("of %" PRIu64 " bytes that were sent %" PRIu64 " came", told, came);
    }
    close = ucp_ep_close_nb(ep, UCP_EP_CLOSE_MODE_FORCE);
    DRIVE_UNTIL(&side, &side, has_ended(close));
    drop(close);
    ucp_listener_destroy(listener);
    side_close(&side);
    pair_finish(pair);
}

int main(void)
{
    static const char *transports[] = {"tcp", "posix", "sysv", "all"};
    unsigned i;
    int round;

    for (i = 0; i < sizeof(transports) / sizeof(transports[0]); ++i) {
        CHECK(setenv("UCX_TLS", transports[i], 1) == 0);
        for (round = 0; round < ROUNDS; ++round) {
            pair_t pair = pair_start();

            if (pair_is_child(&pair)) {
                client(&pair);
            }
            serve(&pair);
        }
        OK("%s: what was sent before a close by force comes before the end", transports[i]);
    }
    return 0;
}
