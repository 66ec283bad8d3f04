/* A client and a server of a connection manager in one process. The arguments of each callback are kept per endpoint,
 * and the test waits for them. Callbacks may come from the async thread. */
#ifndef FERRUCX_CM_H
#define FERRUCX_CM_H

#include "check.h"

#include <uct/api/uct.h>
#include <ucs/async/async_fwd.h>
#include <ucs/config/types.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <errno.h>
#include <time.h>

#ifndef CM_COMPONENT
#define CM_COMPONENT "tcp"
#endif

enum { CM_MAX_PRIV = 8192 };

typedef enum { CM_KEEP, CM_ACCEPT, CM_REJECT } cm_answer_t;

/* One endpoint and all that its callbacks said. */
typedef struct cm_side {
    uct_ep_h ep;
    struct sockaddr_storage peer;
    /* How often, and with what, each callback came. */
    volatile int resolved, packed, connected, notified, disconnected;
    ucs_status_t resolve_status, connect_status, notify_status;
    uint64_t resolve_mask, pack_mask, connect_mask, remote_mask, notify_mask;
    char dev_name[UCT_DEVICE_NAME_MAX];
    char remote[CM_MAX_PRIV];
    size_t remote_length, dev_addr_length;
    /* What the endpoint shall do. */
    const void *priv;
    size_t priv_length;
    int pack;             /* private data by callback */
    ssize_t pack_answer;  /* negative: what the packing callback answers */
    ucs_status_t resolve_answer;
    uct_cm_h manager;     /* another than cm.cm */
    int no_callbacks_now; /* set after destroy: any later callback fails the test */
} cm_side_t;

/* A listener and the requests that came. */
typedef struct cm_server {
    uct_listener_h listener;
    struct sockaddr_storage addr;
    cm_answer_t answer;
    cm_side_t *accept_as; /* with CM_ACCEPT: the side of the next request */
    volatile int requests;
    uct_conn_request_h request[64];
    struct sockaddr_storage client;
    socklen_t client_length;
    uint64_t mask, remote_mask;
    char dev_name[UCT_DEVICE_NAME_MAX];
    char remote[CM_MAX_PRIV];
    size_t remote_length, dev_addr_length;
    ucs_status_t answer_status;
} cm_server_t;

static struct {
    ucs_async_context_t *async;
    uct_worker_h worker;
    uct_component_h component;
    uct_cm_h cm;
    size_t max_priv;
    int polls; /* no thread serves the async context */
    pthread_mutex_t lock;
    pthread_cond_t changed;
} cm;

static inline void cm_changed(void)
{
    pthread_mutex_lock(&cm.lock);
    pthread_cond_broadcast(&cm.changed);
    pthread_mutex_unlock(&cm.lock);
}

/* Lets callbacks come until `condition` holds; the runner ends a test that waits for ever. */
#define CM_WAIT(condition) \
    do { \
        pthread_mutex_lock(&cm.lock); \
        while (!(condition)) { \
            struct timespec cm_until; \
            clock_gettime(CLOCK_REALTIME, &cm_until); \
            cm_until.tv_nsec += 2000000; \
            if (cm_until.tv_nsec >= 1000000000) { \
                cm_until.tv_nsec -= 1000000000; \
                ++cm_until.tv_sec; \
            } \
            pthread_cond_timedwait(&cm.changed, &cm.lock, &cm_until); \
            pthread_mutex_unlock(&cm.lock); \
            if (cm.polls) { \
                ucs_async_poll(cm.async); \
            } \
            uct_worker_progress(cm.worker); \
            pthread_mutex_lock(&cm.lock); \
        } \
        pthread_mutex_unlock(&cm.lock); \
    } while (0)

