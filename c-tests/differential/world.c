#include "world.h"

#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { ARENA_LENGTH = 160 << 20, IDLE_YIELD = 32, IDLE_SLEEP = 400 };

world_t world;
static unsigned idle;
static double watch_started, watch_limit = 40;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

void world_start_watch(void)
{
    const char *limit = getenv("DIFFERENTIAL_LIMIT");

    watch_limit = limit ? atof(limit) : watch_limit;
    watch_started = now();
    alarm((unsigned)watch_limit * 2); /* for calls that do not come back */
}

static void sleep_armed(void)
{
    struct pollfd fds[MAX_NODES];
    ucs_status_t status;
    unsigned i, count = 0;

    for (i = 0; i < world.config.nodes; ++i) {
        if (world_is_mine(i)) {
            status = ucp_worker_arm(world.nodes[i].worker);
            if (status == UCS_ERR_BUSY) {
                return;
            }
            MUST(status);
            MUST(ucp_worker_get_efd(world.nodes[i].worker, &fds[count].fd));
            fds[count++].events = POLLIN;
        }
    }
    poll(fds, count, 1); /* the barrier is no event: wake up for it */
}

void world_progress(void)
{
    static const struct timespec nap = {0, 50000};
    unsigned i, progressed = 0;

    for (i = 0; i < world.config.nodes; ++i) {
        if (world_is_mine(i) && world.nodes[i].worker) {
            progressed += ucp_worker_progress(world.nodes[i].worker);
        }
    }
    idle = progressed ? 0 : idle + 1;
    if (idle < IDLE_YIELD) {
        return;
    }
    if (now() - watch_started > watch_limit) {
        fprintf(stderr, "seed %lu round %u process %u: no end after %.0f s\n", (unsigned long)world.seed, world.round,
                world.rank, watch_limit);
        world.show_pending();
        fflush(NULL);
        _exit(3);
    }
    if (idle < IDLE_SLEEP) {
        sched_yield();
    } else if (world.config.wakeup && world.nodes[world.rank].worker) {
        sleep_armed();
    } else {
        nanosleep(&nap, NULL);
    }
}

void world_barrier(void)
{
    unsigned generation = atomic_load(&world.shared->generation);

    if (atomic_fetch_add(&world.shared->arrived, 1) + 1 == world.config.processes) {
        atomic_store(&world.shared->arrived, 0);
        atomic_fetch_add(&world.shared->generation, 1);
        return;
    }
    idle = 0;
    while (atomic_load(&world.shared->generation) == generation) {
        world_progress();
    }
}

ucs_status_t world_wait(void *request)
{
    ucs_status_t status;

    if (!UCS_PTR_IS_PTR(request)) {
        return UCS_PTR_RAW_STATUS(request);
    }
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) {
        world_progress();
    }
    ucp_request_free(request);
    return status;
}

void *arena_alloc(size_t length)
{
    void *memory = world.arena + world.arena_used;

    world.arena_used += length;
    if (world.arena_used > ARENA_LENGTH) {
        STOP("the plan needs more memory than there is");
    }
    return memory;
}

static void *map(size_t length)
{
    void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED) {
        STOP("no memory");
    }
    return memory;
}

static ucp_mem_h register_memory(void **memory, size_t length)
{
    ucp_mem_map_params_t params;
    ucp_mem_attr_t attr;
    ucp_mem_h memh;

    params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                        UCP_MEM_MAP_PARAM_FIELD_FLAGS;
    params.address = *memory;
    params.length = length;
    params.flags = *memory ? 0 : UCP_MEM_MAP_ALLOCATE;
    MUST(ucp_mem_map(world.context, &params, &memh));
    attr.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS | UCP_MEM_ATTR_FIELD_LENGTH;
    MUST(ucp_mem_query(memh, &attr));
    *memory = attr.address;
    return memh;
}

static void clear_request(void *request)
{
    memset(request, 0, 64);
}

void world_open(void)
{
    ucp_context_attr_t attr;
    ucp_params_t params;
    void *arena;

    params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_REQUEST_SIZE | UCP_PARAM_FIELD_REQUEST_INIT;
    params.features = UCP_FEATURE_TAG | UCP_FEATURE_RMA | UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64 |
                      UCP_FEATURE_STREAM | UCP_FEATURE_AM | (world.config.wakeup ? UCP_FEATURE_WAKEUP : 0);
    params.request_size = 64;
    params.request_init = clear_request;
    MUST(ucp_init(&params, NULL, &world.context));
    attr.field_mask = UCP_ATTR_FIELD_REQUEST_SIZE;
    MUST(ucp_context_query(world.context, &attr));
    world.request_size = attr.request_size;
    arena = map(ARENA_LENGTH);
    world.arena = arena;
    world.arena_memh = register_memory(&arena, ARENA_LENGTH);
}

