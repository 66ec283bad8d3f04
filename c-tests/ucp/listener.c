/* Listeners: creation with every kind of address and handler, query, clients that are accepted as requests and as
 * endpoints or rejected, their addresses and ids, and messages both ways. */
/* oracle: 1.22.0 */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n UCX_TLS=tcp */
/* timeout: 60 */
#include <ucp/api/ucp.h>

#include "listener.h"

enum { CLIENTS = 8, MAX_ARRIVED = 16 };

static const ucp_request_param_t plain;
static side_t server, client;
static ucp_conn_request_h arrived[MAX_ARRIVED];
static ucp_ep_h accepted[MAX_ARRIVED];
static unsigned arrived_count, accepted_count;

static void on_request(ucp_conn_request_h request, void *arg)
{
    CHECK(arg == &arrived_count);
    CHECK(arrived_count < MAX_ARRIVED);
    arrived[arrived_count++] = request;
}

static void on_endpoint(ucp_ep_h ep, void *arg)
{
    CHECK(arg == &accepted_count);
    CHECK(accepted_count < MAX_ARRIVED);
    accepted[accepted_count++] = ep;
}

static ucs_status_t try_listen(const struct sockaddr_storage *at, unsigned handlers, ucp_listener_h *listener)
{
    ucp_listener_params_t params = {.field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR | handlers,
                                    .sockaddr = {.addr = (const struct sockaddr *)at,
                                                 .addrlen = sockaddr_length(at)},
                                    .accept_handler = {.cb = on_endpoint, .arg = &accepted_count},
                                    .conn_handler = {.cb = on_request, .arg = &arrived_count}};

    return ucp_listener_create(server.worker, &params, listener);
}

static struct sockaddr_storage address_of(ucp_listener_h listener)
{
    ucp_listener_attr_t attr = {.field_mask = UCP_LISTENER_ATTR_FIELD_SOCKADDR};

    CHECK_OK(ucp_listener_query(listener, &attr));
    return attr.sockaddr;
}

static void show(const char *what, ucs_status_t status)
{
    printf("%s: %s\n", what, ucs_status_string(status));
}

static void creation(void)
{
    struct sockaddr_storage any = loopback(AF_INET, 0), at, foreign = loopback(AF_INET, 0);
    ucp_listener_params_t none = {.field_mask = UCP_LISTENER_PARAM_FIELD_CONN_HANDLER,
                                  .conn_handler = {.cb = on_request, .arg = &arrived_count}};
    ucp_listener_attr_t nothing = {.field_mask = 0};
    ucp_listener_h listener, second;

    CHECK_OK(try_listen(&any, UCP_LISTENER_PARAM_FIELD_CONN_HANDLER, &listener));
    at = address_of(listener);
    CHECK_EQ(at.ss_family, AF_INET);
    CHECK(port_of(&at) != 0);
    CHECK_EQ(((struct sockaddr_in *)&at)->sin_addr.s_addr, LISTENER_IP);
    CHECK_OK(ucp_listener_query(listener, &nothing));
    show("the same port", try_listen(&at, UCP_LISTENER_PARAM_FIELD_CONN_HANDLER, &second));
    ucp_listener_destroy(listener);
    show("no address", ucp_listener_create(server.worker, &none, &listener));
    show("no handler", try_listen(&any, 0, &listener));
    show("two handlers",
         try_listen(&any, UCP_LISTENER_PARAM_FIELD_CONN_HANDLER | UCP_LISTENER_PARAM_FIELD_ACCEPT_HANDLER, &listener));
    /* Of the range for documentation: no interface has it. */
    ((struct sockaddr_in *)&foreign)->sin_addr.s_addr = htonl(0xc0000201);
    CHECK(try_listen(&foreign, UCP_LISTENER_PARAM_FIELD_CONN_HANDLER, &listener) != UCS_OK);
    OK("creation");
}

