/* Memory is unmapped and freed while peers access it by messages: a late access is refused with an error and touches
 * nothing. Unmapped during the reply to a get, within an active-message handler, within a completion callback, and
 * with threads that serve peers all the time. */
/* env: UCX_TLS=posix UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n */
/* cflags: -pthread */
/* timeout: 60 */
#include <ucp/api/ucp.h>

#include "failure.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>

enum { LENGTH = 4 << 20, SERVERS = 2, EPOCHS = 12, ROUNDS = 3, HANDLER = 3 };

static const ucp_request_param_t plain;

/* Memory that is really gone when it is unmapped. */
typedef struct {
    ucp_context_h context;
    ucp_mem_h memh;
    void *at, *key;
    size_t key_length;
} region_t;

static region_t region_map(ucp_context_h context)
{
    region_t region = {.context = context};
    ucp_mem_map_params_t map = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                .length = LENGTH};

    region.at = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(region.at != MAP_FAILED);
    map.address = region.at;
    CHECK_OK(ucp_mem_map(context, &map, &region.memh));
    CHECK_OK(ucp_rkey_pack(context, region.memh, &region.key, &region.key_length));
    return region;
}

static void region_unmap(region_t *region)
{
    ucp_rkey_buffer_release(region->key);
    CHECK_OK(ucp_mem_unmap(region->context, region->memh));
    CHECK(munmap(region->at, LENGTH) == 0);
    region->at = NULL;
}

/* An owner and a peer of it that reaches its memory by messages. */
typedef struct {
    side_t owner, peer;
    ucp_ep_h ep;
} workers_t;

static void workers_open(workers_t *two)
{
    uint64_t features = ALL_FEATURES | UCP_FEATURE_AM;

    side_open(&two->owner, features, UCS_THREAD_MODE_SINGLE);
    side_open(&two->peer, features, UCS_THREAD_MODE_SINGLE);
    two->ep = side_connect(&two->peer, two->owner.address);
}

static void workers_close(workers_t *two)
{
    CHECK_OK(side_disconnect(&two->peer, &two->owner, two->ep, 0));
    side_close(&two->peer);
    side_close(&two->owner);
}

/* Waits, without an opinion on the end. */
static ucs_status_t two_end(workers_t *two, ucs_status_ptr_t request)
{
    return side_wait(&two->owner, &two->peer, request);
}

static void in_the_middle_of_a_get(void)
{
    char *buffer = malloc(LENGTH);
    ucs_status_ptr_t got;
    region_t region;
    ucp_rkey_h key;
    workers_t two;

    workers_open(&two);
    region = region_map(two.owner.context);
    CHECK_OK(ucp_ep_rkey_unpack(two.ep, region.key, &key));
    got = ucp_get_nbx(two.ep, buffer, LENGTH, (uintptr_t)region.at, key, &plain);
    /* The answer is longer than what is taken at a time: the owner is left with a part of it. */
    while (ucp_worker_progress(two.owner.worker) > 0) {
    }
    ucp_worker_progress(two.owner.worker);
    CHECK(!has_ended(got));
    region_unmap(&region);
    CHECK_STATUS(two_end(&two, got), UCS_ERR_INVALID_ADDR);
    ucp_rkey_destroy(key);
    workers_close(&two);
    free(buffer);
}

static ucs_status_t unmap_in_handler(void *arg, const void *header, size_t header_length, void *data, size_t length,
                                     const ucp_am_recv_param_t *param)
{
    region_unmap(arg);
    return UCS_OK;
}

static void unmap_in_callback(void *request, ucs_status_t status, void *arg)
{
    CHECK_OK(status);
    region_unmap(arg);
}

static void within_calls_of_ours(void)
{
    static char buffer[256 << 10];
    ucp_request_param_t callback = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
                                    .cb.send = unmap_in_callback};
    ucp_am_handler_param_t handler = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                                                    UCP_AM_HANDLER_PARAM_FIELD_ARG,
                                      .id = HANDLER,
                                      .cb = unmap_in_handler};
    ucs_status_ptr_t got, put, sent, flush;
    region_t region;
    ucp_rkey_h key;
    uint64_t address;
    workers_t two;

    workers_open(&two);
    handler.arg = &region;
    CHECK_OK(ucp_worker_set_am_recv_handler(two.owner.worker, &handler));
    region = region_map(two.owner.context);
    address = (uintptr_t)region.at;
    CHECK_OK(ucp_ep_rkey_unpack(two.ep, region.key, &key));
    put = ucp_put_nbx(two.ep, buffer, sizeof(buffer), address, key, &plain);
    sent = ucp_am_send_nbx(two.ep, HANDLER, NULL, 0, buffer, 8, &plain);
    flush = ucp_ep_flush_nbx(two.ep, &plain);
    CHECK_OK(two_end(&two, put));
    CHECK_OK(two_end(&two, sent));
    CHECK_OK(two_end(&two, flush));
    CHECK(region.at == NULL);
    put = ucp_put_nbx(two.ep, buffer, sizeof(buffer), address, key, &plain);
    flush = ucp_ep_flush_nbx(two.ep, &plain);
    CHECK_OK(two_end(&two, put));
    CHECK_STATUS(two_end(&two, flush), UCS_ERR_INVALID_ADDR);
    ucp_rkey_destroy(key);

    region = region_map(two.owner.context);
    address = (uintptr_t)region.at;
    CHECK_OK(ucp_ep_rkey_unpack(two.ep, region.key, &key));
    callback.user_data = &region;
    got = ucp_get_nbx(two.ep, buffer, sizeof(buffer), address, key, &callback);
    CHECK_OK(two_end(&two, got));
    CHECK(region.at == NULL);
    CHECK_STATUS(two_end(&two, ucp_get_nbx(two.ep, buffer, 8, address, key, &plain)), UCS_ERR_INVALID_ADDR);
    ucp_rkey_destroy(key);
    workers_close(&two);
}

