/* What one operation costs where there are N of a kind: "curves ROW N" prints how many operations it did, the nanoseconds and
 * the bytes of memory that each took. Plain UCP and UCS, so that it runs on any library of the interface; benches/curves drives it.
 * Rows either do N operations, or some among N others (CURVES_COUNT times where that is set). Under callgrind with
 * --instr-atstart=no the operations alone are counted, and of the process that prints alone. */
#define _GNU_SOURCE
#include <ucp/api/ucp.h>
#include <ucs/async/async_fwd.h>

#include "clock.h"

/* Without valgrind's header the program still measures time and memory. */
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_START_INSTRUMENTATION
#define CALLGRIND_STOP_INSTRUMENTATION
#define CALLGRIND_ZERO_STATS
#endif

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
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

/* Times an operation among N others is done where valgrind counts; 0: for some time. */
static size_t fixed_count;

/* What the operations took, without what came between. */
static double took_us, on_since;
/* The pages of the process when counting began, and most that operations were seen to add. */
static size_t pages_before, pages_added;

static size_t resident_pages(void)
{
    size_t size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    if (!file || (fscanf(file, "%zu %zu", &size, &resident) != 2)) {
        fprintf(stderr, "/proc/self/statm cannot be read\n");
        _exit(1);
    }
    fclose(file);
    return resident;
}

/* The operations begin, or go on. */
static void count_on(void)
{
    if (pages_before == 0) {
        pages_before = resident_pages();
    }
    CALLGRIND_START_INSTRUMENTATION;
    on_since = now_us();
}

static void count_off(void)
{
    took_us += now_us() - on_since;
    CALLGRIND_STOP_INSTRUMENTATION;
}

/* What was counted since `count_on` was but waiting. */
static void count_anew(void)
{
    CALLGRIND_ZERO_STATS;
    on_since = now_us();
}

/* All N of them are there: what memory they take. */
static void at_most(void)
{
    size_t now = resident_pages();

    if (now > pages_before + pages_added) {
        pages_added = now - pages_before;
    }
}

/* Whether an operation among N others is done again. The clock is seldom read: it has instructions too. */
static int again(size_t count)
{
    if (fixed_count) {
        return count < fixed_count;
    }
    return (count % 64) || ((count < 1000000) && (now_us() - on_since < SHORT_US));
}

