/* One operation of any kind, which one side initiates and the other is the target of, for a process with one worker: `side`, that
 * has an endpoint `ep` to the other. What is initiated comes from, or goes to, `memory`; the target's is `target`, which it exports. */
#ifndef FERRUCX_OPERATIONS_H
#define FERRUCX_OPERATIONS_H

#include "peers.h"

#include <poll.h>

/* The last one has no data, and no part of a target. */
typedef enum { TAG, SYNC, AM, STREAM, PUT, GET, FETCH_ADD, WORKER_FLUSH, KINDS } kind_t;
static const char *const kind_names[] = {"tag", "tag_sync", "am", "stream", "put", "get", "fetch_add", "flush"};

/* How the process waits for what is to come. */
typedef enum { BY_PROGRESS, BY_ARM, BY_WAIT } waiting_t;

enum { DATA_TAG = 1, AM_ID = 5, PATIENCE_MS = 20000 };

static const ucp_request_param_t plain;
static side_t side;
static ucp_ep_h ep;
static int event_fd;
static waiting_t waiting;
/* What the process is at, for the message of one that is not woken. */
static char doing[100];
static char *memory, *target;

static struct {
    ucp_mem_h region;
    ucp_rkey_h key;
    uint64_t remote;
} exported;

/* The active message that has come, and the request that fetches its data. */
static struct {
    size_t length;
    int is_done;
    ucs_status_ptr_t fetch;
} am_came;

static inline ucs_status_t on_am(void *arg, const void *header, size_t header_length, void *data, size_t length,
                                 const ucp_am_recv_param_t *param)
{
    am_came.length = length;
    if (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) {
        am_came.fetch = ucp_am_recv_data_nbx(side.worker, data, target, length, &plain);
        CHECK(!UCS_PTR_IS_ERR(am_came.fetch));
        am_came.is_done = (am_came.fetch == NULL);
        return UCS_INPROGRESS;
    }
    memcpy(target, data, length);
    am_came.is_done = 1;
    return UCS_OK;
}

/* Makes progress; where there is none to make, and the process is to sleep, it sleeps until there is some: or until the socket has
 * something, where one is given. */
static inline void step(int socket)
{
    struct pollfd fds[2] = {{.fd = event_fd, .events = POLLIN}, {.fd = socket, .events = POLLIN}};
    ucs_status_t status;

    if (ucp_worker_progress(side.worker) || (waiting == BY_PROGRESS)) {
        return;
    }
    if ((waiting == BY_WAIT) && (socket < 0)) {
        alarm(PATIENCE_MS / 1000);
        CHECK_OK(ucp_worker_wait(side.worker));
        alarm(0);
        return;
    }
    status = ucp_worker_arm(side.worker);
    if (status == UCS_OK) {
        if (poll(fds, 2, PATIENCE_MS) <= 0) {
            FAIL("%s: nothing woke it", doing);
        }
    } else {
        CHECK_EQ(status, UCS_ERR_BUSY);
    }
}

static inline void finish(ucs_status_ptr_t request)
{
    CHECK(!UCS_PTR_IS_ERR(request));
    if (request == NULL) {
        return;
    }
    while (ucp_request_check_status(request) == UCS_INPROGRESS) {
        step(-1);
    }
    CHECK_OK(ucp_request_check_status(request));
    ucp_request_free(request);
}

static inline ucs_status_ptr_t initiate(kind_t kind, size_t size)
{
    static uint64_t one = 1, old;
    ucp_request_param_t fetch = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER,
                                 .datatype = ucp_dt_make_contig(8), .reply_buffer = &old};

    switch (kind) {
    case TAG:
        return ucp_tag_send_nbx(ep, memory, size, DATA_TAG, &plain);
    case SYNC:
        return ucp_tag_send_sync_nbx(ep, memory, size, DATA_TAG, &plain);
    case AM:
        return ucp_am_send_nbx(ep, AM_ID, NULL, 0, memory, size, &plain);
    case STREAM:
        return ucp_stream_send_nbx(ep, memory, size, &plain);
    case GET:
        return ucp_get_nbx(ep, memory, size, exported.remote, exported.key, &plain);
    case FETCH_ADD:
        return ucp_atomic_op_nbx(ep, UCP_ATOMIC_OP_ADD, &one, 1, exported.remote, exported.key, &fetch);
    default:
        return ucp_put_nbx(ep, memory, size, exported.remote, exported.key, &plain);
    }
}

