/* Connection manager: the arguments of every callback and the result of every call, from the first packet to the
 * disconnection, in each order that upstream's manager supports too. */
/* oracle: 1.22.0 */
/* env: UCX_LOG_LEVEL=fatal */
/* timeout: 60 */
#include "cm.h"

#ifndef CM_IP
#define CM_IP "127.0.0.1"
#endif

static const char hello[] = "hello", answer[] = "an answer";

#define CLIENT(name) cm_side_t name = {.priv = hello, .priv_length = sizeof(hello)}
#define SERVER(name) cm_side_t name = {.priv = answer, .priv_length = sizeof(answer)}

static void test_attributes(void)
{
    uct_cm_attr_t nothing = {.field_mask = 0, .max_conn_priv = 77};
    uct_cm_config_t *config;
    uct_cm_attr_t attr = {.field_mask = UCT_CM_ATTR_FIELD_MAX_CONN_PRIV};
    uct_cm_h other;

    CHECK_OK(uct_cm_query(cm.cm, &nothing));
    CHECK_EQ(nothing.max_conn_priv, 77);
    printf("max_conn_priv %zu\n", cm.max_priv);
    setenv("UCX_TCP_CM_PRIV_DATA_LEN", "100", 1);
    other = cm_open_one();
    unsetenv("UCX_TCP_CM_PRIV_DATA_LEN");
    CHECK_OK(uct_cm_query(other, &attr));
    printf("with 100: %zu\n", attr.max_conn_priv);
    uct_cm_close(other);
    printf("no manager in self: %s\n",
           cm_name(uct_cm_config_read(cm_find_component("self"), NULL, NULL, &config)));
    OK("attributes and configuration");
}

static void print_request(const cm_server_t *server)
{
    printf("request: mask %lx dev %s remote %lx '%s' %zu client %d family %d\n", (long)server->mask, server->dev_name,
           (long)server->remote_mask, server->remote, server->remote_length, (int)server->client_length,
           server->client.ss_family);
}

static void print_client(const cm_side_t *side)
{
    printf("client: resolved %d %s mask %lx dev %s packed %d mask %lx connected %d %s mask %lx remote %lx '%s' %zu "
           "notified %d disconnected %d\n",
           side->resolved, cm_name(side->resolve_status), (long)side->resolve_mask, side->dev_name, side->packed,
           (long)side->pack_mask, side->connected, cm_name(side->connect_status), (long)side->connect_mask,
           (long)side->remote_mask, side->remote, side->remote_length, side->notified, side->disconnected);
}

static void print_server(const cm_side_t *side)
{
    printf("server: resolved %d packed %d connected %d notified %d %s mask %lx disconnected %d\n", side->resolved,
           side->packed, side->connected, side->notified, cm_name(side->notify_status), (long)side->notify_mask,
           side->disconnected);
}

