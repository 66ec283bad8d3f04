/* Connection manager: callbacks that call back: create, connect, answer, notify, disconnect and destroy
 * inside every callback, also of the endpoint that the callback is about. */
/* env: UCX_LOG_LEVEL=fatal */
/* timeout: 60 */
#include "cm.h"

static cm_server_t listener;
static cm_side_t client, server;
static volatile int destroyed_client, destroyed_server, more;
static int scenario;

enum {
    WHOLE_LIFE,       /* everything happens in callbacks */
    IN_RESOLVE,       /* the client is destroyed in its resolve callback */
    IN_PACK,          /* ... in its packing callback */
    IN_CONNECT,       /* ... in its connect callback */
    IN_CONNECT_SHUT,  /* the client disconnects in its connect callback */
    IN_REJECTED,      /* ... is destroyed when it hears that it is rejected */
    IN_NOTIFY,        /* the server is destroyed in its notify callback */
    IN_NOTIFY_FAILED, /* ... in one that brings a failure */
    IN_DISCONNECT,    /* both are destroyed in their disconnect callbacks */
    IN_REQUEST,       /* the listener is destroyed in its callback, before the answer */
    MORE,             /* a connect callback connects the next client */
    SCENARIOS
};

static const char *const names[SCENARIOS] = {
    "a whole life in callbacks", "client destroyed in resolve", "client destroyed in pack",
    "client destroyed in connect", "client disconnects in connect", "client destroyed when rejected",
    "server destroyed in notify", "server destroyed in a failed notify", "both destroyed in disconnect",
    "listener destroyed in its callback", "one client connects the next"};

static void gone_client(uct_ep_h ep)
{
    uct_ep_destroy(ep);
    client.no_callbacks_now = 1;
    ++destroyed_client;
    cm_changed();
}

static void gone_server(uct_ep_h ep)
{
    uct_ep_destroy(ep);
    server.no_callbacks_now = 1;
    ++destroyed_server;
    cm_changed();
}

static ucs_status_t on_resolve(void *arg, const uct_cm_ep_resolve_args_t *args)
{
    CHECK(!client.no_callbacks_now);
    CHECK_EQ(args->status, UCS_OK);
    ++client.resolved;
    if (scenario == IN_RESOLVE) {
        gone_client(client.ep);
        return UCS_OK;
    }
    return cm_side_connect(&client);
}

static ssize_t on_pack(void *arg, const uct_cm_ep_priv_data_pack_args_t *args, void *priv)
{
    CHECK(!client.no_callbacks_now);
    gone_client(client.ep);
    memcpy(priv, "abc", 4);
    return 4;
}

static void on_connect(uct_ep_h ep, void *arg, const uct_cm_ep_client_connect_args_t *args);
static void on_disconnect(uct_ep_h ep, void *arg);

static void begin(void)
{
    ucs_sock_addr_t addr   = {.addr = (void *)&listener.addr, .addrlen = sizeof(struct sockaddr_in)};
    uct_ep_params_t params = {
        .field_mask = UCT_EP_PARAM_FIELD_CM | UCT_EP_PARAM_FIELD_USER_DATA | UCT_EP_PARAM_FIELD_SOCKADDR |
                      UCT_EP_PARAM_FIELD_SOCKADDR_CB_FLAGS | UCT_EP_PARAM_FIELD_SOCKADDR_CONNECT_CB_CLIENT |
                      UCT_EP_PARAM_FIELD_SOCKADDR_DISCONNECT_CB,
        .cm                 = cm.cm,
        .user_data          = &client,
        .sockaddr           = &addr,
        .sockaddr_cb_flags  = UCT_CB_FLAG_ASYNC,
        .sockaddr_cb_client = on_connect,
        .disconnect_cb      = on_disconnect};

    if (scenario == IN_PACK) {
        params.field_mask      |= UCT_EP_PARAM_FIELD_SOCKADDR_PACK_CB;
        params.sockaddr_pack_cb = on_pack;
    } else {
        params.field_mask   |= UCT_EP_PARAM_FIELD_CM_RESOLVE_CB;
        params.cm_resolve_cb = on_resolve;
    }
    CHECK_OK(uct_ep_create(&params, &client.ep));
}

static void on_connect(uct_ep_h ep, void *arg, const uct_cm_ep_client_connect_args_t *args)
{
    CHECK(!client.no_callbacks_now);
    CHECK(ep == client.ep);
    CHECK_EQ(args->status, (scenario == IN_REJECTED) ? UCS_ERR_REJECTED : UCS_OK);
    ++client.connected;
    switch (scenario) {
    case IN_CONNECT:
    case IN_REJECTED:
        gone_client(ep);
        return;
    case IN_CONNECT_SHUT:
    case IN_NOTIFY_FAILED:
        CHECK_OK(uct_ep_disconnect(ep, 0));
        CHECK_STATUS(uct_cm_client_ep_conn_notify(ep), UCS_ERR_NOT_CONNECTED);
        break;
    case MORE:
        CHECK_OK(uct_cm_client_ep_conn_notify(ep));
        uct_ep_destroy(ep);
        if (++more < 10) {
            begin();
        }
        break;
    default:
        CHECK_OK(uct_cm_client_ep_conn_notify(ep));
    }
    cm_changed();
}