/* Memory whose pages are there already, so that they do not count. */
static void *array(size_t size)
{
    return memset(malloc(size), 1, size);
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
    uint32_t *order = array(n * sizeof(*order)), was;
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

/* Until nothing has come for some time; not counted. */
static void quiet(void)
{
    double since = now_us(), pause = fixed_count ? 200000 : 20000;

    while (now_us() - since < pause) {
        if (ucp_worker_progress(worker) != 0) {
            since = now_us();
        }
    }
}

/* Calls of progress that find nothing. */
static size_t progress_cost(void)
{
    size_t calls = 0;
    unsigned i;

    count_on();
    do {
        for (i = 0; i < 100; ++i) {
            ucp_worker_progress(worker);
        }
        calls += 100;
    } while (again(calls / 100));
    count_off();
    return calls;
}

/* N receives with tags of their own, matched in some order. */
static size_t receives_exact(void)
{
    ucp_ep_h ep = connect_to(address);
    uint32_t *order = shuffled();
    void **requests = array(n * sizeof(*requests));
    uint64_t byte = 0;
    size_t i;

    count_on();
    for (i = 0; i < n; ++i) {
        requests[i] = ucp_tag_recv_nbx(worker, &byte, 8, i, -1, &plain);
    }
    count_off();
    at_most();
    count_on();
    for (i = 0; i < n; ++i) {
        ended(ucp_tag_send_nbx(ep, &byte, 8, order[i], &plain));
    }
    for (i = 0; i < n; ++i) {
        ended(requests[i]);
    }
    count_off();
    return n;
}

static void match_by_mask(ucp_ep_h ep, uint64_t mask)
{
    uint64_t byte = 0;
    void *request = ucp_tag_recv_nbx(worker, &byte, 8, 5, mask, &plain);

    ended(ucp_tag_send_nbx(ep, &byte, 8, 7, &plain));
    ended(request);
}

/* N receives of other tags, each with a mask of the kind that MPI_ANY_SOURCE has, in front of the one that matches. */
static size_t receives_wild(void)
{
    ucp_ep_h ep = connect_to(address);
    uint64_t byte = 0, mask = ~0xffffffffull;
    size_t i, count = 0;

    for (i = 0; i < n; ++i) {
        ucp_tag_recv_nbx(worker, &byte, 8, (i + 1) << 32, mask, &plain);
    }
    /* With the first message a library may sort all receives, once. */
    match_by_mask(ep, mask);
    count_on();
    do {
        match_by_mask(ep, mask);
    } while (again(++count));
    count_off();
    return count;
}

static size_t unexpected(int backwards, uint64_t mask)
{
    ucp_ep_h ep = connect_to(address);
    uint64_t byte = 0;
    size_t i;

    count_on();
    for (i = 0; i < n; ++i) {
        ended(ucp_tag_send_nbx(ep, &byte, 8, i << 32, &plain));
    }
    count_off();
    quiet();
    at_most();
    count_on();
    for (i = 0; i < n; ++i) {
        ended(ucp_tag_recv_nbx(worker, &byte, 8, (backwards ? n - 1 - i : i) << 32, mask, &plain));
    }
    count_off();
    return n;
}

static size_t unexpected_forth(void)
{
    return unexpected(0, -1);
}

static size_t unexpected_back(void)
{
    return unexpected(1, -1);
}

/* Received by masks, the last one first. */
static size_t unexpected_wild(void)
{
    return unexpected(1, ~0xffffffffull);
}

static size_t probes(void)
{
    ucp_ep_h ep = connect_to(address);
    ucp_tag_recv_info_t info;
    uint64_t byte = 0;
    size_t i, count = 0;

    for (i = 0; i < n; ++i) {
        ended(ucp_tag_send_nbx(ep, &byte, 8, i, &plain));
    }
    quiet();
    /* With the first probe a library may sort all messages, once. */
    ucp_tag_probe_nb(worker, draw(n), -1, 0, &info);
    count_on();
    do {
        ucp_tag_probe_nb(worker, draw(n), -1, 0, &info);
    } while (again(++count));
    count_off();
    return count;
}

/* N receives that are cancelled in some order. */
static size_t cancels(void)
{
    void **requests = array(n * sizeof(*requests));
    uint32_t *order = shuffled();
    uint64_t byte = 0;
    size_t i;

    count_on();
    for (i = 0; i < n; ++i) {
        requests[i] = ucp_tag_recv_nbx(worker, &byte, 8, i, -1, &plain);
    }
    for (i = 0; i < n; ++i) {
        ucp_request_cancel(worker, requests[order[i]]);
    }
    for (i = 0; i < n; ++i) {
        ucp_request_free(requests[i]);
    }
    count_off();
    return n;
}

/* N messages whose sends end when they are received: backwards, or forth. */
static size_t outstanding(int synchronous, int backwards)
{
    ucp_ep_h ep = connect_to(address);
    void **requests = array(n * sizeof(*requests));
    static char from[64], to[64];
    size_t i;

    count_on();
    for (i = 0; i < n; ++i) {
        requests[i] = synchronous ? ucp_tag_send_sync_nbx(ep, from, 8, i, &plain)
                                  : ucp_tag_send_nbx(ep, from, sizeof(from), i, &plain);
    }
    count_off();
    quiet();
    at_most();
    count_on();
    for (i = 0; i < n; ++i) {
        ended(ucp_tag_recv_nbx(worker, to, synchronous ? 8 : sizeof(to), backwards ? n - 1 - i : i, -1, &plain));
    }
    for (i = 0; i < n; ++i) {
        ended(requests[i]);
    }
    count_off();
    return n;
}

static size_t synchronous_back(void)
{
    return outstanding(1, 1);
}

static size_t synchronous_forth(void)
{
    return outstanding(1, 0);
}

static size_t announced_back(void)
{
    return outstanding(0, 1);
}

static ucp_ep_h *endpoints(void)
{
    ucp_ep_h *eps = array(n * sizeof(*eps));
    size_t i;

    for (i = 0; i < n; ++i) {
        eps[i] = connect_to(address);
    }
    return eps;
}

static size_t eps_create(void)
{
    ucp_ep_h *eps = array(n * sizeof(*eps));
    size_t i;

    count_on();
    for (i = 0; i < n; ++i) {
        eps[i] = connect_to(address);
    }
    count_off();
    at_most();
    return n;
}

static size_t eps_idle(void)
{
    uint64_t byte = 0;
    ucp_ep_h *eps = endpoints();
    void *request = ucp_tag_recv_nbx(worker, &byte, 8, 1, -1, &plain);

    ended(ucp_tag_send_nbx(eps[n - 1], &byte, 8, 1, &plain));
    ended(request);
    quiet();
    return progress_cost();
}

/* A message over each of N endpoints in turn, the second time. */
static size_t eps_active(void)
{
    uint64_t byte = 0;
    ucp_ep_h *eps = endpoints();
    uint32_t *order = shuffled();
    size_t round, i;

    for (round = 0; round < 2; ++round) {
        if (round == 1) {
            count_on();
        }
        for (i = 0; i < n; ++i) {
            void *request = ucp_tag_recv_nbx(worker, &byte, 8, 1, -1, &plain);

            ended(ucp_tag_send_nbx(eps[order[i]], &byte, 8, 1, &plain));
            ended(request);
        }
    }
    count_off();
    return n;
}

static size_t eps_close(void)
{
    ucp_ep_h *eps = endpoints();
    void **requests = array(n * sizeof(*requests));
    uint32_t *order = shuffled();
    size_t i;

    count_on();
    for (i = 0; i < n; ++i) {
        requests[i] = ucp_ep_close_nbx(eps[order[i]], &plain);
    }
    for (i = 0; i < n; ++i) {
        ended(requests[i]);
    }
    count_off();
    return n;
}

static size_t eps_destroy(void)
{
    endpoints();
    count_on();
    ucp_worker_destroy(worker);
    count_off();
    return n;
}

static void put_through(const void *from, size_t length, int fd)
{
    const char *at = from;

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
/* What the two processes tell each other. */
static int to_child[2], to_parent[2];

/* Whether this is the process of the peers, which ends with the other one. */
static int peers_begin(void)
{
    pid_t parent = getpid();

    if ((pipe(to_child) < 0) || (pipe(to_parent) < 0)) {
        _exit(1);
    }
    signal(SIGCHLD, SIG_IGN);
    child = fork();
    if (child != 0) {
        return 0;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(0);
    }
    return 1;
}

/* A process with N workers, which makes progress or not. Gives their addresses. */
static ucp_address_t **peers(int progresses)
{
    ucp_address_t **addresses = malloc(n * sizeof(*addresses));
    ucp_worker_h *workers = malloc(n * sizeof(*workers));
    size_t i, length;

    if (peers_begin()) {
        start();
        for (i = 0; i < n; ++i) {
            ucp_address_t *own;

            workers[i] = new_worker();
            OK(ucp_worker_get_address(workers[i], &own, &length));
            put_through(&length, sizeof(length), to_parent[1]);
            put_through(own, length, to_parent[1]);
        }
        for (i = 0;; i = (i + 1) % n) {
            if (progresses) {
                ucp_worker_progress(workers[i]);
            } else {
                pause();
            }
        }
    }
    close(to_parent[1]);
    for (i = 0; i < n; ++i) {
        get_through(&length, sizeof(length), to_parent[0]);
        addresses[i] = malloc(length);
        get_through(addresses[i], length, to_parent[0]);
    }
    start();
    return addresses;
}

/* Connections to N workers of another process that does not answer. */
static size_t peers_silent(void)
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
static size_t peers_idle(void)
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

/* N workers of another process send to this one when they are told to, all of them or one. The messages have left before the
 * first one is received, so that what is counted is the receiver's work. */
enum { EACH = 16, ROUNDS = 8 };

static void senders_child(void)
{
    ucp_worker_h *workers = malloc(n * sizeof(*workers));
    ucp_ep_h *eps = malloc(n * sizeof(*eps));
    static uint64_t byte;
    size_t i, j, first, last, round, each[3];
    void *own;

    start();
    get_through(&i, sizeof(i), to_child[0]);
    own = malloc(i);
    get_through(own, i, to_child[0]);
    for (i = 0; i < n; ++i) {
        workers[i] = worker = new_worker();
        eps[i] = connect_to(own);
    }
    for (round = 0;; ++round) {
        /* Until the first round has come through connections are being made. Later on there is nothing to do but to wait. */
        fcntl(to_child[0], F_SETFL, (round == 1) ? O_NONBLOCK : 0);
        while (read(to_child[0], each, sizeof(each)) != sizeof(each)) {
            for (i = 0; i < n; ++i) {
                ucp_worker_progress(workers[i]);
            }
        }
        first = each[0];
        last = each[1];
        for (j = 0; j < each[2]; ++j) {
            for (i = first; i < last; ++i) {
                worker = workers[i];
                ended(ucp_tag_send_nbx(eps[i], &byte, 8, 1, &plain));
            }
        }
        for (j = 0; j < 20; ++j) {
            for (i = first; i < last; ++i) {
                ucp_worker_progress(workers[i]);
            }
        }
        put_through("", 1, to_parent[1]);
    }
}

static void tell_senders(size_t first, size_t last, size_t each)
{
    size_t words[] = {first, last, each};

    put_through(words, sizeof(words), to_child[1]);
}

static void receive(void **requests, size_t count)
{
    static uint64_t byte;
    size_t i;

    for (i = 0; i < count; ++i) {
        requests[i] = ucp_tag_recv_nbx(worker, &byte, 8, 1, -1, &plain);
    }
    for (i = 0; i < count; ++i) {
        ended(requests[i]);
    }
}

static size_t receive_from(int all)
{
    void **requests = array(n * EACH * sizeof(*requests));
    size_t round, count = 0;
    char done;

    if (peers_begin()) {
        senders_child();
    }
    start();
    put_through(&address_length, sizeof(address_length), to_child[1]);
    put_through(address, address_length, to_child[1]);
    /* Connections are made while this side makes progress, too. */
    tell_senders(0, n, 1);
    receive(requests, n);
    get_through(&done, 1, to_parent[0]);
    quiet();
    for (round = 0; round < ROUNDS; ++round) {
        size_t first = all ? 0 : draw(n), last = all ? n : first + 1, expected = (last - first) * EACH;

        tell_senders(first, last, EACH);
        get_through(&done, 1, to_parent[0]);
        count_on();
        receive(requests, expected);
        count_off();
        count += expected;
        quiet();
    }
    return count;
}

static size_t senders_all(void)
{
    return receive_from(1);
}

static size_t senders_one(void)
{
    return receive_from(0);
}

static size_t failed;

static void fail(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    ++failed;
}

/* N endpoints to one worker of another process, which is killed: from the progress that tells the first one until all are told. */
static size_t eps_fail(void)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                                            UCP_EP_PARAM_FIELD_ERR_HANDLER,
                              .err_mode = UCP_ERR_HANDLING_MODE_PEER,
                              .err_handler = {fail, NULL}};
    size_t all = n, i;
    uint64_t byte = 0;
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
    count_on();
    do {
        count_anew();
        ucp_worker_progress(worker);
    } while (failed == 0);
    while (failed < n) {
        ucp_worker_progress(worker);
    }
    count_off();
    return n;
}

