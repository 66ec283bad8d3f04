/* System calls that fail. Two processes exchange messages of every kind, put, get and add in each other's memory, close
 * and clean up, and in one of them the n-th call of a kind fails: once, twenty times, from there on, or takes fewer bytes
 * than it is given. What a call may always answer (it was interrupted, it would block, it took less) must not be noticed; of
 * the others a call or a request may tell, but nobody crashes, waits for ever, gets wrong bytes or keeps a descriptor.
 * TORTURE_COUNT faults are drawn from all that there are: every call of every kind on either side, as far as it is one of
 * the first 30 of its kind, and some behind. TORTURE_FAULT="tcp address 0 recv:EINTR 7" repeats one. */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n */
#define _GNU_SOURCE
#include <ucp/api/ucp.h>

#include "bytes.h"
#include "faults.h"
#include "listener.h"
#include "torture.h"

#include <signal.h>
#include <sys/wait.h>

enum { REGION = 200000, REQUESTS = 32, TAGS = 4, AMS = 2, STREAM = 20000, AM_ID = 5, HANG = 20, SEED = 7 };

static const size_t tag_sizes[TAGS] = {8, 5000, 60000, 400000};
static const size_t am_sizes[AMS] = {3000, 300000};

enum { ONCE = 1, BURST = 20, ALWAYS = 0 };

typedef struct {
    const char *name;
    int call, error;
    unsigned count; /* ALWAYS: from the first on */
    int unseen;     /* the programs must not notice */
    long number;
} kind_t;

#define KIND(call, error, count, unseen) {#call ":" #error, FAULT_##call, error, count, unseen, 0}
#define KIND_OF_SYSCALL(name, error, count, unseen) {#name ":" #error, FAULT_syscall, error, count, unseen, SYS_##name}
/* The kernel needs nothing for the others. */
#define KIND_OF_ADD(error, count) {"epoll_ctl:" #error, FAULT_epoll_ctl, error, count, 0, EPOLL_CTL_ADD}
#define CUT(call) {#call ":short", FAULT_##call, FAULT_SHORT, ALWAYS, 1, 0}

