/* A peer is killed at a random moment while operations are in flight, on each mix of transports. With error handling
 * every request of the survivor ends, the handler is called once, later calls return an error, and close, destroy and
 * cleanup return. Without error handling the same calls return. TORTURE_COUNT sets the number of deaths. Arguments are mixes
 * of transports in place of those. */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n */
/* timeout: 240 */
/* valgrind: no, the time of 150 pairs of processes under it */
#include <ucp/api/ucp.h>

#include "peers.h"
#include "torture.h"

#include <signal.h>

/* How many die, with error handling and without. */
#ifndef KILLS
#define KILLS        120
#define KILLS_ASIDE  16
#endif

enum { LARGE = 1 << 20, MANY = 64, AM = 3, FEATURES = ALL_FEATURES | UCP_FEATURE_AM | UCP_FEATURE_STREAM };

typedef struct {
    size_t address_length, rkey_length;
    uint64_t remote;
    char address[1024], rkey[1024];
} card_t;

static unsigned handler_calls;
static ucs_status_t handler_status;
static ucp_ep_h handler_ep;

static void failed(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    CHECK(arg == &handler_calls);
    handler_calls++;
    handler_status = status;
    handler_ep = ep;
}

static unsigned ended;

/* From each kill to the end of the last operation. */
static double *times;
static size_t kills;

static void sent(void *request, ucs_status_t status, void *arg)
{
    ++ended;
}

static void received(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info, void *arg)
{
    ++ended;
}

static ucp_ep_h connect_to(side_t *side, const card_t *peer, int errors)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                                            UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                                            UCP_EP_PARAM_FIELD_ERR_HANDLER,
                              .address = (const ucp_address_t *)peer->address,
                              .err_mode = errors ? UCP_ERR_HANDLING_MODE_PEER : UCP_ERR_HANDLING_MODE_NONE,
                              .err_handler = {.cb = failed, .arg = &handler_calls}};
    ucp_ep_h ep;

    CHECK_OK(ucp_ep_create(side->worker, &params, &ep));
    return ep;
}

/* What the victim and the survivor know of each other, and memory that the other may use. */
static ucp_mem_h exchange(side_t *side, const pair_t *pair, card_t *theirs, void *memory, size_t length)
{
    ucp_mem_map_params_t map = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                .address = memory,
                                .length = length};
    card_t mine = {.address_length = side->address_length, .remote = (uintptr_t)memory};
    void *rkey;
    ucp_mem_h memh;

    CHECK(side->address_length <= sizeof(mine.address));
    memcpy(mine.address, side->address, side->address_length);
    CHECK_OK(ucp_mem_map(side->context, &map, &memh));
    CHECK_OK(ucp_rkey_pack(side->context, memh, &rkey, &mine.rkey_length));
    CHECK(mine.rkey_length <= sizeof(mine.rkey));
    memcpy(mine.rkey, rkey, mine.rkey_length);
    ucp_rkey_buffer_release(rkey);
    pair_exchange(pair, &mine, theirs, sizeof(mine));
    return memh;
}

/* Connects back, leaves messages half sent and progresses until it is killed. */
static void victim(const pair_t *pair, unsigned round)
{
    ucp_request_param_t plain = {.op_attr_mask = 0};
    char *memory = calloc(1, LARGE), *in = malloc(LARGE);
    side_t side;
    card_t survivor;
    ucp_ep_h ep;

    side_open(&side, FEATURES, UCS_THREAD_MODE_SINGLE);
    exchange(&side, pair, &survivor, memory, LARGE);
    ep = connect_to(&side, &survivor, 1);
    if (round % 2) {
        ucp_tag_send_nbx(ep, memory, LARGE, 1000, &plain);
        ucp_tag_send_nbx(ep, memory, 30000, 1001, &plain);
    }
    if (round % 3) {
        ucp_tag_recv_nbx(side.worker, in, LARGE, 1, -1, &plain);
    }
    for (;;) {
        ucp_worker_progress(side.worker);
    }
}

static void check_gone(ucs_status_ptr_t request)
{
    CHECK(UCS_PTR_IS_ERR(request));
}

