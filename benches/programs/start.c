/* What it costs to begin, in microseconds, and what endpoints cost: one line "NAME FIGURE" each.
 *
 *     start begin      contexts, a worker, the first endpoint and its first message, the end of it all
 *     start endpoints  endpoints to one worker of another process, a message over each, by UCX_TLS
 *     start rate N     messages of 8 bytes a second while N idle endpoints to the peer are there
 *     start idle       memory and descriptors of an idle worker */
#define _GNU_SOURCE
#include "clock.h"

#include <dirent.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <ucp/api/ucp.h>

enum { ENDPOINTS = 1000, MESSAGES = 200000 };

static ucp_context_h context;
static ucp_worker_h worker;
static ucp_address_t *address;
static size_t address_length;
static double config_us, init_us, worker_us;
static const ucp_request_param_t plain;

static void must(ucs_status_t status, const char *what)
{
    if (status != UCS_OK) {
        fprintf(stderr, "%s: %s\n", what, ucs_status_string(status));
        exit(1);
    }
}

static long resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long size, resident = 0;

    if (!file || fscanf(file, "%ld %ld", &size, &resident) != 2) {
        exit(1);
    }
    fclose(file);
    return resident * sysconf(_SC_PAGESIZE);
}

/* Memory that no other process shares: not the code of libraries. */
static long own_bytes(void)
{
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    char line[256];
    long kib = -1;

    while (file && kib < 0 && fgets(line, sizeof(line), file)) {
        sscanf(line, "Private_Dirty: %ld", &kib);
    }
    if (kib < 0) {
        exit(1);
    }
    fclose(file);
    return kib * 1024;
}

static int descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int count = -3; /* ".", ".." and the one that looks */

    while (readdir(dir)) {
        ++count;
    }
    closedir(dir);
    return count;
}

static void begin(void)
{
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                           .features = UCP_FEATURE_TAG | UCP_FEATURE_RMA | UCP_FEATURE_AM | UCP_FEATURE_STREAM |
                                       UCP_FEATURE_AMO64};
    ucp_worker_params_t worker_params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                         .thread_mode = UCS_THREAD_MODE_SINGLE};
    ucp_config_t *config;
    double start = now_us();

    must(ucp_config_read(NULL, NULL, &config), "ucp_config_read");
    config_us = now_us() - start;
    start = now_us();
    must(ucp_init(&params, config, &context), "ucp_init");
    init_us = now_us() - start;
    ucp_config_release(config);
    start = now_us();
    must(ucp_worker_create(context, &worker_params, &worker), "ucp_worker_create");
    worker_us = now_us() - start;
    must(ucp_worker_get_address(worker, &address, &address_length), "ucp_worker_get_address");
}

static ucp_ep_h endpoint(const void *to)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS, .address = to};
    ucp_ep_h ep;

    must(ucp_ep_create(worker, &params, &ep), "ucp_ep_create");
    return ep;
}

static void finish(ucs_status_ptr_t request)
{
    if (UCS_PTR_IS_ERR(request)) {
        must(UCS_PTR_STATUS(request), "an operation");
    } else if (request) {
        while (ucp_request_check_status(request) == UCS_INPROGRESS) {
            ucp_worker_progress(worker);
        }
        must(ucp_request_check_status(request), "an operation");
        ucp_request_free(request);
    }
}

static void send_word(ucp_ep_h ep)
{
    static const uint64_t word = 1;

    finish(ucp_tag_send_nbx(ep, &word, sizeof(word), 1, &plain));
}

static void receive_word(void)
{
    uint64_t word;

    finish(ucp_tag_recv_nbx(worker, &word, sizeof(word), 1, UINT64_MAX, &plain));
}