static const kind_t kinds[] = {
    CUT(recv),
    CUT(recvmsg),
    CUT(send),
    CUT(sendmsg),
    CUT(process_vm_readv),
    CUT(process_vm_writev),
    KIND(recv, EINTR, BURST, 1),
    KIND(recvmsg, EINTR, BURST, 1),
    KIND(send, EINTR, BURST, 1),
    KIND(sendmsg, EINTR, BURST, 1),
    KIND(sendto, EINTR, BURST, 1),
    KIND(read, EINTR, BURST, 1),
    KIND(write, EINTR, BURST, 1),
    KIND(epoll_wait, EINTR, BURST, 1),
    KIND(poll, EINTR, BURST, 1),
    KIND(accept4, EINTR, BURST, 1),
    KIND(accept4, EAGAIN, ONCE, 1),
    KIND(accept4, ECONNABORTED, BURST, 1),
    KIND(recv, EAGAIN, BURST, 1),
    KIND(recvmsg, EAGAIN, BURST, 1),
    KIND(send, EAGAIN, BURST, 1),
    KIND(sendmsg, EAGAIN, BURST, 1),
    KIND(getrandom, EINTR, BURST, 1),
    KIND(posix_fallocate, EINTR, BURST, 1),
    KIND(ftruncate, EINTR, BURST, 1),
    KIND(memfd_create, ENOSYS, ALWAYS, 0),
    KIND(memfd_create, EPERM, ALWAYS, 0),
    KIND(memfd_create, EMFILE, ONCE, 0),
    KIND(process_vm_readv, EPERM, ALWAYS, 1),
    KIND(process_vm_readv, ENOSYS, ALWAYS, 1),
    KIND(process_vm_readv, EPERM, ONCE, 0),
    KIND(process_vm_readv, EFAULT, ONCE, 0),
    KIND(process_vm_readv, ESRCH, ONCE, 0),
    KIND(process_vm_writev, EPERM, ALWAYS, 1),
    KIND(process_vm_writev, ENOSYS, ALWAYS, 1),
    KIND(process_vm_writev, EPERM, ONCE, 0),
    KIND(process_vm_writev, EFAULT, ONCE, 0),
    KIND_OF_SYSCALL(pidfd_open, ENOSYS, ALWAYS, 1),
    KIND_OF_SYSCALL(pidfd_open, EPERM, ALWAYS, 1),
    KIND_OF_SYSCALL(pidfd_open, EMFILE, ONCE, 0),
    KIND_OF_SYSCALL(membarrier, ENOSYS, ALWAYS, 1),
    KIND_OF_SYSCALL(membarrier, EPERM, ALWAYS, 1),
    KIND(socket, EMFILE, ONCE, 0),
    KIND(socket, ENOBUFS, ONCE, 0),
    KIND(socket, EAFNOSUPPORT, ALWAYS, 0),
    KIND(accept4, EMFILE, BURST, 0),
    KIND(accept4, ENOMEM, ONCE, 0),
    KIND(bind, EADDRINUSE, ONCE, 0),
    KIND(listen, EADDRINUSE, ONCE, 0),
    KIND(connect, ECONNREFUSED, ONCE, 0),
    KIND(connect, EADDRNOTAVAIL, ONCE, 0),
    KIND(connect, ENETUNREACH, BURST, 0),
    KIND(getsockname, ENOBUFS, ONCE, 0),
    KIND(getpeername, ENOTCONN, ONCE, 0),
    KIND(getsockopt, ENOBUFS, ONCE, 0),
    KIND(setsockopt, ENOMEM, ONCE, 0),
    KIND(recv, ECONNRESET, ONCE, 0),
    KIND(recvmsg, ECONNRESET, ONCE, 0),
    KIND(send, EPIPE, ONCE, 0),
    KIND(sendmsg, ECONNRESET, ONCE, 0),
    KIND(sendmsg, ENOBUFS, ONCE, 0),
    KIND(epoll_create1, EMFILE, ONCE, 0),
    KIND(epoll_create1, ENOMEM, ALWAYS, 0),
    KIND_OF_ADD(ENOMEM, ONCE),
    KIND_OF_ADD(ENOSPC, BURST),
    KIND(eventfd, EMFILE, ONCE, 0),
    KIND(eventfd, ENOSYS, ALWAYS, 0),
    KIND(timerfd_create, EMFILE, ONCE, 0),
    KIND(timerfd_settime, EINVAL, ONCE, 0),
    KIND(pthread_create, EAGAIN, ONCE, 0),
    KIND(pthread_create, EAGAIN, BURST, 0),
    KIND(mmap, ENOMEM, ONCE, 0),
    KIND(mmap, ENOMEM, BURST, 0),
    KIND(madvise, EINVAL, ONCE, 0),
    KIND(mlock, EPERM, ONCE, 0),
    KIND(open64, EMFILE, ONCE, 0),
    KIND(open64, EACCES, ALWAYS, 0),
    KIND(read, EIO, ONCE, 0),
    KIND(fchmod, EPERM, ONCE, 0),
    KIND(fcntl, EINVAL, ONCE, 0),
    KIND(ftruncate, ENOSPC, ONCE, 0),
    KIND(posix_fallocate, ENOSPC, ALWAYS, 0),
    KIND(posix_fallocate, EOPNOTSUPP, ALWAYS, 0),
    KIND(statvfs, EACCES, ONCE, 0),
    KIND(prctl, EINVAL, ONCE, 0),
    KIND(shmget, ENOSPC, ONCE, 0),
    KIND(shmget, ENOSYS, ALWAYS, 0),
    KIND(shmat, ENOMEM, ONCE, 0),
    KIND(shmctl, EPERM, ONCE, 0),
    KIND(close, EINTR, ONCE, 1),
    KIND(close, EIO, ONCE, 1),
};

enum { NUM_KINDS = sizeof(kinds) / sizeof(*kinds) };

typedef struct {
    const char *tls;
    int listens; /* side 0 listens, side 1 comes as its client; else by worker addresses */
} mix_t;