static void survivor(const pair_t *pair, unsigned round, int errors)
{
    ucp_request_param_t send = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK, .cb.send = sent};
    ucp_request_param_t recv = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK, .cb.recv = received};
    ucp_request_param_t amo = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_DATATYPE |
                                               UCP_OP_ATTR_FIELD_REPLY_BUFFER,
                               .cb.send = sent,
                               .datatype = ucp_dt_make_contig(8)};
    ucp_request_param_t force = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_EP_CLOSE_FLAG_FORCE};
    char *memory = calloc(1, LARGE), *in = malloc(LARGE), *own = calloc(1, LARGE);
    ucs_status_ptr_t requests[MANY * 8], r;
    uint64_t reply = 0, one = 1;
    unsigned count = 0, i, pending = 0, rounds = rand() % 400, closing = errors && (rand() % 5 == 0);
    ucp_rkey_h rkey;
    ucp_mem_h memh;
    side_t side;
    card_t peer;
    ucp_ep_h ep;
    double start;
    int status;

    handler_calls = ended = 0;
    side_open(&side, FEATURES, UCS_THREAD_MODE_SINGLE);
    memh = exchange(&side, pair, &peer, own, LARGE);
    ep = connect_to(&side, &peer, errors);
    CHECK_OK(ucp_ep_rkey_unpack(ep, peer.rkey, &rkey));
    amo.reply_buffer = &reply;
#define POST(call) \
    do { \
        r = (call); \
        if (UCS_PTR_IS_PTR(r)) { \
            requests[count++] = r; \
        } \
    } while (0)
    if (round % 2) {
        POST(ucp_tag_recv_nbx(side.worker, in, LARGE, 1000, -1, &recv));
    }
    for (i = 0; i < MANY; ++i) {
        switch (rand() % 9) {
        case 0:
            POST(ucp_tag_send_nbx(ep, memory, rand() % 9000, 5, &send));
            break;
        case 1:
            POST(ucp_tag_send_nbx(ep, memory, LARGE - rand() % 1000, 1, &send));
            break;
        case 2:
            POST(ucp_tag_send_sync_nbx(ep, memory, 1 + rand() % 9000, 5, &send));
            break;
        case 3:
            POST(ucp_put_nbx(ep, memory, 1 + rand() % LARGE, peer.remote, rkey, &send));
            break;
        case 4:
            POST(ucp_get_nbx(ep, memory, 1 + rand() % LARGE, peer.remote, rkey, &send));
            break;
        case 5:
            POST(ucp_atomic_op_nbx(ep, UCP_ATOMIC_OP_ADD, &one, 1, peer.remote, rkey, &amo));
            break;
        case 6:
            POST(ucp_ep_flush_nbx(ep, &send));
            break;
        case 7:
            POST(ucp_am_send_nbx(ep, AM, NULL, 0, memory, rand() % (rand() % 2 ? 9000 : LARGE), &send));
            break;
        case 8:
            POST(ucp_stream_send_nbx(ep, memory, 1 + rand() % (rand() % 2 ? 9000 : LARGE), &send));
            break;
        }
        if (rand() % 4 == 0) {
            ucp_worker_progress(side.worker);
        }
    }
    while (rounds--) {
        ucp_worker_progress(side.worker);
    }
    if (closing) {
        POST(ucp_ep_close_nbx(ep, &send));
    }
    CHECK(kill(pair->child, SIGKILL) == 0);
    start = now();
    if (errors) {
        while (!handler_calls && !closing) {
            ucp_worker_progress(side.worker);
            CHECK(now() - start < 20);
        }
        CHECK(closing || ((handler_ep == ep) && (handler_status < 0)));
        if (round % 2) {
            /* Posted, and perhaps not matched: then it waits for any sender. A matched one ends by itself. */
            ucp_request_cancel(side.worker, requests[0]);
        }
        for (i = 0; i < count; ++i) {
            while (ucp_request_check_status(requests[i]) == UCS_INPROGRESS) {
                ucp_worker_progress(side.worker);
                if (now() - start > 20) {
                    FAIL("round %u: request %u of %u does not end", round, i, count);
                }
            }
        }
        CHECK_EQ(ended, count);
        times[kills++] = now() - start;
    }
    if (errors && !closing) {
        check_gone(ucp_tag_send_nbx(ep, memory, 8, 5, &send));
        check_gone(ucp_tag_send_nbx(ep, memory, LARGE, 5, &send));
        check_gone(ucp_tag_send_sync_nbx(ep, memory, 8, 5, &send));
        check_gone(ucp_get_nbx(ep, memory, 8, peer.remote, rkey, &send));
        check_gone(ucp_put_nbx(ep, memory, 8, peer.remote, rkey, &send));
        for (i = 0; i < 200; ++i) {
            ucp_worker_progress(side.worker);
        }
        CHECK_EQ(handler_calls, 1);
    } else if (!errors) {
        for (i = 0; i < count; ++i) {
            pending += ucp_request_check_status(requests[i]) == UCS_INPROGRESS;
        }
    }
    ucp_rkey_destroy(rkey);
    if (errors && !closing) {
        CHECK_OK(side_wait(&side, &side, ucp_ep_close_nbx(ep, &force)));
    } else if (!errors && (round % 2)) {
        CHECK_STATUS(side_wait(&side, &side, ucp_ep_close_nbx(ep, &force)), UCS_ERR_INVALID_PARAM);
    }
    if (round % 4 < 2) {
        for (i = 0; i < count; ++i) {
            if (ucp_request_check_status(requests[i]) == UCS_INPROGRESS) {
                ucp_request_cancel(side.worker, requests[i]);
            }
            ucp_request_free(requests[i]);
        }
    }
    CHECK_OK(ucp_mem_unmap(side.context, memh));
    side_close(&side);
    if (!errors) {
        times[kills++] = now() - start;
    }
    CHECK(waitpid(pair->child, &status, 0) == pair->child);
    CHECK(WIFSIGNALED(status));
    close(pair->fd);
    free(memory);
    free(in);
    free(own);
}

