/* Memory of one process is mapped by another through an exported handle: named by the exporter's addresses, it is
 * read, written, sent from, received into, and passed on; other memory cannot be exported and the call returns a
 * status. Upstream returns UNSUPPORTED on these transports. */
/* headers: ours 1.22.0 */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n */
/* timeout: 60 */
#include <ucp/api/ucp.h>

#include "window.h"

enum { SIZE = 100000, FEATURES = ALL_FEATURES | UCP_FEATURE_EXPORTED_MEMH };

static ucs_status_t export(ucp_mem_h memh, void **blob, size_t *length)
{
    ucp_memh_pack_params_t params = {.field_mask = UCP_MEMH_PACK_PARAM_FIELD_FLAGS,
                                     .flags = UCP_MEMH_PACK_FLAG_EXPORT};

    return ucp_memh_pack(memh, &params, blob, length);
}

static void release(void *blob)
{
    ucp_memh_buffer_release_params_t params = {.field_mask = 0};

    ucp_memh_buffer_release(blob, &params);
}

static ucs_status_t import(ucp_context_h context, const void *blob, unsigned flags, ucp_mem_h *memh)
{
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_EXPORTED_MEMH_BUFFER |
                                                 UCP_MEM_MAP_PARAM_FIELD_FLAGS,
                                   .flags = flags,
                                   .exported_memh_buffer = blob};

    return ucp_mem_map(context, &params, memh);
}

static ucp_mem_h allocate(ucp_context_h context, size_t length, unsigned prot, void **address)
{
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS |
                                                 (prot ? UCP_MEM_MAP_PARAM_FIELD_PROT : 0),
                                   .length = length,
                                   .flags = UCP_MEM_MAP_ALLOCATE,
                                   .prot = prot};
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};
    ucp_mem_h memh;

    CHECK_OK(ucp_mem_map(context, &params, &memh));
    CHECK_OK(ucp_mem_query(memh, &attr));
    *address = attr.address;
    return memh;
}

/* The child exports, then checks what the parent did to its memory. */
static void exporter(const pair_t *pair)
{
    size_t length;
    void *memory, *blob;
    ucp_mem_h memh;
    side_t side;
    char done;

    side_open(&side, FEATURES, UCS_THREAD_MODE_SINGLE);
    memh = allocate(side.context, SIZE, 0, &memory);
    fill(memory, SIZE, 1);
    CHECK_OK(export(memh, &blob, &length));
    pair_send_blob(pair, blob, length);
    release(blob);
    pair_recv(pair, &done, 1);
    CHECK_PATTERN(memory, 1000, 2);
    CHECK_PATTERN((char *)memory + 1000, 49000, 3);
    pair_barrier(pair);
    CHECK_OK(ucp_mem_unmap(side.context, memh));
    side_close(&side);
    pair_finish(pair);
}

static void used(side_t *side, ucp_mem_h memh, char *theirs, ucp_ep_h ep)
{
    ucp_request_param_t with = {.op_attr_mask = UCP_OP_ATTR_FIELD_MEMH | UCP_OP_ATTR_FIELD_MEMORY_TYPE,
                                .memory_type = UCS_MEMORY_TYPE_HOST,
                                .memh = memh};
    ucp_request_param_t plain = {.op_attr_mask = 0};
    ucp_dt_iov_t iov = {.buffer = theirs, .length = 10};
    char *local = malloc(SIZE);
    ucs_status_ptr_t sent, received;
    ucp_rkey_h rkey, key;
    void *own, *blob;
    ucp_mem_h own_memh;
    size_t length;

    own_memh = allocate(side->context, SIZE, 0, &own);
    CHECK_OK(ucp_rkey_pack(side->context, own_memh, &blob, &length));
    CHECK_OK(ucp_ep_rkey_unpack(ep, blob, &rkey));
    ucp_rkey_buffer_release(blob);
    /* from it: a put and a message */
    CHECK_OK(side_wait(side, side, ucp_put_nbx(ep, theirs, SIZE, (uintptr_t)own, rkey, &with)));
    CHECK_OK(side_wait(side, side, ucp_ep_flush_nbx(ep, &plain)));
    CHECK_PATTERN(own, SIZE, 1);
    memset(local, 0, SIZE);
    received = ucp_tag_recv_nbx(side->worker, local, SIZE, 1, -1, &plain);
    sent = ucp_tag_send_nbx(ep, theirs, SIZE, 1, &with);
    CHECK_OK(side_wait(side, side, received));
    CHECK_OK(side_wait(side, side, sent));
    CHECK_PATTERN(local, SIZE, 1);
    /* into it: a get and a message */
    fill(own, 1000, 2);
    CHECK_OK(side_wait(side, side, ucp_get_nbx(ep, theirs, 1000, (uintptr_t)own, rkey, &with)));
    fill(local, 49000, 3);
    received = ucp_tag_recv_nbx(side->worker, theirs + 1000, 49000, 2, -1, &with);
    sent = ucp_tag_send_nbx(ep, local, 49000, 2, &plain);
    CHECK_OK(side_wait(side, side, received));
    CHECK_OK(side_wait(side, side, sent));
    /* passed on: a key to it */
    CHECK_OK(ucp_rkey_pack(side->context, memh, &blob, &length));
    CHECK_OK(ucp_ep_rkey_unpack(ep, blob, &key));
    ucp_rkey_buffer_release(blob);
    memset(local, 0, SIZE);
    CHECK_OK(side_wait(side, side, ucp_get_nbx(ep, local, 1000, (uintptr_t)theirs, key, &plain)));
    CHECK_PATTERN(local, 1000, 2);
    ucp_rkey_destroy(key);
    /* outside of it */
    CHECK(UCS_PTR_IS_ERR(ucp_put_nbx(ep, theirs + 1, SIZE, (uintptr_t)own, rkey, &with)));
    CHECK(UCS_PTR_IS_ERR(ucp_tag_send_nbx(ep, theirs - 1, 2, 1, &with)));
    with.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
    with.datatype = ucp_dt_make_iov();
    CHECK(UCS_PTR_IS_ERR(ucp_tag_send_nbx(ep, &iov, 1, 1, &with)));
    ucp_rkey_destroy(rkey);
    CHECK_OK(ucp_mem_unmap(side->context, own_memh));
    free(local);
}

