/* The peer ends while several flushes wait, and the callback of one of them closes the endpoint by force: the others
 * end within that call or before, each once, and nothing of the endpoint is used afterwards. Arguments are values of
 * UCX_TLS. */
/* env: UCX_LOG_LEVEL=fatal */
#include <ucp/api/ucp.h>

#include "failure.h"

enum { FLUSHES = 4, LENGTH = 1 << 16 };

static failure_t failure;
static ucp_ep_h ep;
static ucs_status_ptr_t closed;
static unsigned calls[FLUSHES], called, closing;

static void on_flush(void *request, ucs_status_t status, void *user_data)
{
    static const ucp_request_param_t force = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                              .flags = UCP_EP_CLOSE_FLAG_FORCE};

    ++*(unsigned *)user_data;
    if (called++ == closing) {
        closed = ucp_ep_close_nbx(ep, &force);
    }
}

static void run(const char *tls)
{
    static char from[LENGTH], to[LENGTH];
    static const ucp_request_param_t plain;
    ucp_mem_map_params_t map = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                .address = to,
                                .length = sizeof(to)};
    ucp_request_param_t notice = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
                                  .cb.send = on_flush};
    ucs_status_ptr_t puts[FLUSHES], flushes[FLUSHES];
    unsigned pending = 0;
    side_t side[2];
    ucp_mem_h memh;
    ucp_rkey_h rkey;
    void *packed;
    size_t length;
    int i;

    setenv("UCX_TLS", tls, 1);
    for (i = 0; i < 2; ++i) {
        side_open(&side[i], UCP_FEATURE_RMA, UCS_THREAD_MODE_SINGLE);
    }
    CHECK_OK(ucp_mem_map(side[1].context, &map, &memh));
    CHECK_OK(ucp_rkey_pack(side[1].context, memh, &packed, &length));
    ep = connect_watched(&side[0], side[1].address, &failure);
    CHECK_OK(ucp_ep_rkey_unpack(ep, packed, &rkey));
    ucp_rkey_buffer_release(packed);
    CHECK_OK(side_wait(&side[0], &side[1], ucp_put_nbx(ep, from, 1, (uintptr_t)to, rkey, &plain)));
    CHECK_OK(side_wait(&side[0], &side[1], ucp_ep_flush_nbx(ep, &plain)));

    closed = NULL;
    called = 0;
    memset(calls, 0, sizeof(calls));
    for (i = 0; i < FLUSHES; ++i) {
        puts[i] = ucp_put_nbx(ep, from, sizeof(from), (uintptr_t)to, rkey, &plain);
        notice.user_data = &calls[i];
        flushes[i] = ucp_ep_flush_nbx(ep, &notice);
        pending += UCS_PTR_IS_PTR(flushes[i]);
    }
    CHECK(pending > 0);
    CHECK_OK(ucp_mem_unmap(side[1].context, memh));
    side_close(&side[1]);
    DRIVE_UNTIL(&side[0], &side[0], called == pending);
    for (i = 0; i < FLUSHES; ++i) {
        CHECK_EQ(calls[i], UCS_PTR_IS_PTR(flushes[i]));
        CHECK(has_ended(puts[i]) && has_ended(flushes[i]));
        drop(puts[i]);
        drop(flushes[i]);
    }
    if (pending <= closing) {
        closed = ucp_ep_close_nbx(ep, &plain);
        side_wait(&side[0], &side[0], closed);
    } else {
        CHECK_OK(side_wait(&side[0], &side[0], closed));
    }
    CHECK_EQ(called, pending);
    ucp_rkey_destroy(rkey);
    side_close(&side[0]);
}

int main(int argc, char **argv)
{
    static char *all[] = {"tcp", "posix", "sysv", NULL};
    char **tls;

    for (tls = argc > 1 ? argv + 1 : all; *tls != NULL; ++tls) {
        for (closing = 0; closing < FLUSHES; ++closing) {
            run(*tls);
        }
        OK("%s", *tls);
    }
    return 0;
}
