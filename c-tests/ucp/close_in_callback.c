/* The callback of a flush closes the endpoint while another flush of it waits: all of them end, the close as the
 * last. */
/* oracle: 1.22.0 */
/* env: UCX_TLS=tcp UCX_NET_DEVICES=lo UCX_WARN_UNUSED_ENV_VARS=n */
#include <ucp/api/ucp.h>

#include "failure.h"

enum { FLUSHES = 3 };

static side_t side[2];
static failure_t failure;
static ucp_ep_h ep;
static ucs_status_ptr_t closed;
static unsigned flushed;

static void on_flush(void *request, ucs_status_t status, void *user_data)
{
    static const ucp_request_param_t plain;

    CHECK_OK(status);
    if (flushed++ == 0) {
        closed = ucp_ep_close_nbx(ep, &plain);
    }
}

int main(void)
{
    static uint64_t word = 5, got;
    static const ucp_request_param_t plain;
    ucp_mem_map_params_t map = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                .address = &word,
                                .length = sizeof(word)};
    ucp_request_param_t notice = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK, .cb.send = on_flush};
    ucs_status_ptr_t get, flushes[FLUSHES];
    ucp_mem_h memh;
    ucp_rkey_h rkey;
    void *packed;
    size_t length;
    int i;

    for (i = 0; i < 2; ++i) {
        side_open(&side[i], UCP_FEATURE_RMA, UCS_THREAD_MODE_SINGLE);
    }
    CHECK_OK(ucp_mem_map(side[1].context, &map, &memh));
    CHECK_OK(ucp_rkey_pack(side[1].context, memh, &packed, &length));
    ep = connect_watched(&side[0], side[1].address, &failure);
    CHECK_OK(ucp_ep_rkey_unpack(ep, packed, &rkey));
    ucp_rkey_buffer_release(packed);
    get = ucp_get_nbx(ep, &got, sizeof(got), (uintptr_t)&word, rkey, &plain);
    CHECK(UCS_PTR_IS_PTR(get));
    for (i = 0; i < FLUSHES; ++i) {
        flushes[i] = ucp_ep_flush_nbx(ep, &notice);
        CHECK(UCS_PTR_IS_PTR(flushes[i]));
    }
    DRIVE_UNTIL(&side[0], &side[1], flushed == FLUSHES);
    CHECK_OK(side_wait(&side[0], &side[1], closed));
    CHECK_OK(side_wait(&side[0], &side[1], get));
    CHECK_EQ(got, 5);
    for (i = 0; i < FLUSHES; ++i) {
        ucp_request_free(flushes[i]);
    }
    OK("closed");

    ucp_rkey_destroy(rkey);
    CHECK_OK(ucp_mem_unmap(side[1].context, memh));
    for (i = 0; i < 2; ++i) {
        side_close(&side[i]);
    }
    return 0;
}
