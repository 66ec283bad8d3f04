/* UCP_ERR_HANDLING_MODE_FAILOVER: messages of every kind both ways, by endpoints that both sides make and by the endpoint
 * of a handler; a flush; a close. When the peer is killed, every operation ends and the error handler is called once. An
 * unknown mode is refused. Links are taken down in tests/rails. */
/* headers: ours 1.22.0 */
/* env: UCX_LOG_LEVEL=fatal */
/* timeout: 60 */
#include "failure.h"

#include <signal.h>

enum { COUNT = 200, LONG = 300000 };

static const ucp_request_param_t plain;
static side_t side;
static unsigned handled;
static ucp_ep_h reply_ep;

static ucs_status_t on_message(void *arg, const void *header, size_t header_length, void *data, size_t length,
                               const ucp_am_recv_param_t *param)
{
    CHECK_EQ(header_length, sizeof(handled));
    CHECK_EQ(*(const unsigned *)header, handled);
    CHECK(param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP);
    reply_ep = param->reply_ep;
    ++handled;
    return UCS_OK;
}

static void open_side(void)
{
    ucp_am_handler_param_t handler = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB, .id = 1, .cb = on_message};

    side_open(&side, ALL_FEATURES | UCP_FEATURE_AM | UCP_FEATURE_STREAM, UCS_THREAD_MODE_SINGLE);
    CHECK_OK(ucp_worker_set_am_recv_handler(side.worker, &handler));
}

static void expect(ucp_tag_t tag, unsigned char *buffer, size_t length, unsigned seed)
{
    memset(buffer, 0, length);
    request_finish(side.worker, ucp_tag_recv_nbx(side.worker, buffer, length, tag, UINT64_MAX, &plain));
    CHECK_PATTERN(buffer, length, seed);
}

/* Answers by the endpoint that the handler gets, then waits for its end. */
static void child(const pair_t *pair, int explicit)
{
    unsigned char *buffer = malloc(LONG);
    failure_t failure;
    char theirs[ADDRESS_ROOM];
    uint64_t n, got = 0;
    size_t length;
    ucp_ep_h ep;

    open_side();
    side_swap_addresses(&side, pair, theirs);
    if (explicit) {
        CHECK_OK(connect_in_mode(&side, theirs, UCP_ERR_HANDLING_MODE_FAILOVER, &failure, &ep));
    }
    for (n = 0; n < COUNT; ++n) {
        expect(n, buffer, (n % 50) ? 100 : LONG, n);
    }
    WORKERS_UNTIL(side.worker, side.worker, handled == COUNT);
    for (n = 0; n < COUNT; ++n) {
        request_finish(side.worker, ucp_stream_recv_nbx(reply_ep, &got, sizeof(got), &length, &plain));
        CHECK_EQ(length, sizeof(got));
        CHECK_EQ(got, n);
    }
    fill(buffer, LONG, 5);
    request_finish(side.worker, ucp_tag_send_nbx(reply_ep, buffer, LONG, 5, &plain));
    request_finish(side.worker, ucp_ep_flush_nbx(reply_ep, &plain));
    side_meet(&side, pair);
    for (;;) {
        ucp_worker_progress(side.worker);
    }
}

static void parent(const pair_t *pair)
{
    ucp_request_param_t am = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_AM_SEND_FLAG_REPLY};
    unsigned char *buffer = malloc(LONG);
    char theirs[ADDRESS_ROOM];
    ucs_status_ptr_t requests[3];
    failure_t failure;
    ucp_ep_h ep;
    uint64_t n;
    int i;

    open_side();
    side_swap_addresses(&side, pair, theirs);
    CHECK_STATUS(connect_in_mode(&side, theirs, UCP_ERR_HANDLING_MODE_FAILOVER + 1, &failure, &ep), UCS_ERR_INVALID_PARAM);
    CHECK_OK(connect_in_mode(&side, theirs, UCP_ERR_HANDLING_MODE_FAILOVER, &failure, &ep));
    for (n = 0; n < COUNT; ++n) {
        size_t length = (n % 50) ? 100 : LONG;
        unsigned number = n;

        fill(buffer, length, n);
        request_finish(side.worker, ucp_am_send_nbx(ep, 1, &number, sizeof(number), NULL, 0, &am));
        request_finish(side.worker, ucp_stream_send_nbx(ep, &n, sizeof(n), &plain));
        request_finish(side.worker, ucp_tag_send_nbx(ep, buffer, length, n, &plain));
    }
    expect(5, buffer, LONG, 5);
    request_finish(side.worker, ucp_ep_flush_nbx(ep, &plain));
    side_meet(&side, pair);
    CHECK_EQ(failure.calls, 0);
    CHECK_EQ(kill(pair->child, SIGKILL), 0);
    /* One that the peer never takes, and two that wait for it. */
    requests[0] = ucp_tag_send_sync_nbx(ep, buffer, 8, 1, &plain);
    requests[1] = ucp_tag_send_nbx(ep, buffer, LONG, 1, &plain);
    requests[2] = ucp_ep_flush_nbx(ep, &plain);
    WORKERS_UNTIL(side.worker, side.worker, failure.calls > 0);
    CHECK(failure.ep == ep);
    for (i = 0; i < 3; ++i) {
        WORKERS_UNTIL(side.worker, side.worker, has_ended(requests[i]));
        drop(requests[i]);
    }
    CHECK(UCS_PTR_IS_ERR(ucp_tag_send_nbx(ep, buffer, 8, 1, &plain)));
    CHECK_OK(side_disconnect(&side, &side, ep, UCP_EP_CLOSE_FLAG_FORCE));
    CHECK_EQ(failure.calls, 1);
    side_close(&side);
    free(buffer);
}

int main(void)
{
    static const char *const transports[] = {"tcp", "posix", "posix,tcp"};
    int round, explicit, status;

    for (round = 0; round < 6; ++round) {
        pair_t pair;

        CHECK_EQ(setenv("UCX_TLS", transports[round / 2], 1), 0);
        explicit = round % 2;
        handled = 0;
        pair = pair_start();
        if (pair_is_child(&pair)) {
            child(&pair, explicit);
        }
        parent(&pair);
        CHECK_EQ(waitpid(pair.child, &status, 0), pair.child);
        close(pair.fd);
    }
    return 0;
}
