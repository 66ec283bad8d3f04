/* A process whose three threads use the library all the time forks at random moments. Whatever those threads were doing,
 * the child can use the library: it makes workers of its own and talks with itself, at once or after it touched what its
 * parent made. TORTURE_COUNT sets how often is forked: a few times by each of many processes, each with its
 * own transports and jobs, the first time while the library is being used for the first time. */
#define _GNU_SOURCE
#include <ucp/api/ucp.h>

#include "torture.h"
#include "peers.h"

#include <ucm/api/ucm.h>
#include <ucs/async/async_fwd.h>
#include <ucs/debug/log_def.h>
#include <ucs/sys/event_set.h>

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* Of upstream's internal headers, which are not installed. */
double ucs_get_cpu_clocks_per_sec(void);

enum { THREADS = 3, FORKS = 20, LIMIT_S = 20, PAGE = 4096, FEATURES = ALL_FEATURES | UCP_FEATURE_AM | UCP_FEATURE_STREAM };

typedef struct {
    uint64_t state;
} rng_t;

typedef void (*job_t)(rng_t *rng);

static const ucp_request_param_t plain;
static const char *const mixes[] = {"all", "tcp", "posix", "sysv", "posix,cma", "self", "tcp,sysv,cma"};
static const char *mix;
static volatile int stop;
/* One worker for all threads. */
static side_t shared;
static ucp_ep_h shared_ep;
static pthread_mutex_t shared_opening = PTHREAD_MUTEX_INITIALIZER;
static volatile int shared_open;

static uint64_t random_below(rng_t *rng, uint64_t below)
{
    rng->state ^= rng->state << 13;
    rng->state ^= rng->state >> 7;
    rng->state ^= rng->state << 17;
    return rng->state % below;
}

/* A worker over the round's transports. */
static void open_side(side_t *side, uint64_t features, ucs_thread_mode_t mode)
{
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = features};
    ucp_worker_params_t worker_params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE, .thread_mode = mode};
    ucp_config_t *config;

    CHECK_OK(ucp_config_read(NULL, NULL, &config));
    CHECK_OK(ucp_config_modify(config, "TLS", mix));
    CHECK_OK(ucp_init(&params, config, &side->context));
    ucp_config_release(config);
    CHECK_OK(ucp_worker_create(side->context, &worker_params, &side->worker));
    CHECK_OK(ucp_worker_get_address(side->worker, &side->address, &side->address_length));
}

static void message(side_t *from, side_t *to, ucp_ep_h ep, size_t length, uint64_t tag)
{
    unsigned char *out = malloc(length), *in = malloc(length);
    ucs_status_ptr_t received;

    fill(out, length, tag);
    received = ucp_tag_recv_nbx(to->worker, in, length, tag, -1, &plain);
    CHECK_OK(side_wait(from, to, ucp_tag_send_nbx(ep, out, length, tag, &plain)));
    CHECK_OK(side_wait(from, to, received));
    CHECK_PATTERN(in, length, tag);
    free(out);
    free(in);
}

static void memory(side_t *side, ucp_ep_h ep, rng_t *rng)
{
    ucp_mem_map_params_t map = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS,
                                .length = PAGE * (1 + random_below(rng, 100)),
                                .flags = UCP_MEM_MAP_ALLOCATE};
    void *packed;
    ucp_rkey_h rkey;
    ucp_mem_h memh;
    size_t length;

    CHECK_OK(ucp_mem_map(side->context, &map, &memh));
    CHECK_OK(ucp_rkey_pack(side->context, memh, &packed, &length));
    CHECK_OK(ucp_ep_rkey_unpack(ep, packed, &rkey));
    ucp_rkey_buffer_release(packed);
    ucp_rkey_destroy(rkey);
    CHECK_OK(ucp_mem_unmap(side->context, memh));
}

/* Workers that are made, used and closed. */
static void come_and_go(rng_t *rng)
{
    unsigned wakeup = random_below(rng, 2) ? UCP_FEATURE_WAKEUP : 0;
    side_t a, b;
    ucp_ep_h ep;

    open_side(&a, FEATURES | wakeup, UCS_THREAD_MODE_SINGLE);
    open_side(&b, FEATURES, random_below(rng, 2) ? UCS_THREAD_MODE_MULTI : UCS_THREAD_MODE_SINGLE);
    /* "self" leads to the own worker only. */
    if (!strcmp(mix, "self")) {
        ep = side_connect(&a, a.address);
        message(&a, &a, ep, 1 + random_below(rng, 20000), random_below(rng, 1000));
        memory(&a, ep, rng);
        CHECK_OK(side_disconnect(&a, &a, ep, 0));
    } else {
        ep = side_connect(&a, b.address);
        message(&a, &b, ep, 1 + random_below(rng, random_below(rng, 4) ? 100 : 100000), random_below(rng, 1000));
        memory(&b, ep, rng);
        CHECK_OK(side_disconnect(&a, &b, ep, 0));
    }
    side_close(&a);
    side_close(&b);
}

