/* Mapping memory: every parameter and flag, alone and in the combinations that exclude each other, every
 * attribute, advice in and outside the range, and keys of one region compared. */
/* oracle: 1.22.0 */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n UCX_TLS=posix,self */
#include <ucp/api/ucp.h>

#include "peers.h"

#include <sys/mman.h>

enum { LENGTH = 20000 };

static side_t side;

static ucs_status_t map(uint64_t fields, void *address, size_t length, unsigned flags, ucp_mem_h *memh)
{
    ucp_mem_map_params_t params = {.field_mask = fields, .address = address, .length = length, .flags = flags};

    return ucp_mem_map(side.context, &params, memh);
}

#define LENGTH_FLAGS (UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS)

static void allocated(unsigned flags)
{
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS | UCP_MEM_ATTR_FIELD_LENGTH |
                                         UCP_MEM_ATTR_FIELD_MEM_TYPE};
    ucp_mem_h memh;

    CHECK_OK(map(LENGTH_FLAGS, NULL, LENGTH, UCP_MEM_MAP_ALLOCATE | flags, &memh));
    CHECK_OK(ucp_mem_query(memh, &attr));
    CHECK(attr.address != NULL);
    CHECK(attr.length >= LENGTH);
    CHECK_EQ(attr.mem_type, UCS_MEMORY_TYPE_HOST);
    memset(attr.address, 5, LENGTH);
    attr.field_mask = UCP_MEM_ATTR_FIELD_LENGTH;
    attr.address = NULL;
    CHECK_OK(ucp_mem_query(memh, &attr));
    CHECK(attr.address == NULL);
    CHECK_OK(ucp_mem_unmap(side.context, memh));
}

static void flags(void)
{
    char *place = mmap(NULL, LENGTH, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t page = sysconf(_SC_PAGESIZE);
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};
    uint64_t all = LENGTH_FLAGS | UCP_MEM_MAP_PARAM_FIELD_ADDRESS;
    ucp_mem_h memh;

    allocated(0);
    allocated(UCP_MEM_MAP_NONBLOCK);
#if UCP_API_MINOR >= 16
    allocated(UCP_MEM_MAP_SYMMETRIC_RKEY);
#endif
#if UCP_API_MINOR >= 20
    allocated(UCP_MEM_MAP_LOCK);
    CHECK_STATUS(map(LENGTH_FLAGS, NULL, LENGTH, UCP_MEM_MAP_ALLOCATE | UCP_MEM_MAP_LOCK | UCP_MEM_MAP_NONBLOCK,
                     &memh), UCS_ERR_INVALID_PARAM);
#endif
    /* at a place that is free again */
    CHECK(place != MAP_FAILED);
    CHECK(munmap(place, LENGTH) == 0);
    CHECK_OK(map(all, place, LENGTH, UCP_MEM_MAP_ALLOCATE | UCP_MEM_MAP_FIXED, &memh));
    CHECK_OK(ucp_mem_query(memh, &attr));
    CHECK(attr.address == place);
    memset(place, 1, LENGTH);
    CHECK_OK(ucp_mem_unmap(side.context, memh));
    CHECK_STATUS(map(all, place + page / 2, LENGTH, UCP_MEM_MAP_ALLOCATE | UCP_MEM_MAP_FIXED, &memh),
                 UCS_ERR_INVALID_PARAM);
    /* a wish only */
    CHECK_OK(map(all, place, LENGTH, UCP_MEM_MAP_ALLOCATE, &memh));
    CHECK_OK(ucp_mem_unmap(side.context, memh));
    /* what is missing */
    CHECK_STATUS(map(0, NULL, 0, 0, &memh), UCS_ERR_INVALID_PARAM);
    CHECK_STATUS(map(LENGTH_FLAGS, NULL, LENGTH, 0, &memh), UCS_ERR_INVALID_PARAM);
    CHECK(map(LENGTH_FLAGS, NULL, LENGTH, UCP_MEM_MAP_ALLOCATE | UCP_MEM_MAP_FIXED, &memh) != UCS_OK);
    OK("flags");
}