static inline uct_component_h cm_find_component(const char *name)
{
    uct_component_h *components, found = NULL;
    unsigned i, count;

    CHECK_OK(uct_query_components(&components, &count));
    for (i = 0; i < count; ++i) {
        uct_component_attr_t attr = {.field_mask = UCT_COMPONENT_ATTR_FIELD_NAME | UCT_COMPONENT_ATTR_FIELD_FLAGS};
        CHECK_OK(uct_component_query(components[i], &attr));
        if (!strcmp(attr.name, name)) {
            found = components[i];
        }
    }
    uct_release_component_list(components);
    return found;
}

static inline uct_cm_h cm_open_one(void)
{
    uct_cm_config_t *config;
    uct_cm_h manager;

    CHECK_OK(uct_cm_config_read(cm.component, NULL, NULL, &config));
    CHECK_OK(uct_cm_open(cm.component, cm.worker, config, &manager));
    uct_config_release(config);
    return manager;
}

static inline void cm_start(ucs_async_mode_t mode)
{
    uct_cm_attr_t attr = {.field_mask = UCT_CM_ATTR_FIELD_MAX_CONN_PRIV};

    pthread_mutex_init(&cm.lock, NULL);
    pthread_cond_init(&cm.changed, NULL);
    cm.polls = mode == UCS_ASYNC_MODE_POLL;
    CHECK_OK(ucs_async_context_create(mode, &cm.async));
    CHECK_OK(uct_worker_create(cm.async, UCS_THREAD_MODE_SINGLE, &cm.worker));
    cm.component = cm_find_component(CM_COMPONENT);
    CHECK(cm.component != NULL);
    cm.cm = cm_open_one();
    CHECK_OK(uct_cm_query(cm.cm, &attr));
    cm.max_priv = attr.max_conn_priv;
    CHECK(cm.max_priv <= CM_MAX_PRIV);
}

static inline void cm_stop(void)
{
    uct_cm_close(cm.cm);
    uct_worker_destroy(cm.worker);
    ucs_async_context_destroy(cm.async);
}