static inline void finish_initiator(kind_t kind, ucs_status_ptr_t request)
{
    if (kind == WORKER_FLUSH) {
        finish(ucp_worker_flush_nbx(side.worker, &plain));
    }
    finish(request);
    if (kind == PUT) {
        finish(ucp_ep_flush_nbx(ep, &plain));
    }
}

/* What the target does for one operation: receives what there is to receive. */
static inline ucs_status_ptr_t take_part(kind_t kind, size_t size)
{
    static const ucp_request_param_t whole = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                              .flags = UCP_STREAM_RECV_FLAG_WAITALL};
    static size_t length;

    if ((kind == TAG) || (kind == SYNC)) {
        return ucp_tag_recv_nbx(side.worker, target, size, DATA_TAG, UINT64_MAX, &plain);
    } else if ((kind == STREAM) && (size > 0)) {
        return ucp_stream_recv_nbx(ep, target, size, &length, &whole);
    }
    return NULL;
}

static inline void finish_target(kind_t kind, size_t size, ucs_status_ptr_t request)
{
    finish(request);
    if (kind == AM) {
        while (!am_came.is_done && (am_came.fetch == NULL)) {
            step(-1);
        }
        finish(am_came.fetch);
        CHECK_EQ(am_came.length, size);
        am_came.fetch = NULL;
        am_came.is_done = 0;
    }
}

/* Opens `side`, with room for operations of `most` bytes. */
static inline void operations_open(size_t most)
{
    static const ucp_am_handler_param_t am = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB,
                                              .id = AM_ID, .cb = on_am};
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                   .length = most};

    memory = aligned_alloc(4096, most);
    target = aligned_alloc(4096, most);
    CHECK((memory != NULL) && (target != NULL));
    memset(memory, 1, most);
    memset(target, 2, most);
    params.address = target;
    side_open(&side, UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_STREAM | UCP_FEATURE_RMA | UCP_FEATURE_AMO64 |
              UCP_FEATURE_WAKEUP, UCS_THREAD_MODE_SINGLE);
    CHECK_OK(ucp_worker_set_am_recv_handler(side.worker, &am));
    CHECK_OK(ucp_worker_get_efd(side.worker, &event_fd));
    CHECK_OK(ucp_mem_map(side.context, &params, &exported.region));
}

/* Connects to the other process of the pair, or to itself without one. */
static inline void operations_connect(const pair_t *pair)
{
    char address[ADDRESS_ROOM];
    size_t length;
    void *mine, *theirs;

    CHECK_OK(ucp_rkey_pack(side.context, exported.region, &mine, &length));
    if (pair == NULL) {
        ep = side_connect(&side, side.address);
        CHECK_OK(ucp_ep_rkey_unpack(ep, mine, &exported.key));
        exported.remote = (uintptr_t)target;
    } else {
        side_swap_addresses(&side, pair, address);
        ep = side_connect(&side, address);
        pair_send_blob(pair, mine, length);
        theirs = pair_recv_blob(pair);
        CHECK_OK(ucp_ep_rkey_unpack(ep, theirs, &exported.key));
        free(theirs);
        pair_exchange(pair, &target, &exported.remote, sizeof(exported.remote));
    }
    ucp_rkey_buffer_release(mine);
}

/* The endpoint is closed by the caller, who destroys `exported.key` before. */
static inline void operations_close(void)
{
    CHECK_OK(ucp_mem_unmap(side.context, exported.region));
    side_close(&side);
    free(memory);
    free(target);
}

#endif
