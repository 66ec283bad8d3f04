/* Two peers for a test, in one process or in two:
 *
 *   side_t   one context with one worker; two of them in one process talk like two processes, each step by hand
 *   two_t    two workers of one context, with an endpoint each way
 *   pair_t   two processes over a socket pair: blobs to exchange, barriers; only the parent prints
 *
 * `side_swap_addresses` and `side_meet` join a side_t in each process of a pair_t. Processes are forked before any UCX
 * object exists. */
#ifndef FERRUCX_PEERS_H
#define FERRUCX_PEERS_H

#include <ucp/api/ucp.h>

#include "bytes.h"
#include "check.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

/* ---- Progress and requests ---- */

static inline double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

/* Progresses both workers (which may be the same) until the condition holds; fails after a minute. */
#define WORKERS_UNTIL(a, b, condition) \
    do { \
        double workers_end = now() + 60; \
        while (!(condition)) { \
            ucp_worker_progress(a); \
            ucp_worker_progress(b); \
            if (now() > workers_end) { \
                FAIL("not true after a minute: %s", #condition); \
            } \
        } \
    } while (0)

/* Waits until the request that a call returned has completed; gives its status and frees it. */
static inline ucs_status_t request_wait(ucp_worker_h a, ucp_worker_h b, ucs_status_ptr_t request)
{
    ucs_status_t status;

    if (!UCS_PTR_IS_PTR(request)) {
        return UCS_PTR_STATUS(request);
    }
    WORKERS_UNTIL(a, b, ucp_request_check_status(request) != UCS_INPROGRESS);
    status = ucp_request_check_status(request);
    ucp_request_free(request);
    return status;
}

/* The same with one worker; fails unless the operation succeeded. */
static inline void request_finish(ucp_worker_h worker, ucs_status_ptr_t request)
{
    CHECK_OK(request_wait(worker, worker, request));
}

/* ---- One worker: side_t ---- */

typedef struct {
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_address_t *address;
    size_t address_length;
} side_t;

/* Every feature whose data path the tests use. */
enum { ALL_FEATURES = UCP_FEATURE_TAG | UCP_FEATURE_RMA | UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64 };

static inline void side_open(side_t *side, uint64_t features, ucs_thread_mode_t mode)
{
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = features};
    ucp_worker_params_t worker_params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE, .thread_mode = mode};

    CHECK_OK(ucp_init(&params, NULL, &side->context));
    CHECK_OK(ucp_worker_create(side->context, &worker_params, &side->worker));
    CHECK_OK(ucp_worker_get_address(side->worker, &side->address, &side->address_length));
}

static inline void side_close(side_t *side)
{
    ucp_worker_release_address(side->worker, side->address);
    ucp_worker_destroy(side->worker);
    ucp_cleanup(side->context);
}

static inline ucp_ep_h side_connect(side_t *from, const void *address)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS, .address = address};
    ucp_ep_h ep;

    CHECK_OK(ucp_ep_create(from->worker, &params, &ep));
    return ep;
}

#define DRIVE_UNTIL(a, b, condition) WORKERS_UNTIL((a)->worker, (b)->worker, condition)

static inline ucs_status_t side_wait(side_t *a, side_t *b, ucs_status_ptr_t request)
{
    return request_wait(a->worker, b->worker, request);
}

static inline ucs_status_t side_disconnect(side_t *a, side_t *b, ucp_ep_h ep, unsigned flags)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = flags};

    return side_wait(a, b, ucp_ep_close_nbx(ep, &param));
}

/* ---- Two workers of one context: two_t ---- */

typedef struct {
    ucp_context_h context;
    ucp_worker_h worker[2];
    ucp_ep_h ep[2]; /* ep[i] is of worker[i], to the other */
} two_t;

static inline ucp_ep_h two_connect_flags(two_t *two, int from, int to, unsigned flags)
{
    ucp_ep_params_t params;
    ucp_address_t *address;
    size_t length;
    ucp_ep_h ep;

    CHECK_OK(ucp_worker_get_address(two->worker[to], &address, &length));
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_FLAGS;
    params.address = address;
    params.flags = flags;
    CHECK_OK(ucp_ep_create(two->worker[from], &params, &ep));
    ucp_worker_release_address(two->worker[to], address);
    return ep;
}

static inline ucp_ep_h two_connect(two_t *two, int from, int to)
{
    return two_connect_flags(two, from, to, 0);
}

static inline void two_open_workers(two_t *two, uint64_t features, size_t alignment)
{
    ucp_params_t params;
    ucp_worker_params_t worker_params;
    int i;

    params.field_mask = UCP_PARAM_FIELD_FEATURES;
    params.features = features;
    CHECK_OK(ucp_init(&params, NULL, &two->context));
    worker_params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE | UCP_WORKER_PARAM_FIELD_AM_ALIGNMENT;
    worker_params.thread_mode = UCS_THREAD_MODE_SINGLE;
    worker_params.am_alignment = alignment;
    for (i = 0; i < 2; ++i) {
        CHECK_OK(ucp_worker_create(two->context, &worker_params, &two->worker[i]));
    }
}

static inline void two_open(two_t *two, uint64_t features, size_t alignment)
{
    int i;

    two_open_workers(two, features, alignment);
    for (i = 0; i < 2; ++i) {
        two->ep[i] = two_connect(two, i, !i);
    }
}

static inline void two_progress(two_t *two)
{
    ucp_worker_progress(two->worker[0]);
    ucp_worker_progress(two->worker[1]);
}