/* What the threads share: the region of now, and how much has been done to it. */
static struct {
    pthread_mutex_t lock;
    region_t region;
    unsigned epoch;
    atomic_uint done[SERVERS], stop;
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* A worker of the owner that serves one peer. */
typedef struct {
    unsigned number;
    ucp_worker_h worker;
    ucp_address_t *address;
    atomic_uint stop;
    pthread_t thread, peer;
} server_t;

static void *serve(void *arg)
{
    server_t *server = arg;

    while (!atomic_load(&server->stop)) {
        if (ucp_worker_progress(server->worker) == 0) {
            sched_yield();
        }
    }
    return NULL;
}

static void may_be_late(side_t *side, ucs_status_ptr_t request)
{
    ucs_status_t status = side_wait(side, side, request);

    CHECK((status == UCS_OK) || (status == UCS_ERR_INVALID_ADDR));
}

static void access_all(side_t *side, ucp_ep_h ep, uint64_t address, ucp_rkey_h key, char *buffer)
{
    static const size_t lengths[ROUNDS] = {8, 5000, LENGTH};
    uint64_t old = 1;
    int i;

    for (i = 0; i < ROUNDS; ++i) {
        ucs_status_ptr_t put = ucp_put_nbx(ep, buffer, lengths[i], address, key, &plain);
        ucs_status_ptr_t got = ucp_get_nbx(ep, buffer, lengths[i], address, key, &plain);
        ucp_request_param_t fetch = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER,
                                     .datatype = ucp_dt_make_contig(8),
                                     .reply_buffer = &old};
        ucs_status_ptr_t added = ucp_atomic_op_nbx(ep, UCP_ATOMIC_OP_ADD, &old, 1, address + 64, key, &fetch);

        may_be_late(side, put);
        may_be_late(side, got);
        may_be_late(side, added);
        may_be_late(side, ucp_ep_flush_nbx(ep, &plain));
    }
}

static void *access_until_stopped(void *arg)
{
    server_t *server = arg;
    char *buffer = calloc(1, LENGTH);
    unsigned epoch = 0;
    ucp_rkey_h key = NULL;
    uint64_t address = 0;
    side_t side;
    ucp_ep_h ep;

    side_open(&side, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    ep = side_connect(&side, server->address);
    while (!atomic_load(&shared.stop)) {
        pthread_mutex_lock(&shared.lock);
        if (shared.epoch != epoch) {
            if (key != NULL) {
                ucp_rkey_destroy(key);
            }
            epoch = shared.epoch;
            address = (uintptr_t)shared.region.at;
            CHECK_OK(ucp_ep_rkey_unpack(ep, shared.region.key, &key));
        }
        pthread_mutex_unlock(&shared.lock);
        access_all(&side, ep, address, key, buffer);
        atomic_fetch_add(&shared.done[server->number], 1);
    }
    ucp_rkey_destroy(key);
    CHECK_OK(side_disconnect(&side, &side, ep, 0));
    side_close(&side);
    free(buffer);
    return NULL;
}

static void with_threads(void)
{
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED,
                           .features = ALL_FEATURES,
                           .mt_workers_shared = 1};
    ucp_worker_params_t worker_params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                         .thread_mode = UCS_THREAD_MODE_SERIALIZED};
    server_t servers[SERVERS] = {0};
    unsigned i, before[SERVERS];
    ucp_context_h context;
    region_t last;
    size_t length;

    CHECK_OK(ucp_init(&params, NULL, &context));
    shared.region = region_map(context);
    shared.epoch = 1;
    for (i = 0; i < SERVERS; ++i) {
        servers[i].number = i;
        CHECK_OK(ucp_worker_create(context, &worker_params, &servers[i].worker));
        CHECK_OK(ucp_worker_get_address(servers[i].worker, &servers[i].address, &length));
        CHECK(pthread_create(&servers[i].thread, NULL, serve, &servers[i]) == 0);
        CHECK(pthread_create(&servers[i].peer, NULL, access_until_stopped, &servers[i]) == 0);
    }
    while (shared.epoch < EPOCHS) {
        for (i = 0; i < SERVERS; ++i) {
            before[i] = atomic_load(&shared.done[i]);
        }
        for (i = 0; i < SERVERS; ++i) {
            while (atomic_load(&shared.done[i]) == before[i]) {
                sched_yield();
            }
        }
        pthread_mutex_lock(&shared.lock);
        last = shared.region;
        shared.region = region_map(context);
        ++shared.epoch;
        pthread_mutex_unlock(&shared.lock);
        region_unmap(&last);
    }
    atomic_store(&shared.stop, 1);
    for (i = 0; i < SERVERS; ++i) {
        CHECK(pthread_join(servers[i].peer, NULL) == 0);
    }
    region_unmap(&shared.region);
    for (i = 0; i < SERVERS; ++i) {
        atomic_store(&servers[i].stop, 1);
        CHECK(pthread_join(servers[i].thread, NULL) == 0);
        ucp_worker_release_address(servers[i].worker, servers[i].address);
        ucp_worker_destroy(servers[i].worker);
    }
    ucp_cleanup(context);
}

int main(void)
{
    in_the_middle_of_a_get();
    within_calls_of_ours();
    with_threads();
    printf("nothing touched memory that was gone\n");
    return 0;
}