static void on_disconnect(uct_ep_h ep, void *arg)
{
    cm_side_t *side = arg;

    CHECK(!side->no_callbacks_now);
    ++side->disconnected;
    if (scenario == MORE) {
        uct_ep_destroy(ep);
        ++destroyed_server;
    } else if ((scenario == WHOLE_LIFE) || (scenario == IN_DISCONNECT)) {
        ucs_status_t status = uct_ep_disconnect(ep, 0);
        CHECK((status == UCS_OK) || (status == UCS_ERR_NOT_CONNECTED));
        if (side == &client) {
            gone_client(ep);
        } else {
            gone_server(ep);
        }
    }
    cm_changed();
}

static void on_notify(uct_ep_h ep, void *arg, const uct_cm_ep_server_conn_notify_args_t *args)
{
    CHECK(!server.no_callbacks_now);
    ++server.notified;
    server.notify_status = args->status;
    switch (scenario) {
    case WHOLE_LIFE:
    case IN_DISCONNECT:
        CHECK_OK(uct_ep_disconnect(ep, 0));
        break;
    case IN_NOTIFY:
    case IN_NOTIFY_FAILED:
        gone_server(ep);
        break;
    }
    cm_changed();
}

static void on_request(uct_listener_h handle, void *arg, const uct_cm_listener_conn_request_args_t *args)
{
    uct_ep_params_t params = {
        .field_mask = UCT_EP_PARAM_FIELD_CM | UCT_EP_PARAM_FIELD_USER_DATA | UCT_EP_PARAM_FIELD_CONN_REQUEST |
                      UCT_EP_PARAM_FIELD_SOCKADDR_CB_FLAGS | UCT_EP_PARAM_FIELD_SOCKADDR_NOTIFY_CB_SERVER |
                      UCT_EP_PARAM_FIELD_SOCKADDR_DISCONNECT_CB,
        .cm                 = cm.cm,
        .user_data          = &server,
        .conn_request       = args->conn_request,
        .sockaddr_cb_flags  = UCT_CB_FLAG_ASYNC,
        .sockaddr_cb_server = on_notify,
        .disconnect_cb      = on_disconnect};

    if (scenario == IN_REQUEST) {
        uct_listener_destroy(handle);
        listener.listener = NULL;
    }
    if (scenario == IN_REJECTED) {
        CHECK_OK(uct_listener_reject(handle, args->conn_request));
    } else {
        CHECK_OK(uct_ep_create(&params, &server.ep));
    }
    ++listener.requests;
    cm_changed();
}

static void run(void)
{
    struct sockaddr_storage at   = cm_addr("127.0.0.1", 0);
    uct_listener_attr_t attr     = {.field_mask = UCT_LISTENER_ATTR_FIELD_SOCKADDR};
    uct_listener_params_t params = {.field_mask      = UCT_LISTENER_PARAM_FIELD_CONN_REQUEST_CB,
                                    .conn_request_cb = on_request};

    memset(&listener, 0, sizeof(listener));
    memset(&client, 0, sizeof(client));
    memset(&server, 0, sizeof(server));
    client.priv = server.priv = "data";
    client.priv_length = server.priv_length = 5;
    destroyed_client = destroyed_server = more = 0;
    CHECK_OK(uct_listener_create(cm.cm, (void *)&at, sizeof(struct sockaddr_in), &params, &listener.listener));
    CHECK_OK(uct_listener_query(listener.listener, &attr));
    listener.addr = attr.sockaddr;

    begin();
    switch (scenario) {
    case IN_RESOLVE:
    case IN_PACK:
    case IN_REJECTED:
        CM_WAIT(destroyed_client == 1);
        break;
    case WHOLE_LIFE:
    case IN_DISCONNECT:
        CM_WAIT((destroyed_client == 1) && (destroyed_server == 1));
        CHECK_EQ(client.disconnected, 1);
        CHECK_EQ(server.disconnected, 1);
        break;
    case IN_CONNECT:
        CM_WAIT((destroyed_client == 1) && (server.notified == 1));
        CHECK_EQ(server.notify_status, UCS_ERR_CONNECTION_RESET);
        uct_ep_destroy(server.ep);
        break;
    case IN_CONNECT_SHUT:
        CM_WAIT((server.notified == 1) && (client.disconnected == 1));
        CHECK_EQ(server.notify_status, UCS_ERR_CONNECTION_RESET);
        uct_ep_destroy(server.ep);
        uct_ep_destroy(client.ep);
        break;
    case IN_NOTIFY:
    case IN_NOTIFY_FAILED:
        CM_WAIT((destroyed_server == 1) && (client.disconnected == 1));
        uct_ep_destroy(client.ep);
        break;
    case IN_REQUEST:
        CM_WAIT(server.notified == 1);
        CHECK_EQ(server.notify_status, UCS_OK);
        uct_ep_destroy(server.ep);
        CM_WAIT(client.disconnected == 1);
        uct_ep_destroy(client.ep);
        break;
    case MORE:
        CM_WAIT((more == 10) && (destroyed_server == 10));
        break;
    }
    if (listener.listener != NULL) {
        uct_listener_destroy(listener.listener);
    }
    CHECK(client.connected == ((scenario == MORE) ? 10 : (scenario == IN_RESOLVE) || (scenario == IN_PACK) ? 0 : 1));
    OK("%s", names[scenario]);
}

int main(void)
{
    static const ucs_async_mode_t modes[] = {UCS_ASYNC_MODE_THREAD_SPINLOCK, UCS_ASYNC_MODE_POLL};
    int i, fds = open_descriptors();

    for (i = 0; i < 2; ++i) {
        cm_start(modes[i]);
        for (scenario = 0; scenario < SCENARIOS; ++scenario) {
            run();
        }
        cm_stop();
        CHECK_EQ(open_descriptors(), fds);
    }
    return 0;
}