static void between_processes(const char *tls)
{
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS | UCP_MEM_ATTR_FIELD_LENGTH};
    pair_t pair;
    ucp_mem_h memh;
    side_t side;
    ucp_ep_h ep;
    char done = 1;
    void *blob;

    setenv("UCX_TLS", tls, 1);
    pair = pair_start();
    if (pair_is_child(&pair)) {
        exporter(&pair);
    }
    side_open(&side, FEATURES, UCS_THREAD_MODE_SINGLE);
    ep = side_connect(&side, side.address);
    blob = pair_recv_blob(&pair);
    CHECK_STATUS(import(side.context, blob, UCP_MEM_MAP_ALLOCATE, &memh), UCS_ERR_INVALID_PARAM);
    CHECK_OK(import(side.context, blob, 0, &memh));
    CHECK_OK(ucp_mem_query(memh, &attr));
    CHECK_EQ(attr.length, SIZE);
    used(&side, memh, attr.address, ep);
    CHECK_OK(ucp_mem_unmap(side.context, memh));
    ((char *)blob)[30] ^= 1;
    CHECK(import(side.context, blob, 0, &memh) != UCS_OK);
    free(blob);
    pair_send(&pair, &done, 1);
    pair_barrier(&pair);
    CHECK_OK(side_disconnect(&side, &side, ep, 0));
    side_close(&side);
    pair_finish(&pair);
    OK("between processes: %s", tls);
}

static void refused(void)
{
    static char memory[1000];
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                   .address = memory,
                                   .length = sizeof(memory)};
    ucp_memh_pack_params_t pack = {.field_mask = UCP_MEMH_PACK_PARAM_FIELD_FLAGS, .flags = 0x100};
    size_t length;
    void *blob, *address;
    ucp_mem_h memh, imported;
    side_t side;

    setenv("UCX_TLS", "posix,self", 1);
    side_open(&side, FEATURES, UCS_THREAD_MODE_SINGLE);
    CHECK_OK(ucp_mem_map(side.context, &params, &memh));
    CHECK_STATUS(export(memh, &blob, &length), UCS_ERR_UNSUPPORTED); /* the caller's memory */
    CHECK_STATUS(ucp_memh_pack(memh, &pack, &blob, &length), UCS_ERR_INVALID_PARAM);
    pack.flags = 0; /* a remote key, not an exported handle */
    CHECK_OK(ucp_memh_pack(memh, &pack, &blob, &length));
    CHECK_STATUS(import(side.context, blob, 0, &imported), UCS_ERR_INVALID_PARAM);
    release(blob);
    CHECK_OK(ucp_mem_unmap(side.context, memh));
    memh = allocate(side.context, 1000, UCP_MEM_MAP_PROT_LOCAL_READ | UCP_MEM_MAP_PROT_REMOTE_READ, &address);
    CHECK_STATUS(export(memh, &blob, &length), UCS_ERR_UNSUPPORTED); /* only to be read */
    CHECK_OK(ucp_mem_unmap(side.context, memh));
    side_close(&side);
    side_open(&side, ALL_FEATURES, UCS_THREAD_MODE_SINGLE); /* not asked for */
    memh = allocate(side.context, 1000, 0, &address);
    CHECK_STATUS(export(memh, &blob, &length), UCS_ERR_UNSUPPORTED);
    CHECK_OK(ucp_mem_unmap(side.context, memh));
    side_close(&side);
    OK("refused");
}

int main(void)
{
    between_processes("posix,self");
    between_processes("sysv,self");
    between_processes("all");
    refused();
    return 0;
}
