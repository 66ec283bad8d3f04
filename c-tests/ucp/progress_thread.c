/* UCX_PROGRESS_THREAD: a target that makes no call of UCX is accessed and receives, one that polls now and then is answered
 * always, and one that sleeps on its events is woken. */
/* headers: ours */
/* env: UCX_LOG_LEVEL=warn UCX_WARN_UNUSED_ENV_VARS=n UCX_PROGRESS_THREAD=y */
/* timeout: 120 */
#include <ucp/api/ucp.h>

#include "bytes.h"
#include "peers.h"

#include <poll.h>
#include <sched.h>

enum { LENGTH = 1 << 20, MESSAGE = 4 << 20, ADDS = 100, ACCESSES = 1000, SLEEPS = 200, RKEY_ROOM = 1024 };
enum { INITIATOR = 1, TARGET = 2 };

typedef struct {
    pair_t pair;
    side_t side;
    ucp_ep_h ep;
    ucp_mem_h memh;
    uint64_t *memory; /* the target's */
    uint64_t remote;
    ucp_rkey_h rkey; /* the initiator's */
} peers_t;

static const ucp_request_param_t plain;

/* The child is the target; its memory is known to the initiator afterwards. */
static void begin(peers_t *peers)
{
    char theirs[ADDRESS_ROOM], key[RKEY_ROOM] = "";

    peers->pair = pair_start();
    side_open(&peers->side, ALL_FEATURES | UCP_FEATURE_WAKEUP, UCS_THREAD_MODE_SINGLE);
    side_swap_addresses(&peers->side, &peers->pair, theirs);
    peers->ep = side_connect(&peers->side, theirs);
    if (pair_is_child(&peers->pair)) {
        ucp_mem_map_params_t params = {
            .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
            .address = calloc(1, LENGTH),
            .length = LENGTH,
        };
        size_t size;
        void *packed;

        peers->memory = params.address;
        CHECK_OK(ucp_mem_map(peers->side.context, &params, &peers->memh));
        CHECK_OK(ucp_rkey_pack(peers->side.context, peers->memh, &packed, &size));
        CHECK(size <= sizeof(key));
        memcpy(key, packed, size);
        ucp_rkey_buffer_release(packed);
        peers->remote = (uintptr_t)params.address;
        pair_send(&peers->pair, key, sizeof(key));
        pair_send(&peers->pair, &peers->remote, sizeof(peers->remote));
    } else {
        pair_recv(&peers->pair, key, sizeof(key));
        pair_recv(&peers->pair, &peers->remote, sizeof(peers->remote));
        CHECK_OK(ucp_ep_rkey_unpack(peers->ep, key, &peers->rkey));
    }
}

static void end(peers_t *peers, const char *what, const char *tls)
{
    ucp_worker_h worker = peers->side.worker;

    pair_barrier(&peers->pair);
    request_finish(worker, ucp_ep_close_nbx(peers->ep, &plain));
    side_meet(&peers->side, &peers->pair);
    if (pair_is_child(&peers->pair)) {
        CHECK_OK(ucp_mem_unmap(peers->side.context, peers->memh));
        free(peers->memory);
    } else {
        ucp_rkey_destroy(peers->rkey);
    }
    side_close(&peers->side);
    pair_finish(&peers->pair);
    OK("%s, UCX_TLS=%s", what, tls);
}

static void add_one(peers_t *peers, uint64_t before)
{
    const uint64_t one = 1;
    uint64_t old = UINT64_MAX;
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER,
        .datatype = ucp_dt_make_contig(sizeof(one)),
        .reply_buffer = &old,
    };

    request_finish(peers->side.worker,
                   ucp_atomic_op_nbx(peers->ep, UCP_ATOMIC_OP_ADD, &one, 1, peers->remote, peers->rkey, &param));
    CHECK_EQ(old, before);
}

/* The target waits for a byte of the test's socket and nothing else. */
static void absent_target(const char *tls)
{
    static char out[MESSAGE], in[MESSAGE];
    peers_t peers = {0};
    ucp_worker_h worker;

    begin(&peers);
    worker = peers.side.worker;
    if (pair_is_child(&peers.pair)) {
        ucs_status_ptr_t request = ucp_tag_recv_nbx(worker, in, MESSAGE, TARGET, UINT64_MAX, &plain);
        char byte;

        CHECK(UCS_PTR_IS_PTR(request));
        pair_send(&peers.pair, "", 1);
        pair_recv(&peers.pair, &byte, 1);
        /* The sender may have its answer a moment before the thread has completed the request. */
        for (double end = now() + 60; ucp_request_check_status(request) == UCS_INPROGRESS && now() < end;) {
            sched_yield();
        }
        CHECK_EQ(ucp_request_check_status(request), UCS_OK);
        CHECK_PATTERN(in, MESSAGE, 7);
        ucp_request_free(request);
        CHECK_EQ(peers.memory[0], ADDS);
    } else {
        char byte;
        uint64_t i, zero = 0;

        pair_recv(&peers.pair, &byte, 1);
        fill(out, LENGTH, 3);
        request_finish(worker, ucp_put_nbx(peers.ep, out, LENGTH, peers.remote, peers.rkey, &plain));
        request_finish(worker, ucp_ep_flush_nbx(peers.ep, &plain));
        request_finish(worker, ucp_get_nbx(peers.ep, in, LENGTH, peers.remote, peers.rkey, &plain));
        CHECK_PATTERN(in, LENGTH, 3);
        request_finish(worker, ucp_put_nbx(peers.ep, &zero, sizeof(zero), peers.remote, peers.rkey, &plain));
        for (i = 0; i < ADDS; ++i) {
            add_one(&peers, i);
        }
        fill(out, MESSAGE, 7);
        request_finish(worker, ucp_tag_send_nbx(peers.ep, out, MESSAGE, TARGET, &plain));
        request_finish(worker, ucp_ep_flush_nbx(peers.ep, &plain));
        pair_send(&peers.pair, "", 1);
    }
    end(&peers, "a target without calls", tls);
}

