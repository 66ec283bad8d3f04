/* What one operation costs where there are N of a kind: "curves ROW N" prints nanoseconds per operation. Plain UCP, so that it
 * runs on any library of the interface; benches/curves drives it. Rows either do N operations, or one among N others,
 * CURVES_COUNT times where that is set. */
#define _GNU_SOURCE
#include <ucp/api/ucp.h>

#include "clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { PAGE = 4096, SHORT_US = 200000 };

#define OK(call) \
    do { \
        ucs_status_t status_ = (call); \
        if (status_ != UCS_OK) { \
            fprintf(stderr, "%s: %s\n", #call, ucs_status_string(status_)); \
            _exit(1); \
        } \
    } while (0)

static ucp_context_h context;
static ucp_worker_h worker;
static ucp_address_t *address;
static size_t address_length;
static const ucp_request_param_t plain;
static size_t n;

/* Whether an operation among N others is done again: for some time, or as often as CURVES_COUNT says. */
static int again(size_t count, double us)
{
    const char *fixed = getenv("CURVES_COUNT");

    return fixed ? (count < strtoull(fixed, NULL, 0)) : ((count < 1000000) && (us < SHORT_US));
}

/* Numbers below `below`, the same ones in each run. */
static uint64_t draw(uint64_t below)
{
    static uint64_t state = 0x9e3779b97f4a7c15ull;

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

/* 0 to n-1 in some order. */
static uint32_t *shuffled(void)
{
    uint32_t *order = malloc(n * sizeof(*order)), was;
    size_t i, j;

    for (i = 0; i < n; ++i) {
        order[i] = i;
    }
    for (i = n; i > 1; --i) {
        j = draw(i);
        was = order[i - 1];
        order[i - 1] = order[j];
        order[j] = was;
    }
    return order;
}

static ucp_worker_h new_worker(void)
{
    ucp_worker_params_t params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE, .thread_mode = UCS_THREAD_MODE_SINGLE};
    ucp_worker_h made;

    OK(ucp_worker_create(context, &params, &made));
    return made;
}

static void start(void)
{
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG | UCP_FEATURE_RMA | UCP_FEATURE_AM};

    OK(ucp_init(&params, NULL, &context));
    worker = new_worker();
    OK(ucp_worker_get_address(worker, &address, &address_length));
}

static ucp_ep_h connect_to(const void *to)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS, .address = to};
    ucp_ep_h ep;

    OK(ucp_ep_create(worker, &params, &ep));
    return ep;
}

static void ended(ucs_status_ptr_t request)
{
    if (request == NULL) {
        return;
    }
    if (UCS_PTR_IS_ERR(request)) {
        OK(UCS_PTR_STATUS(request));
    }
    while (ucp_request_check_status(request) == UCS_INPROGRESS) {
        ucp_worker_progress(worker);
    }
    OK(ucp_request_check_status(request));
    ucp_request_free(request);
}

/* Until nothing has come for some time. How long that took. */
static double quiet(void)
{
    double begun = now_us(), since = begun;
    unsigned i;

    for (i = 0; i < 100; ++i) {
        ucp_worker_progress(worker);
    }
    while (!getenv("CURVES_COUNT") && (now_us() - since < 20000)) {
        if (ucp_worker_progress(worker) != 0) {
            since = now_us();
        }
    }
    return now_us() - begun;
}

/* Nanoseconds of one call of progress. */
static double progress_cost(void)
{
    size_t calls = 0;
    double begun = now_us(), us;
    unsigned i;

    do {
        for (i = 0; i < 100; ++i) {
            ucp_worker_progress(worker);
        }
        calls += 100;
        us = now_us() - begun;
    } while (again(calls / 100, us));
    return us * 1e3 / calls;
}

/* N receives with tags of their own, matched in some order. */
static double receives_exact(void)
{
    ucp_ep_h ep = connect_to(address);
    uint32_t *order = shuffled();
    void **requests = malloc(n * sizeof(*requests));
    uint64_t byte = 0;
    double begun;
    size_t i;

    begun = now_us();
    for (i = 0; i < n; ++i) {
        requests[i] = ucp_tag_recv_nbx(worker, &byte, 8, i, -1, &plain);
    }
    for (i = 0; i < n; ++i) {
        ended(ucp_tag_send_nbx(ep, &byte, 8, order[i], &plain));
    }
    for (i = 0; i < n; ++i) {
        ended(requests[i]);
    }
    return (now_us() - begun) * 1e3 / n;
}