static inline socklen_t cm_addr_length(const struct sockaddr_storage *addr)
{
    return (addr->ss_family == AF_INET6) ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

static inline struct sockaddr_storage cm_addr(const char *ip, int port)
{
    struct sockaddr_storage addr;
    struct sockaddr_in *v4  = (void *)&addr;
    struct sockaddr_in6 *v6 = (void *)&addr;

    memset(&addr, 0, sizeof(addr));
    if (inet_pton(AF_INET, ip, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port   = htons(port);
    } else {
        CHECK(inet_pton(AF_INET6, ip, &v6->sin6_addr) == 1);
        v6->sin6_family = AF_INET6;
        v6->sin6_port   = htons(port);
    }
    return addr;
}

static inline int cm_port(const struct sockaddr_storage *addr)
{
    return ntohs((addr->ss_family == AF_INET6) ? ((struct sockaddr_in6 *)addr)->sin6_port :
                                                  ((struct sockaddr_in *)addr)->sin_port);
}

static inline void cm_take_remote(const uct_cm_remote_data_t *data, uint64_t *mask, char *bytes, size_t *length,
                                  size_t *dev_addr_length)
{
    *mask   = data->field_mask;
    *length = 0;
    if (data->field_mask & UCT_CM_REMOTE_DATA_FIELD_CONN_PRIV_DATA_LENGTH) {
        *length = data->conn_priv_data_length;
        CHECK(*length <= CM_MAX_PRIV);
        memcpy(bytes, data->conn_priv_data, *length);
    }
    if (data->field_mask & UCT_CM_REMOTE_DATA_FIELD_DEV_ADDR_LENGTH) {
        *dev_addr_length = data->dev_addr_length;
        CHECK((data->dev_addr != NULL) && (data->dev_addr_length > 0));
    }
}

static inline ssize_t cm_on_pack(void *arg, const uct_cm_ep_priv_data_pack_args_t *args, void *priv)
{
    cm_side_t *side = arg;

    CHECK(!side->no_callbacks_now);
    side->pack_mask = args->field_mask;
    if (args->field_mask & UCT_CM_EP_PRIV_DATA_PACK_ARGS_FIELD_DEVICE_NAME) {
        memcpy(side->dev_name, args->dev_name, sizeof(side->dev_name));
    }
    ++side->packed;
    cm_changed();
    if (side->pack_answer < 0) {
        return side->pack_answer;
    }
    memcpy(priv, side->priv, side->priv_length);
    return side->priv_length;
}

static inline ucs_status_t cm_side_connect(cm_side_t *side)
{
    uct_ep_connect_params_t params = {
        .field_mask   = UCT_EP_CONNECT_PARAM_FIELD_PRIVATE_DATA | UCT_EP_CONNECT_PARAM_FIELD_PRIVATE_DATA_LENGTH,
        .private_data = side->priv,
        .private_data_length = side->priv_length};
    return uct_ep_connect(side->ep, &params);
}

static inline ucs_status_t cm_on_resolve(void *arg, const uct_cm_ep_resolve_args_t *args)
{
    cm_side_t *side = arg;

    CHECK(!side->no_callbacks_now);
    side->resolve_mask   = args->field_mask;
    side->resolve_status = UCS_OK;
    if (args->field_mask & UCT_CM_EP_RESOLVE_ARGS_FIELD_STATUS) {
        side->resolve_status = args->status;
    }
    if (args->field_mask & UCT_CM_EP_RESOLVE_ARGS_FIELD_DEV_NAME) {
        memcpy(side->dev_name, args->dev_name, sizeof(side->dev_name));
    }
    ++side->resolved;
    cm_changed();
    return side->resolve_answer;
}

static inline void cm_on_connect(uct_ep_h ep, void *arg, const uct_cm_ep_client_connect_args_t *args)
{
    cm_side_t *side = arg;

    CHECK(!side->no_callbacks_now);
    CHECK(args->field_mask & UCT_CM_EP_CLIENT_CONNECT_ARGS_FIELD_STATUS);
    side->connect_mask   = args->field_mask;
    side->connect_status = args->status;
    if (args->field_mask & UCT_CM_EP_CLIENT_CONNECT_ARGS_FIELD_REMOTE_DATA) {
        cm_take_remote(args->remote_data, &side->remote_mask, side->remote, &side->remote_length,
                       &side->dev_addr_length);
    }
    ++side->connected;
    cm_changed();
}

static inline void cm_on_notify(uct_ep_h ep, void *arg, const uct_cm_ep_server_conn_notify_args_t *args)
{
    cm_side_t *side = arg;

    CHECK(!side->no_callbacks_now);
    CHECK(args->field_mask & UCT_CM_EP_SERVER_CONN_NOTIFY_ARGS_FIELD_STATUS);
    side->notify_mask   = args->field_mask;
    side->notify_status = args->status;
    ++side->notified;
    cm_changed();
}

static inline void cm_on_disconnect(uct_ep_h ep, void *arg)
{
    cm_side_t *side = arg;

    CHECK(!side->no_callbacks_now);
    ++side->disconnected;
    cm_changed();
}

/* Begins a client's connection. Without `pack`, the resolve callback is given, and the test calls
 * cm_side_connect() after it. */
static inline ucs_status_t cm_client_from(cm_side_t *side, const struct sockaddr_storage *to,
                                          const struct sockaddr_storage *from)
{
    ucs_sock_addr_t addr  = {.addr = (void *)to, .addrlen = cm_addr_length(to)};
    ucs_sock_addr_t local = {.addr = (void *)from, .addrlen = from ? cm_addr_length(from) : 0};
    uct_ep_params_t params;

    memset(&params, 0, sizeof(params));
    params.field_mask = UCT_EP_PARAM_FIELD_CM | UCT_EP_PARAM_FIELD_USER_DATA | UCT_EP_PARAM_FIELD_SOCKADDR |
                        UCT_EP_PARAM_FIELD_SOCKADDR_CB_FLAGS | UCT_EP_PARAM_FIELD_SOCKADDR_CONNECT_CB_CLIENT |
                        UCT_EP_PARAM_FIELD_SOCKADDR_DISCONNECT_CB;
    params.cm                 = side->manager ? side->manager : cm.cm;
    params.user_data          = side;
    params.sockaddr           = &addr;
    params.sockaddr_cb_flags  = UCT_CB_FLAG_ASYNC;
    params.sockaddr_cb_client = cm_on_connect;
    params.disconnect_cb      = cm_on_disconnect;
    if (side->pack) {
        params.field_mask      |= UCT_EP_PARAM_FIELD_SOCKADDR_PACK_CB;
        params.sockaddr_pack_cb = cm_on_pack;
    } else {
        params.field_mask   |= UCT_EP_PARAM_FIELD_CM_RESOLVE_CB;
        params.cm_resolve_cb = cm_on_resolve;
    }
    if (from != NULL) {
        params.field_mask    |= UCT_EP_PARAM_FIELD_LOCAL_SOCKADDR;
        params.local_sockaddr = &local;
    }
    return uct_ep_create(&params, &side->ep);
}

static inline ucs_status_t cm_client(cm_side_t *side, const struct sockaddr_storage *to)
{
    return cm_client_from(side, to, NULL);
}

static inline ucs_status_t cm_accept(cm_side_t *side, uct_conn_request_h request)
{
    uct_ep_params_t params;

    memset(&params, 0, sizeof(params));
    params.field_mask = UCT_EP_PARAM_FIELD_CM | UCT_EP_PARAM_FIELD_USER_DATA | UCT_EP_PARAM_FIELD_CONN_REQUEST |
                        UCT_EP_PARAM_FIELD_SOCKADDR_CB_FLAGS | UCT_EP_PARAM_FIELD_SOCKADDR_NOTIFY_CB_SERVER |
                        UCT_EP_PARAM_FIELD_SOCKADDR_DISCONNECT_CB;
    params.cm                 = side->manager ? side->manager : cm.cm;
    params.user_data          = side;
    params.conn_request       = request;
    params.sockaddr_cb_flags  = UCT_CB_FLAG_ASYNC;
    params.sockaddr_cb_server = cm_on_notify;
    params.disconnect_cb      = cm_on_disconnect;
    if (side->pack) {
        params.field_mask      |= UCT_EP_PARAM_FIELD_SOCKADDR_PACK_CB;
        params.sockaddr_pack_cb = cm_on_pack;
    } else {
        params.field_mask |= UCT_EP_PARAM_FIELD_PRIV_DATA | UCT_EP_PARAM_FIELD_PRIV_DATA_LENGTH;
        params.private_data        = side->priv;
        params.private_data_length = side->priv_length;
    }
    return uct_ep_create(&params, &side->ep);
}

static inline void cm_on_request(uct_listener_h listener, void *arg, const uct_cm_listener_conn_request_args_t *args)
{
    cm_server_t *server = arg;

    CHECK(listener == server->listener);
    CHECK(args->field_mask & UCT_CM_LISTENER_CONN_REQUEST_ARGS_FIELD_CONN_REQUEST);
    CHECK(server->requests < 64);
    server->mask                       = args->field_mask;
    server->request[server->requests]  = args->conn_request;
    if (args->field_mask & UCT_CM_LISTENER_CONN_REQUEST_ARGS_FIELD_DEV_NAME) {
        memcpy(server->dev_name, args->dev_name, sizeof(server->dev_name));
    }
    if (args->field_mask & UCT_CM_LISTENER_CONN_REQUEST_ARGS_FIELD_REMOTE_DATA) {
        cm_take_remote(args->remote_data, &server->remote_mask, server->remote, &server->remote_length,
                       &server->dev_addr_length);
    }
    if (args->field_mask & UCT_CM_LISTENER_CONN_REQUEST_ARGS_FIELD_CLIENT_ADDR) {
        server->client_length = args->client_address.addrlen;
        memcpy(&server->client, args->client_address.addr, server->client_length);
    }
    if (server->answer == CM_REJECT) {
        server->answer_status = uct_listener_reject(listener, args->conn_request);
    } else if (server->answer == CM_ACCEPT) {
        server->answer_status = cm_accept(server->accept_as, args->conn_request);
    }
    ++server->requests;
    cm_changed();
}

static inline ucs_status_t cm_listen_on(uct_cm_h manager, cm_server_t *server, const struct sockaddr_storage *at)
{
    uct_listener_params_t params = {
        .field_mask      = UCT_LISTENER_PARAM_FIELD_CONN_REQUEST_CB | UCT_LISTENER_PARAM_FIELD_USER_DATA,
        .conn_request_cb = cm_on_request,
        .user_data       = server};
    uct_listener_attr_t attr = {.field_mask = UCT_LISTENER_ATTR_FIELD_SOCKADDR};
    ucs_status_t status = uct_listener_create(manager, (const void *)at, cm_addr_length(at), &params,
                                              &server->listener);
    if (status == UCS_OK) {
        CHECK_OK(uct_listener_query(server->listener, &attr));
        server->addr = attr.sockaddr;
    }
    return status;
}

static inline void cm_listen(cm_server_t *server, const char *ip)
{
    struct sockaddr_storage at = cm_addr(ip, 0);
    CHECK_OK(cm_listen_on(cm.cm, server, &at));
    CHECK(cm_port(&server->addr) != 0);
}

/* A client and a server that are connected and notified. */
static inline void cm_connect_pair(cm_server_t *listener, cm_side_t *client, cm_side_t *server)
{
    int before = listener->requests;

    CHECK_OK(cm_client(client, &listener->addr));
    if (!client->pack) {
        CM_WAIT(client->resolved == 1);
        CHECK_OK(cm_side_connect(client));
    }
    CM_WAIT(listener->requests == before + 1);
    CHECK_OK(cm_accept(server, listener->request[before]));
    CM_WAIT(client->connected == 1);
    CHECK_EQ(client->connect_status, UCS_OK);
    CHECK_OK(uct_cm_client_ep_conn_notify(client->ep));
    CM_WAIT(server->notified == 1);
    CHECK_EQ(server->notify_status, UCS_OK);
}

static inline void cm_destroy(cm_side_t *side)
{
    uct_ep_destroy(side->ep);
    side->ep               = NULL;
    side->no_callbacks_now = 1;
}

static inline const char *cm_name(ucs_status_t status)
{
    switch ((int)status) {
    case UCS_OK: return "OK";
    case UCS_INPROGRESS: return "INPROGRESS";
    case UCS_ERR_BUSY: return "BUSY";
    case UCS_ERR_NOT_CONNECTED: return "NOT_CONNECTED";
    case UCS_ERR_REJECTED: return "REJECTED";
    case UCS_ERR_UNREACHABLE: return "UNREACHABLE";
    case UCS_ERR_CONNECTION_RESET: return "CONNECTION_RESET";
    case UCS_ERR_INVALID_PARAM: return "INVALID_PARAM";
    case UCS_ERR_INVALID_ADDR: return "INVALID_ADDR";
    case UCS_ERR_UNSUPPORTED: return "UNSUPPORTED";
    case UCS_ERR_EXCEEDS_LIMIT: return "EXCEEDS_LIMIT";
    case UCS_ERR_NO_DEVICE: return "NO_DEVICE";
    case UCS_ERR_IO_ERROR: return "IO_ERROR";
    case UCS_ERR_NO_RESOURCE: return "NO_RESOURCE";
    case UCS_ERR_TIMED_OUT: return "TIMED_OUT";
    default: return ucs_status_string(status);
    }
}

#endif