/* Client and server with data given or packed: 4 ways. */
static void test_connect(const char *ip, int client_packs, int server_packs, cm_answer_t how)
{
    cm_server_t listener = {.answer = how};
    CLIENT(client);
    SERVER(server);

    client.pack        = client_packs;
    server.pack        = server_packs;
    listener.accept_as = &server;
    cm_listen(&listener, ip);
    CHECK_OK(cm_client(&client, &listener.addr));
    if (!client_packs) {
        CM_WAIT(client.resolved == 1);
        CHECK_STATUS(uct_ep_disconnect(client.ep, 0), UCS_ERR_BUSY);
        CHECK_OK(cm_side_connect(&client));
    }
    CM_WAIT(listener.requests == 1);
    print_request(&listener);
    if (how == CM_KEEP) {
        CHECK_STATUS(uct_ep_disconnect(client.ep, 0), UCS_ERR_BUSY);
        CHECK_OK(cm_accept(&server, listener.request[0]));
    } else {
        CHECK_OK(listener.answer_status);
    }
    CM_WAIT(client.connected == 1);
    CHECK(client.dev_addr_length > 0);
    CHECK_STATUS(uct_ep_disconnect(server.ep, 0), UCS_ERR_BUSY);
    CHECK_OK(uct_cm_client_ep_conn_notify(client.ep));
    CM_WAIT(server.notified == 1);
    print_client(&client);
    print_server(&server);

    CHECK_STATUS(uct_ep_put_short(client.ep, NULL, 0, 0, 0), UCS_ERR_UNSUPPORTED);
    CHECK_STATUS(uct_ep_am_short(client.ep, 0, 0, NULL, 0), UCS_ERR_UNSUPPORTED);
    CHECK_OK(uct_ep_flush(client.ep, 0, NULL));

    /* The client begins. */
    CHECK_OK(uct_ep_disconnect(client.ep, 0));
    CHECK_STATUS(uct_ep_disconnect(client.ep, 0), UCS_INPROGRESS);
    CM_WAIT(server.disconnected == 1);
    CHECK_STATUS(uct_ep_disconnect(client.ep, 0), UCS_INPROGRESS);
    CHECK_EQ(client.disconnected, 0);
    CHECK_OK(uct_ep_disconnect(server.ep, 0));
    CHECK_STATUS(uct_ep_disconnect(server.ep, 0), UCS_ERR_NOT_CONNECTED);
    CM_WAIT(client.disconnected == 1);
    CHECK_STATUS(uct_ep_disconnect(client.ep, 0), UCS_ERR_NOT_CONNECTED);
    CHECK_STATUS(uct_cm_client_ep_conn_notify(client.ep), UCS_ERR_NOT_CONNECTED);
    cm_destroy(&client);
    cm_destroy(&server);
    uct_listener_destroy(listener.listener);
    OK("%s: client %s, server %s, answered %s", ip, client_packs ? "packs" : "gives data",
       server_packs ? "packs" : "gives data", (how == CM_KEEP) ? "later" : "in the callback");
}

static void test_disconnect_orders(void)
{
    cm_server_t listener = {.answer = CM_KEEP};
    int i;

    cm_listen(&listener, CM_IP);
    for (i = 0; i < 6; ++i) {
        CLIENT(client);
        SERVER(server);
        cm_side_t *first = (i % 2) ? &server : &client, *second = (i % 2) ? &client : &server;

        cm_connect_pair(&listener, &client, &server);
        switch (i / 2) {
        case 0: /* one after the other */
            CHECK_OK(uct_ep_disconnect(first->ep, 0));
            CM_WAIT(second->disconnected == 1);
            CHECK_OK(uct_ep_disconnect(second->ep, 0));
            CM_WAIT(first->disconnected == 1);
            break;
        case 1: /* both at once */
            CHECK_OK(uct_ep_disconnect(first->ep, 0));
            CHECK_OK(uct_ep_disconnect(second->ep, 0));
            CM_WAIT((first->disconnected == 1) && (second->disconnected == 1));
            break;
        case 2: /* one is destroyed without a word */
            cm_destroy(first);
            CM_WAIT(second->disconnected == 1);
            CHECK_OK(uct_ep_disconnect(second->ep, 0));
            break;
        }
        CHECK_STATUS(uct_ep_disconnect(second->ep, 0), UCS_ERR_NOT_CONNECTED);
        CHECK_EQ(second->disconnected, 1);
        if (first->ep != NULL) {
            CHECK_STATUS(uct_ep_disconnect(first->ep, 0), UCS_ERR_NOT_CONNECTED);
            CHECK_EQ(first->disconnected, 1);
            cm_destroy(first);
        }
        cm_destroy(second);
        OK("disconnect %s: %s begins", (i / 2 == 0) ? "in turn" : (i / 2 == 1) ? "at once" : "by destroying",
           (i % 2) ? "server" : "client");
    }
    uct_listener_destroy(listener.listener);
}