static const mix_t mixes[] = {{"tcp", 0}, {"posix", 0}, {"posix,cma", 0}, {"all", 0}, {"sysv", 0}, {"tcp", 1}, {"all", 1}};

enum { NUM_MIXES = sizeof(mixes) / sizeof(*mixes) };

/* What one side came to. */
enum { RUNNING, COMPLETE, GAVE_UP, PEER_GAVE_UP };

typedef struct {
    int outcome;
    ucs_status_t status;
    char at[80]; /* the call that failed, or that it is in */
    int descriptors;
    fault_record_t record;
} report_t;

typedef struct {
    int me, fd, listens;
    report_t *report;
    volatile report_t *peer;
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_address_t *address;
    size_t address_length;
    ucp_listener_h listener;
    ucp_conn_request_h asked;
    int events, swaps;
    failure_t failure;
    ucp_ep_h ep;
    ucp_mem_h memh;
    ucp_rkey_h rkey;
    uint64_t remote;
    void *requests[REQUESTS];
    int receives[REQUESTS];
    unsigned num_requests, ams;
    ucs_status_t refused; /* the first call that gave an error instead of a request */
    unsigned char *region, *tag_in[TAGS], *am_in, *stream_in, *get_in, *out;
    uint64_t fetched;
    size_t stream_length;
} party_t;

static party_t me;

/* Tells the driver, and the peer, that this side goes no further; always 0. */
static int give_up(int outcome, const char *at, ucs_status_t status)
{
    if (me.report->outcome == RUNNING) {
        me.report->outcome = outcome;
        me.report->status = status;
        snprintf(me.report->at, sizeof(me.report->at), "%s", at);
        send(me.fd, "", 1, MSG_NOSIGNAL); /* wakes it; it looks at `outcome` */
    }
    return 0;
}

