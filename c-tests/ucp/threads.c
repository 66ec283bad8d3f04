/* Threads. Two workers of mode MULTI are used by four threads at once: tags, active messages, streams, remote
 * memory, atomics, flushes, requests of the library and of the caller, endpoints that come and go; then one looks on while another progresses. Then four
 * workers of mode SINGLE, one a thread, on one context that they share. THREADS_ROUNDS sets how long. */
/* oracle: 1.22.0 */
/* env: UCX_WARN_UNUSED_ENV_VARS=n */
/* timeout: 120 */
#include <ucp/api/ucp.h>

#include "peers.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { THREADS = 4, LONGEST = 40000, ACTIVE_ID = 3, SLICE = 50000, FEATURES = ALL_FEATURES | UCP_FEATURE_AM |
       UCP_FEATURE_STREAM };

static const size_t lengths[] = {0, 8, 100, 1000, 9000, LONGEST};
enum { LENGTHS = sizeof(lengths) / sizeof(lengths[0]) };

static unsigned rounds = 10;

static size_t length_of(unsigned i)
{
    return lengths[i % LENGTHS];
}

/* Memory for peers, with the key to it. */
typedef struct {
    ucp_context_h context;
    ucp_mem_h memh;
    char *bytes;
    void *key;
    size_t key_length;
} memory_t;

static memory_t memory_open(ucp_context_h context, size_t length)
{
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS,
                                   .length = length,
                                   .flags = UCP_MEM_MAP_ALLOCATE};
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};
    memory_t memory = {.context = context};

    CHECK_OK(ucp_mem_map(context, &params, &memory.memh));
    CHECK_OK(ucp_mem_query(memory.memh, &attr));
    memory.bytes = attr.address;
    memset(memory.bytes, 0, length);
    CHECK_OK(ucp_rkey_pack(context, memory.memh, &memory.key, &memory.key_length));
    return memory;
}

static void memory_close(memory_t *memory)
{
    ucp_rkey_buffer_release(memory->key);
    CHECK_OK(ucp_mem_unmap(memory->context, memory->memh));
}

/* What a thread uses: sends on `from`, receives on `to`, which may be the same. */
typedef struct {
    unsigned index;
    side_t *from, *to;
    ucp_ep_h ep;        /* of `from`, to `to` */
    memory_t *memory;   /* of `to` */
    ucp_ep_h stream[2]; /* the two ends of a stream of its own */
    atomic_uint got;    /* active messages */
    size_t request_size;
} user_t;

static user_t users[THREADS];

/* Progresses until the request ends. */
static void finish(user_t *user, ucs_status_ptr_t request)
{
    CHECK_OK(side_wait(user->from, user->to, request));
}

static void done(void *request, ucs_status_t status, void *arg)
{
    CHECK_OK(status);
    atomic_fetch_add((atomic_uint *)arg, 1);
}

static void tag_done(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info, void *arg)
{
    CHECK_OK(status);
    CHECK_EQ(info->sender_tag >> 8, 7);
    atomic_fetch_add((atomic_uint *)arg, 1);
}

