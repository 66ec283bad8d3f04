/* Listeners and clients for a test: both in one process, on the loopback interface. */
#ifndef FERRUCX_LISTENER_H
#define FERRUCX_LISTENER_H

#include "failure.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

/* The IPv4 address of listeners, in network byte order. */
#ifndef LISTENER_IP
#define LISTENER_IP htonl(INADDR_LOOPBACK)
#endif

static inline struct sockaddr_storage loopback(int family, uint16_t port)
{
    struct sockaddr_storage at = {.ss_family = family};

    if (family == AF_INET) {
        ((struct sockaddr_in *)&at)->sin_addr.s_addr = LISTENER_IP;
        ((struct sockaddr_in *)&at)->sin_port = htons(port);
    } else {
        ((struct sockaddr_in6 *)&at)->sin6_addr = in6addr_loopback;
        ((struct sockaddr_in6 *)&at)->sin6_port = htons(port);
    }
    return at;
}

static inline socklen_t sockaddr_length(const struct sockaddr_storage *at)
{
    return (at->ss_family == AF_INET) ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
}

static inline uint16_t port_of(const struct sockaddr_storage *at)
{
    return ntohs((at->ss_family == AF_INET) ? ((const struct sockaddr_in *)at)->sin_port :
                                              ((const struct sockaddr_in6 *)at)->sin6_port);
}

/* A listener of that family on a port of the system's choice; `at` is where. */
static inline ucp_listener_h listen_at(side_t *server, int family, ucp_listener_conn_callback_t asked,
                                       struct sockaddr_storage *at)
{
    ucp_listener_params_t params = {.field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR |
                                                  UCP_LISTENER_PARAM_FIELD_CONN_HANDLER,
                                    .conn_handler = {.cb = asked}};
    ucp_listener_attr_t attr = {.field_mask = UCP_LISTENER_ATTR_FIELD_SOCKADDR};
    ucp_listener_h listener;

    *at = loopback(family, 0);
    params.sockaddr.addr = (const struct sockaddr *)at;
    params.sockaddr.addrlen = sockaddr_length(at);
    CHECK_OK(ucp_listener_create(server->worker, &params, &listener));
    CHECK_OK(ucp_listener_query(listener, &attr));
    *at = attr.sockaddr;
    return listener;
}

/* A client's endpoint to the server at `at`, which tells `failure` of its end. */
static inline ucp_ep_h connect_client(side_t *client, const struct sockaddr_storage *at, unsigned flags,
                                      failure_t *failure)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_FLAGS | UCP_EP_PARAM_FIELD_SOCK_ADDR |
                                            UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER,
                              .flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER | flags,
                              .sockaddr = {.addr = (const struct sockaddr *)at, .addrlen = sockaddr_length(at)},
                              .err_mode = UCP_ERR_HANDLING_MODE_PEER,
                              .err_handler = {.cb = failure_note, .arg = failure}};
    ucp_ep_h ep;

    memset(failure, 0, sizeof(*failure));
    CHECK_OK(ucp_ep_create(client->worker, &params, &ep));
    return ep;
}

/* A server's endpoint to the client that asks: how it handles errors is the client's word. */
static inline ucp_ep_h accept_client(side_t *server, ucp_conn_request_h request, failure_t *failure)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_CONN_REQUEST | UCP_EP_PARAM_FIELD_ERR_HANDLER,
                              .conn_request = request,
                              .err_handler = {.cb = failure_note, .arg = failure}};
    ucp_ep_h ep;

    memset(failure, 0, sizeof(*failure));
    CHECK_OK(ucp_ep_create(server->worker, &params, &ep));
    return ep;
}

#endif