/* `count` workers of this process. */
static ucp_worker_h *many_workers(size_t count, ucp_address_t **addresses)
{
    ucp_worker_h *workers = array(count * sizeof(*workers));
    size_t i, length;

    for (i = 0; i < count; ++i) {
        workers[i] = new_worker();
        OK(ucp_worker_get_address(workers[i], &addresses[i], &length));
    }
    return workers;
}

/* Connects each of `froms` workers to each of `tos`, and has a message through each connection. */
static void connect_all(ucp_worker_h *from, size_t froms, ucp_worker_h *to, ucp_address_t **addresses, size_t tos)
{
    static uint64_t byte;
    void **receives = array(froms * tos * sizeof(*receives)), **sends = array(froms * tos * sizeof(*sends));
    size_t i, j, left = froms * tos;

    count_on();
    for (i = 0; i < froms; ++i) {
        worker = from[i];
        for (j = 0; j < tos; ++j) {
            receives[i * tos + j] = ucp_tag_recv_nbx(to[j], &byte, 8, 1, -1, &plain);
            sends[i * tos + j] = ucp_tag_send_nbx(connect_to(addresses[j]), &byte, 8, 1, &plain);
        }
    }
    /* Each as long as it has something to do: otherwise a busy worker has all others polled for nothing. */
    for (i = 0; i < left;) {
        for (j = 0; j < froms; ++j) {
            while (ucp_worker_progress(from[j]) != 0) {
            }
        }
        for (j = 0; (j < tos) && (from != to); ++j) {
            while (ucp_worker_progress(to[j]) != 0) {
            }
        }
        while ((i < left) && (ucp_request_check_status(receives[i]) == UCS_OK)) {
            ++i;
        }
    }
    count_off();
    at_most();
}

