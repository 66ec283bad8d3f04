/* Endpoints in mode FAILOVER between two processes in two network namespaces that two links join; `tests/rails` makes
 * them, and a link is taken down while messages of all kinds go.
 *
 *   failover NETNS HOW DEVICE [DEVICE]    HOW: explicit, implicit
 *
 * The child is in the namespace whose file is NETNS, and has the endpoint; the parent answers by an endpoint of its own
 * (explicit), or by the one that it is given with the messages (implicit), and takes down the first device after a third of
 * the rounds. Then every operation succeeds once. With a second device, both are down after two thirds: the error handler
 * is called once, and every operation ends. Prints the longest time of a round in milliseconds. */
#define _GNU_SOURCE
#include "failure.h"
#include "network.h"

enum { ROUNDS = 600, SMALL = 1000, LARGE = 100000, EVERY = 8, OWN_TAG = 1 << 20 };

static const ucp_request_param_t plain;
static side_t side;
static ucp_ep_h reply_ep;
static uint64_t handled;
static int last_link;

/* Of the child, in the parent's memory. */
typedef struct {
    uint64_t counter;
    uint64_t slots[ROUNDS];
} shared_t;

static ucs_status_t on_message(void *arg, const void *header, size_t header_length, void *data, size_t length,
                               const ucp_am_recv_param_t *param)
{
    uint64_t number;

    CHECK_EQ(header_length, sizeof(number));
    memcpy(&number, header, sizeof(number));
    CHECK_EQ(number, handled);
    CHECK_EQ(length, SMALL);
    CHECK_PATTERN(data, length, number);
    CHECK(param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP);
    reply_ep = param->reply_ep;
    ++handled;
    return UCS_OK;
}

/* The kernel is told; the link is down when this returns. */
static void take_down(const char *device)
{
    char command[100];

    snprintf(command, sizeof(command), "ip link set %s down", device);
    CHECK_EQ(system(command), 0);
}

static size_t large_or_small(uint64_t n)
{
    return (n % EVERY == 0) ? LARGE : SMALL;
}

/* The parent's part of a round: receives a tagged message and eight bytes of the stream, and answers. */
static void serve_round(uint64_t n, unsigned char *buffer)
{
    ucp_request_param_t wait_all = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_STREAM_RECV_FLAG_WAITALL};
    size_t length = large_or_small(n), got;
    uint64_t in;

    request_finish(side.worker, ucp_tag_recv_nbx(side.worker, buffer, length, n, UINT64_MAX, &plain));
    CHECK_PATTERN(buffer, length, n);
    WORKERS_UNTIL(side.worker, side.worker, handled > n);
    request_finish(side.worker, ucp_stream_recv_nbx(reply_ep, &in, sizeof(in), &got, &wait_all));
    CHECK_EQ(in, n);
    fill(buffer, length, n + 1);
    request_finish(side.worker, ucp_tag_send_nbx(reply_ep, buffer, length, OWN_TAG + n, &plain));
}

static void serve(const pair_t *pair, const shared_t *shared, const char *first, const char *second, failure_t *failure)
{
    unsigned char *buffer = malloc(LARGE);
    ucp_tag_recv_info_t info;
    uint64_t n;

    for (n = 0; n < ROUNDS; ++n) {
        if (n == ROUNDS / 3) {
            take_down(first);
        } else if ((n == ROUNDS / 3 * 2) && (second != NULL)) {
            take_down(second);
            break;
        }
        serve_round(n, buffer);
    }
    free(buffer);
    if (second != NULL) {
        side_meet(&side, pair);
        return;
    }
    side_meet(&side, pair);
    CHECK_EQ(shared->counter, ROUNDS);
    CHECK_EQ(handled, ROUNDS);
    for (n = 0; n < ROUNDS; ++n) {
        CHECK_EQ(shared->slots[n], n + 1);
    }
    CHECK(ucp_tag_probe_nb(side.worker, 0, 0, 0, &info) == NULL);
    CHECK_EQ(failure->calls, 0);
}

/* An operation of a round: it succeeds, or ends with an error when the last link is down. */
static int ends(ucs_status_ptr_t request)
{
    ucs_status_t status = request_wait(side.worker, side.worker, request);

    if (!last_link) {
        CHECK_OK(status);
    }
    return status == UCS_OK;
}