/* The worker of all threads: messages, and endpoints to itself that come and go. */
static void share(rng_t *rng)
{
    uint64_t tag = random_below(rng, UINT64_MAX);
    ucp_ep_h ep;
    unsigned i;

    if (!shared_open) {
        pthread_mutex_lock(&shared_opening);
        if (!shared_open) {
            open_side(&shared, FEATURES, UCS_THREAD_MODE_MULTI);
            shared_ep = side_connect(&shared, shared.address);
            __sync_synchronize();
            shared_open = 1;
        }
        pthread_mutex_unlock(&shared_opening);
    }
    for (i = 0; i < 5; ++i) {
        message(&shared, &shared, shared_ep, 1 + random_below(rng, 5000), tag + i);
    }
    ep = side_connect(&shared, shared.address);
    memory(&shared, ep, rng);
    CHECK_OK(side_disconnect(&shared, &shared, ep, 0));
}

static ucs_log_func_rc_t swallow(const char *file, unsigned line, const char *function, ucs_log_level_t level,
                                 const ucs_log_component_config_t *config, const char *format, va_list arguments)
{
    return UCS_LOG_FUNC_RC_STOP;
}

/* Refused calls write lines, with and without a handler of the program. */
static void say(rng_t *rng)
{
    int handled = random_below(rng, 2);
    unsigned i;

    if (handled) {
        ucs_log_push_handler(swallow);
    }
    for (i = 0; i < 20; ++i) {
        CHECK(UCS_PTR_IS_ERR(ucp_tag_send_nbx(NULL, &i, 1, 0, &plain)));
    }
    if (handled) {
        ucs_log_pop_handler();
    }
}

static void ignore(int id, ucs_event_set_types_t events, void *arg)
{
}

/* Timers, which the library's thread serves. */
static void tick(rng_t *rng)
{
    ucs_async_context_t *ctx;
    int id;

    CHECK_OK(ucs_async_context_create(UCS_ASYNC_MODE_THREAD_MUTEX, &ctx));
    CHECK_OK(ucs_async_add_timer(UCS_ASYNC_MODE_THREAD_MUTEX, (ucs_time_t)(ucs_get_cpu_clocks_per_sec() * 1e-4), ignore, NULL, ctx, &id));
    usleep(random_below(rng, 300));
    CHECK_OK(ucs_async_remove_handler(id, (int)random_below(rng, 2)));
    ucs_async_context_destroy(ctx);
}

static void unmapped(ucm_event_type_t type, ucm_event_t *event, void *arg)
{
}

/* Events of memory, which pass where a C library's allocator may be the caller. */
static void map(rng_t *rng)
{
    void *arg = (void *)(uintptr_t)random_below(rng, UINT64_MAX), *at;
    unsigned i;

    CHECK_OK(ucm_set_event_handler(UCM_EVENT_MUNMAP | UCM_EVENT_VM_UNMAPPED | UCM_EVENT_FLAG_NO_INSTALL,
                                   (int)random_below(rng, 10) - 5, unmapped, arg));
    for (i = 0; i < 10; ++i) {
        at = ucm_mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(at != MAP_FAILED);
        CHECK(ucm_munmap(at, PAGE) == 0);
    }
    ucm_unset_event_handler(UCM_EVENT_MUNMAP | UCM_EVENT_VM_UNMAPPED, unmapped, arg);
}

static const job_t jobs[] = {come_and_go, come_and_go, share, say, tick, map};

enum { JOBS = sizeof(jobs) / sizeof(jobs[0]) };

/* The same job again and again, or another one each time. */
static void *work(void *seed)
{
    rng_t rng = {(uintptr_t)seed};
    job_t same = random_below(&rng, 3) ? jobs[random_below(&rng, JOBS)] : NULL;

    while (!stop) {
        (same ? same : jobs[random_below(&rng, JOBS)])(&rng);
    }
    return NULL;
}

