/* Live connections with garbage to a worker's tcp port and to its listener: recordings of honest traffic that were
 * changed frame by frame, cut, spliced and repeated, and plain noise. The worker lives, its memory does not grow, no byte
 * around what it exported or posted changes, and an endpoint to another process goes on meanwhile.
 *
 * Four processes: the target; one that talks to it honestly and is recorded (its own send and connect stand before
 * the C library's); one whose messages are echoed all the time; and the attacker, which is the parent. */
/* cflags: -rdynamic -Wl,--no-as-needed -ldl */
/* env: UCX_TLS=tcp UCX_NET_DEVICES=lo UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n UCX_KEEPALIVE_INTERVAL=inf */
#define _GNU_SOURCE
#include "canary.h"
#include "listener.h"
#include "peers.h"
#include "torture.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/uio.h>

enum {
    STREAMS = 8, MOST = 1 << 19, OPEN = 32, FRAMES = 4096, PAGE = CANARY, POSTED = 16, ROOM = 32768, ECHO = 9, HEARD = 10,
    FEATURES = ALL_FEATURES | UCP_FEATURE_AM | UCP_FEATURE_STREAM, GROWTH_KB = 16 << 10, WARM = 2000
};

typedef struct {
    uint16_t port;
    uint32_t length;
    unsigned char bytes[MOST];
} stream_t;

typedef struct {
    char address[512], honest[512], rkey[512];
    uint64_t remote, cookie;
    uint16_t port;
    volatile int ready, recorded, honest_ready, measure, measured, stop;
    volatile long resident[2];
    volatile uint64_t echoes, longest_us;
    unsigned count;
    stream_t streams[STREAMS];
} shared_t;

static shared_t *shared;
static int recording;
static int stream_of[1024];

static void note(int fd, const void *bytes, ssize_t length)
{
    stream_t *stream;

    if (!recording || (length <= 0) || (fd < 0) || (fd >= 1024) || !stream_of[fd]) {
        return;
    }
    stream = &shared->streams[stream_of[fd] - 1];
    if (stream->length + length <= MOST) {
        memcpy(stream->bytes + stream->length, bytes, length);
        stream->length += length;
    }
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int connect(int fd, const struct sockaddr *to, socklen_t length)
{
    if (recording && (fd < 1024) && (to->sa_family == AF_INET) && (shared->count < STREAMS)) {
        shared->streams[shared->count].port = ntohs(((const struct sockaddr_in *)to)->sin_port);
        stream_of[fd] = ++shared->count;
    }
    return REAL(connect)(fd, to, length);
}

ssize_t send(int fd, const void *bytes, size_t length, int flags)
{
    ssize_t sent = REAL(send)(fd, bytes, length, flags);

    note(fd, bytes, sent);
    return sent;
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    ssize_t sent = REAL(sendmsg)(fd, message, flags), left = sent;
    size_t i;

    for (i = 0; (left > 0) && (i < message->msg_iovlen); ++i) {
        ssize_t part = message->msg_iov[i].iov_len < left ? message->msg_iov[i].iov_len : left;
        note(fd, message->msg_iov[i].iov_base, part);
        left -= part;
    }
    return sent;
}

/* ---- The target ---- */

static ucp_ep_h gone[4096];
static unsigned gone_count;
static ucp_listener_h listener;
static ucp_conn_request_h asked[256];
static unsigned asked_count;
static ucp_ep_h to_honest;
static uint64_t echo;
static volatile unsigned char sum;

static void on_failure(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    if (gone_count < sizeof(gone) / sizeof(gone[0])) {
        gone[gone_count++] = ep;
    }
}

static void on_request(ucp_conn_request_h request, void *arg)
{
    if (asked_count < sizeof(asked) / sizeof(asked[0])) {
        asked[asked_count++] = request;
    } else {
        ucp_listener_reject(listener, request);
    }
}

static void touch(const void *data, size_t length)
{
    size_t i;

    for (i = 0; i < length; ++i) {
        sum += ((const unsigned char *)data)[i];
    }
}

static ucs_status_t on_any(void *arg, const void *header, size_t header_length, void *data, size_t length,
                           const ucp_am_recv_param_t *param)
{
    touch(header, header_length);
    if (!(param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV)) {
        touch(data, length);
    }
    return UCS_OK;
}

/* Who knows the cookie is the honest process: nothing that was recorded holds it. */
static ucs_status_t on_echo(void *arg, const void *header, size_t header_length, void *data, size_t length,
                            const ucp_am_recv_param_t *param)
{
    uint64_t words[2];

    if ((length == sizeof(words)) && !(param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV)) {
        memcpy(words, data, length);
        if (words[0] == shared->cookie) {
            echo = words[1];
        }
    }
    return UCS_OK;
}

static void handle(side_t *side, unsigned id, ucp_am_recv_callback_t cb)
{
    ucp_am_handler_param_t param = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB,
                                    .id = id,
                                    .cb = cb};

    CHECK_OK(ucp_worker_set_am_recv_handler(side->worker, &param));
}

