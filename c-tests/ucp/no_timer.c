/* Nothing needs a timer to finish: in two processes that make progress only when the event descriptor or ucp_worker_wait() says
 * so, every kind of operation ends at both sides, in every size, and endpoints close, while no timer of the library fires and
 * none of its threads wakes up by itself. */
/* env: UCX_LOG_LEVEL=error UCX_WARN_UNUSED_ENV_VARS=n UCX_NET_DEVICES=lo */
/* timeout: 300 */
/* valgrind: no, it stands between the library and the calls that are replaced here */
#define _GNU_SOURCE
#include <ucp/api/ucp.h>

#include "bytes.h"
#include "peers.h"

#include <dlfcn.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>

enum { MOST = 4 << 20, DATA = 1, AM_ID = 5, PATIENCE_MS = 20000, FAR_S = 100000 };

typedef enum { TAG, SYNC, AM, STREAM, PUT, GET, FETCH_ADD, WORKER_FLUSH, KINDS } kind_t;
static const char *const kind_names[] = {"tag", "tag_sync", "am", "stream", "put", "get", "fetch_add", "flush"};
static const size_t sizes[] = {0, 8, 4000, 20000, 100000, 1 << 20, MOST};
static const ucp_request_param_t plain;

static side_t side;
static ucp_ep_h ep;
static int event_fd, waits;
static char *memory, *target; /* what is sent; what is received, and exported */
static ucp_mem_h region;
static ucp_rkey_h key;
static uint64_t remote;
static size_t am_length;
static int am_done;
static ucs_status_ptr_t am_fetch;
static char doing[100];

/* These precede libc's for every library of the program: a timer that is set is due far in the future, and a thread that sleeps
 * for a while sleeps until it is woken. */
int timerfd_settime(int fd, int flags, const struct itimerspec *to, struct itimerspec *old)
{
    static int (*real)(int, int, const struct itimerspec *, struct itimerspec *);
    struct itimerspec late = *to;

    if (real == NULL) {
        real = (int (*)(int, int, const struct itimerspec *, struct itimerspec *))dlsym(RTLD_NEXT, "timerfd_settime");
    }
    if ((late.it_value.tv_sec != 0) || (late.it_value.tv_nsec != 0)) {
        late.it_value.tv_sec += FAR_S;
    }
    return real(fd, flags, &late, old);
}

