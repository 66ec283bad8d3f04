/* A process of ours whose peer of upstream's is killed in the middle of an operation (tests/interop).
 *
 *     deaths server|client HOST PORT survivor|mortal addresses|sockets OPERATION
 *
 * The two meet and send each other a message. Then the survivor begins OPERATION, for which the mortal one does nothing but wait
 * until it is told to kill itself (receive: it has sent a part of a message). Within a second the survivor's operation has ended
 * and its error handler was called, once; last it closes the endpoint and destroys everything. */
#include <ucp/api/ucp.h>

#include "check.h"
#include "interop/meeting.h"

#include <poll.h>
#include <signal.h>
#include <time.h>

#define HELLO 1
#define TAG 2

static uint8_t data[LONGEST];

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void progress_for(double seconds)
{
    for (double end = now() + seconds; now() < end;)
        ucp_worker_progress(worker);
}

static void greet(ucp_ep_h ep)
{
    ucp_request_param_t param = {0};
    static uint8_t theirs[8];
    ucs_status_ptr_t receive = ucp_tag_recv_nbx(worker, theirs, sizeof(theirs), HELLO, -1, &param);

    finish(ucp_tag_send_sync_nbx(ep, data, sizeof(theirs), HELLO, &param), UCS_OK);
    finish(receive, UCS_OK);
    meet(3);
}

/* The survivor's part of an operation. */
static ucs_status_ptr_t begin(ucp_ep_h ep, const char *operation)
{
    ucp_request_param_t param = {0}, announced = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_AM_SEND_FLAG_RNDV},
                        reply = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER,
                                 .datatype = ucp_dt_make_contig(8), .reply_buffer = data + 8};
    uint64_t at = their_memory + MARGIN;

    if (!strcmp(operation, "idle"))
        return NULL;
    if (!strcmp(operation, "send"))
        return ucp_tag_send_nbx(ep, data, LONGEST, TAG, &param);
    if (!strcmp(operation, "sync"))
        return ucp_tag_send_sync_nbx(ep, data, 8, TAG, &param);
    if (!strcmp(operation, "receive"))
        return ucp_tag_recv_nbx(worker, data, LONGEST, TAG, -1, &param);
    if (!strcmp(operation, "message"))
        return ucp_am_send_nbx(ep, 1, NULL, 0, data, LONGEST, &announced);
    if (!strcmp(operation, "stream"))
        return ucp_stream_send_nbx(ep, data, LONGEST, &param);
    if (!strcmp(operation, "put"))
        return ucp_put_nbx(ep, data, LONGEST, at, their_key, &param);
    if (!strcmp(operation, "get"))
        return ucp_get_nbx(ep, data, LONGEST, at, their_key, &param);
    if (!strcmp(operation, "atomic"))
        return ucp_atomic_op_nbx(ep, UCP_ATOMIC_OP_ADD, data, 1, at, their_key, &reply);
    CHECK(!strcmp(operation, "flush"));
    CHECK(!UCS_PTR_IS_ERR(ucp_put_nbx(ep, data, LONGEST, at, their_key, &param)));
    return ucp_ep_flush_nbx(ep, &param);
}

static void survive(ucp_ep_h ep, const char *operation)
{
    ucp_request_param_t forced = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_EP_CLOSE_FLAG_FORCE};
    ucs_status_ptr_t request;
    ucs_status_t status;
    uint8_t word;
    double start;

    /* The other one makes no progress any more: releases end by a signal when an announced message has no handler. */
    move(&word, sizeof(word), 0);
    request = begin(ep, operation);
    status = UCS_PTR_IS_PTR(request) ? UCS_INPROGRESS : UCS_PTR_STATUS(request);
    progress_for(0.02);
    CHECK_EQ(errors, 0);
    move(&word, sizeof(word), 1);
    for (start = now(); (errors == 0 || status == UCS_INPROGRESS) && now() < start + 1;) {
        ucp_worker_progress(worker);
        if (UCS_PTR_IS_PTR(request))
            status = ucp_request_check_status(request);
    }
    printf("%s after %.0f ms, the handler %d times with %s\n", ucs_status_string(status), (now() - start) * 1e3, errors,
           ucs_status_string(last_error));
    CHECK_EQ(errors, 1);
    CHECK(status != UCS_INPROGRESS);
    if (UCS_PTR_IS_PTR(request))
        ucp_request_free(request);
    progress_for(0.02);
    finish(ucp_ep_close_nbx(ep, &forced), UCS_OK);
    CHECK_EQ(errors, 1);
}

static void die(ucp_ep_h ep, const char *operation)
{
    struct pollfd told = {.fd = out_of_band, .events = POLLIN};
    ucp_request_param_t param = {0};
    uint8_t word = 1;

    if (!strcmp(operation, "receive")) {
        CHECK(!UCS_PTR_IS_ERR(ucp_tag_send_nbx(ep, data, LONGEST, TAG, &param)));
        ucp_worker_progress(worker);
    }
    move(&word, sizeof(word), 1);
    CHECK_EQ(poll(&told, 1, -1), 1);
    raise(SIGKILL);
}

int main(int argc, char **argv)
{
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                           .features = UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_STREAM | UCP_FEATURE_RMA | UCP_FEATURE_AMO64};
    ucp_worker_params_t worker_params = {0};
    ucp_ep_params_t ep_params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE
                                               | UCP_EP_PARAM_FIELD_ERR_HANDLER,
                                 .err_mode = UCP_ERR_HANDLING_MODE_PEER,
                                 .err_handler.cb = on_error};
    ucp_context_h context;
    ucp_address_t *own;
    size_t length;
    ucp_mem_h mapped;
    ucp_ep_h ep;
    void *theirs;
    int is_server;

    CHECK_EQ(argc, 7);
    setlinebuf(stdout);
    is_server = !strcmp(argv[1], "server");
    CHECK_EQ(ucp_init(&params, NULL, &context), UCS_OK);
    CHECK_EQ(ucp_worker_create(context, &worker_params, &worker), UCS_OK);
    out_of_band = connected(is_server, argv[2], atoi(argv[3]));
    if (!strcmp(argv[5], "sockets")) {
        ep = by_sockets(is_server, argv[2], atoi(argv[3]) + 1);
    } else {
        CHECK_EQ(ucp_worker_get_address(worker, &own, &length), UCS_OK);
        ep_params.address = theirs = exchange(own, length);
        ucp_worker_release_address(worker, own);
        CHECK_EQ(ucp_ep_create(worker, &ep_params, &ep), UCS_OK);
        free(theirs);
    }
    exchange_keys(context, ep, 0, &mapped);
    greet(ep);
    if (strcmp(argv[4], "survivor"))
        die(ep, argv[6]);
    survive(ep, argv[6]);
    ucp_rkey_destroy(their_key);
    CHECK_EQ(ucp_mem_unmap(context, mapped), UCS_OK);
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
    printf("over\n");
    return 0;
}