static void test_reject(cm_answer_t how)
{
    cm_server_t listener = {.answer = how};
    CLIENT(client);

    cm_listen(&listener, CM_IP);
    CHECK_OK(cm_client(&client, &listener.addr));
    CM_WAIT(client.resolved == 1);
    CHECK_OK(cm_side_connect(&client));
    CM_WAIT(listener.requests == 1);
    if (how == CM_KEEP) {
        CHECK_OK(uct_listener_reject(listener.listener, listener.request[0]));
    } else {
        CHECK_OK(listener.answer_status);
    }
    CM_WAIT(client.connected == 1);
    print_client(&client);
    CHECK_STATUS(uct_ep_disconnect(client.ep, 0), UCS_ERR_NOT_CONNECTED);
    CHECK_STATUS(uct_cm_client_ep_conn_notify(client.ep), UCS_ERR_NOT_CONNECTED);
    CHECK_EQ(client.disconnected, 0);
    cm_destroy(&client);
    uct_listener_destroy(listener.listener);
    OK("rejected %s", (how == CM_KEEP) ? "later" : "in the callback");
}

/* Destroyed, or disconnected, between the answer and the notification. */
static void test_before_notify(void)
{
    cm_server_t listener = {.answer = CM_KEEP};
    int i;

    cm_listen(&listener, CM_IP);
    for (i = 0; i < 3; ++i) {
        CLIENT(client);
        SERVER(server);

        CHECK_OK(cm_client(&client, &listener.addr));
        CM_WAIT(client.resolved == 1);
        CHECK_OK(cm_side_connect(&client));
        CM_WAIT(listener.requests == i + 1);
        CHECK_OK(cm_accept(&server, listener.request[i]));
        CM_WAIT(client.connected == 1);
        switch (i) {
        case 0:
            cm_destroy(&client);
            CM_WAIT(server.notified == 1);
            print_server(&server);
            CHECK_STATUS(uct_ep_disconnect(server.ep, 0), UCS_ERR_NOT_CONNECTED);
            cm_destroy(&server);
            break;
        case 1:
            cm_destroy(&server);
            CM_WAIT(client.disconnected == 1);
            CHECK_STATUS(uct_cm_client_ep_conn_notify(client.ep), UCS_ERR_NOT_CONNECTED);
            CHECK_OK(uct_ep_disconnect(client.ep, 0));
            CHECK_STATUS(uct_ep_disconnect(client.ep, 0), UCS_ERR_NOT_CONNECTED);
            cm_destroy(&client);
            break;
        case 2:
            CHECK_OK(uct_ep_disconnect(client.ep, 0));
            CM_WAIT(server.notified == 1);
            print_server(&server);
            CHECK_STATUS(uct_cm_client_ep_conn_notify(client.ep), UCS_ERR_NOT_CONNECTED);
            CHECK_STATUS(uct_ep_disconnect(server.ep, 0), UCS_ERR_NOT_CONNECTED);
            cm_destroy(&client);
            cm_destroy(&server);
            break;
        }
        CHECK_EQ(server.disconnected, 0);
        OK("%s before the notification", (i == 0) ? "client destroyed" : (i == 1) ? "server destroyed" :
                                                                                    "client disconnects");
    }
    uct_listener_destroy(listener.listener);
}

static void test_private_data(void)
{
    cm_server_t listener = {.answer = CM_KEEP};
    static char big[CM_MAX_PRIV + 1];
    size_t lengths[3] = {0, 1, cm.max_priv}, i, k;

    for (i = 0; i < sizeof(big); ++i) {
        big[i] = (char)(i * 7);
    }
    cm_listen(&listener, CM_IP);
    for (k = 0; k < 3; ++k) {
        cm_side_t client = {.priv = big, .priv_length = lengths[k]};
        cm_side_t server = {.priv = big, .priv_length = lengths[k]};

        cm_connect_pair(&listener, &client, &server);
        CHECK_EQ(listener.remote_length, lengths[k]);
        CHECK(!memcmp(listener.remote, big, lengths[k]));
        CHECK_EQ(client.remote_length, lengths[k]);
        CHECK(!memcmp(client.remote, big, lengths[k]));
        cm_destroy(&client);
        cm_destroy(&server);
    }
    {
        cm_side_t client = {.priv = big, .priv_length = cm.max_priv + 1};
        CHECK_OK(cm_client(&client, &listener.addr));
        CM_WAIT(client.resolved == 1);
        CHECK_STATUS(cm_side_connect(&client), UCS_ERR_BUFFER_TOO_SMALL);
        cm_destroy(&client);
    }
    {
        CLIENT(client);
        uct_ep_connect_params_t none = {.field_mask = 0};
        CHECK_OK(cm_client(&client, &listener.addr));
        CM_WAIT(client.resolved == 1);
        CHECK_OK(uct_ep_connect(client.ep, &none));
        CM_WAIT(listener.requests == 4);
        CHECK_EQ(listener.remote_length, 0);
        CHECK_OK(uct_listener_reject(listener.listener, listener.request[3]));
        CM_WAIT(client.connected == 1);
        cm_destroy(&client);
    }
    uct_listener_destroy(listener.listener);
    OK("private data of no, one, the most and too many bytes");
}

