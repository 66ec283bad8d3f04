/* Remote memory between two workers of a process, against a local model: put and get of any size and place, every
 * atomic of 4 and 8 bytes with and without the old value, on memory of the library and of the caller; bounds,
 * damaged keys before a guard page, pointers, queries, protection. */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n */
/* timeout: 60 */
#include <ucp/api/ucp.h>

#include "atomics.h"
#include "guard.h"
#include "peers.h"

enum { SIZE = 1 << 20 };

static side_t a, b;

static ucs_status_t wait_for(ucs_status_ptr_t request)
{
    return side_wait(&a, &b, request);
}

static void atomics(ucp_ep_h ep, ucp_rkey_h rkey, char *memory)
{
    ucp_request_param_t plain = {.op_attr_mask = 0};
    unsigned i;

    for (i = 0; i < 600; ++i) {
        ucp_atomic_op_t op = number() % 6;
        size_t size = (number() % 2) ? 8 : 4, offset = number() % 100 * 8;
        uint64_t mask = (size == 8) ? UINT64_MAX : UINT32_MAX, old = 0, reply[2] = {7, 7}, value, expected;
        int fetch = (op == UCP_ATOMIC_OP_SWAP) || (op == UCP_ATOMIC_OP_CSWAP) || (number() % 2);
        ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE |
                                                     (fetch ? UCP_OP_ATTR_FIELD_REPLY_BUFFER : 0),
                                     .datatype = ucp_dt_make_contig(size),
                                     .reply_buffer = reply};

        memcpy(&old, memory + offset, size);
        value = ((number() % 2) ? old : number()) & mask;
        reply[0] = 0x1111 * (uint64_t)i & mask;
        expected = atomic_model(op, old, value, reply[0]) & mask;
        CHECK_OK(wait_for(ucp_atomic_op_nbx(ep, op, &value, 1, (uintptr_t)memory + offset, rkey, &param)));
        if (fetch) {
            CHECK_EQ(reply[0] & mask, old);
            CHECK_EQ(reply[1], 7);
        }
        CHECK_OK(wait_for(ucp_ep_flush_nbx(ep, &plain)));
        old = 0;
        memcpy(&old, memory + offset, size);
        CHECK_EQ(old, expected);
    }
    {
        uint64_t value = 1;
        ucp_request_param_t odd = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = ucp_dt_make_contig(2)};
        ucp_request_param_t eight = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = ucp_dt_make_contig(8)};

        CHECK(UCS_PTR_IS_ERR(ucp_atomic_op_nbx(ep, UCP_ATOMIC_OP_ADD, &value, 1, (uintptr_t)memory, rkey, &odd)));
        CHECK(UCS_PTR_IS_ERR(ucp_atomic_op_nbx(ep, 99, &value, 1, (uintptr_t)memory, rkey, &eight)));
        CHECK(UCS_PTR_IS_ERR(
                ucp_atomic_op_nbx(ep, UCP_ATOMIC_OP_ADD, &value, 1, (uintptr_t)memory + SIZE, rkey, &eight)));
    }
}

static void copies(ucp_ep_h ep, ucp_rkey_h rkey, char *memory)
{
    ucp_request_param_t plain = {.op_attr_mask = 0};
    char *model = malloc(SIZE), *local = malloc(SIZE);
    unsigned i;

    memcpy(model, memory, SIZE);
    for (i = 0; i < 150; ++i) {
        size_t length = (i % 10 == 0) ? number() % SIZE : number() % 10000;
        size_t offset = number() % (SIZE - length + 1);

        if (number() % 2) {
            fill(local, length, i);
            memcpy(model + offset, local, length);
            CHECK_OK(wait_for(ucp_put_nbx(ep, local, length, (uintptr_t)memory + offset, rkey, &plain)));
            CHECK_OK(wait_for(ucp_ep_flush_nbx(ep, &plain)));
            CHECK(!memcmp(memory, model, SIZE));
        } else {
            memset(local, 0, length);
            CHECK_OK(wait_for(ucp_get_nbx(ep, local, length, (uintptr_t)memory + offset, rkey, &plain)));
            CHECK(!memcmp(local, model + offset, length));
        }
    }
    CHECK(UCS_PTR_IS_ERR(ucp_put_nbx(ep, local, 2, (uintptr_t)memory + SIZE - 1, rkey, &plain)));
    CHECK(UCS_PTR_IS_ERR(ucp_get_nbx(ep, local, 1, (uintptr_t)memory - 1, rkey, &plain)));
    CHECK(UCS_PTR_IS_ERR(ucp_get_nbx(ep, local, 8, UINT64_MAX - 3, rkey, &plain)));
    CHECK(UCS_PTR_IS_ERR(ucp_put_nbx(ep, local, 8, (uintptr_t)memory, NULL, &plain)));
    free(model);
    free(local);
}

