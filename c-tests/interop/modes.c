/* Endpoints by worker address whose modes of error handling agree or do not, one process on our library and one on
 * upstream's (tests/interop).
 *
 *     modes server|client HOST PORT none|peer late|together
 *
 * late: the client has an endpoint first and sends a synchronous message, which the server receives; then the server makes
 * its endpoint. together: both make theirs and send a synchronous message. Prints what became of each. */
#include <ucp/api/ucp.h>

#include "check.h"
#include "interop/meeting.h"

#include <time.h>

#define TAG 11
#define SECONDS 2

/* Sends a message, for some time at most, and prints what becomes of it and what the other process said. */
static void send_message(ucp_ep_h ep)
{
    static uint8_t data[8];
    ucp_request_param_t param = {0};
    ucs_status_ptr_t request = ucp_tag_send_sync_nbx(ep, data, sizeof(data), TAG, &param);
    ucs_status_t status = UCS_PTR_IS_PTR(request) ? UCS_INPROGRESS : UCS_PTR_STATUS(request);
    time_t end = time(NULL) + SECONDS;

    while (status == UCS_INPROGRESS && time(NULL) <= end) {
        ucp_worker_progress(worker);
        status = ucp_request_check_status(request);
    }
    printf("sent: %s\n", ucs_status_string(status));
}

static ucs_status_t make_endpoint(const void *address, int handles_errors, ucp_ep_h *ep)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE
                                            | UCP_EP_PARAM_FIELD_ERR_HANDLER,
                              .address = address,
                              .err_mode = handles_errors ? UCP_ERR_HANDLING_MODE_PEER : UCP_ERR_HANDLING_MODE_NONE,
                              .err_handler.cb = on_error};
    ucs_status_t status = ucp_ep_create(worker, &params, ep);

    printf("made: %s\n", ucs_status_string(status));
    return status;
}

int main(int argc, char **argv)
{
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG};
    ucp_worker_params_t worker_params = {0};
    ucp_request_param_t param = {0};
    static uint8_t data[8];
    ucs_status_ptr_t receive;
    ucp_context_h context;
    ucp_address_t *own;
    size_t length;
    ucp_ep_h ep;
    void *theirs;
    int is_server, is_late, handles_errors;

    CHECK_EQ(argc, 6);
    setlinebuf(stdout);
    is_server = !strcmp(argv[1], "server");
    handles_errors = !strcmp(argv[4], "peer");
    is_late = !strcmp(argv[5], "late");
    out_of_band = connected(is_server, argv[2], atoi(argv[3]));
    CHECK_EQ(ucp_init(&params, NULL, &context), UCS_OK);
    CHECK_EQ(ucp_worker_create(context, &worker_params, &worker), UCS_OK);
    CHECK_EQ(ucp_worker_get_address(worker, &own, &length), UCS_OK);
    theirs = exchange(own, length);
    ucp_worker_release_address(worker, own);
    receive = ucp_tag_recv_nbx(worker, data, sizeof(data), TAG, -1, &param);
    CHECK(UCS_PTR_IS_PTR(receive));
    if (!(is_server && is_late))
        CHECK_EQ(make_endpoint(theirs, handles_errors, &ep), UCS_OK);
    meet(1);
    if (!is_late) {
        send_message(ep);
    } else if (is_server) {
        finish(receive, UCS_OK);
        meet(2);
        make_endpoint(theirs, handles_errors, &ep);
    } else {
        send_message(ep);
        meet(2);
    }
    /* Before the other process may end. */
    printf("handler: %d\n", errors);
    meet(3);
    free(theirs);
    /* The endpoint may have failed: the end of the process is the end of it. */
    fflush(stdout);
    _exit(0);
}
