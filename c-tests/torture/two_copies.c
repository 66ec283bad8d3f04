/* Two UCX libraries in one process, each by dlopen with RTLD_LOCAL, in either order: ours and an upstream release of
 * COPIES (directories, colons between), and ours from two paths. Both are used at once: each sends to itself, to the
 * same library of another process, and two of ours to each other. */
/* cflags: -Wl,--as-needed */
/* env: UCX_LOG_LEVEL=error UCX_WARN_UNUSED_ENV_VARS=n */
#define _GNU_SOURCE
#include <ucp/api/ucp.h>

#include "bytes.h"
#include "peers.h"
#include "torture.h"

#include <dlfcn.h>
#include <limits.h>

#define CALLS(X) \
    X(ucp_init_version) X(ucp_worker_create) X(ucp_worker_get_address) X(ucp_worker_release_address) X(ucp_ep_create) \
    X(ucp_tag_send_nbx) X(ucp_tag_recv_nbx) X(ucp_worker_progress) X(ucp_request_check_status) X(ucp_request_free) \
    X(ucp_ep_close_nbx) X(ucp_worker_destroy) X(ucp_cleanup)

enum { LENGTH = 300000, ROOM = 2048 };

/* A library, and a worker of it. */
typedef struct {
#define X(name) __typeof__(&name) name;
    CALLS(X)
#undef X
    const char *path;
    ucp_context_h context;
    ucp_worker_h worker;
    char address[ROOM];
} copy_t;

static unsigned combinations;

static void copy_load(copy_t *copy, const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (library == NULL) {
        FAIL("%s", dlerror());
    }
    memset(copy, 0, sizeof(*copy));
    copy->path = path;
#define X(name) \
    copy->name = (__typeof__(&name))dlsym(library, #name); \
    CHECK(copy->name != NULL);
    CALLS(X)
#undef X
}

static void copy_open(copy_t *copy)
{
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG};
    ucp_worker_params_t worker_params = {.field_mask = 0};
    ucp_address_t *address;
    size_t length;

    CHECK_EQ(copy->ucp_init_version(1, 13, &params, NULL, &copy->context), UCS_OK);
    CHECK_EQ(copy->ucp_worker_create(copy->context, &worker_params, &copy->worker), UCS_OK);
    CHECK_EQ(copy->ucp_worker_get_address(copy->worker, &address, &length), UCS_OK);
    CHECK(length <= ROOM);
    memcpy(copy->address, address, length);
    copy->ucp_worker_release_address(copy->worker, address);
}

static void copy_close(copy_t *copy)
{
    copy->ucp_worker_destroy(copy->worker);
    copy->ucp_cleanup(copy->context);
}

static void wait_for(copy_t *copy, copy_t *other, ucs_status_ptr_t request)
{
    CHECK(!UCS_PTR_IS_ERR(request));
    while ((request != NULL) && (copy->ucp_request_check_status(request) == UCS_INPROGRESS)) {
        copy->ucp_worker_progress(copy->worker);
        other->ucp_worker_progress(other->worker);
    }
    if (request != NULL) {
        CHECK_EQ(copy->ucp_request_check_status(request), UCS_OK);
        copy->ucp_request_free(request);
    }
}

/* Messages of two sizes from `from` to the worker at `address`; `to` receives them, or a worker elsewhere where it is
 * NULL, which sends as many to `from`. */
static void talk(copy_t *from, copy_t *other, const char *address, copy_t *to)
{
    static unsigned char out[LENGTH], in[LENGTH];
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS, .address = (const ucp_address_t *)address};
    ucp_request_param_t plain = {.op_attr_mask = 0};
    copy_t *receiver = to ? to : from;
    size_t lengths[2] = {8, LENGTH};
    ucs_status_ptr_t received, sent;
    ucp_ep_h ep;
    int i;

    CHECK_EQ(from->ucp_ep_create(from->worker, &params, &ep), UCS_OK);
    for (i = 0; i < 2; ++i) {
        fill(out, lengths[i], 11 + i);
        memset(in, 0, sizeof(in));
        received = receiver->ucp_tag_recv_nbx(receiver->worker, in, lengths[i], i, -1, &plain);
        sent = from->ucp_tag_send_nbx(ep, out, lengths[i], i, &plain);
        wait_for(receiver, from == receiver ? other : from, received);
        wait_for(from, to && (to != from) ? to : other, sent);
        CHECK_PATTERN(in, lengths[i], 11 + i);
    }
    wait_for(from, to && (to != from) ? to : other, from->ucp_ep_close_nbx(ep, &plain));
}