void world_close(void)
{
    MUST(ucp_mem_unmap(world.context, world.arena_memh));
    munmap(world.arena, ARENA_LENGTH);
    ucp_cleanup(world.context);
}

static void open_node(unsigned index)
{
    node_t *node = &world.nodes[index];
    ucp_worker_params_t params;
    ucp_address_t *address;
    void *buffer, *memory;
    size_t length;
    unsigned i;

    params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE | UCP_WORKER_PARAM_FIELD_AM_ALIGNMENT;
    params.thread_mode = world.config.multi ? UCS_THREAD_MODE_MULTI : UCS_THREAD_MODE_SINGLE;
    params.am_alignment = world.config.am_alignment;
    if (!params.am_alignment) {
        params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    }
    MUST(ucp_worker_create(world.context, &params, &node->worker));
    MUST(ucp_worker_get_address(node->worker, &address, &length));
    if (length > sizeof(world.shared->nodes[index].address)) {
        STOP("an address of %zu bytes", length);
    }
    memcpy(world.shared->nodes[index].address, address, length);
    world.shared->nodes[index].address_length = length;
    ucp_worker_release_address(node->worker, address);

    for (i = 0; i < REGIONS; ++i) {
        memory = i ? NULL : map(world.config.region_length);
        node->memh[i] = register_memory(&memory, world.config.region_length);
        node->region[i] = memory;
        MUST(ucp_rkey_pack(world.context, node->memh[i], &buffer, &length));
        if (length > sizeof(world.shared->nodes[index].key[i])) {
            STOP("a key of %zu bytes", length);
        }
        memcpy(world.shared->nodes[index].key[i], buffer, length);
        world.shared->nodes[index].key_length[i] = length;
        world.shared->nodes[index].base[i] = (uintptr_t)memory;
        ucp_rkey_buffer_release(buffer);
    }
}

void world_fill_regions(void)
{
    unsigned node, i;

    for (node = 0; node < world.config.nodes; ++node) {
        for (i = 0; world_is_mine(node) && i < REGIONS; ++i) {
            bytes_fill(world.nodes[node].region[i], world.config.region_length, mix(world.seed) + node * REGIONS + i);
        }
    }
}

static void connect_node(unsigned index)
{
    node_t *node = &world.nodes[index];
    ucp_ep_params_t params;
    unsigned peer, region;

    for (peer = 0; peer < world.config.nodes; ++peer) {
        params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_USER_DATA;
        params.address = (void *)world.shared->nodes[peer].address;
        params.user_data = (void *)(uintptr_t)peer;
        MUST(ucp_ep_create(node->worker, &params, &node->eps[peer]));
        for (region = 0; region < REGIONS; ++region) {
            MUST(ucp_ep_rkey_unpack(node->eps[peer], world.shared->nodes[peer].key[region],
                                    &node->rkeys[peer][region]));
        }
    }
}

void world_open_generation(void)
{
    unsigned i;

    for (i = 0; i < world.config.nodes; ++i) {
        if (world_is_mine(i)) {
            open_node(i);
        }
    }
    world_barrier();
    for (i = 0; i < world.config.nodes; ++i) {
        if (world_is_mine(i)) {
            connect_node(i);
        }
    }
    world_barrier();
}

void world_close_generation(void)
{
    void *requests[MAX_NODES][MAX_NODES];
    ucp_request_param_t param = {.op_attr_mask = 0};
    unsigned i, peer, region;
    node_t *node;

    for (i = 0; i < world.config.nodes; ++i) {
        for (peer = 0; world_is_mine(i) && peer < world.config.nodes; ++peer) {
            for (region = 0; region < REGIONS; ++region) {
                ucp_rkey_destroy(world.nodes[i].rkeys[peer][region]);
            }
            requests[i][peer] = ucp_ep_close_nbx(world.nodes[i].eps[peer], &param);
        }
    }
    for (i = 0; i < world.config.nodes; ++i) {
        for (peer = 0; world_is_mine(i) && peer < world.config.nodes; ++peer) {
            MUST(world_wait(requests[i][peer]));
        }
    }
    world_barrier();
    for (i = 0; i < world.config.nodes; ++i) {
        if (!world_is_mine(i)) {
            continue;
        }
        node = &world.nodes[i];
        ucp_worker_destroy(node->worker);
        for (region = 0; region < REGIONS; ++region) {
            MUST(ucp_mem_unmap(world.context, node->memh[region]));
        }
        munmap(node->region[0], world.config.region_length);
        memset(node, 0, sizeof(*node));
    }
    world_barrier();
}