/* N receives of other tags, each with a mask of the kind that MPI_ANY_SOURCE has, in front of the one that matches. */
static double receives_wild(void)
{
    ucp_ep_h ep = connect_to(address);
    uint64_t byte = 0, mask = ~0xffffffffull;
    double begun, us;
    size_t i, count = 0;

    for (i = 0; i < n; ++i) {
        ucp_tag_recv_nbx(worker, &byte, 8, (i + 1) << 32, mask, &plain);
    }
    begun = now_us();
    do {
        void *request = ucp_tag_recv_nbx(worker, &byte, 8, 5, mask, &plain);

        ended(ucp_tag_send_nbx(ep, &byte, 8, 7, &plain));
        ended(request);
        us = now_us() - begun;
    } while (again(++count, us));
    return us * 1e3 / count;
}

static double unexpected(int backwards, uint64_t mask)
{
    ucp_ep_h ep = connect_to(address);
    uint64_t byte = 0;
    double begun;
    size_t i;

    begun = now_us();
    for (i = 0; i < n; ++i) {
        ended(ucp_tag_send_nbx(ep, &byte, 8, i << 32, &plain));
    }
    begun += quiet();
    for (i = 0; i < n; ++i) {
        ended(ucp_tag_recv_nbx(worker, &byte, 8, (backwards ? n - 1 - i : i) << 32, mask, &plain));
    }
    return (now_us() - begun) * 1e3 / n;
}

static double unexpected_forth(void)
{
    return unexpected(0, -1);
}

static double unexpected_back(void)
{
    return unexpected(1, -1);
}

/* Received by masks, the last one first. */
static double unexpected_wild(void)
{
    return unexpected(1, ~0xffffffffull);
}

static double probes(void)
{
    ucp_ep_h ep = connect_to(address);
    ucp_tag_recv_info_t info;
    uint64_t byte = 0;
    double begun, us;
    size_t i, count = 0;

    for (i = 0; i < n; ++i) {
        ended(ucp_tag_send_nbx(ep, &byte, 8, i, &plain));
    }
    quiet();
    begun = now_us();
    do {
        ucp_tag_probe_nb(worker, draw(n), -1, 0, &info);
        us = now_us() - begun;
    } while (again(++count, us));
    return us * 1e3 / count;
}

/* N receives that are cancelled in some order. */
static double cancels(void)
{
    void **requests = malloc(n * sizeof(*requests));
    uint32_t *order = shuffled();
    uint64_t byte = 0;
    double begun;
    size_t i;

    begun = now_us();
    for (i = 0; i < n; ++i) {
        requests[i] = ucp_tag_recv_nbx(worker, &byte, 8, i, -1, &plain);
    }
    for (i = 0; i < n; ++i) {
        ucp_request_cancel(worker, requests[order[i]]);
    }
    for (i = 0; i < n; ++i) {
        ucp_request_free(requests[i]);
    }
    return (now_us() - begun) * 1e3 / n;
}

/* N synchronous sends of one endpoint that are received backwards, or forth. */
static double synchronous(int backwards)
{
    ucp_ep_h ep = connect_to(address);
    void **requests = malloc(n * sizeof(*requests));
    uint64_t byte = 0;
    double begun;
    size_t i;

    begun = now_us();
    for (i = 0; i < n; ++i) {
        requests[i] = ucp_tag_send_sync_nbx(ep, &byte, 8, i, &plain);
    }
    begun += quiet();
    for (i = 0; i < n; ++i) {
        ended(ucp_tag_recv_nbx(worker, &byte, 8, backwards ? n - 1 - i : i, -1, &plain));
    }
    for (i = 0; i < n; ++i) {
        ended(requests[i]);
    }
    return (now_us() - begun) * 1e3 / n;
}

static double synchronous_back(void)
{
    return synchronous(1);
}

static double synchronous_forth(void)
{
    return synchronous(0);
}

/* N announced messages that are received backwards. */
static double announced_back(void)
{
    ucp_ep_h ep = connect_to(address);
    void **requests = malloc(n * sizeof(*requests));
    static char from[64], to[64];
    double begun;
    size_t i;

    begun = now_us();
    for (i = 0; i < n; ++i) {
        requests[i] = ucp_tag_send_nbx(ep, from, sizeof(from), i, &plain);
    }
    begun += quiet();
    for (i = 0; i < n; ++i) {
        ended(ucp_tag_recv_nbx(worker, to, sizeof(to), n - 1 - i, -1, &plain));
    }
    for (i = 0; i < n; ++i) {
        ended(requests[i]);
    }
    return (now_us() - begun) * 1e3 / n;
}

static ucp_ep_h *endpoints(void)
{
    ucp_ep_h *eps = malloc(n * sizeof(*eps));
    size_t i;

    for (i = 0; i < n; ++i) {
        eps[i] = connect_to(address);
    }
    return eps;
}

