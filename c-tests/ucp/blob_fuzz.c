/* Damaged worker addresses, remote keys and exported memory handles: cut, overwritten with zeros or noise, with
 * flipped bits, each at the end of a readable page. Each is accepted or refused with a status; nothing crashes. Also
 * the sizes of blobs that a job exchanges: worker addresses are small. TORTURE_COUNT sets the number of blobs. */
/* headers: ours 1.22.0 */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n UCX_NET_DEVICES=lo */
/* timeout: 60 */
#include <ucp/api/ucp.h>

#include "guard.h"
#include "torture.h"
#include "peers.h"

enum { MOST = 2048, ALL_TRANSPORTS = 180, TCP_ONLY = 92, HEAD = 24 };

static side_t side;
static ucp_ep_h ep;
static uint64_t taken, refused, rounds, all;

typedef ucs_status_t (*use_t)(const void *blob);

static ucs_status_t use_address(const void *blob)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS, .address = blob};
    ucp_worker_address_attr_t attr = {.field_mask = UCP_WORKER_ADDRESS_ATTR_FIELD_UID};
    ucs_status_t status;
    ucp_ep_h made;

    ucp_worker_address_query((ucp_address_t *)blob, &attr);
    status = ucp_ep_create(side.worker, &params, &made);
    if (status == UCS_OK) {
        CHECK_OK(side_disconnect(&side, &side, made, 0));
    }
    return status;
}

static ucs_status_t use_key(const void *blob)
{
    ucp_rkey_h key;
    ucs_status_t status = ucp_ep_rkey_unpack(ep, blob, &key);

    if (status == UCS_OK) {
        ucp_rkey_destroy(key);
    }
    return status;
}

static ucs_status_t use_handle(const void *blob)
{
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_EXPORTED_MEMH_BUFFER,
                                   .exported_memh_buffer = blob};
    ucp_mem_h memh;
    ucs_status_t status = ucp_mem_map(side.context, &params, &memh);

    if (status == UCS_OK) {
        CHECK_OK(ucp_mem_unmap(side.context, memh));
    }
    return status;
}

static void try_one(use_t use, const void *blob)
{
    ucs_status_t status = use(blob);

    CHECK(status <= UCS_OK);
    *(status == UCS_OK ? &taken : &refused) += 1;
    ++all;
}

/* `page` ends where nothing is readable. */
static void damage(const char *what, use_t use, const void *good, size_t length, char *end)
{
    char *at = end - length;
    size_t i, k, flips;
    int zeros;

    CHECK(length <= MOST);
    taken = refused = 0;
    for (i = 0; i < 8 * length; ++i) {
        memcpy(at, good, length);
        at[i / 8] ^= 1 << (i % 8);
        try_one(use, at);
    }
    CHECK(taken == 0 || on_upstream());
    for (i = 0; i < rounds; ++i) {
        memcpy(at, good, length);
        flips = 2 + rand() % 8;
        for (k = 0; k < flips; ++k) {
            at[(rand() % 4 ? rand() % length : rand() % HEAD)] ^= 1 << (rand() % 8);
        }
        try_one(use, at);
    }
    for (i = 0; i < rounds; ++i) {
        /* The first bytes may be right, or most of them. */
        memcpy(at, good, length);
        zeros = rand() % 4 == 0;
        for (k = rand() % 2 ? rand() % HEAD : rand() % length; k < length; ++k) {
            at[k] = zeros ? 0 : rand();
        }
        try_one(use, at);
    }
    CHECK(refused > rounds || on_upstream());
    OK("%s", what);
}

static size_t address_length(const char *tls)
{
    size_t length;

    setenv("UCX_TLS", tls, 1);
    side_open(&side, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    length = side.address_length;
    side_close(&side);
    return length;
}

int main(void)
{
    char *end = (char *)guard_alloc("a damaged blob", MOST, 0) + MOST;
    ucp_mem_map_params_t map = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                .length = 4096};
    ucp_memh_pack_params_t pack = {.field_mask = UCP_MEMH_PACK_PARAM_FIELD_FLAGS, .flags = UCP_MEMH_PACK_FLAG_EXPORT};
    ucp_memh_buffer_release_params_t release = {.field_mask = 0};
    void *memory = calloc(1, 4096), *key;
    size_t length;
    ucp_mem_h memh;

    length = address_length("all");
    if ((length > ALL_TRANSPORTS) && !on_upstream()) {
        FAIL("an address of all transports has %zu bytes", length);
    }
    length = address_length("tcp");
    if ((length > TCP_ONLY) && !on_upstream()) {
        FAIL("an address of tcp has %zu bytes", length);
    }
    OK("addresses are small");

    torture_seed(7);
    rounds = torture_count(24000) / 6;
    setenv("UCX_TLS", "all", 1);
    side_open(&side, ALL_FEATURES | UCP_FEATURE_EXPORTED_MEMH, UCS_THREAD_MODE_SINGLE);
    guard_watch();
    ep = side_connect(&side, side.address);
    map.address = memory;
    CHECK_OK(ucp_mem_map(side.context, &map, &memh));
    damage("worker addresses", use_address, side.address, side.address_length, end);
    CHECK_OK(ucp_rkey_pack(side.context, memh, &key, &length));
    damage("remote keys", use_key, key, length, end);
    ucp_rkey_buffer_release(key);
    CHECK_OK(ucp_mem_unmap(side.context, memh));
    map.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS;
    map.flags = UCP_MEM_MAP_ALLOCATE;
    CHECK_OK(ucp_mem_map(side.context, &map, &memh));
    CHECK_OK(ucp_memh_pack(memh, &pack, &key, &length));
    damage("exported handles", use_handle, key, length, end);
    ucp_memh_buffer_release(key, &release);
    CHECK_OK(side_disconnect(&side, &side, ep, 0));
    CHECK_OK(ucp_mem_unmap(side.context, memh));
    side_close(&side);
    free(memory);
    FIGURE("%" PRIu64 " damaged blobs, every one answered", all);
    return 0;
}