#define TRY(call) \
    do { \
        ucs_status_t try_status; \
        snprintf(me.report->at, sizeof(me.report->at), "%s", #call); \
        try_status = (call); \
        if (try_status != UCS_OK) { \
            return give_up(GAVE_UP, #call, try_status); \
        } \
    } while (0)

/* 1: a packet of the peer is there. 0: nothing. -1: it gave up or is gone. */
static int peer_said(void)
{
    char byte;
    ssize_t length = recv(me.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

    if ((me.peer->outcome == GAVE_UP) || (me.peer->outcome == PEER_GAVE_UP) || (length == 0)) {
        return -1;
    }
    return length > 0;
}

/* Progresses, and sleeps when there is nothing to do; 0 when it is no use to go on. */
static int step(unsigned *idle)
{
    struct pollfd fds[2] = {{.fd = me.events, .events = POLLIN}, {.fd = me.fd, .events = POLLIN}};
    ucs_status_t status;

    if (ucp_worker_progress(me.worker)) {
        *idle = 0;
    }
    /* Who has said what it had to say may have closed and be gone. */
    if (me.failure.calls && !(me.swaps && (peer_said() > 0))) {
        return give_up(GAVE_UP, "error handler", me.failure.status);
    }
    if (peer_said() < 0) {
        return give_up(PEER_GAVE_UP, me.report->at, UCS_OK);
    }
    if ((++*idle > 100) && (me.events >= 0) && (peer_said() == 0)) {
        status = ucp_worker_arm(me.worker);
        if (status == UCS_OK) {
            poll(fds, 2, -1);
        } else if (status != UCS_ERR_BUSY) {
            return give_up(GAVE_UP, "ucp_worker_arm", status);
        }
        *idle = 0;
    }
    return 1;
}

/* Gives the peer `mine` and gets as much from it; 0 when one of both gives up. */
static int swap(const void *mine, void *theirs, size_t length)
{
    char packet[4096];
    unsigned idle = 0;

    CHECK(length <= sizeof(packet));
    send(me.fd, mine, length, MSG_NOSIGNAL);
    me.swaps = 1;
    while (peer_said() <= 0) {
        if (!step(&idle)) {
            return 0;
        }
    }
    me.swaps = 0;
    CHECK_EQ(recv(me.fd, packet, sizeof(packet), 0), length);
    memcpy(theirs, packet, length);
    return 1;
}

static void keep(ucs_status_ptr_t request, int receives)
{
    if (UCS_PTR_IS_ERR(request)) {
        me.refused = (me.refused == UCS_OK) ? UCS_PTR_STATUS(request) : me.refused;
    } else if (request != NULL) {
        CHECK(me.num_requests < REQUESTS);
        me.receives[me.num_requests] = receives;
        me.requests[me.num_requests++] = request;
    }
}

static unsigned pending(void)
{
    unsigned i, count = 0;

    for (i = 0; i < me.num_requests; ++i) {
        count += ucp_request_check_status(me.requests[i]) == UCS_INPROGRESS;
    }
    return count;
}

/* All requests end well; 0 when not. */
static int wait_all(const char *at)
{
    unsigned i, idle = 0;
    ucs_status_t status;

    snprintf(me.report->at, sizeof(me.report->at), "%s", at);
    if (me.refused != UCS_OK) {
        return give_up(GAVE_UP, at, me.refused);
    }
    while (pending()) {
        if (!step(&idle)) {
            return 0;
        }
    }
    for (i = 0; i < me.num_requests; ++i) {
        status = ucp_request_check_status(me.requests[i]);
        if (status != UCS_OK) {
            return give_up(GAVE_UP, at, status);
        }
    }
    while (me.num_requests) {
        ucp_request_free(me.requests[--me.num_requests]);
    }
    return 1;
}

static void asked(ucp_conn_request_h request, void *arg)
{
    if (me.asked == NULL) {
        me.asked = request;
    } else {
        ucp_listener_reject(me.listener, request);
    }
}

static ucs_status_t on_am(void *arg, const void *header, size_t header_length, void *data, size_t length,
                          const ucp_am_recv_param_t *param)
{
    ucp_request_param_t plain = {.op_attr_mask = 0};

    CHECK_EQ(header_length, sizeof(uint64_t));
    CHECK_EQ(length, *(const uint64_t *)header);
    if (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) {
        keep(ucp_am_recv_data_nbx(me.worker, data, me.am_in, length, &plain), 0);
        CHECK_EQ(length, am_sizes[AMS - 1]);
    } else {
        CHECK_PATTERN(data, length, SEED);
        if (length == am_sizes[AMS - 1]) {
            memcpy(me.am_in, data, length);
        }
    }
    me.ams++;
    return UCS_OK;
}

static int open_worker(void)
{
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                           .features = ALL_FEATURES | UCP_FEATURE_AM | UCP_FEATURE_STREAM | UCP_FEATURE_WAKEUP};
    ucp_worker_params_t worker_params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                         .thread_mode = UCS_THREAD_MODE_SINGLE};
    ucp_am_handler_param_t handler = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB,
                                      .id = AM_ID,
                                      .cb = on_am};

    TRY(ucp_init(&params, NULL, &me.context));
    TRY(ucp_worker_create(me.context, &worker_params, &me.worker));
    TRY(ucp_worker_set_am_recv_handler(me.worker, &handler));
    TRY(ucp_worker_get_efd(me.worker, &me.events));
    TRY(ucp_worker_get_address(me.worker, &me.address, &me.address_length));
    return 1;
}

static int connect_by_address(void)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                                            UCP_EP_PARAM_FIELD_ERR_HANDLER,
                              .err_mode = UCP_ERR_HANDLING_MODE_PEER,
                              .err_handler = {.cb = failure_note, .arg = &me.failure}};
    char mine[2048] = "", theirs[2048];

    CHECK(me.address_length <= sizeof(mine));
    memcpy(mine, me.address, me.address_length);
    if (!swap(mine, theirs, sizeof(mine))) {
        return 0;
    }
    params.address = (const ucp_address_t *)theirs;
    TRY(ucp_ep_create(me.worker, &params, &me.ep));
    return 1;
}