/* Waits for the peer, progressing both. */
static void meet(const pair_t *pair, copy_t copies[2])
{
    char byte = 0;

    pair_send(pair, &byte, 1);
    while (!pair_ready(pair)) {
        copies[0].ucp_worker_progress(copies[0].worker);
        copies[1].ucp_worker_progress(copies[1].worker);
    }
    pair_recv(pair, &byte, 1);
}

/* In two processes; `each_other`: both are ours. */
static void try_both(const char *first, const char *second, int each_other)
{
    static copy_t copies[2];
    char theirs[2][ROOM];
    pair_t pair;
    pid_t child;
    int i, status;

    fflush(NULL);
    child = fork();
    CHECK(child >= 0);
    if (child > 0) {
        /* The loader cannot unload them all, so each combination has its own process. */
        CHECK(waitpid(child, &status, 0) == child);
        if (status != 0) {
            FAIL("%s and %s: wait status 0x%x", first, second, status);
        }
        combinations++;
        return;
    }
    alarm(60);
    pair = pair_start();
    alarm(60);
    copy_load(&copies[0], first);
    copy_load(&copies[1], second);
    for (i = 0; i < 2; ++i) {
        copy_open(&copies[i]);
        pair_exchange(&pair, copies[i].address, theirs[i], ROOM);
    }
    for (i = 0; i < 2; ++i) {
        talk(&copies[i], &copies[!i], copies[i].address, &copies[i]);
        talk(&copies[i], &copies[!i], theirs[i], NULL);
        meet(&pair, copies);
    }
    if (each_other) {
        talk(&copies[0], &copies[1], copies[1].address, &copies[1]);
        talk(&copies[1], &copies[0], copies[0].address, &copies[0]);
    }
    meet(&pair, copies);
    copy_close(&copies[0]);
    /* What is left works on. */
    talk(&copies[1], &copies[1], copies[1].address, &copies[1]);
    copy_close(&copies[1]);
    pair_finish(&pair);
    exit(0);
}

/* Another file with what is in `path`. */
static void copy_file(const char *path, const char *to)
{
    static char bytes[1 << 16];
    FILE *in = fopen(path, "rb"), *out = fopen(to, "wb");
    size_t length;

    CHECK((in != NULL) && (out != NULL));
    while ((length = fread(bytes, 1, sizeof(bytes), in)) > 0) {
        CHECK(fwrite(bytes, 1, length, out) == length);
    }
    CHECK((fclose(in) == 0) && (fclose(out) == 0));
}

int main(int argc, char **argv)
{
    char ours[PATH_MAX], directory[] = "/tmp/two-copies-XXXXXX", second[sizeof(directory) + 16], upstream[PATH_MAX];
    char *all = getenv("COPIES"), *at, *next;
    const char *path = getenv("LD_LIBRARY_PATH");

    if (path != NULL) {
        /* It would lead the parts of upstream's library to ours. */
        CHECK(setenv("COPIES_OURS", path, 1) == 0);
        CHECK(unsetenv("LD_LIBRARY_PATH") == 0);
        execv("/proc/self/exe", argv);
        FAIL("execv");
    }
    path = getenv("COPIES_OURS");
    CHECK(path != NULL);
    snprintf(ours, sizeof(ours), "%s/libucp.so.0", path);
    CHECK(mkdtemp(directory) != NULL);
    snprintf(second, sizeof(second), "%s/libucp.so.0", directory);
    copy_file(ours, second);
    try_both(ours, second, 1);
    for (at = all; (at != NULL) && *at; at = next) {
        next = at + strcspn(at, ":");
        next += (*next != 0) ? (*next = 0, 1) : 0;
        snprintf(upstream, sizeof(upstream), "%s/libucp.so.0", at);
        try_both(ours, upstream, 0);
        try_both(upstream, ours, 0);
    }
    unlink(second);
    rmdir(directory);
    FIGURE("%u combinations of two libraries, each works beside the other", combinations);
    return 0;
}