static double eps_create(void)
{
    double begun = now_us();

    endpoints();
    return (now_us() - begun) * 1e3 / n;
}

static double eps_idle(void)
{
    uint64_t byte = 0;
    ucp_ep_h *eps = endpoints();
    void *request = ucp_tag_recv_nbx(worker, &byte, 8, 1, -1, &plain);

    ended(ucp_tag_send_nbx(eps[n - 1], &byte, 8, 1, &plain));
    ended(request);
    quiet();
    return progress_cost();
}

/* A message over each of N endpoints in turn. */
static double eps_active(void)
{
    uint64_t byte = 0;
    ucp_ep_h *eps = endpoints();
    uint32_t *order = shuffled();
    double begun = 0;
    size_t round, i;

    for (round = 0; round < 2; ++round) {
        begun = now_us();
        for (i = 0; i < n; ++i) {
            void *request = ucp_tag_recv_nbx(worker, &byte, 8, 1, -1, &plain);

            ended(ucp_tag_send_nbx(eps[order[i]], &byte, 8, 1, &plain));
            ended(request);
        }
    }
    return (now_us() - begun) * 1e3 / n;
}

static double eps_close(void)
{
    ucp_ep_h *eps = endpoints();
    void **requests = malloc(n * sizeof(*requests));
    uint32_t *order = shuffled();
    double begun = now_us();
    size_t i;

    for (i = 0; i < n; ++i) {
        requests[i] = ucp_ep_close_nbx(eps[order[i]], &plain);
    }
    for (i = 0; i < n; ++i) {
        ended(requests[i]);
    }
    return (now_us() - begun) * 1e3 / n;
}

static double eps_destroy(void)
{
    double begun;

    endpoints();
    begun = now_us();
    ucp_worker_destroy(worker);
    return (now_us() - begun) * 1e3 / n;
}

static void put_through(void *from, size_t length, int fd)
{
    char *at = from;

    while (length > 0) {
        ssize_t some = write(fd, at, length);

        if (some <= 0) {
            _exit(1);
        }
        at += some;
        length -= some;
    }
}

static void get_through(void *to, size_t length, int fd)
{
    char *at = to;

    while (length > 0) {
        ssize_t some = read(fd, at, length);

        if (some <= 0) {
            fprintf(stderr, "the process of the peers ended\n");
            _exit(1);
        }
        at += some;
        length -= some;
    }
}

static pid_t child;

/* A process with N workers, which makes progress or not. Gives their addresses. */
static ucp_address_t **peers(int progresses)
{
    ucp_address_t **addresses = malloc(n * sizeof(*addresses));
    ucp_worker_h *workers = malloc(n * sizeof(*workers));
    size_t i, length;
    int fds[2];

    if (pipe(fds) < 0) {
        _exit(1);
    }
    signal(SIGCHLD, SIG_IGN);
    child = fork();
    if (child == 0) {
        start();
        for (i = 0; i < n; ++i) {
            ucp_address_t *own;

            workers[i] = new_worker();
            OK(ucp_worker_get_address(workers[i], &own, &length));
            put_through(&length, sizeof(length), fds[1]);
            put_through(own, length, fds[1]);
        }
        close(fds[1]);
        for (i = 0; getppid() != 1; i = (i + 1) % n) {
            if (progresses) {
                ucp_worker_progress(workers[i]);
            } else {
                usleep(1000);
            }
        }
        _exit(0);
    }
    close(fds[1]);
    for (i = 0; i < n; ++i) {
        get_through(&length, sizeof(length), fds[0]);
        addresses[i] = malloc(length);
        get_through(addresses[i], length, fds[0]);
    }
    start();
    return addresses;
}

/* Connections to N workers of another process that does not answer. */
static double peers_silent(void)
{
    ucp_address_t **addresses = peers(0);
    uint64_t byte = 0;
    size_t i;

    for (i = 0; i < n; ++i) {
        ucp_tag_send_nbx(connect_to(addresses[i]), &byte, 8, 1, &plain);
    }
    quiet();
    return progress_cost();
}

/* Connections to N workers of another process, on which nothing comes. */
static double peers_idle(void)
{
    ucp_address_t **addresses = peers(1);
    uint64_t byte = 0;
    size_t i;

    for (i = 0; i < n; ++i) {
        ended(ucp_tag_send_nbx(connect_to(addresses[i]), &byte, 8, 1, &plain));
    }
    quiet();
    return progress_cost();
}

static size_t failed;

static void fail(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    ++failed;
}