/* Sends what it has to, in whatever pieces; requests end by themselves. */
static void say(ucp_ep_h ep, unsigned id, uint64_t number)
{
    static const ucp_request_param_t plain;
    static uint64_t words[64][2];
    static unsigned next;
    uint64_t *at = words[next++ % 64];

    at[0] = shared->cookie;
    at[1] = number;
    drop(ucp_am_send_nbx(ep, id, NULL, 0, at, sizeof(words[0]), &plain));
}

typedef struct {
    unsigned char *map;
    ucs_status_ptr_t request;
} posted_t;

static void accept_or_not(side_t *side, ucp_conn_request_h request)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_CONN_REQUEST | UCP_EP_PARAM_FIELD_ERR_HANDLER |
                                            UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE,
                              .conn_request = request,
                              .err_mode = UCP_ERR_HANDLING_MODE_PEER,
                              .err_handler = {.cb = on_failure}};
    ucp_ep_h ep;

    if (rand() % 4 == 0) {
        ucp_listener_reject(listener, request);
    } else {
        ucp_ep_create(side->worker, &params, &ep);
    }
}

/* Takes what no receive has matched, so that it does not pile up. */
static void drain(side_t *side)
{
    static const ucp_request_param_t plain;
    static unsigned char *sink;
    ucp_tag_recv_info_t info;
    ucp_tag_message_h message;

    sink = sink ? sink : with_canaries(ROOM);
    while ((message = ucp_tag_probe_nb(side->worker, 0, 0, 1, &info)) != NULL) {
        drop(ucp_tag_msg_recv_nbx(side->worker, sink + CANARY, ROOM, message, &plain));
    }
}

static void target(void)
{
    static const ucp_request_param_t plain;
    ucp_request_param_t force = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_EP_CLOSE_FLAG_FORCE};
    unsigned char *exported = with_canaries(PAGE);
    ucp_mem_map_params_t map = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                .address = exported + PAGE,
                                .length = PAGE};
    struct sockaddr_storage at;
    posted_t posted[POSTED];
    uint64_t answered = 0;
    ucp_mem_h memh;
    size_t length;
    side_t side;
    void *key;
    unsigned i;

    side_open(&side, FEATURES, UCS_THREAD_MODE_SINGLE);
    for (i = 0; i < 64; ++i) {
        handle(&side, i, i == ECHO ? on_echo : on_any);
    }
    CHECK_OK(ucp_mem_map(side.context, &map, &memh));
    CHECK_OK(ucp_rkey_pack(side.context, memh, &key, &length));
    CHECK((length <= sizeof(shared->rkey)) && (side.address_length <= sizeof(shared->address)));
    memcpy(shared->rkey, key, length);
    memcpy(shared->address, side.address, side.address_length);
    shared->remote = (uintptr_t)exported + PAGE;
    ucp_rkey_buffer_release(key);
    listener = listen_at(&side, AF_INET, on_request, &at);
    shared->port = port_of(&at);
    for (i = 0; i < POSTED; ++i) {
        posted[i].map = with_canaries(ROOM);
        posted[i].request = NULL;
    }
    shared->ready = 1;
    while (!shared->stop) {
        for (i = 0; i < 32; ++i) {
            ucp_worker_progress(side.worker);
        }
        for (i = 0; i < POSTED; ++i) {
            if (has_ended(posted[i].request)) {
                drop(posted[i].request);
                posted[i].request = ucp_tag_recv_nbx(side.worker, posted[i].map + PAGE, ROOM, 0, 0, &plain);
            }
        }
        drain(&side);
        while (asked_count > 0) {
            accept_or_not(&side, asked[--asked_count]);
        }
        while (gone_count > 0) {
            drop(ucp_ep_close_nbx(gone[--gone_count], &force));
        }
        if (!to_honest && shared->honest_ready) {
            to_honest = side_connect(&side, shared->honest);
        }
        if (echo != answered) {
            answered = echo;
            say(to_honest, HEARD, answered);
        }
        if (shared->measure != shared->measured) {
            for (i = 0; i < POSTED; ++i) {
                check_canaries(posted[i].map, ROOM);
            }
            check_canaries(exported, PAGE);
            shared->resident[shared->measure - 1] = resident_kb();
            shared->measured = shared->measure;
        }
    }
    ucp_listener_destroy(listener);
    CHECK_OK(ucp_mem_unmap(side.context, memh));
    side_close(&side);
    exit(0);
}

