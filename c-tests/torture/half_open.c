/* Connections that are begun and left: to a worker's tcp port and to its listener, silent or with half a greeting. Each
 * costs little, all but a few are dropped at a deadline, and an honest client gets through meanwhile within a second. */
/* env: UCX_TLS=tcp UCX_NET_DEVICES=lo UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n */
#define _GNU_SOURCE
#include "listener.h"
#include "peers.h"
#include "torture.h"

#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* So many silent connections to the worker's port may stay: they are few. */
enum { EACH_KB = 4, DEADLINE_S = 20, FEW = 32 };

typedef struct {
    char address[512];
    uint16_t port;
    volatile int ready, stop, measure, measured;
    volatile long resident;
    volatile int descriptors;
} shared_t;

static shared_t *shared;
static side_t server;

static void on_failure(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    ucp_request_param_t force = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_EP_CLOSE_FLAG_FORCE};

    drop(ucp_ep_close_nbx(ep, &force));
}

static void on_request(ucp_conn_request_h request, void *arg)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_CONN_REQUEST | UCP_EP_PARAM_FIELD_ERR_HANDLER |
                                            UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE,
                              .conn_request = request,
                              .err_mode = UCP_ERR_HANDLING_MODE_PEER,
                              .err_handler = {.cb = on_failure}};
    ucp_ep_h ep;

    ucp_ep_create(server.worker, &params, &ep);
}

static void serve(void)
{
    struct sockaddr_storage at;
    ucp_listener_h listener;

    side_open(&server, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    memcpy(shared->address, server.address, server.address_length);
    listener = listen_at(&server, AF_INET, on_request, &at);
    shared->port = port_of(&at);
    shared->ready = 1;
    while (!shared->stop) {
        static const ucp_request_param_t plain;
        static char data[8];
        static ucs_status_ptr_t receive;

        if (has_ended(receive)) {
            drop(receive);
            receive = ucp_tag_recv_nbx(server.worker, data, sizeof(data), 0, 0, &plain);
        }
        ucp_worker_progress(server.worker);
        sched_yield();
        if (shared->measure != shared->measured) {
            shared->resident = resident_kb();
            shared->descriptors = open_descriptors();
            shared->measured = shared->measure;
        }
    }
    ucp_listener_destroy(listener);
    ucp_worker_destroy(server.worker);
    ucp_cleanup(server.context);
    exit(0);
}

static void measure(void)
{
    int turn = shared->measure + 1;

    shared->measure = turn;
    while (shared->measured != turn) {
        sched_yield();
    }
}

/* The part of the worker's address that is ours: the bytes of its devices without transports, behind version and uuid. Behind
 * them are devices as upstream knows them. */
static size_t own_part(unsigned char *part)
{
    const unsigned char *device = (unsigned char *)shared->address + 9;
    size_t length = 0;
    int last;

    CHECK(device[0] == 0x9f);
    do {
        memcpy(part + length, device + 2, device[1] & 0x1f);
        length += device[1] & 0x1f;
        last = device[1] & 0x80;
        device += 2 + (device[1] & 0x1f);
    } while (!last && (device[0] == 0x9f));
    return length;
}

/* Where the worker's own port is: a client of it is asked for its connection. */
static uint16_t worker_port(void)
{
    /* Of the entry for tcp, one byte of version and family, then the port; found by trying whose port it is. */
    unsigned char part[sizeof(shared->address)];
    size_t length = own_part(part), i;
    uint16_t port;

    for (i = 1; i + 2 <= length; ++i) {
        struct sockaddr_storage to;
        int fd;

        memcpy(&port, part + i, 2);
        if ((part[i - 1] != 0x10) || (port == shared->port) || (port < 1024)) {
            continue;
        }
        to = loopback(AF_INET, port);
        fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        CHECK(fd >= 0);
        if (connect(fd, (struct sockaddr *)&to, sizeof(struct sockaddr_in)) == 0) {
            close(fd);
            return port;
        }
        close(fd);
    }
    FAIL("the worker's port is not found");
}

static int call(uint16_t port, int half)
{
    struct sockaddr_storage to = loopback(AF_INET, port);
    struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000002 + number() % 0x00fffff0)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK(fd >= 0);
    CHECK(bind(fd, (struct sockaddr *)&from, sizeof(from)) == 0);
    CHECK(connect(fd, (struct sockaddr *)&to, sizeof(struct sockaddr_in)) == 0);
    if (half) {
        static const char *words[] = {"\x40\0\0\0\x80\0\0\0fxtc\3", "\x40\0\0\0\0\0\0\0\0fxcm\2\1\0abc"};
        CHECK(send(fd, words[half - 1], half == 1 ? 13 : 19, MSG_NOSIGNAL) > 0);
    }
    return fd;
}