/* N endpoints to one worker of another process, which is killed: until all are told. */
static double eps_fail(void)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                                            UCP_EP_PARAM_FIELD_ERR_HANDLER,
                              .err_mode = UCP_ERR_HANDLING_MODE_PEER,
                              .err_handler = {fail, NULL}};
    size_t all = n, i;
    uint64_t byte = 0;
    double begun;
    ucp_ep_h ep;

    n = 1;
    params.address = peers(1)[0];
    n = all;
    for (i = 0; i < n; ++i) {
        OK(ucp_ep_create(worker, &params, &ep));
        ended(ucp_tag_send_nbx(ep, &byte, 8, 1, &plain));
    }
    quiet();
    kill(child, SIGKILL);
    do {
        begun = now_us();
        ucp_worker_progress(worker);
    } while (failed == 0);
    while (failed < n) {
        ucp_worker_progress(worker);
    }
    return (now_us() - begun) * 1e3 / n;
}

/* Clients of a port where connections wait, and nobody takes them. */
static double clients_silent(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_SOCK_ADDR | UCP_EP_PARAM_FIELD_FLAGS |
                                            UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE,
                              .flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER,
                              .err_mode = UCP_ERR_HANDLING_MODE_PEER,
                              .sockaddr = {(struct sockaddr *)&at, sizeof(at)}};
    ucp_ep_h ep;
    size_t i;

    start();
    if ((bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0) || (listen(fd, 4096) < 0) ||
        (getsockname(fd, (struct sockaddr *)&at, &length) < 0)) {
        _exit(1);
    }
    for (i = 0; i < n; ++i) {
        OK(ucp_ep_create(worker, &params, &ep));
    }
    quiet();
    return progress_cost();
}

static void refuse(ucp_conn_request_h request, void *arg)
{
}

static double listen_many(int create)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    ucp_listener_params_t params = {.field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR | UCP_LISTENER_PARAM_FIELD_CONN_HANDLER,
                                    .sockaddr = {(struct sockaddr *)&at, sizeof(at)},
                                    .conn_handler = {.cb = refuse}};
    ucp_listener_h *listeners = malloc(n * sizeof(*listeners));
    double begun = now_us(), us;
    size_t i;

    for (i = 0; i < n; ++i) {
        OK(ucp_listener_create(worker, &params, &listeners[i]));
    }
    if (!create) {
        return progress_cost();
    }
    for (i = 0; i < n; ++i) {
        ucp_listener_destroy(listeners[n - 1 - i]);
    }
    us = now_us() - begun;
    return us * 1e3 / n;
}

static double listeners(void)
{
    return listen_many(1);
}

static double listeners_idle(void)
{
    return listen_many(0);
}

/* N pages side by side, or each in a mapping of its own. */
static char *pages(int apart)
{
    char *memory = mmap(NULL, 2 * n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t i;

    if (memory == MAP_FAILED) {
        _exit(1);
    }
    memset(memory, 1, 2 * n * PAGE);
    for (i = 0; apart && (i < n); ++i) {
        if (mprotect(memory + (2 * i + 1) * PAGE, PAGE, PROT_NONE) < 0) {
            fprintf(stderr, "too many mappings: see vm.max_map_count\n");
            _exit(1);
        }
    }
    return memory;
}

/* N regions of a page each, their keys packed and unpacked; then puts through keys in some order. */
static double regions(int puts, int apart)
{
    size_t step = (1 + apart) * PAGE;
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                   .length = PAGE};
    ucp_mem_h *handles = malloc(n * sizeof(*handles));
    ucp_rkey_h *keys = malloc(n * sizeof(*keys));
    ucp_ep_h ep = connect_to(address);
    char *memory = pages(apart);
    uint32_t *order = shuffled();
    uint64_t word = 5;
    double begun = now_us();
    size_t i, length;

    for (i = 0; i < n; ++i) {
        void *packed;

        params.address = memory + i * step;
        OK(ucp_mem_map(context, &params, &handles[i]));
        OK(ucp_rkey_pack(context, handles[i], &packed, &length));
        OK(ucp_ep_rkey_unpack(ep, packed, &keys[i]));
        ucp_rkey_buffer_release(packed);
    }
    if (puts) {
        double us;
        size_t count = 0;

        begun = now_us();
        do {
            i = order[count % n];
            ended(ucp_put_nbx(ep, &word, 8, (uintptr_t)memory + i * step, keys[i], &plain));
            us = now_us() - begun;
        } while (again(++count, us));
        ended(ucp_ep_flush_nbx(ep, &plain));
        return (now_us() - begun) * 1e3 / count;
    }
    for (i = 0; i < n; ++i) {
        ucp_rkey_destroy(keys[order[i]]);
        OK(ucp_mem_unmap(context, handles[order[i]]));
    }
    return (now_us() - begun) * 1e3 / n;
}

