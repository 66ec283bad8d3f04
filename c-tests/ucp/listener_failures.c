/* Clients without a working server: a closed port, a server that sends garbage, is silent, closes in the middle, or
 * exits before it replies. The client's endpoint fails once, in bounded time, and its requests end. Also clients and
 * servers over IPv6. */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n UCX_WIREUP_TIMEOUT=300ms */
/* timeout: 60 */
#include <ucp/api/ucp.h>

#include "listener.h"

#include <poll.h>

static const ucp_request_param_t plain;
static side_t server, client;
static ucp_conn_request_h request;

static void on_request(ucp_conn_request_h asked, void *arg)
{
    request = asked;
}

/* A plain socket that listens on the loopback interface. */
static int listening_socket(struct sockaddr_storage *at)
{
    socklen_t length = sizeof(*at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    *at = loopback(AF_INET, 0);
    CHECK(bind(fd, (struct sockaddr *)at, sockaddr_length(at)) == 0);
    CHECK(listen(fd, 8) == 0);
    CHECK(getsockname(fd, (struct sockaddr *)at, &length) == 0);
    return fd;
}

/* Waits for the end of a client's endpoint, on which two sends wait. `fd`: a plain server, which answers `bytes` to
 * whoever connects; -1 for none. */
static ucs_status_t fails(const struct sockaddr_storage *at, int fd, const char *bytes, size_t length, int hang_up)
{
    char data[8] = "";
    failure_t failure;
    ucp_ep_h ep = connect_client(&client, at, 0, &failure);
    ucs_status_ptr_t waits[2] = {ucp_tag_send_nbx(ep, data, 8, 1, &plain), ucp_ep_flush_nbx(ep, &plain)};
    int peer = -1, i;

    if (fd >= 0) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};

        CHECK(poll(&ready, 1, 10000) == 1);
        peer = accept(fd, NULL, NULL);
        CHECK(peer >= 0);
        CHECK_EQ(send(peer, bytes, length, MSG_NOSIGNAL), length);
        if (hang_up) {
            close(peer);
        }
    }
    DRIVE_UNTIL(&client, &server, failure.calls > 0);
    CHECK(failure.ep == ep);
    for (i = 0; i < 2; ++i) {
        CHECK(side_wait(&client, &client, waits[i]) != UCS_OK);
    }
    CHECK_OK(side_disconnect(&client, &client, ep, UCP_EP_CLOSE_FLAG_FORCE));
    for (i = 0; i < 1000; ++i) {
        ucp_worker_progress(client.worker);
    }
    CHECK_EQ(failure.calls, 1);
    if ((peer >= 0) && !hang_up) {
        close(peer);
    }
    return failure.status;
}

int main(void)
{
    char garbage[4096], byte = 1;
    struct sockaddr_storage at;
    failure_t failures[2];
    ucp_listener_h listener;
    ucp_ep_h eps[2];
    unsigned i;
    int fd;

    side_open(&server, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    side_open(&client, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);

    fd = listening_socket(&at);
    close(fd);
    CHECK(fails(&at, -1, NULL, 0, 0) != UCS_OK);
    OK("nobody listens");

    srand(1);
    fd = listening_socket(&at);
    for (i = 0; i < 20; ++i) {
        size_t k, length = 1 + rand() % sizeof(garbage);

        for (k = 0; k < length; ++k) {
            garbage[k] = rand();
        }
        CHECK(fails(&at, fd, garbage, length, i % 2) != UCS_OK);
    }
    OK("garbage");
    CHECK_STATUS(fails(&at, fd, "", 0, 0), UCS_ERR_ENDPOINT_TIMEOUT);
    OK("silence");
    CHECK(fails(&at, fd, "", 0, 1) != UCS_OK);
    OK("hung up");
    close(fd);

    listener = listen_at(&server, AF_INET, on_request, &at);
    request = NULL;
    CHECK_STATUS(fails(&at, -1, NULL, 0, 0), UCS_ERR_ENDPOINT_TIMEOUT);
    CHECK(request != NULL);
    /* The client may be known to have gone. */
    CHECK(ucp_listener_reject(listener, request) <= UCS_OK);
    ucp_listener_destroy(listener);
    OK("never accepted");

    listener = listen_at(&server, AF_INET, on_request, &at);
    eps[0] = connect_client(&client, &at, 0, &failures[0]);
    request = NULL;
    DRIVE_UNTIL(&client, &server, request != NULL);
    eps[1] = accept_client(&server, request, &failures[1]);
    ucp_listener_destroy(listener);
    side_close(&server);
    DRIVE_UNTIL(&client, &client, failures[0].calls > 0);
    CHECK_OK(side_disconnect(&client, &client, eps[0], UCP_EP_CLOSE_FLAG_FORCE));
    OK("the server goes in the middle");

    side_open(&server, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    listener = listen_at(&server, AF_INET6, on_request, &at);
    CHECK_EQ(at.ss_family, AF_INET6);
    eps[0] = connect_client(&client, &at, 0, &failures[0]);
    request = NULL;
    DRIVE_UNTIL(&client, &server, request != NULL);
    eps[1] = accept_client(&server, request, &failures[1]);
    CHECK_OK(side_wait(&client, &server, ucp_tag_send_nbx(eps[0], &byte, 1, 1, &plain)));
    CHECK_OK(side_wait(&client, &server, ucp_tag_recv_nbx(server.worker, &byte, 1, 1, -1, &plain)));
    CHECK_OK(side_disconnect(&client, &server, eps[1], UCP_EP_CLOSE_FLAG_FORCE));
    DRIVE_UNTIL(&client, &server, failures[0].calls > 0);
    CHECK_STATUS(failures[0].status, UCS_ERR_CONNECTION_RESET);
    CHECK_OK(side_disconnect(&client, &server, eps[0], UCP_EP_CLOSE_FLAG_FORCE));
    ucp_listener_destroy(listener);
    OK("IPv6");
    side_close(&client);
    side_close(&server);
    return 0;
}