static int connect_by_listener(void)
{
    struct sockaddr_storage at = loopback(AF_INET, 0), there;
    ucp_listener_params_t params = {.field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR | UCP_LISTENER_PARAM_FIELD_CONN_HANDLER,
                                    .sockaddr = {(const struct sockaddr *)&at, sizeof(struct sockaddr_in)},
                                    .conn_handler = {.cb = asked}};
    ucp_listener_attr_t attr = {.field_mask = UCP_LISTENER_ATTR_FIELD_SOCKADDR};
    ucp_ep_params_t ep = {.field_mask = UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER,
                          .err_mode = UCP_ERR_HANDLING_MODE_PEER,
                          .err_handler = {.cb = failure_note, .arg = &me.failure}};
    unsigned idle = 0;

    if (me.me == 0) {
        TRY(ucp_listener_create(me.worker, &params, &me.listener));
        TRY(ucp_listener_query(me.listener, &attr));
        at = attr.sockaddr;
    }
    if (!swap(&at, &there, sizeof(at))) {
        return 0;
    }
    if (me.me == 0) {
        while (me.asked == NULL) {
            if (!step(&idle)) {
                return 0;
            }
        }
        ep.field_mask |= UCP_EP_PARAM_FIELD_CONN_REQUEST;
        ep.conn_request = me.asked; /* used up, also when the call fails */
        me.asked = NULL;
    } else {
        ep.field_mask |= UCP_EP_PARAM_FIELD_FLAGS | UCP_EP_PARAM_FIELD_SOCK_ADDR;
        ep.flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER;
        ep.sockaddr.addr = (const struct sockaddr *)&there;
        ep.sockaddr.addrlen = sizeof(struct sockaddr_in);
    }
    TRY(ucp_ep_create(me.worker, &ep, &me.ep));
    return 1;
}


/* Sends one of each, receives one of each. */
static int talk(void)
{
    ucp_request_param_t plain = {.op_attr_mask = 0};
    ucp_request_param_t whole = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_STREAM_RECV_FLAG_WAITALL};
    static uint64_t headers[AMS];
    unsigned idle = 0;
    int i;

    for (i = 0; i < TAGS; ++i) {
        keep(ucp_tag_recv_nbx(me.worker, me.tag_in[i], tag_sizes[i], i, -1, &plain), 1);
    }
    for (i = 0; i < TAGS; ++i) {
        keep(ucp_tag_send_nbx(me.ep, me.out, tag_sizes[i], i, &plain), 0);
    }
    keep(ucp_stream_recv_nbx(me.ep, me.stream_in, STREAM, &me.stream_length, &whole), 1);
    keep(ucp_stream_send_nbx(me.ep, me.out, STREAM, &plain), 0);
    for (i = 0; i < AMS; ++i) {
        headers[i] = am_sizes[i];
        keep(ucp_am_send_nbx(me.ep, AM_ID, &headers[i], sizeof(headers[i]), me.out, am_sizes[i], &plain), 0);
    }
    while (me.ams < AMS) {
        if (!step(&idle)) {
            return 0;
        }
    }
    if (!wait_all("messages")) {
        return 0;
    }
    for (i = 0; i < TAGS; ++i) {
        CHECK_PATTERN(me.tag_in[i], tag_sizes[i], SEED);
    }
    CHECK_PATTERN(me.stream_in, STREAM, SEED);
    CHECK_PATTERN(me.am_in, am_sizes[AMS - 1], SEED);
    return 1;
}

typedef struct {
    uint64_t remote;
    size_t key_length;
    char key[1024];
} card_t;