/* One worker to N others. */
static size_t connect_to_many(void)
{
    ucp_address_t **addresses = array(n * sizeof(*addresses));
    ucp_worker_h *workers = many_workers(n, addresses);

    connect_all(&worker, 1, workers, addresses, n);
    return n;
}

/* N others to one worker. */
static size_t connect_from_many(void)
{
    ucp_address_t **addresses = array(n * sizeof(*addresses));
    ucp_worker_h *workers = many_workers(n, addresses), one = worker;

    connect_all(workers, n, &one, &address, 1);
    return n;
}

/* N workers, each to all. */
static size_t connect_all_to_all(void)
{
    ucp_address_t **addresses = array(n * sizeof(*addresses));
    ucp_worker_h *workers = many_workers(n, addresses);

    connect_all(workers, n, workers, addresses, n);
    return n * n;
}

static ucp_ep_params_t client_params(const struct sockaddr_in *at)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_SOCK_ADDR | UCP_EP_PARAM_FIELD_FLAGS |
                                            UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE,
                              .flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER,
                              .err_mode = UCP_ERR_HANDLING_MODE_PEER,
                              .sockaddr = {(const struct sockaddr *)at, sizeof(*at)}};

    return params;
}

/* Clients of a port where connections wait, and nobody takes them. */
static size_t clients_silent(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    ucp_ep_params_t params = client_params(&at);
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

static ucp_worker_h server;

static void accept_client(ucp_conn_request_h request, void *arg)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_CONN_REQUEST, .conn_request = request};
    ucp_ep_h ep;

    OK(ucp_ep_create(server, &params, &ep));
}

