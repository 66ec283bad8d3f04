/* A process that only sends and flushes learns of its peer's death by the flush, without any other progress: the
 * error handler is called, then the flush ends with an error. */
/* env: UCX_LOG_LEVEL=fatal */
#include <ucp/api/ucp.h>

#include "pair.h"
#include "worker.h"

typedef struct {
    char address[1024];
} card_t;

static unsigned handler_calls;

static void failed(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    CHECK(status < 0);
    handler_calls++;
}

static ucp_ep_h meet(side_t *side, const pair_t *pair)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                                            UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                                            UCP_EP_PARAM_FIELD_ERR_HANDLER,
                              .err_mode = UCP_ERR_HANDLING_MODE_PEER,
                              .err_handler = {.cb = failed}};
    card_t mine = {""}, theirs;
    ucp_ep_h ep;

    side_open(side, UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
    CHECK(side->address_length <= sizeof(mine.address));
    memcpy(mine.address, side->address, side->address_length);
    pair_exchange(pair, &mine, &theirs, sizeof(mine));
    params.address = (const ucp_address_t *)theirs.address;
    CHECK_OK(ucp_ep_create(side->worker, &params, &ep));
    return ep;
}

static void receive(side_t *side)
{
    ucp_request_param_t plain = {.op_attr_mask = 0};
    char byte;

    CHECK_OK(side_wait(side, side, ucp_tag_recv_nbx(side->worker, &byte, 1, 1, -1, &plain)));
}

static void run(const char *tls)
{
    ucp_request_param_t plain = {.op_attr_mask = 0};
    ucp_request_param_t force = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_EP_CLOSE_FLAG_FORCE};
    ucs_status_t status;
    side_t side;
    pair_t pair;
    double start;
    ucp_ep_h ep;
    int ended;

    setenv("UCX_TLS", tls, 1);
    handler_calls = 0;
    pair = pair_start();
    ep = meet(&side, &pair);
    CHECK_OK(side_wait(&side, &side, ucp_tag_send_nbx(ep, "x", 1, 1, &plain)));
    if (pair_is_child(&pair)) {
        CHECK_OK(side_wait(&side, &side, ucp_ep_flush_nbx(ep, &plain)));
        receive(&side);
        _exit(0);
    }
    receive(&side);
    CHECK(waitpid(pair.child, &ended, 0) == pair.child);
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

int main(void)
{
    run("posix");
    run("sysv");
    return 0;
}