/* ---- The one who is recorded ---- */

static void recorded(void)
{
    static char data[1 << 17];
    static const ucp_request_param_t plain;
    ucp_request_param_t copies = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER,
                                  .datatype = ucp_dt_make_contig(8)};
    struct sockaddr_storage at = loopback(AF_INET, shared->port);
    uint64_t one = 1, old = 0;
    failure_t failures[2];
    ucp_rkey_h rkey;
    ucp_ep_h eps[2];
    side_t side;
    int way, i;

    recording = 1;
    side_open(&side, FEATURES, UCS_THREAD_MODE_SINGLE);
    eps[0] = connect_watched(&side, shared->address, &failures[0]);
    eps[1] = connect_client(&side, &at, 0, &failures[1]);
    copies.reply_buffer = &old;
    for (way = 0; way < 2; ++way) {
        CHECK_OK(ucp_ep_rkey_unpack(eps[way], shared->rkey, &rkey));
        for (i = 0; i < 2; ++i) {
            side_wait(&side, &side, ucp_tag_send_nbx(eps[way], data, 100 + i * 9000, i, &plain));
            side_wait(&side, &side, ucp_tag_send_sync_nbx(eps[way], data, 10 + i * 9000, i, &plain));
            drop(ucp_am_send_nbx(eps[way], 1 + i, data, 16, data, 64 + i * 20000, &plain));
            drop(ucp_stream_send_nbx(eps[way], data, 200, &plain));
            side_wait(&side, &side, ucp_put_nbx(eps[way], data, 64 + i * 2000, shared->remote, rkey, &plain));
            side_wait(&side, &side, ucp_get_nbx(eps[way], data, 64 + i * 2000, shared->remote, rkey, &plain));
            side_wait(&side, &side, ucp_atomic_op_nbx(eps[way], UCP_ATOMIC_OP_ADD, &one, 1, shared->remote, rkey, &copies));
            side_wait(&side, &side, ucp_ep_flush_nbx(eps[way], &plain));
        }
        side_wait(&side, &side, ucp_tag_send_nbx(eps[way], data, sizeof(data), 3, &plain)); /* rendezvous; truncated */
        drop(ucp_am_send_nbx(eps[way], 3, NULL, 0, data, sizeof(data), &plain));
        ucp_rkey_destroy(rkey);
    }
    side_disconnect(&side, &side, eps[1], 0);
    side_disconnect(&side, &side, eps[0], UCP_EP_CLOSE_FLAG_FORCE);
    side_close(&side);
    shared->recorded = 1;
    exit(0);
}

/* ---- The honest one ---- */