static void test_listeners(void)
{
    cm_server_t one = {.answer = CM_KEEP}, two = {.answer = CM_KEEP}, any = {.answer = CM_KEEP};
    struct sockaddr_storage at = cm_addr("0.0.0.0", 0);
    uct_listener_params_t params = {.field_mask = UCT_LISTENER_PARAM_FIELD_CONN_REQUEST_CB |
                                                  UCT_LISTENER_PARAM_FIELD_USER_DATA |
                                                  UCT_LISTENER_PARAM_FIELD_BACKLOG,
                                    .backlog = 3, .conn_request_cb = cm_on_request, .user_data = &two};
    uct_listener_params_t no_callback = {.field_mask = 0};
    uct_listener_attr_t attr = {.field_mask = UCT_LISTENER_ATTR_FIELD_SOCKADDR}, nothing = {.field_mask = 0};
    CLIENT(client);
    CLIENT(other);

    cm_listen(&one, CM_IP);
    CHECK_STATUS(cm_listen_on(cm.cm, &two, &one.addr), UCS_ERR_BUSY);
    at = cm_addr(CM_IP, 0);
    CHECK_OK(uct_listener_create(cm.cm, (void *)&at, sizeof(struct sockaddr_in), &params, &two.listener));
    CHECK_OK(uct_listener_query(two.listener, &attr));
    two.addr = attr.sockaddr;
    CHECK_OK(uct_listener_query(two.listener, &nothing));
    CHECK_STATUS(uct_listener_create(cm.cm, (void *)&at, sizeof(struct sockaddr_in), &no_callback, &any.listener),
                 UCS_ERR_INVALID_PARAM);
    at = cm_addr("192.0.2.77", 0);
    CHECK_STATUS(cm_listen_on(cm.cm, &any, &at), UCS_ERR_IO_ERROR);
    at = cm_addr("0.0.0.0", 0);
    CHECK_OK(cm_listen_on(cm.cm, &any, &at));
    CHECK(cm_port(&any.addr) != 0);

    at = cm_addr(CM_IP, cm_port(&any.addr));
    CHECK_OK(cm_client(&client, &at));
    CHECK_OK(cm_client(&other, &two.addr));
    CM_WAIT((client.resolved == 1) && (other.resolved == 1));
    CHECK_OK(cm_side_connect(&client));
    CHECK_OK(cm_side_connect(&other));
    CM_WAIT((any.requests == 1) && (two.requests == 1));
    CHECK_EQ(one.requests, 0);
    CHECK_OK(uct_listener_reject(any.listener, any.request[0]));
    /* A request outlives its listener. */
    uct_listener_destroy(two.listener);
    {
        SERVER(server);
        CHECK_OK(cm_accept(&server, two.request[0]));
        CM_WAIT((client.connected == 1) && (other.connected == 1));
        CHECK_EQ(client.connect_status, UCS_ERR_REJECTED);
        CHECK_EQ(other.connect_status, UCS_OK);
        cm_destroy(&server);
    }
    cm_destroy(&client);
    cm_destroy(&other);
    uct_listener_destroy(one.listener);
    uct_listener_destroy(any.listener);
    OK("many listeners, any address, port 0, backlog, what cannot be listened at");
}