/* N clients of a listener, each with a message: both sides. */
static size_t clients_connect(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    ucp_listener_params_t params = {.field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR | UCP_LISTENER_PARAM_FIELD_CONN_HANDLER,
                                    .sockaddr = {(struct sockaddr *)&at, sizeof(at)},
                                    .conn_handler = {.cb = accept_client}};
    ucp_listener_attr_t attr = {.field_mask = UCP_LISTENER_ATTR_FIELD_SOCKADDR};
    ucp_ep_params_t client = client_params(&at);
    void **receives = array(n * sizeof(*receives));
    static uint64_t byte;
    ucp_listener_h listener;
    ucp_ep_h ep;
    size_t i;

    server = new_worker();
    OK(ucp_listener_create(server, &params, &listener));
    OK(ucp_listener_query(listener, &attr));
    at.sin_port = ((struct sockaddr_in *)&attr.sockaddr)->sin_port;
    count_on();
    for (i = 0; i < n; ++i) {
        receives[i] = ucp_tag_recv_nbx(server, &byte, 8, 1, -1, &plain);
        OK(ucp_ep_create(worker, &client, &ep));
        ucp_tag_send_nbx(ep, &byte, 8, 1, &plain);
        ucp_worker_progress(server);
        ucp_worker_progress(worker);
    }
    for (i = 0; i < n;) {
        ucp_worker_progress(server);
        ucp_worker_progress(worker);
        while ((i < n) && (ucp_request_check_status(receives[i]) == UCS_OK)) {
            ++i;
        }
    }
    count_off();
    at_most();
    return n;
}

static void refuse(ucp_conn_request_h request, void *arg)
{
}