static void send_both_ways(ucp_ep_h from_client, ucp_ep_h from_server, unsigned number)
{
    char out[2][100], in[2][100];
    ucs_status_ptr_t requests[4];
    int i;

    for (i = 0; i < 2; ++i) {
        fill(out[i], sizeof(out[i]), number + i);
        requests[2 * i] = ucp_tag_recv_nbx(i ? client.worker : server.worker, in[i], sizeof(in[i]), number, -1, &plain);
        requests[2 * i + 1] = ucp_tag_send_nbx(i ? from_server : from_client, out[i], sizeof(out[i]), number, &plain);
    }
    for (i = 0; i < 4; ++i) {
        CHECK_OK(side_wait(&server, &client, requests[i]));
    }
    for (i = 0; i < 2; ++i) {
        CHECK_PATTERN(in[i], sizeof(in[i]), number + i);
    }
}

/* Closing one side is told to the other. */
static void close_both(ucp_ep_h ep, ucp_ep_h other, const failure_t *told)
{
    ucs_status_ptr_t closing = ucp_ep_close_nbx(ep, &plain);

    DRIVE_UNTIL(&server, &client, told->calls > 0);
    CHECK_STATUS(told->status, UCS_ERR_CONNECTION_RESET);
    CHECK_OK(side_disconnect(&server, &client, other, UCP_EP_CLOSE_FLAG_FORCE));
    CHECK_OK(side_wait(&server, &client, closing));
    CHECK_EQ(told->calls, 1);
}

static void requests(int family)
{
    struct sockaddr_storage any = loopback(family, 0), at;
    ucp_conn_request_attr_t attr = {.field_mask = UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ADDR |
                                                  UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ID};
    ucp_ep_attr_t ends[2] = {{.field_mask = UCP_EP_ATTR_FIELD_LOCAL_SOCKADDR | UCP_EP_ATTR_FIELD_REMOTE_SOCKADDR},
                             {.field_mask = UCP_EP_ATTR_FIELD_LOCAL_SOCKADDR | UCP_EP_ATTR_FIELD_REMOTE_SOCKADDR}};
    failure_t failures[2];
    ucp_listener_h listener;
    ucp_ep_h eps[2];

    arrived_count = 0;
    CHECK_OK(try_listen(&any, UCP_LISTENER_PARAM_FIELD_CONN_HANDLER, &listener));
    at = address_of(listener);
    eps[0] = connect_client(&client, &at, UCP_EP_PARAMS_FLAGS_SEND_CLIENT_ID, &failures[0]);
    DRIVE_UNTIL(&server, &client, arrived_count == 1);
    CHECK_OK(ucp_conn_request_query(arrived[0], &attr));
    CHECK_EQ(attr.client_address.ss_family, family);
    CHECK_EQ(attr.client_id, 4711);
    eps[1] = accept_client(&server, arrived[0], &failures[1]);
    send_both_ways(eps[0], eps[1], 3);
    CHECK_OK(ucp_ep_query(eps[0], &ends[0]));
    CHECK_OK(ucp_ep_query(eps[1], &ends[1]));
    CHECK_EQ(port_of(&ends[0].remote_sockaddr), port_of(&at));
    CHECK_EQ(port_of(&ends[1].local_sockaddr), port_of(&at));
    CHECK_EQ(port_of(&ends[0].local_sockaddr), port_of(&attr.client_address));
    CHECK_EQ(port_of(&ends[1].remote_sockaddr), port_of(&attr.client_address));
    close_both(eps[0], eps[1], &failures[1]);
    OK("accepted, family %d", family == AF_INET ? 4 : 6);

    eps[0] = connect_client(&client, &at, 0, &failures[0]);
    DRIVE_UNTIL(&server, &client, arrived_count == 2);
    CHECK_OK(ucp_listener_reject(listener, arrived[1]));
    DRIVE_UNTIL(&server, &client, failures[0].calls > 0);
    show("turned down", failures[0].status);
    CHECK_OK(side_disconnect(&client, &server, eps[0], UCP_EP_CLOSE_FLAG_FORCE));
    CHECK_EQ(failures[0].calls, 1);
    ucp_listener_destroy(listener);
}