static void test_parameters(void)
{
    cm_server_t listener = {.answer = CM_KEEP};
    ucs_sock_addr_t addr = {.addr = (void *)&listener.addr, .addrlen = sizeof(struct sockaddr_in)};
    uct_ep_params_t params = {.field_mask = UCT_EP_PARAM_FIELD_CM, .cm = cm.cm, .sockaddr = &addr};
    uct_ep_h ep;

    cm_listen(&listener, CM_IP);
    CHECK_STATUS(uct_ep_create(&params, &ep), UCS_ERR_INVALID_PARAM);
    params.field_mask |= UCT_EP_PARAM_FIELD_SOCKADDR;
    CHECK_STATUS(uct_ep_create(&params, &ep), UCS_ERR_UNSUPPORTED);
    params.field_mask |= UCT_EP_PARAM_FIELD_SOCKADDR_CB_FLAGS;
    CHECK_STATUS(uct_ep_create(&params, &ep), UCS_ERR_UNSUPPORTED);
    params.sockaddr_cb_flags = UCT_CB_FLAG_ASYNC;
    CHECK_OK(uct_ep_create(&params, &ep));
    uct_ep_destroy(ep);
    uct_listener_destroy(listener.listener);
    OK("parameters that are missing");
}

static void test_client_left(void)
{
    cm_server_t listener = {.answer = CM_KEEP};
    int i;

    cm_listen(&listener, CM_IP);
    for (i = 0; i < 2; ++i) {
        CLIENT(client);
        CLIENT(later);
        SERVER(server);
        ucs_status_t status;

        CHECK_OK(cm_client(&client, &listener.addr));
        CM_WAIT(client.resolved == 1);
        CHECK_OK(cm_side_connect(&client));
        CM_WAIT(listener.requests == 2 * i + 1);
        cm_destroy(&client);
        /* A later client is shown only after the first one's end was seen. */
        CHECK_OK(cm_client(&later, &listener.addr));
        CM_WAIT(later.resolved == 1);
        CHECK_OK(cm_side_connect(&later));
        CM_WAIT(listener.requests == 2 * i + 2);
        CHECK_OK(uct_listener_reject(listener.listener, listener.request[2 * i + 1]));
        CM_WAIT(later.connected == 1);
        cm_destroy(&later);
        status = i ? uct_listener_reject(listener.listener, listener.request[2 * i]) :
                     cm_accept(&server, listener.request[2 * i]);
        printf("%s after the client left: %s\n", i ? "reject" : "accept", cm_name(status));
    }
    uct_listener_destroy(listener.listener);
    OK("answers after the client left");
}

#ifndef CM_MODES
#define CM_MODES UCS_ASYNC_MODE_THREAD_SPINLOCK
/* Upstream's manager sometimes loses a client that is accepted within the callback. */
#define CM_IN_CALLBACK 0
#endif

int main(void)
{
    static const ucs_async_mode_t modes[] = {CM_MODES};
    int fds, i;

#ifdef CM_KEEPS_DEVICES
    /* The library behind the manager keeps the devices that it has opened. */
    cm_start(modes[0]);
    test_reject(CM_KEEP);
    cm_stop();
#endif
    fds = open_descriptors();
    for (i = 0; i < sizeof(modes) / sizeof(modes[0]); ++i) {
        cm_start(modes[i]);
        test_attributes();
        test_connect(CM_IP, 0, 0, CM_KEEP);
        test_connect(CM_IP, 0, 1, CM_KEEP);
        test_connect(CM_IP, 1, 0, CM_KEEP);
        test_connect(CM_IP, 1, 1, CM_KEEP);
        if (CM_IN_CALLBACK) {
            test_connect(CM_IP, 0, 0, CM_ACCEPT);
            test_connect(CM_IP, 1, 1, CM_ACCEPT);
        }
        test_disconnect_orders();
        test_reject(CM_KEEP);
        test_reject(CM_REJECT);
        test_before_notify();
        test_private_data();
        test_listeners();
        test_parameters();
        test_client_left();
        cm_stop();
        CHECK_EQ(open_descriptors(), fds);
    }
    OK("no descriptor is left over");
    return 0;
}
