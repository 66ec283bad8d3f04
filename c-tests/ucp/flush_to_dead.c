/* A process that only sends and flushes learns of its peer's death by the flush, without any other progress: the
 * error handler is called, then the flush ends with an error. Without error handling the endpoint closes as if
 * nothing had happened, whenever the death is seen: MPICH closes its endpoints while others have left. */
/* env: UCX_LOG_LEVEL=fatal */
#include <ucp/api/ucp.h>

#include "swap.h"

enum { ROUNDS = 16 };

static unsigned handler_calls;

static void failed(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    CHECK(status < 0);
    handler_calls++;
}

static ucp_ep_h meet(side_t *side, const pair_t *pair, ucp_err_handling_mode_t mode)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                                            UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                                            UCP_EP_PARAM_FIELD_ERR_HANDLER,
                              .err_mode = mode,
                              .err_handler = {.cb = failed}};
    char theirs[ADDRESS_ROOM];
    ucp_ep_h ep;

    side_open(side, UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
    side_swap_addresses(side, pair, theirs);
    params.address = (const ucp_address_t *)theirs;
    CHECK_OK(ucp_ep_create(side->worker, &params, &ep));
    return ep;
}

static void receive(side_t *side)
{
    ucp_request_param_t plain = {.op_attr_mask = 0};
    char byte;

    CHECK_OK(side_wait(side, side, ucp_tag_recv_nbx(side->worker, &byte, 1, 1, -1, &plain)));
}

/* An endpoint to a process that has sent its last message and ended. */
static ucp_ep_h to_the_dead(side_t *side, const char *tls, ucp_err_handling_mode_t mode)
{
    ucp_request_param_t plain = {.op_attr_mask = 0};
    pair_t pair;
    ucp_ep_h ep;
    int ended;

    setenv("UCX_TLS", tls, 1);
    handler_calls = 0;
    pair = pair_start();
    ep = meet(side, &pair, mode);
    CHECK_OK(side_wait(side, side, ucp_tag_send_nbx(ep, "x", 1, 1, &plain)));
    if (pair_is_child(&pair)) {
        CHECK_OK(side_wait(side, side, ucp_ep_flush_nbx(ep, &plain)));
        receive(side);
        _exit(0);
    }
    receive(side);
    CHECK(waitpid(pair.child, &ended, 0) == pair.child);
    close(pair.fd);
    return ep;
}

static void told(const char *tls)
{
    ucp_request_param_t plain = {.op_attr_mask = 0};
    ucp_request_param_t force = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_EP_CLOSE_FLAG_FORCE};
    ucs_status_t status;
    side_t side;
    double start;
    ucp_ep_h ep = to_the_dead(&side, tls, UCP_ERR_HANDLING_MODE_PEER);

    start = now();
    do {
        /* Whoever looks for dead peers may need a moment. */
        usleep(1000);
        CHECK(now() - start < 20);
        CHECK(UCS_PTR_IS_PTR(ucp_tag_send_nbx(ep, "y", 1, 2, &plain)) == 0);
        status = side_wait(&side, &side, ucp_ep_flush_nbx(ep, &plain));
    } while (status == UCS_OK);
    CHECK_EQ(handler_calls, 1);
    CHECK_OK(side_wait(&side, &side, ucp_ep_close_nbx(ep, &force)));
    side_close(&side);
    OK("%s", tls);
}

static void not_told(const char *tls)
{
    int round, i;

    for (round = 0; round < ROUNDS; ++round) {
        side_t side;
        ucp_ep_h ep = to_the_dead(&side, tls, UCP_ERR_HANDLING_MODE_NONE);

        for (i = 0; i < round; ++i) {
            ucp_worker_progress(side.worker);
            usleep(100);
        }
        CHECK_OK(side_wait(&side, &side, ucp_ep_close_nb(ep, UCP_EP_CLOSE_MODE_FLUSH)));
        side_close(&side);
    }
    OK("%s, no error handling", tls);
}

int main(void)
{
    told("posix");
    told("sysv");
    not_told("posix");
    not_told("sysv");
    return 0;
}
