/* A process that talks with another forks again and again, and goes on talking: the child ends, runs another program,
 * starts a library of its own and talks with itself, or touches everything its parent made. What it touches answers an error,
 * returns at once, and is not felt by the parent. TORTURE_COUNT sets how often it forks, over the transports in turn. */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n */
#include <ucp/api/ucp.h>

#include "failure.h"
#include "peers.h"
#include "torture.h"

#include <poll.h>
#include <signal.h>

enum { LARGE = 200000, LIMIT_S = 10, FEATURES = ALL_FEATURES | UCP_FEATURE_AM | UCP_FEATURE_STREAM | UCP_FEATURE_WAKEUP };

typedef struct {
    side_t side;
    ucp_ep_h ep;
    ucp_mem_h memh;
    failure_t failure;
} party_t;

static const ucp_request_param_t plain;

/* Answers what it gets, until a message of one byte. */
static void echo(const pair_t *pair)
{
    static char buffer[LARGE], address[ADDRESS_ROOM];
    ucp_request_param_t info = {.op_attr_mask = UCP_OP_ATTR_FIELD_RECV_INFO};
    ucp_tag_recv_info_t got;
    failure_t failure;
    side_t side;
    ucp_ep_h ep;

    info.recv_info.tag_info = &got;
    side_open(&side, FEATURES, UCS_THREAD_MODE_SINGLE);
    side_swap_addresses(&side, pair, address);
    ep = connect_watched(&side, address, &failure);
    do {
        ucs_status_ptr_t request = ucp_tag_recv_nbx(side.worker, buffer, sizeof(buffer), 1, -1, &info);
        CHECK(!UCS_PTR_IS_ERR(request));
        if (request != NULL) {
            while (ucp_request_check_status(request) == UCS_INPROGRESS) {
                ucp_worker_progress(side.worker);
            }
            CHECK_OK(ucp_tag_recv_request_test(request, &got));
            ucp_request_free(request);
        }
        request_finish(side.worker, ucp_tag_send_nbx(ep, buffer, got.length, 2, &plain));
        CHECK_EQ(failure.calls, 0);
    } while (got.length > 1);
    side_disconnect(&side, &side, ep, 0);
    side_close(&side);
}

static void talk(party_t *me, size_t length, uint64_t seed)
{
    static char out[LARGE], in[LARGE];
    ucs_status_ptr_t received;

    fill(out, length, seed);
    received = ucp_tag_recv_nbx(me->side.worker, in, sizeof(in), 2, -1, &plain);
    request_finish(me->side.worker, ucp_tag_send_nbx(me->ep, out, length, 1, &plain));
    request_finish(me->side.worker, received);
    CHECK_PATTERN(in, length, seed);
    /* Behind the last one the peer goes. */
    CHECK((me->failure.calls == 0) || (length == 1));
}

/* The call gave an error, in a child. */
static void refused(ucs_status_ptr_t request)
{
    CHECK(UCS_PTR_IS_ERR(request));
}

/* In a child: all that its parent made. */
static void touch(party_t *parents)
{
    ucp_worker_h worker = parents->side.worker;
    ucp_ep_params_t ep_params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS, .address = parents->side.address};
    ucp_worker_params_t worker_params = {.field_mask = 0};
    ucp_mem_map_params_t map = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS,
                                .length = 4096,
                                .flags = UCP_MEM_MAP_ALLOCATE};
    ucp_request_param_t force = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_EP_CLOSE_FLAG_FORCE};
    static char buffer[LARGE];
    size_t length;
    ucp_mem_h memh;
    ucp_ep_h ep;
    int fd;

    CHECK_EQ(ucp_worker_progress(worker), 0);
    refused(ucp_tag_send_nbx(parents->ep, buffer, 8, 1, &plain));
    refused(ucp_tag_send_nbx(parents->ep, buffer, LARGE, 1, &plain));
    refused(ucp_tag_send_sync_nbx(parents->ep, buffer, 8, 1, &plain));
    refused(ucp_tag_recv_nbx(worker, buffer, LARGE, 2, -1, &plain));
    refused(ucp_am_send_nbx(parents->ep, 1, NULL, 0, buffer, 8, &plain));
    refused(ucp_stream_send_nbx(parents->ep, buffer, 8, &plain));
    refused(ucp_stream_recv_nbx(parents->ep, buffer, 8, &length, &plain));
    refused(ucp_ep_flush_nbx(parents->ep, &plain));
    refused(ucp_worker_flush_nbx(worker, &plain));
    CHECK(ucp_worker_fence(worker) != UCS_OK);
    CHECK(ucp_worker_arm(worker) != UCS_OK);
    CHECK(ucp_worker_get_efd(worker, &fd) != UCS_OK);
    CHECK(ucp_worker_signal(worker) != UCS_OK);
    CHECK(ucp_worker_wait(worker) != UCS_OK);
    CHECK(ucp_ep_create(worker, &ep_params, &ep) != UCS_OK);
    CHECK(ucp_worker_create(parents->side.context, &worker_params, &worker) != UCS_OK);
    CHECK(ucp_mem_map(parents->side.context, &map, &memh) != UCS_OK);
    CHECK(ucp_mem_unmap(parents->side.context, parents->memh) != UCS_OK);
    refused(ucp_ep_close_nbx(parents->ep, (getpid() % 2) ? &plain : &force));
    ucp_worker_destroy(parents->side.worker);
    ucp_cleanup(parents->side.context);
}