/* A child that receives `count` words and then says so; gives its address. */
static void *start_peer(int count, int *done)
{
    int pair[2];
    void *peer;
    size_t length;

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) {
        exit(1);
    }
    if (fork() == 0) {
        char over = 1;
        int i;

        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pin(0);
        begin();
        if (write(pair[1], &address_length, sizeof(address_length)) < 0 ||
            write(pair[1], address, address_length) < 0) {
            _exit(1);
        }
        for (i = 0; i < count; ++i) {
            receive_word();
        }
        if (write(pair[1], &over, 1) < 0) {
            _exit(1);
        }
        for (;;) {
            ucp_worker_progress(worker);
        }
    }
    pin(1);
    begin();
    if (read(pair[0], &length, sizeof(length)) != sizeof(length)) {
        exit(1);
    }
    peer = malloc(length);
    if (recv(pair[0], peer, length, MSG_WAITALL) != (ssize_t)length) {
        exit(1);
    }
    *done = pair[0];
    return peer;
}

static void await(int done)
{
    char over;

    while (recv(done, &over, 1, MSG_DONTWAIT) != 1) {
        ucp_worker_progress(worker);
    }
}

static void measure_begin(void)
{
    double start;
    ucp_ep_h ep;
    ucs_status_ptr_t receive;
    uint64_t word;

    begin();
    start = now_us();
    ep = endpoint(address);
    printf("config %.1f\ninit %.1f\nworker %.1f\nendpoint %.1f\n", config_us, init_us, worker_us, now_us() - start);
    start = now_us();
    receive = ucp_tag_recv_nbx(worker, &word, sizeof(word), 1, UINT64_MAX, &plain);
    send_word(ep);
    finish(receive);
    printf("message %.1f\n", now_us() - start);
    start = now_us();
    finish(ucp_ep_close_nbx(ep, &plain));
    ucp_worker_release_address(worker, address);
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
    printf("end %.1f\n", now_us() - start);
}

static void measure_endpoints(void)
{
    static ucp_ep_h all[ENDPOINTS];
    int done, i, fds;
    void *peer = start_peer(ENDPOINTS + 1, &done);
    ucp_ep_h first = endpoint(peer);
    double start;
    long memory;

    send_word(first);
    memory = resident_bytes();
    fds = descriptors();
    start = now_us();
    for (i = 0; i < ENDPOINTS; ++i) {
        all[i] = endpoint(peer);
    }
    printf("each %.2f\n", (now_us() - start) / ENDPOINTS);
    for (i = 0; i < ENDPOINTS; ++i) {
        send_word(all[i]);
    }
    await(done);
    printf("KiB %.2f\n", (resident_bytes() - memory) / 1024.0 / ENDPOINTS);
    printf("descriptors %.2f\n", (double)(descriptors() - fds) / ENDPOINTS);
}

static void measure_rate(int idle)
{
    int done, i;
    void *peer = start_peer(MESSAGES + idle + 1, &done);
    ucp_ep_h busy = endpoint(peer);
    double start;

    for (i = 0; i < idle; ++i) {
        send_word(endpoint(peer));
    }
    send_word(busy);
    start = now_us();
    for (i = 0; i < MESSAGES; ++i) {
        send_word(busy);
    }
    await(done);
    printf("rate %.0f\n", MESSAGES / (now_us() - start) * 1e6);
}

static void measure_idle(void)
{
    long memory = resident_bytes(), own = own_bytes();
    int fds = descriptors();

    begin();
    printf("KiB %.0f\nown %.0f\ndescriptors %d\n", (resident_bytes() - memory) / 1024.0,
           (own_bytes() - own) / 1024.0, descriptors() - fds);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "begin";

    if (!strcmp(what, "begin")) {
        measure_begin();
    } else if (!strcmp(what, "endpoints")) {
        measure_endpoints();
    } else if (!strcmp(what, "rate")) {
        measure_rate(argc > 2 ? atoi(argv[2]) : 0);
    } else if (!strcmp(what, "idle")) {
        measure_idle();
    } else if (!strcmp(what, "load")) {
        printf("%s\n", ucp_get_version_string());
    } else {
        return 2;
    }
    fflush(stdout);
    _exit(0);
}