/* Many clients ask before the server looks; their endpoints outlive the listener. */
static void many(void)
{
    struct sockaddr_storage any = loopback(AF_INET, 0), at;
    failure_t failures[2 * CLIENTS];
    ucp_listener_h listener;
    ucp_ep_h eps[2 * CLIENTS];
    unsigned i;

    arrived_count = 0;
    CHECK_OK(try_listen(&any, UCP_LISTENER_PARAM_FIELD_CONN_HANDLER, &listener));
    at = address_of(listener);
    for (i = 0; i < CLIENTS; ++i) {
        eps[i] = connect_client(&client, &at, 0, &failures[i]);
    }
    DRIVE_UNTIL(&server, &client, arrived_count == CLIENTS);
    for (i = 0; i < CLIENTS; ++i) {
        eps[CLIENTS + i] = accept_client(&server, arrived[i], &failures[CLIENTS + i]);
    }
    ucp_listener_destroy(listener);
    /* Which client is which is not told: a message from each, and one back to each. */
    for (i = 0; i < CLIENTS; ++i) {
        char byte = 0;

        CHECK_OK(side_wait(&server, &client, ucp_tag_send_nbx(eps[i], &byte, 1, i, &plain)));
        CHECK_OK(side_wait(&server, &client, ucp_tag_recv_nbx(server.worker, &byte, 1, i, -1, &plain)));
        CHECK_OK(side_wait(&server, &client, ucp_tag_send_nbx(eps[CLIENTS + i], &byte, 1, i, &plain)));
        CHECK_OK(side_wait(&server, &client, ucp_tag_recv_nbx(client.worker, &byte, 1, i, -1, &plain)));
    }
    for (i = 0; i < 2 * CLIENTS; ++i) {
        CHECK_OK(side_disconnect(&server, &client, eps[i], UCP_EP_CLOSE_FLAG_FORCE));
    }
    OK("many");
}

/* The listener gives endpoints. */
static void endpoints(void)
{
    struct sockaddr_storage any = loopback(AF_INET, 0), at;
    ucp_listener_h listener;
    failure_t failure;
    ucp_ep_h ep;
    ucs_status_ptr_t closing[2];

    accepted_count = 0;
    CHECK_OK(try_listen(&any, UCP_LISTENER_PARAM_FIELD_ACCEPT_HANDLER, &listener));
    at = address_of(listener);
    ep = connect_client(&client, &at, 0, &failure);
    DRIVE_UNTIL(&server, &client, accepted_count == 1);
    send_both_ways(ep, accepted[0], 9);
    closing[0] = ucp_ep_close_nbx(ep, &plain);
    closing[1] = ucp_ep_close_nbx(accepted[0], &plain);
    CHECK_OK(side_wait(&server, &client, closing[0]));
    CHECK_OK(side_wait(&server, &client, closing[1]));
    /* The endpoint of an accept handler can be closed by force too. */
    ep = connect_client(&client, &at, 0, &failure);
    DRIVE_UNTIL(&server, &client, accepted_count == 2);
    send_both_ways(ep, accepted[1], 9);
    CHECK_OK(side_disconnect(&server, &client, accepted[1], UCP_EP_CLOSE_FLAG_FORCE));
    DRIVE_UNTIL(&server, &client, failure.calls > 0);
    CHECK_OK(side_disconnect(&client, &server, ep, UCP_EP_CLOSE_FLAG_FORCE));
    ucp_listener_destroy(listener);
    OK("endpoints");
}

int main(void)
{
    ucp_worker_params_t named = {.field_mask = UCP_WORKER_PARAM_FIELD_CLIENT_ID, .client_id = 4711};

    side_open(&server, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    side_open(&client, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    ucp_worker_release_address(client.worker, client.address);
    ucp_worker_destroy(client.worker);
    CHECK_OK(ucp_worker_create(client.context, &named, &client.worker));
    CHECK_OK(ucp_worker_get_address(client.worker, &client.address, &client.address_length));
    creation();
    requests(AF_INET);
    many();
    endpoints();
    side_close(&client);
    side_close(&server);
    return 0;
}