static void tags(user_t *user, unsigned round)
{
    size_t n = length_of(round + user->index);
    char *out = malloc(n + 1), *in = malloc(n + 1), *own = malloc(user->request_size);
    ucp_request_param_t plain = {.op_attr_mask = 0};
    ucp_request_param_t in_own = {.op_attr_mask = UCP_OP_ATTR_FIELD_REQUEST, .request = own + user->request_size};
    ucp_tag_t tag = 0x700 + user->index;
    ucp_tag_recv_info_t info = {0};
    ucs_status_ptr_t s, r;
    ucs_status_t status;
    atomic_uint calls = 0;

    fill(out, n, round + user->index);
    memset(in, 0, n);
    if (round % 3 == 0) {
        ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
                                                     UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
                                     .cb.recv = tag_done,
                                     .user_data = &calls};

        r = ucp_tag_recv_nbx(user->to->worker, in, n, tag, -1, &param);
        param.cb.send = done;
        s = ucp_tag_send_nbx(user->ep, out, n, tag, &param);
        CHECK(UCS_PTR_IS_PTR(r) && UCS_PTR_IS_PTR(s));
        DRIVE_UNTIL(user->from, user->to, atomic_load(&calls) == 2);
        ucp_request_free(r);
        ucp_request_free(s);
    } else if (round % 3 == 1) {
        /* The request is on its owner's memory, and is over for it as soon as it says so. */
        s = ucp_tag_send_sync_nbx(user->ep, out, n, tag, &plain);
        r = ucp_tag_recv_nbx(user->to->worker, in, n, tag, -1, &in_own);
        CHECK(!UCS_PTR_IS_ERR(r));
        DRIVE_UNTIL(user->from, user->to,
                    (status = ucp_tag_recv_request_test(in_own.request, &info)) != UCS_INPROGRESS);
        CHECK_OK(status);
        CHECK_EQ(info.length, n);
        CHECK_EQ(info.sender_tag, tag);
        memset(own, 0x5a, user->request_size);
        finish(user, s);
    } else {
        ucp_tag_message_h message = NULL;

        s = ucp_tag_send_nbx(user->ep, out, n, tag, &plain);
        DRIVE_UNTIL(user->from, user->to,
                    (message = ucp_tag_probe_nb(user->to->worker, tag, -1, 1, &info)) != NULL);
        CHECK_EQ(info.length, n);
        finish(user, ucp_tag_msg_recv_nbx(user->to->worker, in, n, message, &plain));
        finish(user, s);
    }
    CHECK_PATTERN(in, n, round + user->index);
    /* Not wanted after all. */
    r = ucp_tag_recv_nbx(user->to->worker, in, n, 0x900 + user->index, -1, &plain);
    ucp_request_cancel(user->to->worker, r);
    CHECK_STATUS(side_wait(user->from, user->to, r), UCS_ERR_CANCELED);
    free(out);
    free(in);
    free(own);
}

typedef struct {
    unsigned index;
    unsigned seed;
} am_header_t;

typedef struct {
    user_t *user;
    unsigned seed;
    size_t length;
    char *data;
} fetched_t;

static void fetched(void *request, ucs_status_t status, size_t length, void *arg)
{
    fetched_t *it = arg;

    CHECK_OK(status);
    CHECK_EQ(length, it->length);
    CHECK_PATTERN(it->data, length, it->seed);
    atomic_fetch_add(&it->user->got, 1);
    free(it->data);
    free(it);
    if (request != NULL) {
        ucp_request_free(request);
    }
}

/* Comes from whatever thread progresses. */
static ucs_status_t on_active(void *arg, const void *header, size_t header_length, void *data, size_t length,
                              const ucp_am_recv_param_t *param)
{
    side_t *side = arg;
    am_header_t h;

    CHECK_EQ(header_length, sizeof(h));
    memcpy(&h, header, sizeof(h));
    if (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) {
        fetched_t *it = malloc(sizeof(*it));
        ucp_request_param_t fetch = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
                                     .cb.recv_am = fetched,
                                     .user_data = it};
        ucs_status_ptr_t request;

        *it = (fetched_t){&users[h.index], h.seed, length, malloc(length + 1)};
        request = ucp_am_recv_data_nbx(side->worker, data, it->data, length, &fetch);
        CHECK(!UCS_PTR_IS_ERR(request));
        if (request == NULL) {
            fetched(NULL, UCS_OK, length, it);
        }
        return UCS_INPROGRESS;
    }
    CHECK_PATTERN(data, length, h.seed);
    atomic_fetch_add(&users[h.index].got, 1);
    return UCS_OK;
}

static void handle_active(side_t *side)
{
    ucp_am_handler_param_t handler = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                                                    UCP_AM_HANDLER_PARAM_FIELD_ARG,
                                      .id = ACTIVE_ID,
                                      .cb = on_active,
                                      .arg = side};

    CHECK_OK(ucp_worker_set_am_recv_handler(side->worker, &handler));
}

static void active(user_t *user, unsigned round)
{
    size_t n = length_of(round + user->index);
    am_header_t header = {user->index, round + 3 * user->index};
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                 .flags = round % 2 ? UCP_AM_SEND_FLAG_EAGER : UCP_AM_SEND_FLAG_RNDV};
    unsigned before = atomic_load(&user->got);
    char *out = malloc(n + 1);

    fill(out, n, header.seed);
    finish(user, ucp_am_send_nbx(user->ep, ACTIVE_ID, &header, sizeof(header), out, n, &param));
    DRIVE_UNTIL(user->from, user->to, atomic_load(&user->got) == before + 1);
    free(out);
}

