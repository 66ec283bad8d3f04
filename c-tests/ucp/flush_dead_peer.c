/* A process that only sends and flushes detects its peer's death by the flush, without other progress: the error
 * handler is called, then the flush ends with an error. Without error handling, worker and endpoint are flushed and
 * closed with success whenever the death is detected, as the ranks of a job end in any order. An operation that cannot
 * have been done, here a read without a reply, fails, and so does the flush after it. */
/* env: UCX_LOG_LEVEL=fatal */
#include <ucp/api/ucp.h>

#include "peers.h"

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

    side_open(side, UCP_FEATURE_TAG | UCP_FEATURE_RMA, UCS_THREAD_MODE_SINGLE);
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
    ucp_request_param_t plain = {.op_attr_mask = 0};
    int round, i;

    for (round = 0; round < ROUNDS; ++round) {
        side_t side;
        ucp_ep_h ep = to_the_dead(&side, tls, UCP_ERR_HANDLING_MODE_NONE);

        for (i = 0; i < round / 2; ++i) {
            ucp_worker_progress(side.worker);
            usleep(100);
        }
        if (round & 1) {
            CHECK_OK(side_wait(&side, &side, ucp_worker_flush_nbx(side.worker, &plain)));
            CHECK_OK(side_wait(&side, &side, ucp_ep_flush_nbx(ep, &plain)));
        }
        CHECK_OK(side_wait(&side, &side, ucp_ep_close_nb(ep, UCP_EP_CLOSE_MODE_FLUSH)));
        side_close(&side);
    }
    OK("%s, no error handling", tls);
}

/* The peer ends while a read of its memory by messages waits for it. */
static void told_of_a_loss(void)
{
    ucp_request_param_t plain = {.op_attr_mask = 0};
    uint64_t word = 0, remote = (uint64_t)(uintptr_t)&word, theirs;
    char key[256] = "", their_key[sizeof(key)];
    ucs_status_ptr_t read, flush;
    size_t length;
    void *packed;
    ucp_rkey_h rkey;
    side_t side;
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                   .address = &word,
                                   .length = sizeof(word)};
    ucp_mem_h memh;
    pair_t pair;
    ucp_ep_h ep;
    int ended;

    setenv("UCX_TLS", "tcp", 1);
    pair = pair_start();
    ep = meet(&side, &pair, UCP_ERR_HANDLING_MODE_NONE);
    CHECK_OK(ucp_mem_map(side.context, &params, &memh));
    CHECK_OK(ucp_rkey_pack(side.context, memh, &packed, &length));
    CHECK(length <= sizeof(key));
    memcpy(key, packed, length);
    ucp_rkey_buffer_release(packed);
    pair_exchange(&pair, key, their_key, sizeof(key));
    pair_exchange(&pair, &remote, &theirs, sizeof(theirs));
    if (pair_is_child(&pair)) {
        CHECK_OK(side_wait(&side, &side, ucp_tag_send_nbx(ep, "x", 1, 1, &plain)));
        CHECK_OK(side_wait(&side, &side, ucp_ep_flush_nbx(ep, &plain)));
        pair_recv(&pair, key, 1);
        _exit(0);
    }
    receive(&side);
    CHECK_OK(ucp_ep_rkey_unpack(ep, their_key, &rkey));
    read  = ucp_get_nbx(ep, &word, sizeof(word), theirs, rkey, &plain);
    flush = ucp_worker_flush_nbx(side.worker, &plain);
    CHECK(UCS_PTR_IS_PTR(read) && UCS_PTR_IS_PTR(flush));
    pair_send(&pair, key, 1);
    CHECK_STATUS(side_wait(&side, &side, read), UCS_ERR_CONNECTION_RESET);
    CHECK_STATUS(side_wait(&side, &side, flush), UCS_ERR_CONNECTION_RESET);
    CHECK_STATUS(side_wait(&side, &side, ucp_ep_flush_nbx(ep, &plain)), UCS_ERR_CONNECTION_RESET);
    CHECK(waitpid(pair.child, &ended, 0) == pair.child);
    close(pair.fd);
    ucp_rkey_destroy(rkey);
    CHECK_OK(ucp_mem_unmap(side.context, memh));
    CHECK_STATUS(side_wait(&side, &side, ucp_ep_close_nb(ep, UCP_EP_CLOSE_MODE_FLUSH)), UCS_ERR_CONNECTION_RESET);
    side_close(&side);
    OK("a read that is lost is told");
}

int main(void)
{
    told("posix");
    told("sysv");
    not_told("posix");
    not_told("sysv");
    not_told("tcp");
    not_told("all");
    told_of_a_loss();
    return 0;
}