/* Adds to the peer's first word, writes a half of its memory and reads the other. */
static int touch(void)
{
    ucp_request_param_t plain = {.op_attr_mask = 0};
    ucp_request_param_t add = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER,
                               .datatype = ucp_dt_make_contig(8),
                               .reply_buffer = &me.fetched};
    ucp_mem_map_params_t map = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                .address = me.region,
                                .length = REGION};
    enum { HALF = REGION / 2 };
    uint64_t one = 1;
    card_t mine = {.remote = (uintptr_t)me.region}, theirs;
    void *key;
    char nothing;

    memset(me.region, 0, 8);
    fill(me.region + HALF, HALF, SEED);
    TRY(ucp_mem_map(me.context, &map, &me.memh));
    TRY(ucp_rkey_pack(me.context, me.memh, &key, &mine.key_length));
    CHECK(mine.key_length <= sizeof(mine.key));
    memcpy(mine.key, key, mine.key_length);
    ucp_rkey_buffer_release(key);
    if (!swap(&mine, &theirs, sizeof(mine))) {
        return 0;
    }
    TRY(ucp_ep_rkey_unpack(me.ep, theirs.key, &me.rkey));
    keep(ucp_put_nbx(me.ep, me.out, HALF - 8, theirs.remote + 8, me.rkey, &plain), 0);
    keep(ucp_get_nbx(me.ep, me.get_in, HALF, theirs.remote + HALF, me.rkey, &plain), 0);
    keep(ucp_atomic_op_nbx(me.ep, UCP_ATOMIC_OP_ADD, &one, 1, theirs.remote, me.rkey, &add), 0);
    if (!wait_all("accesses")) {
        return 0;
    }
    keep(ucp_ep_flush_nbx(me.ep, &plain), 0);
    if (!wait_all("flush") || !swap("", &nothing, 1)) {
        return 0;
    }
    CHECK_PATTERN(me.get_in, HALF, SEED);
    CHECK_PATTERN(me.region + 8, HALF - 8, SEED);
    CHECK_EQ(*(uint64_t *)me.region, 1);
    CHECK_EQ(me.fetched, 0);
    return 1;
}

/* Everything that is there goes, however far it came; every request ends. */
static void leave(void)
{
    ucp_request_param_t close = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                 .flags = (me.report->outcome == RUNNING) ? 0 : UCP_EP_CLOSE_FLAG_FORCE};
    unsigned i;

    snprintf(me.report->at, sizeof(me.report->at), "%s", "the end");
    for (i = 0; i < me.num_requests; ++i) {
        if (me.receives[i]) {
            ucp_request_cancel(me.worker, me.requests[i]);
        }
    }
    if (me.ep != NULL) {
        keep(ucp_ep_close_nbx(me.ep, &close), 0);
    } else if (me.asked != NULL) {
        ucp_listener_reject(me.listener, me.asked);
    }
    while (pending()) {
        ucp_worker_progress(me.worker);
    }
    while (me.num_requests) {
        ucp_request_free(me.requests[--me.num_requests]);
    }
    if (me.rkey != NULL) {
        ucp_rkey_destroy(me.rkey);
    }
    if (me.memh != NULL) {
        ucp_mem_unmap(me.context, me.memh);
    }
    if (me.listener != NULL) {
        ucp_listener_destroy(me.listener);
    }
    if (me.address != NULL) {
        ucp_worker_release_address(me.worker, me.address);
    }
    if (me.worker != NULL) {
        ucp_worker_destroy(me.worker);
    }
    if (me.context != NULL) {
        ucp_cleanup(me.context);
    }
}

static void party(const mix_t *mix, int which, int fd, report_t both[2], const fault_t *wanted)
{
    report_t *report = &both[which];
    int i, before;

    me.me = which;
    me.fd = fd;
    me.listens = mix->listens;
    me.report = report;
    me.peer = &both[!which];
    me.events = -1;
    setenv("UCX_TLS", mix->tls, 1);
    me.region = malloc(REGION);
    me.out = malloc(tag_sizes[TAGS - 1]);
    fill(me.out, tag_sizes[TAGS - 1], SEED);
    for (i = 0; i < TAGS; ++i) {
        me.tag_in[i] = malloc(tag_sizes[i]);
    }
    me.am_in = malloc(am_sizes[AMS - 1]);
    me.stream_in = malloc(STREAM);
    me.get_in = malloc(REGION);
    before = open_descriptors();
    fault_arm(wanted, &report->record);
    if (open_worker() && (me.listens ? connect_by_listener() : connect_by_address()) && talk()) {
        touch();
    }
    leave();
    fault_disarm();
    /* A thread that was told to end closes what it has. */
    for (i = 0; (i < 1000) && ((report->descriptors = open_descriptors() - before) != 0); ++i) {
        poll(NULL, 0, 1);
    }
    if (report->outcome == RUNNING) {
        report->outcome = COMPLETE;
    }
    fflush(NULL);
    _exit(0);
}

