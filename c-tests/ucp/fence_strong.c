/* UCX_FENCE_MODE=strong: after a fence all accesses before it are complete at their targets. The target's memory is
 * shared with the origin, which looks at it. */
/* env: UCX_LOG_LEVEL=fatal UCX_TLS=tcp UCX_FENCE_MODE=strong */
/* timeout: 60 */
/* oracle: 1.22.0 */
#include <ucp/api/ucp.h>

#include "peers.h"

#include <sys/mman.h>

enum { SIZE = 1 << 20, ROUNDS = 20 };

static const ucp_request_param_t plain;
static char written[SIZE];

/* Lets the origin access `memory` until it has told that it is done. */
static void target(pair_t *pair, const side_t *side, void *memory)
{
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                   .address = memory, .length = SIZE};
    ucp_mem_h memh;
    size_t length;
    void *blob;

    CHECK_OK(ucp_mem_map(side->context, &params, &memh));
    CHECK_OK(ucp_rkey_pack(side->context, memh, &blob, &length));
    pair_send_blob(pair, blob, length);
    ucp_rkey_buffer_release(blob);
    side_meet(side, pair);
    CHECK_OK(ucp_mem_unmap(side->context, memh));
}

static void origin(pair_t *pair, const side_t *side, const void *address, void *memory)
{
    ucp_ep_h ep = side_connect((side_t *)side, address);
    void *blob = pair_recv_blob(pair);
    ucp_rkey_h rkey;

    CHECK_OK(ucp_ep_rkey_unpack(ep, blob, &rkey));
    free(blob);
    for (int round = 1; round <= ROUNDS; ++round) {
        ucs_status_ptr_t put;

        memset(written, round, SIZE);
        put = ucp_put_nbx(ep, written, SIZE, (uintptr_t)memory, rkey, &plain);
        CHECK_OK(ucp_worker_fence(side->worker));
        CHECK(!memcmp(memory, written, SIZE));
        request_finish(side->worker, put);
    }
    ucp_rkey_destroy(rkey);
    request_finish(side->worker, ucp_ep_close_nbx(ep, &plain));
    side_meet(side, pair);
    OK("a strong fence waits for %d puts", ROUNDS);
}

int main(void)
{
    void *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char address[ADDRESS_ROOM];
    pair_t pair;
    side_t side;

    CHECK(memory != MAP_FAILED);
    pair = pair_start();
    side_open(&side, UCP_FEATURE_RMA, UCS_THREAD_MODE_SINGLE);
    side_swap_addresses(&side, &pair, address);
    if (pair_is_child(&pair)) {
        target(&pair, &side, memory);
    } else {
        origin(&pair, &side, address, memory);
    }
    side_close(&side);
    pair_finish(&pair);
    return 0;
}