/* The child's part of a round. Returns false when an operation has failed. */
static int round_of(ucp_ep_h ep, uint64_t n, shared_t *remote, ucp_rkey_h rkey, unsigned char *out, unsigned char *in)
{
    ucp_request_param_t fetch = {.op_attr_mask = UCP_OP_ATTR_FIELD_REPLY_BUFFER | UCP_OP_ATTR_FIELD_DATATYPE,
                                 .datatype = ucp_dt_make_contig(8)};
    ucp_request_param_t am = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_AM_SEND_FLAG_REPLY};
    uint64_t one = 1, before = 0, slot = n + 1, read = 0;
    size_t length = large_or_small(n);
    ucs_status_ptr_t requests[6];
    int i, all = 1;

    fill(out, length, n);
    memset(in, 0, length);
    fetch.reply_buffer = &before;
    requests[0] = ucp_tag_recv_nbx(side.worker, in, length, OWN_TAG + n, UINT64_MAX, &plain);
    requests[1] = ucp_tag_send_nbx(ep, out, length, n, &plain);
    requests[2] = ucp_am_send_nbx(ep, 1, &n, sizeof(n), out, SMALL, &am);
    requests[3] = ucp_stream_send_nbx(ep, &n, sizeof(n), &plain);
    requests[4] = ucp_put_nbx(ep, &slot, sizeof(slot), (uintptr_t)&remote->slots[n], rkey, &plain);
    requests[5] = ucp_atomic_op_nbx(ep, UCP_ATOMIC_OP_ADD, &one, 1, (uintptr_t)&remote->counter, rkey, &fetch);
    for (i = 1; i < 6; ++i) {
        all &= ends(requests[i]);
    }
    all = all && ends(ucp_ep_flush_nbx(ep, &plain));
    if (!all) {
        if (UCS_PTR_IS_PTR(requests[0])) {
            ucp_request_cancel(side.worker, requests[0]);
        }
        ends(requests[0]);
        return 0;
    }
    CHECK_EQ(before, n);
    all = ends(ucp_get_nbx(ep, &read, sizeof(read), (uintptr_t)&remote->slots[n], rkey, &plain));
    if (!all || last_link) {
        if (UCS_PTR_IS_PTR(requests[0])) {
            ucp_request_cancel(side.worker, requests[0]);
        }
        ends(requests[0]);
        return all;
    }
    CHECK_EQ(read, slot);
    CHECK(ends(requests[0]));
    CHECK_PATTERN(in, length, n + 1);
    return 1;
}

static void run(const pair_t *pair, ucp_ep_h ep, shared_t *remote, ucp_rkey_h rkey, int both, failure_t *failure)
{
    unsigned char *out = malloc(LARGE), *in = malloc(LARGE);
    double longest = 0, start;
    uint64_t n;

    for (n = 0; n < ROUNDS; ++n) {
        /* The parent is done with a round before this side is. */
        last_link = both && (n + 1 >= ROUNDS / 3 * 2);
        start = now();
        if (!round_of(ep, n, remote, rkey, out, in)) {
            break;
        }
        if (now() - start > longest) {
            longest = now() - start;
        }
    }
    if (both) {
        CHECK(last_link);
        WORKERS_UNTIL(side.worker, side.worker, failure->calls > 0);
        CHECK(failure->ep == ep);
        CHECK(UCS_STATUS_IS_ERR(failure->status));
        CHECK(UCS_PTR_IS_ERR(ucp_tag_send_nbx(ep, out, 1, 1, &plain)));
    }
    printf("%.0f ms\n", longest * 1e3);
    side_meet(&side, pair);
    CHECK_EQ(failure->calls, both);
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    char theirs[ADDRESS_ROOM];
    failure_t failure = {.calls = 0};
    shared_t *shared = calloc(1, sizeof(*shared)), *remote;
    ucp_am_handler_param_t handler = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB,
        .id = 1,
        .cb = on_message,
    };
    ucp_ep_h ep = NULL;
    int explicit;
    pair_t pair;

    CHECK(argc == 4 || argc == 5);
    explicit = strcmp(argv[2], "explicit") == 0;
    pair = pair_start();
    if (pair_is_child(&pair)) {
        enter_network(argv[1]);
    }
    side_open(&side, ALL_FEATURES | UCP_FEATURE_AM | UCP_FEATURE_STREAM, UCS_THREAD_MODE_SINGLE);
    CHECK_OK(ucp_worker_set_am_recv_handler(side.worker, &handler));
    side_swap_addresses(&side, &pair, theirs);
    if (pair_is_child(&pair)) {
        void *blob = pair_recv_blob(&pair);
        ucp_rkey_h rkey;

        CHECK_OK(connect_in_mode(&side, theirs, UCP_ERR_HANDLING_MODE_FAILOVER, &failure, &ep));
        pair_recv(&pair, &remote, sizeof(remote));
        CHECK_OK(ucp_ep_rkey_unpack(ep, blob, &rkey));
        free(blob);
        run(&pair, ep, remote, rkey, argc == 5, &failure);
        ucp_rkey_destroy(rkey);
    } else {
        ucp_mem_map_params_t params = {
            .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
            .address = shared,
            .length = sizeof(*shared),
        };
        size_t length;
        ucp_mem_h memh;
        void *blob;

        if (explicit) {
            CHECK_OK(connect_in_mode(&side, theirs, UCP_ERR_HANDLING_MODE_FAILOVER, &failure, &ep));
        }
        CHECK_OK(ucp_mem_map(side.context, &params, &memh));
        CHECK_OK(ucp_rkey_pack(side.context, memh, &blob, &length));
        pair_send_blob(&pair, blob, length);
        pair_send(&pair, &shared, sizeof(shared));
        ucp_rkey_buffer_release(blob);
        serve(&pair, shared, argv[3], (argc == 5) ? argv[4] : NULL, &failure);
        CHECK_OK(ucp_mem_unmap(side.context, memh));
    }
    if (ep != NULL) {
        side_disconnect(&side, &side, ep, (argc == 5) ? UCP_EP_CLOSE_FLAG_FORCE : 0);
    }
    side_meet(&side, &pair);
    side_close(&side);
    free(shared);
    pair_finish(&pair);
    return 0;
}