static double regions_map(void)
{
    return regions(0, 0);
}

static double regions_apart(void)
{
    return regions(0, 1);
}

static double regions_put(void)
{
    return regions(1, 0);
}

/* One message of N entries of 8 bytes: what an entry costs. */
static double iov(int receive)
{
    ucp_ep_h ep = connect_to(address);
    ucp_request_param_t list = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = ucp_dt_make_iov()};
    ucp_dt_iov_t *entries = malloc(n * sizeof(*entries));
    char *a = calloc(n, 8), *b = calloc(n, 8);
    double begun = 0;
    size_t i, round;

    for (i = 0; i < n; ++i) {
        entries[i].buffer = (receive ? b : a) + 8 * i;
        entries[i].length = 8;
    }
    for (round = 0; round < 2; ++round) {
        void *request;

        begun = now_us();
        request = receive ? ucp_tag_recv_nbx(worker, entries, n, 1, -1, &list)
                          : ucp_tag_recv_nbx(worker, b, 8 * n, 1, -1, &plain);
        ended(receive ? ucp_tag_send_nbx(ep, a, 8 * n, 1, &plain) : ucp_tag_send_nbx(ep, entries, n, 1, &list));
        ended(request);
    }
    return (now_us() - begun) * 1e3 / n;
}

static double iov_send(void)
{
    return iov(0);
}

static double iov_receive(void)
{
    return iov(1);
}

/* Messages of several pieces that wait in part: N workers of another process each send one, all before any is received. */
static double pieces(void)
{
    enum { LENGTH = 100000 };
    ucp_worker_h *workers = malloc(n * sizeof(*workers));
    void **requests = malloc(n * sizeof(*requests));
    static char out[LENGTH], in[LENGTH];
    int to[2], from[2];
    double begun;
    size_t i;

    if (pipe(to) < 0 || pipe(from) < 0) {
        _exit(1);
    }
    if (fork() == 0) {
        void *own;
        size_t length;

        start();
        get_through(&length, sizeof(length), to[0]);
        own = malloc(length);
        get_through(own, length, to[0]);
        for (i = 0; i < n; ++i) {
            workers[i] = worker = new_worker();
            requests[i] = ucp_tag_send_nbx(connect_to(own), out, LENGTH, i, &plain);
        }
        for (i = 0; getppid() != 1; i = (i + 1) % n) {
            ucp_worker_progress(workers[i]);
        }
        _exit(0);
    }
    start();
    put_through(&address_length, sizeof(address_length), to[1]);
    put_through(address, address_length, to[1]);
    begun = now_us();
    for (i = 0; i < n; ++i) {
        requests[i] = ucp_tag_recv_nbx(worker, in, LENGTH, i, -1, &plain);
    }
    for (i = 0; i < n; ++i) {
        ended(requests[i]);
    }
    return (now_us() - begun) * 1e3 / n;
}

#define ROW(name) {#name, name, 1}
/* Starts the library by itself. */
#define ROW_LATER(name) {#name, name, 0}
static const struct {
    const char *name;
    double (*run)(void);
    int started;
} rows[] = {
    ROW(receives_exact), ROW(receives_wild), ROW(unexpected_forth), ROW(unexpected_back), ROW(unexpected_wild), ROW(probes),
    ROW(cancels), ROW(synchronous_forth), ROW(synchronous_back), ROW(announced_back), ROW(eps_create), ROW(eps_idle),
    ROW(eps_active), ROW(eps_close), ROW(eps_destroy), ROW_LATER(eps_fail), ROW_LATER(peers_silent), ROW_LATER(peers_idle),
    ROW_LATER(clients_silent), ROW(listeners), ROW(listeners_idle), ROW(regions_map), ROW(regions_apart), ROW(regions_put), ROW(iov_send),
    ROW(iov_receive), ROW_LATER(pieces),
};

int main(int argc, char **argv)
{
    size_t i;

    if (argc != 3) {
        fprintf(stderr, "curves ROW N\n");
        return 2;
    }
    n = strtoull(argv[2], NULL, 0);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        if (!strcmp(rows[i].name, argv[1])) {
            double ns;

            if (rows[i].started) {
                start();
            }
            ns = rows[i].run();
            printf("%.1f\n", ns);
            fflush(stdout);
            _exit(0);
        }
    }
    fprintf(stderr, "no row %s\n", argv[1]);
    return 2;
}
