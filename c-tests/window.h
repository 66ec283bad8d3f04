/* Memory of a second process, for one-sided operations: the child maps it and progresses until the parent
 * is done, the parent connects and unpacks the key. Needs fork before any UCX object of the parent. */
#ifndef FERRUCX_WINDOW_H
#define FERRUCX_WINDOW_H

#include "peers.h"

typedef struct {
    pair_t pair;
    side_t side;      /* the parent's */
    ucp_ep_h ep;      /* to the child */
    ucp_rkey_h rkey;  /* of the child's memory */
    uint64_t address; /* of that memory, in the child */
    size_t length;
} window_t;

/* The child: memory of `length` bytes, allocated by the library or its own, filled with zeros. Ends the process. */
static inline void window_serve(const pair_t *pair, uint64_t features, size_t length, int allocate)
{
    void *user = allocate ? NULL : calloc(1, length), *blob;
    ucp_mem_map_params_t map = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                                              UCP_MEM_MAP_PARAM_FIELD_FLAGS,
                                .address = user,
                                .length = length,
                                .flags = allocate ? UCP_MEM_MAP_ALLOCATE : 0};
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};
    uint64_t address;
    size_t blob_length;
    ucp_mem_h memh;
    side_t side;

    side_open(&side, features, UCS_THREAD_MODE_SINGLE);
    CHECK_OK(ucp_mem_map(side.context, &map, &memh));
    CHECK_OK(ucp_mem_query(memh, &attr));
    memset(attr.address, 0, length);
    CHECK_OK(ucp_rkey_pack(side.context, memh, &blob, &blob_length));
    address = (uintptr_t)attr.address;
    pair_send(pair, &address, sizeof(address));
    pair_send_blob(pair, blob, blob_length);
    pair_send_blob(pair, side.address, side.address_length);
    ucp_rkey_buffer_release(blob);
    while (!pair_ready(pair)) {
        ucp_worker_progress(side.worker);
    }
    CHECK_OK(ucp_mem_unmap(side.context, memh));
    side_close(&side);
    free(user);
    pair_finish(pair);
}

static inline void window_open(window_t *window, uint64_t features, size_t length, int allocate)
{
    void *blob, *peer;

    window->pair = pair_start();
    if (pair_is_child(&window->pair)) {
        window_serve(&window->pair, features, length, allocate);
    }
    window->length = length;
    pair_recv(&window->pair, &window->address, sizeof(window->address));
    blob = pair_recv_blob(&window->pair);
    peer = pair_recv_blob(&window->pair);
    side_open(&window->side, features, UCS_THREAD_MODE_SINGLE);
    window->ep = side_connect(&window->side, peer);
    CHECK_OK(ucp_ep_rkey_unpack(window->ep, blob, &window->rkey));
    free(blob);
    free(peer);
}

static inline ucs_status_t window_wait(window_t *window, ucs_status_ptr_t request)
{
    return side_wait(&window->side, &window->side, request);
}

static inline void window_close(window_t *window)
{
    char done = 1;

    ucp_rkey_destroy(window->rkey);
    CHECK_OK(side_disconnect(&window->side, &window->side, window->ep, 0));
    pair_send(&window->pair, &done, 1);
    side_close(&window->side);
    pair_finish(&window->pair);
}

#endif