static void streams(user_t *user, unsigned round)
{
    size_t n = 1 + length_of(round + user->index), got;
    char *out = malloc(n), *in = malloc(n);
    ucp_request_param_t plain = {.op_attr_mask = 0};
    ucp_request_param_t all = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_STREAM_RECV_FLAG_WAITALL};
    ucs_status_ptr_t s, r;

    fill(out, n, round + 5 * user->index);
    memset(in, 0, n);
    r = ucp_stream_recv_nbx(user->stream[1], in, n, &got, &all);
    s = ucp_stream_send_nbx(user->stream[0], out, n, &plain);
    finish(user, r);
    finish(user, s);
    CHECK_PATTERN(in, n, round + 5 * user->index);
    free(out);
    free(in);
}

/* The counter of all stands at the beginning, then each has a slice. */
static void remote_memory(user_t *user, unsigned round)
{
    size_t n = 1 + length_of(round + user->index);
    uint64_t counter = (uint64_t)(uintptr_t)user->memory->bytes;
    uint64_t slice = counter + 64 + (uint64_t)user->index * SLICE, one = 1, old = -1;
    char *out = malloc(n), *in = malloc(n);
    ucp_request_param_t plain = {.op_attr_mask = 0};
    ucp_request_param_t fetch = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER,
                                 .datatype = ucp_dt_make_contig(8),
                                 .reply_buffer = &old};
    ucp_request_param_t word = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = ucp_dt_make_contig(8)};
    ucp_rkey_h key;

    fill(out, n, round + 7 * user->index);
    memset(in, 0, n);
    CHECK_OK(ucp_ep_rkey_unpack(user->ep, user->memory->key, &key));
    finish(user, ucp_put_nbx(user->ep, out, n, slice, key, &plain));
    finish(user, ucp_ep_flush_nbx(user->ep, &plain));
    finish(user, ucp_get_nbx(user->ep, in, n, slice, key, &plain));
    CHECK_PATTERN(in, n, round + 7 * user->index);
    finish(user, ucp_atomic_op_nbx(user->ep, UCP_ATOMIC_OP_ADD, &one, 1, counter, key, &fetch));
    CHECK(old < (uint64_t)THREADS * rounds * 2);
    finish(user, ucp_atomic_op_nbx(user->ep, UCP_ATOMIC_OP_ADD, &one, 1, counter, key, &word));
    CHECK(ucp_put_nbi(user->ep, out, 8 < n ? 8 : n, slice, key) >= UCS_OK);
    finish(user, ucp_worker_flush_nbx(user->from->worker, &plain));
    ucp_rkey_destroy(key);
    free(out);
    free(in);
}

/* An endpoint for one message. */
static void endpoints(user_t *user, unsigned round)
{
    ucp_request_param_t plain = {.op_attr_mask = 0};
    ucp_ep_h ep = side_connect(user->from, user->to->address);
    uint64_t out = round, in = -1;
    ucs_status_ptr_t r, s;

    r = ucp_tag_recv_nbx(user->to->worker, &in, 8, 0x800 + user->index, -1, &plain);
    s = ucp_tag_send_nbx(ep, &out, 8, 0x800 + user->index, &plain);
    finish(user, s);
    finish(user, ucp_ep_close_nbx(ep, &plain));
    finish(user, r);
    CHECK_EQ(in, round);
}

static void (*const kinds[])(user_t *user, unsigned round) = {tags, active, streams, remote_memory, endpoints};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static size_t request_size(ucp_context_h context)
{
    ucp_context_attr_t attr = {.field_mask = UCP_ATTR_FIELD_REQUEST_SIZE};

    CHECK_OK(ucp_context_query(context, &attr));
    return attr.request_size;
}

static void start_all(pthread_t *threads, void *(*body)(void *))
{
    unsigned i;

    for (i = 0; i < THREADS; ++i) {
        CHECK_EQ(pthread_create(&threads[i], NULL, body, &users[i]), 0);
    }
    for (i = 0; i < THREADS; ++i) {
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    }
}