/* Blocks of rounds over each mix; the process has its size after the first of each. */
static void run(int errors, uint64_t count, uint64_t seed, char **mixes, unsigned ways)
{
    const unsigned block = 4;
    long resident = 0;
    int descriptors = 0;
    uint64_t round;
    double longest = 0, most;

    if (count == 0) {
        return;
    }
    kills = 0;
    times = calloc(count, sizeof(*times));
    CHECK(times != NULL);
    for (round = 0; round < count; ++round) {
        const char *tls = mixes[round / block % ways];
        pair_t pair;

        if (round == 2 * block * ways) {
            resident = resident_kb();
            descriptors = open_descriptors();
        }
        setenv("UCX_TLS", tls, 1);
        pair = pair_start();
        if (pair_is_child(&pair)) {
            victim(&pair, round);
        }
        srand(seed * 1000003 + round * 7 + errors);
        survivor(&pair, round, errors);
    }
    most = p99(times, kills);
    longest = times[kills - 1];
    if (descriptors) {
        CHECK_EQ(open_descriptors(), descriptors);
        /* AddressSanitizer keeps what was freed; it looks for leaks itself. */
        if ((resident_kb() > resident + 4096) && (getenv("ASAN_OPTIONS") == NULL)) {
            FAIL("%ld KB in memory, after the first rounds %ld", resident_kb(), resident);
        }
    }
    OK("%s", errors ? "errors handled" : "no error handling");
    FIGURE("%" PRIu64 " kills, %s, 99 of 100 over in %.0f ms, all in %.0f ms", count,
           errors ? "every operation ended" : "closed, destroyed and cleaned up", most * 1e3, longest * 1e3);
    free(times);
}

int main(int argc, char **argv)
{
    static char *all[] = {"posix", "tcp", "posix,cma", "sysv", "sysv,cma", "all"};
    char **mixes = argc > 1 ? argv + 1 : all;
    unsigned ways = argc > 1 ? argc - 1 : sizeof(all) / sizeof(all[0]);
    uint64_t seed = torture_seed(1), with = KILLS ? torture_count(KILLS) : 0;
    uint64_t without = torture_count(KILLS_ASIDE);

    if (on_upstream()) {
        /* Its shared memory has error handling only when asked. */
        setenv("UCX_MM_ERROR_HANDLING", "y", 1);
    }
    if (with > 0) {
        run(1, with, seed, mixes, ways);
        without = with < KILLS_ASIDE ? with : KILLS_ASIDE;
    }
    run(0, without, seed, mixes, ways);
    return 0;
}