/* Seconds until a message of a new client has left and its endpoint was flushed. */
static double honest_client(void)
{
    static const ucp_request_param_t plain;
    struct sockaddr_storage at = loopback(AF_INET, shared->port);
    double from = seconds();
    failure_t failure;
    uint64_t word = 1;
    side_t side;
    ucp_ep_h ep;

    side_open(&side, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    from = seconds();
    ep = connect_client(&side, &at, 0, &failure);
    CHECK_OK(side_wait(&side, &side, ucp_tag_send_sync_nbx(ep, &word, sizeof(word), 1, &plain)));
    from = seconds() - from;
    CHECK_EQ(failure.calls, 0);
    side_disconnect(&side, &side, ep, 0);
    side_close(&side);
    return from;
}

static int ended(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    char waste[64];

    return (poll(&p, 1, 0) == 1) && (recv(fd, waste, sizeof(waste), MSG_DONTWAIT) <= 0);
}

int main(void)
{
    uint64_t count = torture_count(500), i, left;
    struct rlimit limit;
    double slowest = 0, begun, took;
    long before;
    int *fds, status, descriptors, most;
    uint16_t ports[2];
    pid_t pid;

    torture_seed(1);
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = limit.rlim_max;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    if (limit.rlim_max < count + 100) {
        SKIP("needs %" PRIu64 " descriptors, `ulimit -Hn` is %lu", count + 100, (unsigned long)limit.rlim_max);
    }
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    fds = malloc(count * sizeof(*fds));
    pid = role_start(serve);
    while (!shared->ready) {
        sched_yield();
    }
    ports[0] = on_upstream() ? shared->port : worker_port();
    ports[1] = shared->port;
    for (i = 0; i < 4; ++i) {
        honest_client();
    }
    measure();
    before = shared->resident;
    descriptors = shared->descriptors;

    begun = seconds();
    for (i = 0; i < count; ++i) {
        fds[i] = call(ports[i % 2], i % 4 < 2 ? 0 : 1 + i % 2);
        if (i % (count / 8 + 1) == 0) {
            took = honest_client();
            slowest = took > slowest ? took : slowest;
        }
    }
    took = honest_client();
    slowest = took > slowest ? took : slowest;
    measure();
    most = shared->descriptors - descriptors;
    if (shared->resident - before > (long)(EACH_KB * count) + 1024) {
        FAIL("%ld KB for %" PRIu64 " connections", shared->resident - before, count);
    }
    if (slowest > 1) {
        FAIL("an honest client took %.1f s", slowest);
    }
    for (left = count; left > FEW;) {
        left = 0;
        for (i = 0; i < count; ++i) {
            if ((fds[i] >= 0) && ended(fds[i])) {
                close(fds[i]);
                fds[i] = -1;
            }
            left += fds[i] >= 0;
        }
        if (seconds() - begun > DEADLINE_S + count / 500) {
            FAIL("%" PRIu64 " connections are still open", left);
        }
        sched_yield();
    }
    took = seconds() - begun;
    for (i = 0; i < count; ++i) {
        if (fds[i] >= 0) {
            close(fds[i]);
        }
    }
    do {
        measure();
    } while (shared->descriptors > descriptors);
    before = shared->resident - before;
    shared->stop = 1;
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK_EQ(status, 0);
    FIGURE("%" PRIu64 " half-open connections, at most %d kept at a time, all but %d dropped within %.1f s, memory %+ld KB; an "
           "honest client needs %.0f ms at most", count, most, FEW, took, before, slowest * 1e3);
    return 0;
}