static size_t listen_many(int create)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    ucp_listener_params_t params = {.field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR | UCP_LISTENER_PARAM_FIELD_CONN_HANDLER,
                                    .sockaddr = {(struct sockaddr *)&at, sizeof(at)},
                                    .conn_handler = {.cb = refuse}};
    ucp_listener_h *listeners = array(n * sizeof(*listeners));
    size_t i;

    if (create) {
        count_on();
    }
    for (i = 0; i < n; ++i) {
        OK(ucp_listener_create(worker, &params, &listeners[i]));
    }
    if (!create) {
        return progress_cost();
    }
    count_off();
    at_most();
    count_on();
    for (i = 0; i < n; ++i) {
        ucp_listener_destroy(listeners[n - 1 - i]);
    }
    count_off();
    return n;
}

static size_t listeners(void)
{
    return listen_many(1);
}

static size_t listeners_idle(void)
{
    return listen_many(0);
}

/* Upstream's poll calls back whether a timer is due or not. */
static void on_timer(int id, ucs_event_set_types_t events, void *arg)
{
}

/* N timers of the async thread that are far away, removed in some order; or polls with such. */
static size_t timers(int idle)
{
    ucs_async_mode_t mode = idle ? UCS_ASYNC_MODE_POLL : UCS_ASYNC_MODE_THREAD_MUTEX;
    ucs_time_t long_after = ((ucs_time_t)1 << 43);
    int *ids = array(n * sizeof(*ids));
    uint32_t *order = shuffled();
    ucs_async_context_t *async;
    size_t i, count = 0;

    OK(ucs_async_context_create(mode, &async));
    if (!idle) {
        count_on();
    }
    for (i = 0; i < n; ++i) {
        OK(ucs_async_add_timer(mode, long_after, on_timer, NULL, async, &ids[i]));
    }
    if (idle) {
        count_on();
        do {
            ucs_async_poll(async);
        } while (again(++count));
        count_off();
        return count;
    }
    count_off();
    at_most();
    count_on();
    for (i = 0; i < n; ++i) {
        OK(ucs_async_remove_handler(ids[order[i]], 0));
    }
    count_off();
    return n;
}

static size_t timers_add(void)
{
    return timers(0);
}

static size_t timers_idle(void)
{
    return timers(1);
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

/* N regions of a page each, their keys packed and unpacked; or puts through keys in some order. */
static size_t regions(int puts, int apart)
{
    size_t step = (1 + apart) * PAGE;
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                   .length = PAGE};
    ucp_mem_h *handles = array(n * sizeof(*handles));
    ucp_rkey_h *keys = array(n * sizeof(*keys));
    ucp_ep_h ep = connect_to(address);
    char *memory = pages(apart);
    uint32_t *order = shuffled();
    uint64_t word = 5;
    size_t i, length, count = 0;

    if (!puts) {
        count_on();
    }
    for (i = 0; i < n; ++i) {
        void *packed;

        params.address = memory + i * step;
        OK(ucp_mem_map(context, &params, &handles[i]));
        OK(ucp_rkey_pack(context, handles[i], &packed, &length));
        OK(ucp_ep_rkey_unpack(ep, packed, &keys[i]));
        ucp_rkey_buffer_release(packed);
    }
    if (puts) {
        count_on();
        do {
            i = order[count % n];
            ended(ucp_put_nbx(ep, &word, 8, (uintptr_t)memory + i * step, keys[i], &plain));
        } while (again(++count));
        ended(ucp_ep_flush_nbx(ep, &plain));
        count_off();
        return count;
    }
    count_off();
    at_most();
    count_on();
    for (i = 0; i < n; ++i) {
        ucp_rkey_destroy(keys[order[i]]);
        OK(ucp_mem_unmap(context, handles[order[i]]));
    }
    count_off();
    return n;
}

static size_t regions_map(void)
{
    return regions(0, 0);
}

static size_t regions_apart(void)
{
    return regions(0, 1);
}

static size_t regions_put(void)
{
    return regions(1, 0);
}