static void *use_shared(void *arg)
{
    user_t *user = arg;
    unsigned round, kind;

    for (round = 0; round < rounds; ++round) {
        for (kind = 0; kind < KINDS; ++kind) {
            kinds[(kind + user->index) % KINDS](user, round);
        }
    }
    return NULL;
}

typedef struct {
    side_t *a, *b;
    atomic_int stop;
} driver_t;

static void *drive(void *arg)
{
    driver_t *driver = arg;

    while (!atomic_load(&driver->stop)) {
        ucp_worker_progress(driver->a->worker);
        ucp_worker_progress(driver->b->worker);
    }
    return NULL;
}

/* Another thread completes what this one only looks at: with the end of a request comes all it has to tell. */
static void look_only(side_t *a, side_t *b, ucp_ep_h ab)
{
    ucp_request_param_t own = {.op_attr_mask = UCP_OP_ATTR_FIELD_REQUEST}, plain = {.op_attr_mask = 0};
    driver_t driver = {.a = a, .b = b};
    size_t size = request_size(a->context);
    char *memory = malloc(size), in, out = 0;
    pthread_t thread;
    unsigned i, looks;

    own.request = memory + size;
    CHECK_EQ(pthread_create(&thread, NULL, drive, &driver), 0);
    for (i = 0; i < rounds * 20; ++i) {
        ucp_tag_recv_info_t info = {.length = 77, .sender_tag = 77};
        ucs_status_t status;
        ucs_status_ptr_t s;

        CHECK(!UCS_PTR_IS_ERR(ucp_tag_recv_nbx(b->worker, &in, 1, 0x10000 + i, -1, &own)));
        s = ucp_tag_send_nbx(ab, &out, 1, 0x10000 + i, &plain);
        for (looks = 1; (status = ucp_tag_recv_request_test(own.request, &info)) == UCS_INPROGRESS; ++looks) {
            if (looks % 500 == 0) {
                sched_yield();
            }
        }
        CHECK_OK(status);
        CHECK_EQ(info.sender_tag, 0x10000 + i);
        CHECK_EQ(info.length, 1);
        CHECK_OK(side_wait(a, b, s));
    }
    atomic_store(&driver.stop, 1);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    free(memory);
}

static void multi(const char *tls)
{
    static side_t a, b;
    pthread_t threads[THREADS];
    memory_t memory;
    ucp_ep_h ab, others[THREADS][2];
    ucp_worker_attr_t mode = {.field_mask = UCP_WORKER_ATTR_FIELD_THREAD_MODE};
    uint64_t sum;
    unsigned i;

    setenv("UCX_TLS", tls, 1);
    side_open(&a, FEATURES, UCS_THREAD_MODE_MULTI);
    side_open(&b, FEATURES, UCS_THREAD_MODE_MULTI);
    CHECK_OK(ucp_worker_query(a.worker, &mode));
    CHECK_EQ(mode.thread_mode, UCS_THREAD_MODE_MULTI);
    memory = memory_open(b.context, 64 + THREADS * SLICE);
    handle_active(&b);
    ab = side_connect(&a, b.address);
    for (i = 0; i < THREADS; ++i) {
        users[i] = (user_t){.index = i, .from = &a, .to = &b, .ep = ab, .memory = &memory,
                            .request_size = request_size(a.context)};
    }
    /* The n-th endpoints of both sides belong together. */
    side_connect(&b, a.address);
    for (i = 0; i < THREADS; ++i) {
        others[i][0] = users[i].stream[0] = side_connect(&a, b.address);
        others[i][1] = users[i].stream[1] = side_connect(&b, a.address);
    }
    start_all(threads, use_shared);
    memcpy(&sum, memory.bytes, sizeof(sum));
    CHECK_EQ(sum, (uint64_t)THREADS * rounds * 2);
    look_only(&a, &b, ab);
    for (i = 0; i < THREADS; ++i) {
        CHECK_OK(side_disconnect(&a, &b, others[i][0], 0));
        CHECK_OK(side_disconnect(&a, &b, others[i][1], 0));
    }
    CHECK_OK(side_disconnect(&a, &b, ab, 0));
    memory_close(&memory);
    side_close(&a);
    side_close(&b);
    OK("multi: %s", tls);
}

/* One worker a thread. */
static ucp_context_h shared;
static side_t sides[THREADS];
static memory_t memories[THREADS];
static atomic_uint arrived;

