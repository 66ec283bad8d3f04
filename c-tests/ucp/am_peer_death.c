/* The peer is killed in the middle of everything: sends that wait for it, data being fetched from it and
 * stream receives end with an error, the error handler is called once, and the worker lives on. */
/* headers: ours 1.22.0 */
/* timeout: 60 */
#include <ucp/api/ucp.h>

#include "peers.h"

#include <signal.h>
#include <time.h>

enum { ID = 5, LENGTH = 1 << 20 };

static ucp_context_h context;
static ucp_worker_h worker;
static ucp_ep_h ep;
static unsigned failures, rts_count;
static void *kept;

static void on_failure(void *arg, ucp_ep_h failed, ucs_status_t status)
{
    CHECK(failed == ep);
    CHECK(status != UCS_OK);
    failures++;
}

static ucs_status_t on_message(void *arg, const void *header, size_t header_length, void *data, size_t length,
                               const ucp_am_recv_param_t *param)
{
    CHECK(param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV);
    kept = data;
    rts_count++;
    return UCS_INPROGRESS;
}

static void open_side(const pair_t *pair)
{
    ucp_am_handler_param_t handler;
    ucp_worker_params_t worker_params;
    ucp_ep_params_t ep_params;
    ucp_params_t params;
    ucp_address_t *address;
    char theirs[1024] = "", mine[1024] = "";
    size_t length;

    params.field_mask = UCP_PARAM_FIELD_FEATURES;
    params.features = UCP_FEATURE_AM | UCP_FEATURE_STREAM;
    CHECK_OK(ucp_init(&params, NULL, &context));
    worker_params.field_mask = 0;
    CHECK_OK(ucp_worker_create(context, &worker_params, &worker));
    handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB;
    handler.id = ID;
    handler.cb = on_message;
    CHECK_OK(ucp_worker_set_am_recv_handler(worker, &handler));
    CHECK_OK(ucp_worker_get_address(worker, &address, &length));
    CHECK(length <= sizeof(mine));
    memcpy(mine, address, length);
    ucp_worker_release_address(worker, address);
    pair_exchange(pair, mine, theirs, sizeof(mine));
    ep_params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                           UCP_EP_PARAM_FIELD_ERR_HANDLER;
    ep_params.address = (ucp_address_t *)theirs;
    ep_params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    ep_params.err_handler.cb = on_failure;
    ep_params.err_handler.arg = NULL;
    CHECK_OK(ucp_ep_create(worker, &ep_params, &ep));
}

static void *send_rndv(char *data)
{
    ucp_request_param_t param;
    void *request;

    param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = UCP_AM_SEND_FLAG_RNDV;
    request = ucp_am_send_nbx(ep, ID, NULL, 0, data, LENGTH, &param);
    CHECK(UCS_PTR_IS_PTR(request));
    return request;
}

int main(void)
{
    pair_t pair = pair_start();
    char *data = calloc(1, LENGTH), word[8] = "";
    ucp_request_param_t plain = {.op_attr_mask = 0};
    ucs_status_t status;
    void *requests[3];
    size_t length;
    time_t end;
    int i;

    open_side(&pair);
    if (pair_is_child(&pair)) {
        send_rndv(data);
        while (rts_count == 0) {
            ucp_worker_progress(worker);
        }
        pair_barrier(&pair);
        for (;;) {
            pause();
        }
    }

    requests[0] = send_rndv(data);
    while (rts_count == 0) {
        ucp_worker_progress(worker);
    }
    pair_barrier(&pair);
    requests[1] = ucp_stream_recv_nbx(ep, word, 8, &length, &plain);
    CHECK(UCS_PTR_IS_PTR(requests[1]));
    kill(pair.child, SIGKILL);
    CHECK(waitpid(pair.child, NULL, 0) == pair.child);
    /* With memory shared or read directly the data may still come; it must end in any case. */
    requests[2] = ucp_am_recv_data_nbx(worker, kept, data, LENGTH, &plain);
    end = time(NULL) + 40;
    for (i = 0; i < 3; ++i) {
        if (!UCS_PTR_IS_PTR(requests[i])) {
            continue;
        }
        while (ucp_request_check_status(requests[i]) == UCS_INPROGRESS) {
            ucp_worker_progress(worker);
            if (time(NULL) > end) {
                FAIL("request %d does not end", i);
            }
        }
        status = ucp_request_check_status(requests[i]);
        CHECK((status != UCS_OK) || (i == 2));
        ucp_request_free(requests[i]);
    }
    CHECK_EQ(failures, 1);
    OK("everything ended");
    CHECK(UCS_PTR_IS_ERR(ucp_am_send_nbx(ep, ID, NULL, 0, data, 8, &plain)));
    CHECK(UCS_PTR_IS_ERR(ucp_stream_send_nbx(ep, data, 8, &plain)));
    CHECK(UCS_PTR_IS_ERR(ucp_stream_recv_nbx(ep, word, 8, &length, &plain)));
    OK("and nothing begins");
    plain.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    plain.flags = UCP_EP_CLOSE_FLAG_FORCE;
    requests[0] = ucp_ep_close_nbx(ep, &plain);
    while (UCS_PTR_IS_PTR(requests[0]) && (ucp_request_check_status(requests[0]) == UCS_INPROGRESS)) {
        ucp_worker_progress(worker);
    }
    if (UCS_PTR_IS_PTR(requests[0])) {
        ucp_request_free(requests[0]);
    }
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
    free(data);
    OK("closed");
    return 0;
}