static void honest(void)
{
    uint64_t number = 0;
    double from, took;
    side_t side;
    ucp_ep_h ep;

    side_open(&side, FEATURES, UCS_THREAD_MODE_SINGLE);
    handle(&side, HEARD, on_echo);
    memcpy(shared->honest, side.address, side.address_length);
    ep = side_connect(&side, shared->address);
    shared->honest_ready = 1;
    while (!shared->stop) {
        from = seconds();
        say(ep, ECHO, ++number);
        while ((echo != number) && !shared->stop) {
            ucp_worker_progress(side.worker);
            sched_yield();
        }
        took = (seconds() - from) * 1e6;
        shared->longest_us = took > shared->longest_us ? took : shared->longest_us;
        shared->echoes = number;
    }
    exit(0); /* the target may be gone */
}

/* ---- The attacker ---- */

/* Where the frames of a stream of ours begin; 0 when it does not consist of frames. */
static unsigned frames_of(const stream_t *stream, uint32_t *at)
{
    uint32_t where = 0, length;
    unsigned count = 0;

    while ((where + 8 <= stream->length) && (count < FRAMES)) {
        memcpy(&length, stream->bytes + where + 4, 4);
        at[count++] = where;
        if (length > MOST) {
            return 0;
        }
        where += 8 + length;
        if (stream->bytes[at[count - 1]] == 0x48) { /* a put's data follow it */
            memcpy(&length, stream->bytes + at[count - 1] + 8 + 16, 4);
            where += length;
        }
    }
    return (where == stream->length) ? count : 0;
}

static void damage(unsigned char *bytes, size_t length)
{
    static const uint64_t words[] = {0, 1, 7, 8, 4095, 4096, 65535, 1 << 20, 0x7fffffff, 0x80000000, 0xffffffff,
                                     1ull << 32, 1ull << 47, 1ull << 63, -1ull, -8ull};
    size_t at = number() % 4 ? number() % length : number() % (length < 48 ? length : 48);
    size_t most = length - at;
    uint64_t word = words[number() % (sizeof(words) / sizeof(words[0]))];
    size_t size = 1u << (number() % 4);

    switch (number() % 4) {
    case 0:
        bytes[at] ^= 1 << (number() % 8);
        break;
    case 1:
        bytes[at] = number();
        break;
    default:
        word = number() % 3 ? word : number();
        memcpy(bytes + at, &word, size < most ? size : most);
        break;
    }
}

/* A changed recording; its length. */
static size_t compose(unsigned char *out, const stream_t **from)
{
    static uint32_t at[FRAMES];
    const stream_t *stream = &shared->streams[number() % shared->count];
    size_t length = 0, i, changes = number() % 6;
    unsigned frames = frames_of(stream, at), frame, left;

    *from = stream;
    if (number() % 10 == 0) { /* noise */
        length = 1 + number() % 400;
        for (i = 0; i < length; ++i) {
            out[i] = number();
        }
        return length;
    }
    if ((frames < 2) || (number() % 8 == 0)) { /* bytes, cut somewhere */
        length = number() % 3 ? stream->length : 1 + number() % stream->length;
        length = length < 70000 ? length : 70000;
        memcpy(out, stream->bytes, length);
        for (i = 0; i < changes; ++i) {
            damage(out, length);
        }
        return length;
    }
    /* The greeting, of another interface, and some of the frames, changed behind their heads, which mostly stay right. */
    memcpy(out, stream->bytes, at[1]);
    length = at[1];
    if (length >= 24) {
        uint64_t who = 1 + number() % 64;
        memcpy(out + 16, &who, 8);
    }
    for (left = 1 + number() % 12; left > 0; --left) {
        do { /* most are pieces of long messages */
            frame = 1 + number() % (frames - 1);
        } while ((stream->bytes[at[frame]] == 5) && (number() % 8));
        i = ((frame + 1 < frames) ? at[frame + 1] : stream->length) - at[frame];
        if (length + i > 200000) {
            break;
        }
        memcpy(out + length, stream->bytes + at[frame], i);
        for (changes = number() % 5; (changes > 0) && (i > 8); --changes) {
            damage(out + length + 8, i - 8);
        }
        if (number() % 32 == 0) {
            damage(out + length, i);
        }
        length += i;
    }
    return number() % 6 ? length : length - number() % length;
}