/* The target polls and computes by turns: neither of the changes loses an event. */
static void target_by_turns(const char *tls)
{
    peers_t peers = {0};

    begin(&peers);
    if (pair_is_child(&peers.pair)) {
        unsigned seed = 1;

        while (!pair_ready(&peers.pair)) {
            double until = now() + (rand_r(&seed) % 300) * 1e-6;

            while (now() < until) {
                ucp_worker_progress(peers.side.worker);
            }
            until = now() + (rand_r(&seed) % 3000) * 1e-6;
            while (now() < until) {
            }
        }
        CHECK_EQ(peers.memory[0], ACCESSES);
    } else {
        uint64_t i;

        for (i = 0; i < ACCESSES; ++i) {
            add_one(&peers, i);
        }
        pair_send(&peers.pair, "", 1);
    }
    if (pair_is_child(&peers.pair)) {
        char byte;
        pair_recv(&peers.pair, &byte, 1);
    }
    end(&peers, "a target that polls by turns", tls);
}

/* The completion may be the thread's work; the program that sleeps for it is woken. */
static void sleep_until_done(ucp_worker_h worker, ucs_status_ptr_t request, int by_wait)
{
    int fd;

    if (!UCS_PTR_IS_PTR(request)) {
        CHECK_OK(UCS_PTR_STATUS(request));
        return;
    }
    CHECK_OK(ucp_worker_get_efd(worker, &fd));
    while (ucp_request_check_status(request) == UCS_INPROGRESS) {
        ucs_status_t armed;

        if (by_wait) {
            CHECK_OK(ucp_worker_wait(worker));
        } else if ((armed = ucp_worker_arm(worker)) == UCS_OK) {
            struct pollfd entry = {.fd = fd, .events = POLLIN};

            /* Done between the look at the request and the call that armed. */
            if (ucp_request_check_status(request) != UCS_INPROGRESS) {
                break;
            }
            CHECK_EQ(poll(&entry, 1, 60000), 1);
        } else {
            CHECK_EQ(armed, UCS_ERR_BUSY);
        }
        while (ucp_worker_progress(worker)) {
        }
    }
    CHECK_OK(ucp_request_check_status(request));
    ucp_request_free(request);
}

static void target_that_sleeps(const char *tls, int by_wait)
{
    peers_t peers = {0};
    ucp_worker_h worker;
    uint64_t i, got;

    begin(&peers);
    worker = peers.side.worker;
    for (i = 0; i < SLEEPS; ++i) {
        if (pair_is_child(&peers.pair)) {
            sleep_until_done(worker, ucp_tag_recv_nbx(worker, &got, sizeof(got), TARGET, UINT64_MAX, &plain), by_wait);
            CHECK_EQ(got, i);
            request_finish(worker, ucp_tag_send_nbx(peers.ep, &got, sizeof(got), INITIATOR, &plain));
        } else {
            request_finish(worker, ucp_tag_send_nbx(peers.ep, &i, sizeof(i), TARGET, &plain));
            request_finish(worker, ucp_tag_recv_nbx(worker, &got, sizeof(got), INITIATOR, UINT64_MAX, &plain));
            CHECK_EQ(got, i);
        }
    }
    end(&peers, by_wait ? "a target in ucp_worker_wait" : "a target that sleeps on the descriptor", tls);
}

/* What the program would sleep for is done by the thread just before it sleeps: it does not. */
static void target_that_sleeps_late(const char *tls)
{
    peers_t peers = {0};
    ucp_worker_h worker;
    uint64_t got = 0, sent = 5;

    begin(&peers);
    worker = peers.side.worker;
    for (int by_wait = 0; by_wait < 2; ++by_wait) {
        char byte;

        if (pair_is_child(&peers.pair)) {
            ucs_status_ptr_t request = ucp_tag_recv_nbx(worker, &got, sizeof(got), TARGET, UINT64_MAX, &plain);

            CHECK(UCS_PTR_IS_PTR(request));
            pair_send(&peers.pair, "", 1);
            for (double end = now() + 60; ucp_request_check_status(request) == UCS_INPROGRESS && now() < end;) {
                sched_yield();
            }
            CHECK_EQ(by_wait ? ucp_worker_wait(worker) : ucp_worker_arm(worker), by_wait ? UCS_OK : UCS_ERR_BUSY);
            CHECK_OK(ucp_request_check_status(request));
            ucp_request_free(request);
            CHECK_EQ(got, sent);
        } else {
            pair_recv(&peers.pair, &byte, 1);
            request_finish(worker, ucp_tag_send_nbx(peers.ep, &sent, sizeof(sent), TARGET, &plain));
        }
    }
    end(&peers, "a target that sleeps too late", tls);
}

int main(void)
{
    static const char *const transports[] = {"tcp", "posix", "all"};
    size_t i;

    for (i = 0; i < sizeof(transports) / sizeof(transports[0]); ++i) {
        setenv("UCX_TLS", transports[i], 1);
        absent_target(transports[i]);
        target_by_turns(transports[i]);
        target_that_sleeps(transports[i], 0);
        target_that_sleeps(transports[i], 1);
        target_that_sleeps_late(transports[i]);
    }
    return 0;
}