/* Waits for the others, and goes on answering them. */
static void meet(side_t *side, unsigned stage)
{
    atomic_fetch_add(&arrived, 1);
    DRIVE_UNTIL(side, side, atomic_load(&arrived) >= stage * THREADS);
}

static void *use_own(void *arg)
{
    ucp_worker_params_t params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                  .thread_mode = UCS_THREAD_MODE_SINGLE};
    ucp_request_param_t plain = {.op_attr_mask = 0};
    user_t *user = arg;
    unsigned me = user->index, next = (me + 1) % THREADS, before = (me + THREADS - 1) % THREADS, round;
    side_t *side = &sides[me];
    char *out = malloc(LONGEST), *in = malloc(LONGEST);
    ucp_rkey_h key;

    side->context = shared;
    CHECK_OK(ucp_worker_create(shared, &params, &side->worker));
    CHECK_OK(ucp_worker_get_address(side->worker, &side->address, &side->address_length));
    memories[me] = memory_open(shared, 64 + THREADS * SLICE);
    user->from = user->to = side;
    handle_active(side);
    meet(side, 1);
    user->ep = side_connect(side, sides[next].address);
    for (round = 0; round < rounds * 2; ++round) {
        size_t n = length_of(round);
        am_header_t header = {next, round};
        uint64_t one = 1, far = (uint64_t)(uintptr_t)memories[next].bytes;
        ucs_status_ptr_t r, s;
        memory_t other;

        fill(out, n, round + me);
        memset(in, 0, n);
        r = ucp_tag_recv_nbx(side->worker, in, n, before, -1, &plain);
        s = ucp_tag_send_nbx(user->ep, out, n, me, &plain);
        finish(user, r);
        finish(user, s);
        CHECK_PATTERN(in, n, round + before);
        fill(out, n, round);
        finish(user, ucp_am_send_nbx(user->ep, ACTIVE_ID, &header, sizeof(header), out, n, &plain));
        /* Memory comes and goes in all threads, and so do keys. */
        other = memory_open(shared, 5000 + round);
        memory_close(&other);
        CHECK_OK(ucp_ep_rkey_unpack(user->ep, memories[next].key, &key));
        finish(user, ucp_put_nbx(user->ep, out, n, far + 64 + me * SLICE, key, &plain));
        CHECK_OK(ucp_atomic_post(user->ep, UCP_ATOMIC_POST_OP_ADD, one, 8, far, key));
        finish(user, ucp_worker_flush_nbx(side->worker, &plain));
        finish(user, ucp_get_nbx(user->ep, in, n, far + 64 + me * SLICE, key, &plain));
        CHECK_PATTERN(in, n, round);
        ucp_rkey_destroy(key);
    }
    DRIVE_UNTIL(side, side, atomic_load(&user->got) == rounds * 2);
    meet(side, 2);
    CHECK_EQ(*(uint64_t *)memories[me].bytes, rounds * 2);
    finish(user, ucp_ep_close_nbx(user->ep, &plain));
    meet(side, 3);
    memory_close(&memories[me]);
    ucp_worker_release_address(side->worker, side->address);
    ucp_worker_destroy(side->worker);
    free(out);
    free(in);
    return NULL;
}

static void single(const char *tls)
{
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED,
                           .features = FEATURES,
                           .mt_workers_shared = 1};
    ucp_context_attr_t attr = {.field_mask = UCP_ATTR_FIELD_THREAD_MODE};
    pthread_t threads[THREADS];
    unsigned i;

    setenv("UCX_TLS", tls, 1);
    CHECK_OK(ucp_init(&params, NULL, &shared));
    CHECK_OK(ucp_context_query(shared, &attr));
    CHECK_EQ(attr.thread_mode, UCS_THREAD_MODE_MULTI);
    atomic_store(&arrived, 0);
    for (i = 0; i < THREADS; ++i) {
        users[i] = (user_t){.index = i};
    }
    start_all(threads, use_own);
    ucp_cleanup(shared);
    OK("single: %s", tls);
}

int main(void)
{
    if (getenv("THREADS_ROUNDS")) {
        rounds = atoi(getenv("THREADS_ROUNDS"));
    }
    multi("posix");
    multi("tcp");
    multi("posix,cma");
    single("posix");
    single("tcp");
    single("all");
    return 0;
}