/* From any address of this host: so many connections use up the ports of one. */
static int call(uint16_t port)
{
    struct sockaddr_storage to = loopback(AF_INET, port);
    struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000002 + number() % 0x00fffff0)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK(fd >= 0);
    CHECK(bind(fd, (struct sockaddr *)&from, sizeof(from)) == 0);
    if (connect(fd, (struct sockaddr *)&to, sizeof(struct sockaddr_in))) {
        FAIL("connect: %s", strerror(errno));
    }
    return fd;
}

static void check_alive(pid_t pid, const char *who, uint64_t connections)
{
    int status;

    if (waitpid(pid, &status, WNOHANG) == pid) {
        FAIL("the %s died with wait status 0x%x after %" PRIu64 " connections", who, status, connections);
    }
}

static long measured(pid_t pid, int which)
{
    shared->measure = which;
    while (shared->measured != which) {
        check_alive(pid, "target", 0);
        sched_yield();
    }
    return shared->resident[which - 1];
}

int main(void)
{
    static unsigned char bytes[MOST * 2];
    uint64_t count = torture_count(2000), i, echoes;
    int fds[OPEN], status;
    long warm = 0, last;
    pid_t pids[3];
    double from;

    torture_seed(1);
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    shared->cookie = number();
    memset(fds, -1, sizeof(fds));
    pids[0] = role_start(target);
    while (!shared->ready) {
        check_alive(pids[0], "target", 0);
    }
    pids[1] = role_start(recorded);
    CHECK(waitpid(pids[1], &status, 0) == pids[1]);
    CHECK(shared->recorded && (shared->count >= 2));
    pids[1] = role_start(honest);
    from = seconds();
    while (shared->echoes < 10) {
        check_alive(pids[0], "target", 0);
        check_alive(pids[1], "honest process", 0);
        CHECK(seconds() - from < 30);
    }
    for (i = 0; i < count; ++i) {
        const stream_t *stream;
        size_t length = compose(bytes, &stream), sent = 0;
        int *fd = &fds[i % OPEN], tries;

        if (*fd >= 0) {
            close(*fd);
        }
        *fd = call(stream->port);
        for (tries = 0; (sent < length) && (tries < 20); ++tries) {
            struct pollfd room = {.fd = *fd, .events = POLLOUT};
            size_t part = number() % 4 ? length - sent : 1 + number() % (length - sent);
            ssize_t n = send(*fd, bytes + sent, part, MSG_NOSIGNAL | MSG_DONTWAIT);

            if ((n < 0) && (errno != EAGAIN)) {
                break; /* it was found out already */
            }
            sent += n > 0 ? n : 0;
            if (sent < length) {
                poll(&room, 1, 1);
            }
        }
        check_alive(pids[0], "target", i);
        check_alive(pids[1], "honest process", i);
        if (i == count / 4 || i == WARM) {
            warm = measured(pids[0], 1);
            shared->measured = shared->measure = 0;
        }
    }
    for (i = 0; i < OPEN; ++i) {
        close(fds[i]);
    }
    last = measured(pids[0], 2);
    /* After it all, the honest one still gets answers. */
    echoes = shared->echoes;
    from = seconds();
    while (shared->echoes < echoes + 10) {
        check_alive(pids[0], "target", count);
        if (seconds() - from > 30) {
            FAIL("no echo any more, after %" PRIu64, echoes);
        }
    }
    if (last > warm + GROWTH_KB) {
        FAIL("%ld KB in memory, after the first connections %ld", last, warm);
    }
    shared->stop = 1;
    from = seconds();
    while (waitpid(pids[0], &status, WNOHANG) != pids[0]) {
        if (seconds() - from > 60) {
            kill(pids[0], SIGABRT);
            FAIL("the target does not end");
        }
    }
    CHECK_EQ(status, 0);
    CHECK(waitpid(pids[1], &status, 0) == pids[1]);
    FIGURE("%" PRIu64 " connections, nothing else written, memory %+ld KB; meanwhile %" PRIu64
           " honest round trips, the longest %.1f ms",
           count, last - warm, echoes, shared->longest_us / 1e3);
    return 0;
}
