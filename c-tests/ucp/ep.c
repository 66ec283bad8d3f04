/* Endpoints: to the own worker, to a peer, from both sides at once, a thousand created and closed, flush, both modes
 * of close, replies after a close, query, modify, performance estimate, bad input. */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n */
/* timeout: 90 */
#include <ucp/api/ucp.h>

#include "guard.h"
#include "failure.h"

#include <stddef.h>

static side_t a, b;

static ucs_status_t wait_for(ucs_status_ptr_t request)
{
    return side_wait(&a, &b, request);
}

static void message(ucp_ep_h from, side_t *to, size_t length, int sync)
{
    ucp_request_param_t plain = {.op_attr_mask = 0};
    char *out = malloc(length + 1), *in = calloc(1, length + 1);
    ucs_status_ptr_t s, r;

    fill(out, length, 3);
    r = ucp_tag_recv_nbx(to->worker, in, length, 7, -1, &plain);
    s = sync ? ucp_tag_send_sync_nbx(from, out, length, 7, &plain) : ucp_tag_send_nbx(from, out, length, 7, &plain);
    CHECK_OK(wait_for(r));
    CHECK_OK(wait_for(s));
    CHECK_PATTERN(in, length, 3);
    free(in);
    free(out);
}

static void life(void)
{
    failure_t failure;
    ucp_request_param_t plain = {.op_attr_mask = 0};
    ucp_ep_h ab, ba, ab2, many[20];
    unsigned i;

    /* one side only: the other answers without an endpoint of its application */
    ab = side_connect(&a, b.address);
    message(ab, &b, 8, 0);
    message(ab, &b, 8, 1);
    message(ab, &b, 1 << 20, 0);
    /* both at once */
    ba = connect_watched(&b, a.address, &failure);
    message(ba, &a, 1 << 20, 1);
    message(ab, &b, 1 << 20, 1);
    CHECK_OK(wait_for(ucp_ep_flush_nbx(ab, &plain)));
    CHECK_OK(wait_for(ucp_worker_flush_nbx(b.worker, &plain)));
    /* one side closes; the other goes on sending, and gets its answers */
    CHECK_OK(side_disconnect(&a, &b, ab, 0));
    for (i = 0; i < 50; ++i) {
        ucp_worker_progress(a.worker);
        ucp_worker_progress(b.worker);
    }
    message(ba, &a, 100, 0);
    message(ba, &a, 100, 1);
    message(ba, &a, 1 << 20, 0);
    /* and comes back */
    ab2 = side_connect(&a, b.address);
    message(ab2, &b, 1 << 20, 1);
    message(ba, &a, 1 << 20, 1);
    CHECK_OK(side_disconnect(&b, &a, ba, UCP_EP_CLOSE_FLAG_FORCE));
    message(ab2, &b, 100, 1);
    CHECK_OK(side_disconnect(&a, &b, ab2, 0));
    /* old forms */
    ab = connect_watched(&a, b.address, &failure);
    CHECK_OK(wait_for(ucp_ep_flush_nb(ab, 0, NULL)));
    CHECK_OK(wait_for(ucp_ep_close_nb(ab, UCP_EP_CLOSE_MODE_FLUSH)));
    ab = connect_watched(&a, b.address, &failure);
    CHECK_OK(wait_for(ucp_ep_close_nb(ab, UCP_EP_CLOSE_MODE_FORCE)));
    ab = connect_watched(&a, b.address, &failure);
    CHECK_OK(wait_for(ucp_disconnect_nb(ab)));
    ab = connect_watched(&a, b.address, &failure);
    ucp_ep_destroy(ab);
    /* several to one peer, used in another order than made */
    for (i = 0; i < 20; ++i) {
        many[i] = connect_watched(&a, b.address, &failure);
    }
    for (i = 20; i-- > 0;) {
        message(many[i], &b, 1000 * i, 1);
    }
    for (i = 0; i < 20; ++i) {
        CHECK_OK(side_disconnect(&a, &b, many[i], (i % 2) ? UCP_EP_CLOSE_FLAG_FORCE : 0));
    }
    for (i = 0; i < 1000; ++i) {
        ab = connect_watched(&a, b.address, &failure);
        if (i % 10 == 0) {
            message(ab, &b, 100, i % 20 == 0);
        }
        CHECK_OK(side_disconnect(&a, &b, ab, (i % 3) ? UCP_EP_CLOSE_FLAG_FORCE : 0));
    }
}

/* A forced close ends what is pending. */
static unsigned ended;
static ucs_status_t how;

static void note(void *request, ucs_status_t status, void *arg)
{
    ++ended;
    how = status;
}

static void pending(void)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK, .cb.send = note};
    char *memory = calloc(1, 1 << 20);
    failure_t failure;
    ucp_ep_h ab = connect_watched(&a, b.address, &failure);
    ucs_status_ptr_t r[3];
    unsigned i;

    ended = 0;
    r[0] = ucp_tag_send_nbx(ab, memory, 1 << 20, 1, &param);
    r[1] = ucp_tag_send_sync_nbx(ab, memory, 8, 1, &param);
    r[2] = ucp_tag_send_sync_nbx(ab, memory, 1 << 20, 1, &param);
    for (i = 0; i < 3; ++i) {
        CHECK(UCS_PTR_IS_PTR(r[i]));
    }
    CHECK_OK(side_disconnect(&a, &b, ab, UCP_EP_CLOSE_FLAG_FORCE));
    DRIVE_UNTIL(&a, &b, ended == 3);
    CHECK_STATUS(how, UCS_ERR_CANCELED);
    CHECK_EQ(failure.calls, 0);
    for (i = 0; i < 3; ++i) {
        CHECK_STATUS(ucp_request_check_status(r[i]), UCS_ERR_CANCELED);
        ucp_request_free(r[i]);
    }
    free(memory);
}