static report_t *reports; /* of both sides, in shared memory */
static unsigned bad, runs, struck, noticed;

/* With TORTURE_UPSTREAM only what can end in any library: over tcp, which needs no more for error handling, and an error
 * may be told at any time. */
static int lenient;

static const char *said(const report_t *report)
{
    static char text[2][160];
    static unsigned turn;
    char *at = text[turn++ % 2];

    snprintf(at, sizeof(text[0]), "%s in %s%s%s",
             report->outcome == COMPLETE ? "complete" : report->outcome == GAVE_UP ? "error" :
             report->outcome == PEER_GAVE_UP ? "left by its peer" : "no end", report->at,
             report->outcome == GAVE_UP ? ": " : "", report->outcome == GAVE_UP ? ucs_status_string(report->status) : "");
    return at;
}

static void judge(const mix_t *mix, const kind_t *kind, int side, unsigned n, const int statuses[2], int hung)
{
    const char *wrong = NULL;
    int i;

    struck += reports[side].record.struck > 0;
    for (i = 0; i < 2; ++i) {
        noticed += (reports[i].outcome == GAVE_UP);
        if (hung) {
            wrong = "no end";
        } else if (statuses[i] != 0) {
            wrong = WIFSIGNALED(statuses[i]) ? "killed by a signal" : "wrong";
        } else if (reports[i].descriptors != 0) {
            wrong = "descriptors left";
        } else if (!lenient && (reports[i].outcome != COMPLETE) && (!kind || kind->unseen || !reports[side].record.struck)) {
            wrong = "noticed";
        }
    }
    if (wrong != NULL) {
        bad++;
        fprintf(stderr, "TORTURE_FAULT=\"%s %s %d %s %u\": %s; struck %u times; side 0: %s, status 0x%x, descriptors %+d; side 1: %s, "
                "status 0x%x, descriptors %+d\n", mix->tls, mix->listens ? "listener" : "address", side, kind ? kind->name : "none:0",
                n, wrong, reports[side].record.struck, said(&reports[0]), statuses[0], reports[0].descriptors, said(&reports[1]),
                statuses[1], reports[1].descriptors);
    }
}

/* One pair of processes; how often the fault struck. */
static unsigned run(const mix_t *mix, const kind_t *kind, int side, unsigned n)
{
    fault_t none = {.call = FAULT_NUM_CALLS}, wanted = none;
    int fds[2], alive[2], statuses[2] = {0, 0}, i, hung;
    struct pollfd over = {.events = POLLIN};
    pid_t pids[2];
    char byte;

    if (kind != NULL) {
        wanted = (fault_t){kind->call, kind->error, kind->number, n, kind->count == ALWAYS ? UINT32_MAX : kind->count};
    }
    memset(reports, 0, 2 * sizeof(*reports));
    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) == 0);
    CHECK(pipe(alive) == 0);
    fflush(NULL);
    for (i = 0; i < 2; ++i) {
        pids[i] = fork();
        CHECK(pids[i] >= 0);
        if (pids[i] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            close(fds[!i]);
            party(mix, i, fds[i], reports, (i == side) ? &wanted : &none);
        }
    }
    close(fds[0]);
    close(fds[1]);
    close(alive[1]);
    over.fd = alive[0];
    hung = poll(&over, 1, HANG * 1000) == 0;
    CHECK(hung || (read(alive[0], &byte, 1) == 0));
    close(alive[0]);
    for (i = 0; hung && (i < 2); ++i) {
        kill(pids[i], getenv("TORTURE_STAY") ? SIGSTOP : SIGKILL);
    }
    if (hung && getenv("TORTURE_STAY")) {
        fprintf(stderr, "no end: processes %d and %d\n", pids[0], pids[1]);
        pause();
    }
    for (i = 0; i < 2; ++i) {
        CHECK(waitpid(pids[i], &statuses[i], 0) == pids[i]);
    }
    judge(mix, kind, side, n, statuses, hung);
    runs++;
    return reports[side].record.struck;
}

/* How often each call is made without a fault, on each side. */
static unsigned census[NUM_MIXES][2][FAULT_NUM_CALLS];