long syscall(long number, ...)
{
    static long (*real)(long, ...);
    long arg[6];
    va_list args;
    int i;

    if (real == NULL) {
        real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    }
    va_start(args, number);
    for (i = 0; i < 6; ++i) {
        arg[i] = va_arg(args, long);
    }
    va_end(args);
    if (number == SYS_futex) {
        int operation = arg[1] & 0x7f;

        if ((operation == 0) || (operation == 9)) { /* FUTEX_WAIT, FUTEX_WAIT_BITSET */
            arg[3] = 0;
        }
    }
    return real(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}

static ucs_status_t on_am(void *arg, const void *header, size_t header_length, void *data, size_t length,
                          const ucp_am_recv_param_t *param)
{
    am_length = length;
    if (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) {
        am_fetch = ucp_am_recv_data_nbx(side.worker, data, target, length, &plain);
        CHECK(!UCS_PTR_IS_ERR(am_fetch));
        am_done = (am_fetch == NULL);
        return UCS_INPROGRESS;
    }
    memcpy(target, data, length);
    am_done = 1;
    return UCS_OK;
}

/* Makes progress until there is none to make, and then sleeps until there is some: or until the socket has something, where one
 * is given. */
static void step(int socket)
{
    struct pollfd fds[2] = {{.fd = event_fd, .events = POLLIN}, {.fd = socket, .events = POLLIN}};
    ucs_status_t status;

    if (ucp_worker_progress(side.worker)) {
        return;
    }
    if (waits && (socket < 0)) {
        alarm(PATIENCE_MS / 1000);
        CHECK_OK(ucp_worker_wait(side.worker));
        alarm(0);
        return;
    }
    status = ucp_worker_arm(side.worker);
    if (status == UCS_OK) {
        if (poll(fds, 2, PATIENCE_MS) <= 0) {
            FAIL("%s: nothing woke it", doing);
        }
    } else {
        CHECK_EQ(status, UCS_ERR_BUSY);
    }
}

static void finish(ucs_status_ptr_t request)
{
    CHECK(!UCS_PTR_IS_ERR(request));
    if (request == NULL) {
        return;
    }
    while (ucp_request_check_status(request) == UCS_INPROGRESS) {
        step(-1);
    }
    CHECK_OK(ucp_request_check_status(request));
    ucp_request_free(request);
}

/* The other process has posted its part, or ended it: it is waited for as anything else is. */
static void wait_for(const pair_t *pair)
{
    char byte;

    while (!pair_ready(pair)) {
        step(pair->fd);
    }
    pair_recv(pair, &byte, 1);
}

static void tell(const pair_t *pair)
{
    char byte = 0;

    pair_send(pair, &byte, 1);
}

static ucs_status_ptr_t initiate(kind_t kind, size_t size)
{
    static uint64_t one = 1, old;
    ucp_request_param_t fetch = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER,
                                 .datatype = ucp_dt_make_contig(8), .reply_buffer = &old};

    switch (kind) {
    case TAG:
        return ucp_tag_send_nbx(ep, memory, size, DATA, &plain);
    case SYNC:
        return ucp_tag_send_sync_nbx(ep, memory, size, DATA, &plain);
    case AM:
        return ucp_am_send_nbx(ep, AM_ID, NULL, 0, memory, size, &plain);
    case STREAM:
        return ucp_stream_send_nbx(ep, memory, size, &plain);
    case GET:
        return ucp_get_nbx(ep, memory, size, remote, key, &plain);
    case FETCH_ADD:
        return ucp_atomic_op_nbx(ep, UCP_ATOMIC_OP_ADD, &one, 1, remote, key, &fetch);
    default:
        return ucp_put_nbx(ep, memory, size, remote, key, &plain);
    }
}

static void finish_initiator(kind_t kind, ucs_status_ptr_t request)
{
    if (kind == WORKER_FLUSH) {
        finish(ucp_worker_flush_nbx(side.worker, &plain));
    }
    finish(request);
    if (kind == PUT) {
        finish(ucp_ep_flush_nbx(ep, &plain));
    }
}

/* What the target does for one operation: receives what there is to receive. */
static ucs_status_ptr_t take_part(kind_t kind, size_t size)
{
    static const ucp_request_param_t whole = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                              .flags = UCP_STREAM_RECV_FLAG_WAITALL};
    static size_t length;

    if ((kind == TAG) || (kind == SYNC)) {
        return ucp_tag_recv_nbx(side.worker, target, size, DATA, UINT64_MAX, &plain);
    } else if ((kind == STREAM) && (size > 0)) {
        return ucp_stream_recv_nbx(ep, target, size, &length, &whole);
    }
    return NULL;
}

static void finish_target(kind_t kind, size_t size, ucs_status_ptr_t request)
{
    finish(request);
    if (kind == AM) {
        while (!am_done && (am_fetch == NULL)) {
            step(-1);
        }
        finish(am_fetch);
        CHECK_EQ(am_length, size);
        am_fetch = NULL;
        am_done = 0;
    }
}

static void open_side(void)
{
    static const ucp_am_handler_param_t am = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB,
                                              .id = AM_ID, .cb = on_am};
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                   .length = MOST};

    memory = aligned_alloc(4096, MOST);
    target = aligned_alloc(4096, MOST);
    CHECK((memory != NULL) && (target != NULL));
    memset(memory, 1, MOST);
    memset(target, 2, MOST);
    params.address = target;
    side_open(&side, UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_STREAM | UCP_FEATURE_RMA | UCP_FEATURE_AMO64 |
              UCP_FEATURE_WAKEUP, UCS_THREAD_MODE_SINGLE);
    CHECK_OK(ucp_worker_set_am_recv_handler(side.worker, &am));
    CHECK_OK(ucp_worker_get_efd(side.worker, &event_fd));
    CHECK_OK(ucp_mem_map(side.context, &params, &region));
}