#define TWO_UNTIL(two, condition) WORKERS_UNTIL((two)->worker[0], (two)->worker[1], condition)

static inline ucs_status_t two_wait(two_t *two, void *request)
{
    return request_wait(two->worker[0], two->worker[1], request);
}

static inline void two_close_ep(two_t *two, ucp_ep_h ep)
{
    CHECK_OK(two_wait(two, ucp_ep_close_nb(ep, UCP_EP_CLOSE_MODE_FLUSH)));
}

static inline void two_close_workers(two_t *two)
{
    ucp_worker_destroy(two->worker[0]);
    ucp_worker_destroy(two->worker[1]);
    ucp_cleanup(two->context);
}

static inline void two_close(two_t *two)
{
    void *requests[2];
    int i;

    for (i = 0; i < 2; ++i) {
        requests[i] = ucp_ep_close_nb(two->ep[i], UCP_EP_CLOSE_MODE_FLUSH);
    }
    for (i = 0; i < 2; ++i) {
        CHECK_OK(two_wait(two, requests[i]));
    }
    two_close_workers(two);
}

/* ---- Two processes: pair_t ---- */

typedef struct {
    int fd;
    pid_t child; /* 0 in the child itself */
} pair_t;

static inline pair_t pair_start(void)
{
    pair_t pair;
    int fds[2];

    fflush(NULL);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
    pair.child = fork();
    CHECK(pair.child >= 0);
    if (pair.child == 0) {
        /* A parent that fails takes the child along, which would else keep its pipes open. */
        CHECK_EQ(prctl(PR_SET_PDEATHSIG, SIGKILL), 0);
    }
    pair.fd = fds[pair.child == 0];
    close(fds[pair.child != 0]);
    return pair;
}

static inline int pair_is_child(const pair_t *pair)
{
    return pair->child == 0;
}

static inline void pair_send(const pair_t *pair, const void *data, size_t length)
{
    ssize_t sent = send(pair->fd, data, length, MSG_NOSIGNAL);
    CHECK_EQ(sent, length);
}

static inline void pair_recv(const pair_t *pair, void *data, size_t length)
{
    ssize_t got;

    do {
        got = recv(pair->fd, data, length, MSG_WAITALL);
    } while ((got < 0) && (errno == EINTR));
    CHECK_EQ(got, length);
}

/* A blob that the other side sends, with its length; freed by the caller. */
static inline void *pair_recv_blob(const pair_t *pair)
{
    size_t length;
    void *blob;

    pair_recv(pair, &length, sizeof(length));
    blob = malloc(length);
    CHECK(blob != NULL);
    pair_recv(pair, blob, length);
    return blob;
}

static inline void pair_send_blob(const pair_t *pair, const void *blob, size_t length)
{
    pair_send(pair, &length, sizeof(length));
    pair_send(pair, blob, length);
}

/* Both sides give a blob of the same length and get the other's. */
static inline void pair_exchange(const pair_t *pair, const void *mine, void *theirs, size_t length)
{
    pair_send(pair, mine, length);
    pair_recv(pair, theirs, length);
}

static inline void pair_barrier(const pair_t *pair)
{
    char mine = 0, theirs;
    pair_exchange(pair, &mine, &theirs, 1);
}

/* Whether the other side has sent something: lets a test progress its worker while it waits. */
static inline int pair_ready(const pair_t *pair)
{
    char byte;
    return recv(pair->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0;
}

/* Runs `body` with `arg` in a process of its own, whose namespaces, users and limits are gone with it; gives its wait status. */
static inline int pair_apart(void (*body)(const void *), const void *arg)
{
    pid_t pid;
    int status;

    fflush(NULL);
    pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        body(arg);
        fflush(NULL);
        _exit(0);
    }
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    return status;
}

/* The child ends here; the parent waits for it and checks its exit status. */
static inline void pair_finish(const pair_t *pair)
{
    int status;

    close(pair->fd);
    if (pair_is_child(pair)) {
        fflush(NULL);
        exit(0);
    }
    CHECK(waitpid(pair->child, &status, 0) == pair->child);
    if (!WIFEXITED(status) || WEXITSTATUS(status)) {
        FAIL("the child process ended with wait status 0x%x", status);
    }
}

/* A child that runs `role`, which does not return, and is killed when its parent ends. Before any UCX object of the
 * parent. */
static inline pid_t role_start(void (*role)(void))
{
    pid_t pid;

    fflush(NULL);
    pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        role();
        _exit(1);
    }
    return pid;
}

/* ---- A worker in each of two processes ---- */

/* Bytes that any worker address fits into. */
enum { ADDRESS_ROOM = 1024 };

/* Each process of the pair gets the other's worker address. */
static inline void side_swap_addresses(const side_t *side, const pair_t *pair, char theirs[ADDRESS_ROOM])
{
    char mine[ADDRESS_ROOM] = "";

    CHECK(side->address_length <= sizeof(mine));
    memcpy(mine, side->address, side->address_length);
    pair_exchange(pair, mine, theirs, sizeof(mine));
}

/* Both processes come here, and progress until the other one has. */
static inline void side_meet(const side_t *side, const pair_t *pair)
{
    char byte = 0;

    pair_send(pair, &byte, 1);
    while (!pair_ready(pair)) {
        ucp_worker_progress(side->worker);
    }
    pair_recv(pair, &byte, 1);
}

#endif