/* One message of N entries of 8 bytes, the second time: what an entry costs. */
static size_t iov(int receive)
{
    ucp_ep_h ep = connect_to(address);
    ucp_request_param_t list = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = ucp_dt_make_iov()};
    ucp_dt_iov_t *entries = malloc(n * sizeof(*entries));
    char *a = calloc(n, 8), *b = calloc(n, 8);
    size_t i, round;

    for (i = 0; i < n; ++i) {
        entries[i].buffer = (receive ? b : a) + 8 * i;
        entries[i].length = 8;
    }
    for (round = 0; round < 2; ++round) {
        void *request;

        if (round == 1) {
            count_on();
        }
        request = receive ? ucp_tag_recv_nbx(worker, entries, n, 1, -1, &list)
                          : ucp_tag_recv_nbx(worker, b, 8 * n, 1, -1, &plain);
        ended(receive ? ucp_tag_send_nbx(ep, a, 8 * n, 1, &plain) : ucp_tag_send_nbx(ep, entries, n, 1, &list));
        ended(request);
    }
    count_off();
    return n;
}

static size_t iov_send(void)
{
    return iov(0);
}

static size_t iov_receive(void)
{
    return iov(1);
}

/* Messages of several pieces that wait in part: N workers of another process each send one, all before any is received. */
static size_t pieces(void)
{
    enum { LENGTH = 100000 };
    ucp_worker_h *workers = malloc(n * sizeof(*workers));
    void **requests = array(n * sizeof(*requests));
    static char out[LENGTH], in[LENGTH];
    size_t i;

    if (peers_begin()) {
        void *own;
        size_t length;

        start();
        get_through(&length, sizeof(length), to_child[0]);
        own = malloc(length);
        get_through(own, length, to_child[0]);
        for (i = 0; i < n; ++i) {
            workers[i] = worker = new_worker();
            requests[i] = ucp_tag_send_nbx(connect_to(own), out, LENGTH, i, &plain);
        }
        for (i = 0;; i = (i + 1) % n) {
            ucp_worker_progress(workers[i]);
        }
    }
    start();
    put_through(&address_length, sizeof(address_length), to_child[1]);
    put_through(address, address_length, to_child[1]);
    count_on();
    for (i = 0; i < n; ++i) {
        requests[i] = ucp_tag_recv_nbx(worker, in, LENGTH, i, -1, &plain);
    }
    for (i = 0; i < n; ++i) {
        ended(requests[i]);
    }
    count_off();
    return n;
}

#define ROW(name) {#name, name, 1}
/* Starts the library by itself. */
#define ROW_LATER(name) {#name, name, 0}
static const struct {
    const char *name;
    size_t (*run)(void);
    int started;
} rows[] = {
    ROW(receives_exact), ROW(receives_wild), ROW(unexpected_forth), ROW(unexpected_back), ROW(unexpected_wild), ROW(probes),
    ROW(cancels), ROW(synchronous_forth), ROW(synchronous_back), ROW(announced_back), ROW(eps_create), ROW(eps_idle),
    ROW(eps_active), ROW(eps_close), ROW(eps_destroy), ROW_LATER(eps_fail), ROW_LATER(peers_silent), ROW_LATER(peers_idle),
    ROW_LATER(senders_all), ROW_LATER(senders_one), ROW(connect_to_many), ROW(connect_from_many), ROW(connect_all_to_all),
    ROW_LATER(clients_silent), ROW(clients_connect), ROW(listeners), ROW(listeners_idle), ROW_LATER(timers_add),
    ROW_LATER(timers_idle), ROW(regions_map), ROW(regions_apart), ROW(regions_put), ROW(iov_send), ROW(iov_receive),
    ROW_LATER(pieces),
};

int main(int argc, char **argv)
{
    const char *fixed = getenv("CURVES_COUNT");
    size_t i;

    if (argc != 3) {
        fprintf(stderr, "curves ROW N\n");
        return 2;
    }
    n = strtoull(argv[2], NULL, 0);
    fixed_count = fixed ? strtoull(fixed, NULL, 0) : 0;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        if (!strcmp(rows[i].name, argv[1])) {
            size_t operations;

            if (rows[i].started) {
                start();
            }
            operations = rows[i].run();
            printf("%zu %.1f %.1f\n", operations, took_us * 1e3 / operations, pages_added * (double)PAGE / operations);
            fflush(stdout);
            _exit(0);
        }
    }
    fprintf(stderr, "no row %s\n", argv[1]);
    return 2;
}