/* In a child: what threads of its parent share is refused. */
static void touch(void)
{
    char byte = 0;
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS, .address = shared.address};
    ucp_ep_h ep;

    if (shared_open && !on_upstream()) {
        CHECK_EQ(ucp_worker_progress(shared.worker), 0);
        CHECK(UCS_PTR_IS_ERR(ucp_tag_send_nbx(shared_ep, &byte, 1, 1, &plain)));
        CHECK(UCS_PTR_IS_ERR(ucp_tag_recv_nbx(shared.worker, &byte, 1, 1, -1, &plain)));
        CHECK(ucp_ep_create(shared.worker, &params, &ep) != UCS_OK);
        CHECK(UCS_PTR_IS_ERR(ucp_ep_close_nbx(shared_ep, &plain)));
        ucp_worker_destroy(shared.worker);
        ucp_cleanup(shared.context);
    }
}

static void child(rng_t *rng)
{
    pthread_t threads[2];
    unsigned way = random_below(rng, 6), i;
    int status;
    pid_t pid;

    alarm(LIMIT_S);
    shared_open = (way == 1) ? shared_open : 0;
    pthread_mutex_init(&shared_opening, NULL);
    switch (way) {
    case 0:
        exit(0);
    case 1:
        touch();
        come_and_go(rng);
        break;
    case 2:
        for (i = 0; i < JOBS; ++i) {
            jobs[i](rng);
        }
        break;
    case 3: /* a child of the child */
        come_and_go(rng);
        pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
            come_and_go(rng);
            _exit(0);
        }
        CHECK(waitpid(pid, &status, 0) == pid);
        CHECK_EQ(status, 0);
        break;
    case 4: /* threads of its own */
        stop = 0;
        for (i = 0; i < 2; ++i) {
            CHECK(pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)(1 + random_below(rng, 1000000))) == 0);
        }
        usleep(2000);
        stop = 1;
        for (i = 0; i < 2; ++i) {
            CHECK(pthread_join(threads[i], NULL) == 0);
        }
        break;
    default:
        come_and_go(rng);
    }
    _exit(0);
}

/* One process: threads, and forks at random moments. */
static void process(uint64_t seed, unsigned forks, const char *log)
{
    rng_t rng = {seed * 0x9e3779b97f4a7c15ull + 1};
    pthread_t threads[THREADS];
    unsigned i, pause;
    int status;
    pid_t pid;

    mix = mixes[random_below(&rng, sizeof(mixes) / sizeof(mixes[0]))];
    if (random_below(&rng, 3) == 0) {
        setenv("UCX_LOG_LEVEL", "debug", 1);
        setenv("UCX_LOG_FILE", log, 1);
        setenv("UCX_LOG_FILE_SIZE", "64k", 1);
        setenv("UCX_LOG_FILE_ROTATE", "2", 1);
    }
    for (i = 0; i < THREADS; ++i) {
        CHECK(pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)(1 + random_below(&rng, 1000000))) == 0);
    }
    /* The first time while the library starts. */
    pause = 400;
    for (i = 0; i < forks; ++i) {
        usleep(random_below(&rng, pause));
        pause = 3000;
        fflush(NULL);
        pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
            child(&rng);
        }
        CHECK(waitpid(pid, &status, 0) == pid);
        if (status != 0) {
            FAIL("seed %" PRIu64 ", %s: fork %u: wait status 0x%x%s", seed, mix, i, status,
                 (WIFSIGNALED(status) && (WTERMSIG(status) == SIGALRM)) ? ", it hung" : "");
        }
    }
    stop = 1;
    for (i = 0; i < THREADS; ++i) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    _exit(0);
}

int main(void)
{
    uint64_t count = torture_count(200), seed = torture_seed(1), processes = (count + FORKS - 1) / FORKS, i;
    char folder[] = "/tmp/ferrucx-fork-XXXXXX", log[64], command[64];
    int status;
    pid_t pid;

    CHECK(mkdtemp(folder) != NULL);
    snprintf(log, sizeof(log), "%s/log", folder);
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    for (i = 0; i < processes; ++i) {
        unsigned forks = (i + 1 < processes) ? FORKS : count - i * FORKS;

        pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
            process(seed * 1000003 + i, forks, log);
        }
        CHECK(waitpid(pid, &status, 0) == pid);
        if (status != 0) {
            CHECK(system(command) == 0);
            FAIL("process %" PRIu64 ": wait status 0x%x", i, status);
        }
    }
    CHECK(system(command) == 0);
    FIGURE("%" PRIu64 " forks by %" PRIu64 " processes with three busy threads, no child hung or failed", count, processes);
    return 0;
}