static void close_side(void)
{
    CHECK_OK(ucp_mem_unmap(side.context, region));
    side_close(&side);
    free(memory);
    free(target);
}

static void open_key(const pair_t *pair)
{
    size_t length;
    void *mine, *theirs;

    CHECK_OK(ucp_rkey_pack(side.context, region, &mine, &length));
    if (pair == NULL) {
        CHECK_OK(ucp_ep_rkey_unpack(ep, mine, &key));
        remote = (uintptr_t)target;
    } else {
        pair_send_blob(pair, mine, length);
        theirs = pair_recv_blob(pair);
        CHECK_OK(ucp_ep_rkey_unpack(ep, theirs, &key));
        free(theirs);
        pair_exchange(pair, &target, &remote, sizeof(remote));
    }
    ucp_rkey_buffer_release(mine);
}

/* One operation between the two processes; `late` posts its part when the other has. */
static void run_once(const pair_t *pair, kind_t kind, size_t size, int late)
{
    int child = pair_is_child(pair);
    ucs_status_ptr_t request;

    if (late) {
        wait_for(pair);
    }
    request = child ? take_part(kind, size) : initiate(kind, size);
    if (!late) {
        tell(pair);
    }
    if (child) {
        finish_target(kind, size, request);
    } else {
        finish_initiator(kind, request);
    }
    tell(pair);
    wait_for(pair);
}

/* The same of a worker with itself. */
static void run_once_alone(kind_t kind, size_t size, int late)
{
    ucs_status_ptr_t receive = NULL, request;

    if (!late) {
        receive = take_part(kind, size);
    }
    request = initiate(kind, size);
    if (late) {
        receive = take_part(kind, size);
    }
    finish_target(kind, size, receive);
    finish_initiator(kind, request);
}

static void run_kinds(const pair_t *pair, const char *tls)
{
    unsigned kind, at, way;

    for (kind = 0; kind < KINDS; ++kind) {
        for (at = 0; at < sizeof(sizes) / sizeof(sizes[0]); ++at) {
            /* An atomic has one size. */
            for (way = 0; (way < 4) && ((kind != FETCH_ADD) || (at == 1)); ++way) {
                waits = way & 1;
                snprintf(doing, sizeof(doing), "%s: %s of %zu bytes%s%s", tls, kind_names[kind], sizes[at],
                         waits ? ", by wait" : "", (way & 2) ? ", target late" : "");
                if (pair == NULL) {
                    run_once_alone(kind, sizes[at], way & 2);
                } else {
                    run_once(pair, kind, sizes[at], pair_is_child(pair) == !!(way & 2));
                }
            }
        }
    }
    snprintf(doing, sizeof(doing), "%s: close", tls);
    ucp_rkey_destroy(key);
    finish(ucp_ep_close_nbx(ep, &plain));
}

static void run(const char *tls)
{
    char theirs[ADDRESS_ROOM];
    pair_t pair;

    setenv("UCX_TLS", tls, 1);
    pair = pair_start();
    open_side();
    side_swap_addresses(&side, &pair, theirs);
    ep = side_connect(&side, theirs);
    open_key(&pair);
    run_kinds(&pair, tls);
    tell(&pair);
    wait_for(&pair);
    close_side();
    if (!pair_is_child(&pair)) {
        OK("%s", tls);
    }
    pair_finish(&pair);
}

static void run_alone(const char *tls)
{
    setenv("UCX_TLS", tls, 1);
    open_side();
    ep = side_connect(&side, side.address);
    open_key(NULL);
    run_kinds(NULL, tls);
    close_side();
    OK("%s, alone", tls);
}

int main(void)
{
    run("posix");
    run("sysv");
    run("posix,cma");
    run("tcp");
    run("all");
    run_alone("self");
    run_alone("posix");
    run_alone("tcp");
    return 0;
}