/* In a child: a library of its own. */
static void start_anew(void)
{
    char out[5000], in[5000];
    ucs_status_ptr_t received;
    side_t side;
    ucp_ep_h ep;

    side_open(&side, FEATURES, UCS_THREAD_MODE_SINGLE);
    ep = side_connect(&side, side.address);
    fill(out, sizeof(out), 5);
    received = ucp_tag_recv_nbx(side.worker, in, sizeof(in), 2, -1, &plain);
    request_finish(side.worker, ucp_tag_send_nbx(ep, out, sizeof(out), 2, &plain));
    request_finish(side.worker, received);
    CHECK_PATTERN(in, sizeof(in), 5);
    side_disconnect(&side, &side, ep, 0);
    side_close(&side);
}

static pid_t child_start(party_t *parents, unsigned way)
{
    pid_t pid;

    fflush(NULL);
    pid = fork();
    CHECK(pid >= 0);
    if (pid > 0) {
        return pid;
    }
    alarm(LIMIT_S);
    switch (way) {
    case 0:
        exit(0);
    case 1:
        execlp("true", "true", (char *)NULL);
        break;
    case 2:
        start_anew();
        exit(0);
    case 3:
        touch(parents);
        exit(0);
    case 4:
        touch(parents);
        start_anew();
        _exit(0);
    }
    _exit(1);
}

static void storm(const char *tls, uint64_t count, ucs_thread_mode_t mode)
{
    char address[ADDRESS_ROOM];
    ucp_mem_map_params_t map = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS,
                                .length = 4096,
                                .flags = UCP_MEM_MAP_ALLOCATE};
    int status, descriptors = 0;
    party_t me = {.ep = NULL};
    pair_t pair;
    uint64_t i;

    setenv("UCX_TLS", tls, 1);
    pair = pair_start();
    alarm(120 + count);
    if (pair_is_child(&pair)) {
        echo(&pair);
        pair_finish(&pair);
    }
    side_open(&me.side, FEATURES, mode);
    side_swap_addresses(&me.side, &pair, address);
    me.ep = connect_watched(&me.side, address, &me.failure);
    CHECK_OK(ucp_mem_map(me.side.context, &map, &me.memh));
    for (i = 0; i < count; ++i) {
        unsigned way = i % 5;
        pid_t child;

        talk(&me, (i % 2) ? LARGE : 100, i);
        child = child_start(&me, way);
        do {
            talk(&me, (i % 3) ? 64 : 30000, i);
        } while (waitpid(child, &status, WNOHANG) == 0);
        if (status != 0) {
            FAIL("%s: child %" PRIu64 ", way %u: wait status 0x%x", tls, i, way, status);
        }
        if (i == 4) {
            descriptors = open_descriptors();
        }
    }
    CHECK((count < 5) || (open_descriptors() == descriptors));
    talk(&me, 1, 0);
    CHECK_OK(ucp_mem_unmap(me.side.context, me.memh));
    side_disconnect(&me.side, &me.side, me.ep, 0);
    side_close(&me.side);
    pair_finish(&pair);
}

int main(void)
{
    static const char *const mixes[] = {"tcp", "posix", "posix,cma", "sysv", "all"};
    uint64_t count = torture_count(50), each = (count + 4) / 5;
    unsigned i;

    for (i = 0; i < 5; ++i) {
        storm(mixes[i], each, (i % 2) ? UCS_THREAD_MODE_MULTI : UCS_THREAD_MODE_SINGLE);
    }
    FIGURE("%" PRIu64 " forks, the parent undisturbed, every handle of its refused to the child", each * 5);
    return 0;
}