static void callers_memory(void)
{
    static char memory[LENGTH];
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                                                 UCP_MEM_MAP_PARAM_FIELD_PROT | UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE,
                                   .address = memory + 3,
                                   .length = 1000,
                                   .prot = UCP_MEM_MAP_PROT_LOCAL_READ | UCP_MEM_MAP_PROT_LOCAL_WRITE |
                                           UCP_MEM_MAP_PROT_REMOTE_READ | UCP_MEM_MAP_PROT_REMOTE_WRITE,
                                   .memory_type = UCS_MEMORY_TYPE_HOST};
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS | UCP_MEM_ATTR_FIELD_LENGTH};
    ucp_mem_h memh, again;

    CHECK_OK(ucp_mem_map(side.context, &params, &memh));
    CHECK_OK(ucp_mem_map(side.context, &params, &again)); /* twice the same */
    CHECK_OK(ucp_mem_query(memh, &attr));
    CHECK(((char *)attr.address <= memory + 3) && ((char *)attr.address + attr.length >= memory + 1003));
    CHECK_OK(ucp_mem_unmap(side.context, memh));
    CHECK_OK(ucp_mem_unmap(side.context, again));
    params.address = memory;
    params.length = 0;
    CHECK_OK(ucp_mem_map(side.context, &params, &memh));
    CHECK_OK(ucp_mem_unmap(side.context, memh));
    OK("the caller's memory");
}

static void advice(void)
{
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS | UCP_MEM_ATTR_FIELD_LENGTH};
    ucp_mem_advise_params_t params = {.field_mask = UCP_MEM_ADVISE_PARAM_FIELD_ADDRESS |
                                                    UCP_MEM_ADVISE_PARAM_FIELD_LENGTH |
                                                    UCP_MEM_ADVISE_PARAM_FIELD_ADVICE,
                                      .length = 100,
                                      .advice = UCP_MADV_WILLNEED};
    ucp_mem_h memh;

    CHECK_OK(map(LENGTH_FLAGS, NULL, LENGTH, UCP_MEM_MAP_ALLOCATE, &memh));
    CHECK_OK(ucp_mem_query(memh, &attr));
    params.address = (char *)attr.address + 50;
    memset(attr.address, 9, LENGTH);
    CHECK_OK(ucp_mem_advise(side.context, memh, &params));
    params.advice = UCP_MADV_NORMAL;
    CHECK_OK(ucp_mem_advise(side.context, memh, &params));
    CHECK_EQ(((char *)params.address)[99], 9);
    params.length = 0;
    CHECK_OK(ucp_mem_advise(side.context, memh, &params));
    params.length = attr.length;
    CHECK_STATUS(ucp_mem_advise(side.context, memh, &params), UCS_ERR_INVALID_PARAM);
    params.length = 100;
    params.advice = 55;
    CHECK_STATUS(ucp_mem_advise(side.context, memh, &params), UCS_ERR_INVALID_PARAM);
    params.field_mask = UCP_MEM_ADVISE_PARAM_FIELD_ADDRESS;
    CHECK_STATUS(ucp_mem_advise(side.context, memh, &params), UCS_ERR_INVALID_PARAM);
    CHECK_OK(ucp_mem_unmap(side.context, memh));
    OK("advice");
}

static void keys(void)
{
#if UCP_API_MINOR >= 16
    ucp_rkey_compare_params_t params = {.field_mask = 0};
    ucp_ep_h ep = side_connect(&side, side.address);
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};
    ucp_rkey_h key[3];
    void *blob, *pointer;
    ucp_mem_h memh[2];
    int order, back;
    size_t length;
    unsigned i;

    for (i = 0; i < 2; ++i) {
        CHECK_OK(map(LENGTH_FLAGS, NULL, LENGTH, UCP_MEM_MAP_ALLOCATE, &memh[i]));
        CHECK_OK(ucp_rkey_pack(side.context, memh[i], &blob, &length));
        CHECK(length > 0);
        CHECK_OK(ucp_ep_rkey_unpack(ep, blob, &key[i]));
        if (i == 0) {
            CHECK_OK(ucp_ep_rkey_unpack(ep, blob, &key[2]));
        }
        ucp_rkey_buffer_release(blob);
    }
    CHECK_OK(ucp_mem_query(memh[0], &attr));
    CHECK_OK(ucp_rkey_ptr(key[0], (uintptr_t)attr.address + 17, &pointer));
    CHECK(pointer == (char *)attr.address + 17);
    /* a key and itself; two regions in one order from both sides */
    CHECK_OK(ucp_rkey_compare(side.worker, key[0], key[0], &params, &order));
    CHECK_EQ(order, 0);
    CHECK_OK(ucp_rkey_compare(side.worker, key[0], key[1], &params, &order));
    CHECK_OK(ucp_rkey_compare(side.worker, key[1], key[0], &params, &back));
    CHECK((order < 0) == (back > 0));
    for (i = 0; i < 3; ++i) {
        ucp_rkey_destroy(key[i]);
    }
    for (i = 0; i < 2; ++i) {
        CHECK_OK(ucp_mem_unmap(side.context, memh[i]));
    }
    CHECK_OK(side_disconnect(&side, &side, ep, 0));
#endif
}

int main(void)
{
    side_open(&side, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    flags();
    callers_memory();
    advice();
    keys();
    side_close(&side);
    return 0;
}
