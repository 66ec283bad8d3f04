/* A server or a client by socket address, which says what becomes of its connections.
 *
 *     sockets server PORT SECONDS              listens, and makes an endpoint for each client
 *     sockets refuse PORT SECONDS              listens, and rejects each client
 *     sockets client PORT SECONDS              connects, flushes, and waits for the end of the endpoint
 *     sockets close PORT SECONDS               connects, flushes, and closes by force when the time is up
 *
 * Each event is a line: milliseconds since the start, what, status. A client ends with its endpoint's end,
 * the server when its time is up. tests/interop runs one on our library and one on upstream's. */
#include <ucp/api/ucp.h>

#include "check.h"

#include <arpa/inet.h>
#include <time.h>

static double start;
static ucp_worker_h worker;
static ucp_listener_h listener;
static ucp_ep_h ep;
static int failed, refuses;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void say(const char *what, ucs_status_t status)
{
    printf("%.0f %s %s\n", (now() - start) * 1e3, what, ucs_status_string(status));
    fflush(stdout);
}

static void on_error(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    say("failed", status);
    failed = 1;
}

static void on_request(ucp_conn_request_h request, void *arg)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_CONN_REQUEST | UCP_EP_PARAM_FIELD_ERR_HANDLER |
                                            UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE,
                              .conn_request = request,
                              .err_mode = UCP_ERR_HANDLING_MODE_PEER,
                              .err_handler.cb = on_error};

    if (refuses) {
        say("refused", ucp_listener_reject(listener, request));
        return;
    }
    say("accepted", ucp_ep_create(worker, &params, &ep));
}

static void on_flushed(void *request, ucs_status_t status, void *arg)
{
    say("flushed", status);
    ucp_request_free(request);
}

static void serve(struct sockaddr_in *address)
{
    ucp_listener_params_t params = {.field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR |
                                                  UCP_LISTENER_PARAM_FIELD_CONN_HANDLER,
                                    .sockaddr = {(struct sockaddr *)address, sizeof(*address)},
                                    .conn_handler.cb = on_request};

    CHECK_OK(ucp_listener_create(worker, &params, &listener));
    say("listens", UCS_OK);
}

static void connect_to(struct sockaddr_in *address)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_FLAGS | UCP_EP_PARAM_FIELD_SOCK_ADDR |
                                            UCP_EP_PARAM_FIELD_ERR_HANDLER | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE,
                              .flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER,
                              .sockaddr = {(struct sockaddr *)address, sizeof(*address)},
                              .err_mode = UCP_ERR_HANDLING_MODE_PEER,
                              .err_handler.cb = on_error};
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK, .cb.send = on_flushed};
    ucs_status_ptr_t request;

    CHECK_OK(ucp_ep_create(worker, &params, &ep));
    request = ucp_ep_flush_nbx(ep, &param);
    if (!UCS_PTR_IS_PTR(request)) {
        say("flushed", UCS_PTR_STATUS(request));
    }
}

static void close_by_force(void)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_EP_CLOSE_FLAG_FORCE};
    ucs_status_ptr_t request = ucp_ep_close_nbx(ep, &param);
    ucs_status_t status = UCS_PTR_STATUS(request);

    say("closes", UCS_INPROGRESS);
    if (UCS_PTR_IS_PTR(request)) {
        while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) {
            ucp_worker_progress(worker);
        }
        ucp_request_free(request);
    }
    say("closed", status);
}

int main(int argc, char **argv)
{
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG};
    ucp_worker_params_t worker_params = {.field_mask = 0};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    unsigned major, minor, release;
    ucp_context_h context;
    double end;
    int server;

    CHECK(argc == 4);
    refuses = strcmp(argv[1], "refuse") == 0;
    server = refuses || strcmp(argv[1], "server") == 0;
    address.sin_port = htons(atoi(argv[2]));
    ucp_get_version(&major, &minor, &release);
    CHECK_OK(ucp_init_version(major, minor, &params, NULL, &context));
    CHECK_OK(ucp_worker_create(context, &worker_params, &worker));
    start = now();
    end = start + atof(argv[3]);
    if (server) {
        serve(&address);
    } else {
        connect_to(&address);
    }
    while ((now() < end) && (server || !failed)) {
        ucp_worker_progress(worker);
    }
    if (!failed && strcmp(argv[1], "close") == 0) {
        close_by_force();
    } else if (!server && !failed) {
        say("timeout", UCS_INPROGRESS);
    }
    fflush(NULL);
    _exit(0);
}