static void questions(void)
{
    int word = 5;
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_USER_DATA |
                                            UCP_EP_PARAM_FIELD_NAME,
                              .name = "the name it was given",
                              .address = b.address,
                              .user_data = &word};
    ucp_ep_evaluate_perf_param_t perf = {.field_mask = UCP_EP_PERF_PARAM_FIELD_MESSAGE_SIZE, .message_size = 8};
    ucp_ep_evaluate_perf_attr_t estimate = {.field_mask = UCP_EP_PERF_ATTR_FIELD_ESTIMATED_TIME};
    ucp_ep_attr_t attr = {.field_mask = UCP_EP_ATTR_FIELD_NAME};
    double small;
    ucp_ep_h ep;

    CHECK_OK(ucp_ep_create(a.worker, &params, &ep));
    CHECK_OK(ucp_ep_query(ep, &attr));
    CHECK_STR(attr.name, "the name it was given");
#if UCP_API_MINOR >= 16
    {
        /* entries of one member only, as a program of an older release might have */
        const char **names = guard_alloc("a short entry of ucp_ep_query", sizeof(*names), 0);
        ucp_ep_attr_t attr = {.field_mask = UCP_EP_ATTR_FIELD_TRANSPORTS | UCP_EP_ATTR_FIELD_USER_DATA |
                                            UCP_EP_ATTR_FIELD_NAME};

        attr.transports.entries = (ucp_transport_entry_t *)names;
        attr.transports.num_entries = 1;
        attr.transports.entry_size = sizeof(*names);
        CHECK_OK(ucp_ep_query(ep, &attr));
        CHECK_EQ(attr.transports.num_entries, 1);
        CHECK_STR(names[0], getenv("UCX_TLS"));
        CHECK(attr.user_data == &word);
        CHECK(attr.name[0] != 0);
        attr.field_mask = UCP_EP_ATTR_FIELD_TRANSPORTS;
        attr.transports.num_entries = 0;
        CHECK_OK(ucp_ep_query(ep, &attr));
        CHECK_EQ(attr.transports.num_entries, 0);
    }
#endif
    CHECK_OK(ucp_ep_evaluate_perf(ep, &perf, &estimate));
    small = estimate.estimated_time;
    CHECK((small > 0) && (small < 1));
    perf.message_size = 1 << 30;
    CHECK_OK(ucp_ep_evaluate_perf(ep, &perf, &estimate));
    CHECK(estimate.estimated_time > small);
    perf.field_mask = 0;
    CHECK_STATUS(ucp_ep_evaluate_perf(ep, &perf, &estimate), UCS_ERR_INVALID_PARAM);
    params.field_mask = UCP_EP_PARAM_FIELD_USER_DATA;
    CHECK(!UCS_PTR_IS_ERR(ucp_ep_modify_nb(ep, &params)));
    ucp_ep_print_info(ep, stderr);
    CHECK_OK(side_disconnect(&a, &b, ep, 0));
}

static void bad(void)
{
    ucp_ep_params_t params = {.field_mask = 0};
    ucp_request_param_t plain = {.op_attr_mask = 0};
    unsigned char *blob;
    size_t n, i;
    ucp_ep_h ep;

    CHECK_STATUS(ucp_ep_create(a.worker, &params, &ep), UCS_ERR_INVALID_PARAM);
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    params.address = NULL;
    CHECK_STATUS(ucp_ep_create(a.worker, &params, &ep), UCS_ERR_INVALID_PARAM);
    CHECK(UCS_PTR_IS_ERR(ucp_tag_send_nbx(NULL, &n, 8, 1, &plain)));
    CHECK(UCS_PTR_IS_ERR(ucp_ep_flush_nbx(NULL, &plain)));
    CHECK(UCS_PTR_IS_ERR(ucp_ep_close_nbx(NULL, &plain)));
    CHECK(UCS_PTR_IS_ERR(ucp_tag_recv_nbx(NULL, &n, 8, 1, 1, &plain)));
    ucp_request_free(NULL);
    /* addresses: any alignment works; damaged in any byte they are refused and nothing behind them is read */
    n = (b.address_length + 7) / 8 * 8;
    blob = malloc(b.address_length + 16);
    for (i = 0; i < 8; ++i) {
        memcpy(blob + i, b.address, b.address_length);
        ep = side_connect(&a, blob + i);
        CHECK_OK(side_disconnect(&a, &b, ep, 0));
    }
    free(blob);
    blob = guard_alloc("a damaged address", n, 0);
    blob += n - b.address_length;
    params.address = (ucp_address_t *)blob;
    for (i = 0; i < b.address_length; ++i) {
        memcpy(blob, b.address, b.address_length);
        blob[i] ^= (i % 2) ? 0x80 : 0x5a;
        if (ucp_ep_create(a.worker, &params, &ep) == UCS_OK) {
            FAIL("byte %zu of an address may be anything", i);
        }
    }
}

static void run(const char *tls)
{
    setenv("UCX_TLS", tls, 1);
    side_open(&a, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    if (strcmp(tls, "self")) {
        side_open(&b, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
        life();
    } else {
        b = a;
    }
    pending();
    questions();
    bad();
    if (a.worker != b.worker) {
        side_close(&b);
    }
    side_close(&a);
    OK("%s", tls);
}

int main(void)
{
    run("self");
    run("posix");
    run("sysv");
    run("tcp");
    return 0;
}