static void count_calls(void)
{
    int i, side, call;

    for (i = 0; i < NUM_MIXES; ++i) {
        if (lenient && strcmp(mixes[i].tls, "tcp")) {
            continue;
        }
        run(&mixes[i], NULL, 0, 1);
        for (side = 0; side < 2; ++side) {
            for (call = 0; call < FAULT_NUM_CALLS; ++call) {
                census[i][side][call] = reports[side].record.seen[call];
            }
        }
    }
}

typedef struct {
    unsigned char mix, side, kind;
    unsigned n;
} place_t;

/* Runs `count` of the faults that there are, drawn by the seed, or all of them. */
static void some(uint64_t count)
{
    static place_t places[1 << 16], swapped;
    unsigned total = 0, i, side, k, n, most;

    for (i = 0; i < NUM_MIXES; ++i) {
        for (side = 0; side < 2; ++side) {
            for (k = 0; k < NUM_KINDS; ++k) {
                most = census[i][side][kinds[k].call];
                most = (kinds[k].count == ALWAYS) ? !!most : most;
                /* Hot calls are many, and not all of them differ. */
                for (n = 1; n <= most; n += 1 + (n > 30) * n / 4) {
                    CHECK(total < sizeof(places) / sizeof(*places));
                    places[total++] = (place_t){i, side, k, n};
                }
            }
        }
    }
    for (i = 0; (i < total) && (i < count); ++i) {
        n = i + number() % (total - i);
        swapped = places[n];
        places[n] = places[i];
        run(&mixes[swapped.mix], &kinds[swapped.kind], swapped.side, swapped.n);
    }
}

/* What went wrong once. */
static const char *const former[] = {
    "tcp address 0 sendmsg:ECONNRESET 2",   "tcp listener 1 eventfd:EMFILE 2",
    "tcp listener 1 pthread_create:EAGAIN 1", "tcp listener 0 epoll_ctl:ENOSPC 11",
    "posix address 1 ftruncate:EINTR 1",    "posix address 1 sendto:EINTR 10",
    "posix address 0 epoll_ctl:ENOSPC 3",   "posix,cma address 1 process_vm_writev:EPERM 1",
    "sysv address 0 write:EINTR 2",         "tcp listener 0 recv:ECONNRESET 4",
};

static void the_one(const char *words)
{
    char tls[32], how[16], name[48];
    unsigned i, k, side, n;

    CHECK(sscanf(words, "%31s %15s %u %47s %u", tls, how, &side, name, &n) == 5);
    for (i = 0; (i < NUM_MIXES) && (strcmp(mixes[i].tls, tls) || (mixes[i].listens != !strcmp(how, "listener"))); ++i) {
    }
    for (k = 0; (k < NUM_KINDS) && strcmp(kinds[k].name, name); ++k) {
    }
    CHECK((i < NUM_MIXES) && (side < 2));
    CHECK((k < NUM_KINDS) || !strcmp(name, "none:0"));
    run(&mixes[i], (k < NUM_KINDS) ? &kinds[k] : NULL, side, n);
}

int main(void)
{
    uint64_t count = torture_count(150);
    int i;

    torture_seed(1);
    lenient = getenv("TORTURE_UPSTREAM") != NULL;
    reports = mmap(NULL, 2 * sizeof(*reports), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(reports != MAP_FAILED);
    if (getenv("TORTURE_FAULT")) {
        the_one(getenv("TORTURE_FAULT"));
        fprintf(stderr, "side 0: %s; side 1: %s; struck %u\n", said(&reports[0]), said(&reports[1]), struck);
    } else {
        for (i = 0; !lenient && (i < (int)(sizeof(former) / sizeof(*former))); ++i) {
            the_one(former[i]);
        }
        count_calls();
        CHECK_EQ(bad, 0);
        some(count);
    }
    if (bad) {
        fprintf(stderr, "in %u of %u runs a process crashed, hung, kept descriptors or told of what need not be told\n", bad, runs);
        return 1;
    }
    FIGURE("%u runs, a system call failed in %u; %u told of an error, nobody crashed, hung or got wrong data", runs, struck, noticed);
    return 0;
}
