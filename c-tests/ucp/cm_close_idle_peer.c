/* A close between client and server waits for the other side to disconnect, but not for ever: it ends although the peer makes
 * no progress. The peer learns of it when it does. Upstream's close has no end then. */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n */
#include <ucp/api/ucp.h>

#include "listener.h"

static const ucp_request_param_t plain;
static ucp_conn_request_h asked;

static void on_asked(ucp_conn_request_h request, void *arg)
{
    asked = request;
}

int main(void)
{
    failure_t of_client, of_server;
    struct sockaddr_storage at;
    side_t client, server;
    ucp_listener_h listener;
    ucp_ep_h ep, accepted;
    ucs_status_ptr_t sent;
    char byte = 1, got;
    size_t length;

    side_open(&client, UCP_FEATURE_STREAM, UCS_THREAD_MODE_SINGLE);
    side_open(&server, UCP_FEATURE_STREAM, UCS_THREAD_MODE_SINGLE);
    listener = listen_at(&server, AF_INET, on_asked, &at);
    ep = connect_client(&client, &at, 0, &of_client);
    DRIVE_UNTIL(&client, &server, asked != NULL);
    accepted = accept_client(&server, asked, &of_server);
    sent = ucp_stream_send_nbx(ep, &byte, 1, &plain);
    CHECK_OK(side_wait(&client, &server, ucp_stream_recv_nbx(accepted, &got, 1, &length, &plain)));
    CHECK_OK(side_wait(&client, &server, sent));

    CHECK_OK(request_wait(client.worker, client.worker, ucp_ep_close_nbx(ep, &plain)));
    CHECK_EQ(of_client.calls, 0);
    CHECK_EQ(of_server.calls, 0);
    DRIVE_UNTIL(&client, &server, of_server.calls > 0);
    CHECK_EQ(of_server.status, UCS_ERR_CONNECTION_RESET);
    CHECK_OK(side_disconnect(&server, &client, accepted, UCP_EP_CLOSE_FLAG_FORCE));

    ucp_listener_destroy(listener);
    side_close(&client);
    side_close(&server);
    OK("cm_close_idle_peer");
    return 0;
}