static void region(ucp_ep_h ep, int ours)
{
    void *user = ours ? NULL : aligned_alloc(4096, SIZE), *blob, *pointer = NULL;
    ucp_mem_map_params_t map = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                                              UCP_MEM_MAP_PARAM_FIELD_FLAGS,
                                .address = user,
                                .length = SIZE,
                                .flags = ours ? UCP_MEM_MAP_ALLOCATE : 0};
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS | UCP_MEM_ATTR_FIELD_LENGTH};
    unsigned char *damaged;
    size_t length, padded, i;
    ucp_rkey_h rkey;
    ucp_mem_h memh;

    CHECK_OK(ucp_mem_map(b.context, &map, &memh));
    CHECK_OK(ucp_mem_query(memh, &attr));
    CHECK(ours || (attr.address == user));
    CHECK(attr.length >= SIZE);
    CHECK_OK(ucp_rkey_pack(b.context, memh, &blob, &length));
    padded = (length + 7) / 8 * 8;
    damaged = guard_alloc("a damaged remote key", padded, 0);
    damaged += padded - length;
    for (i = 0; i < length; ++i) {
        memcpy(damaged, blob, length);
        damaged[i] ^= (i % 2) ? 0x80 : 0x5a;
        if (ucp_ep_rkey_unpack(ep, damaged, &rkey) == UCS_OK) {
            FAIL("byte %zu of a remote key may be anything", i);
        }
    }
    memcpy(damaged, blob, length);
    CHECK_OK(ucp_ep_rkey_unpack(ep, damaged, &rkey));
    ucp_rkey_buffer_release(blob);
    if (ucp_rkey_ptr(rkey, (uintptr_t)attr.address + 5, &pointer) == UCS_OK) {
        strcpy((char *)attr.address + 5, "by pointer");
        CHECK_STR(pointer, "by pointer");
        CHECK(ucp_rkey_ptr(rkey, (uintptr_t)attr.address + attr.length + 4096, &pointer) != UCS_OK);
    }
    memset(attr.address, 1, SIZE);
    copies(ep, rkey, attr.address);
    atomics(ep, rkey, attr.address);
    ucp_rkey_destroy(rkey);
    CHECK_OK(ucp_mem_unmap(b.context, memh));
    free(user);
}

static void bad(void)
{
    ucp_mem_map_params_t map = {.field_mask = 0};
    ucp_mem_h memh;
    char byte;

    CHECK_STATUS(ucp_mem_map(a.context, &map, &memh), UCS_ERR_INVALID_PARAM);
    map.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH;
    map.address = NULL;
    map.length = 100;
    CHECK_STATUS(ucp_mem_map(a.context, &map, &memh), UCS_ERR_INVALID_PARAM);
    map.address = &byte;
    map.length = 0;
    CHECK_OK(ucp_mem_map(a.context, &map, &memh));
    CHECK_OK(ucp_mem_unmap(a.context, memh));
}

/* Memory that peers may only read, or only write. */
static void protection(ucp_ep_h ep, unsigned prot)
{
    static uint64_t word;
    int readable = prot == UCP_MEM_MAP_PROT_REMOTE_READ;
    ucp_mem_map_params_t map = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                                              UCP_MEM_MAP_PARAM_FIELD_PROT,
                                .address = &word,
                                .length = sizeof(word),
                                .prot = UCP_MEM_MAP_PROT_LOCAL_READ | UCP_MEM_MAP_PROT_LOCAL_WRITE | prot};
    ucp_request_param_t plain = {.op_attr_mask = 0};
    ucp_request_param_t eight = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = ucp_dt_make_contig(8)};
    uint64_t local = 6;
    size_t length;
    ucp_rkey_h rkey;
    ucp_mem_h memh;
    void *blob;

    word = 5;
    CHECK_OK(ucp_mem_map(b.context, &map, &memh));
    CHECK_OK(ucp_rkey_pack(b.context, memh, &blob, &length));
    CHECK_OK(ucp_ep_rkey_unpack(ep, blob, &rkey));
    ucp_rkey_buffer_release(blob);
    CHECK_STATUS(wait_for(ucp_put_nbx(ep, &local, 8, (uintptr_t)&word, rkey, &plain)),
                 readable ? UCS_ERR_INVALID_ADDR : UCS_OK);
    CHECK_STATUS(wait_for(ucp_atomic_op_nbx(ep, UCP_ATOMIC_OP_ADD, &local, 1, (uintptr_t)&word, rkey, &eight)),
                 readable ? UCS_ERR_INVALID_ADDR : UCS_OK);
    CHECK_OK(wait_for(ucp_ep_flush_nbx(ep, &plain)));
    CHECK_EQ(word, readable ? 5 : 12);
    CHECK_STATUS(wait_for(ucp_get_nbx(ep, &local, 8, (uintptr_t)&word, rkey, &plain)),
                 readable ? UCS_OK : UCS_ERR_INVALID_ADDR);
    CHECK_EQ(local, readable ? 5 : 6);
    ucp_rkey_destroy(rkey);
    CHECK_OK(ucp_mem_unmap(b.context, memh));
}

static void run(const char *tls, int itself)
{
    ucp_ep_h ep;

    setenv("UCX_TLS", tls, 1);
    side_open(&a, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    b = a;
    if (!itself) {
        side_open(&b, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    }
    ep = side_connect(&a, b.address);
    region(ep, 1);
    region(ep, 0);
    protection(ep, UCP_MEM_MAP_PROT_REMOTE_READ);
    protection(ep, UCP_MEM_MAP_PROT_REMOTE_WRITE);
    bad();
    CHECK_OK(side_disconnect(&a, &b, ep, 0));
    if (!itself) {
        side_close(&b);
    }
    side_close(&a);
    OK("%s%s", tls, itself ? ", to itself" : "");
}

int main(void)
{
    run("self", 1);
    run("posix", 0);
    run("sysv", 0);
    run("posix,cma", 0);
    run("tcp", 0);
    run("all", 0);
    return 0;
}
