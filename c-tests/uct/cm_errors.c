/* Connection manager: failures that upstream's manager does not report to the client or reports with another status,
 * and calls that upstream lacks: each callback of a client comes exactly once. */
/* env: UCX_LOG_LEVEL=fatal */
/* timeout: 60 */
#include "cm.h"

static const char hello[] = "hello", answer[] = "an answer";

#define CLIENT(name) cm_side_t name = {.priv = hello, .priv_length = sizeof(hello)}
#define SERVER(name) cm_side_t name = {.priv = answer, .priv_length = sizeof(answer)}

/* Lets whatever is still under way on `listener` come: a client of its own goes there and back twice. */
static void settle(cm_server_t *listener)
{
    int i;

    for (i = 0; i < 2; ++i) {
        CLIENT(probe);
        int before         = listener->requests;
        cm_answer_t answer = listener->answer;

        listener->answer = CM_REJECT;
        probe.pack       = 1;
        CHECK_OK(cm_client(&probe, &listener->addr));
        CM_WAIT((probe.connected == 1) && (listener->requests == before + 1));
        CHECK_EQ(probe.connect_status, UCS_ERR_REJECTED);
        cm_destroy(&probe);
        listener->answer = answer;
    }
}

static void test_rejected(void)
{
    cm_server_t listener = {.answer = CM_REJECT};
    CLIENT(client);
    CLIENT(other);
    SERVER(server);

    cm_listen(&listener, "127.0.0.1");
    client.pack = 1;
    CHECK_OK(cm_client(&client, &listener.addr));
    CM_WAIT(client.connected == 1);
    CHECK_EQ(client.connect_status, UCS_ERR_REJECTED);
    CHECK_EQ(client.packed, 1);
    CHECK_EQ(client.remote_mask, 0);
    settle(&listener);
    CHECK_EQ(client.connected, 1);
    CHECK_STATUS(uct_ep_disconnect(client.ep, 0), UCS_ERR_NOT_CONNECTED);
    cm_destroy(&client);
    OK("a client that packs is rejected, and told once");

    listener.answer    = CM_ACCEPT;
    listener.accept_as = &server;
    server.pack        = 1;
    server.pack_answer = UCS_ERR_NO_RESOURCE;
    CHECK_OK(cm_client(&other, &listener.addr));
    CM_WAIT(other.resolved == 1);
    CHECK_OK(cm_side_connect(&other));
    CM_WAIT(other.connected == 1);
    CHECK_EQ(other.connect_status, UCS_ERR_REJECTED);
    CM_WAIT(listener.answer_status == UCS_ERR_NO_RESOURCE);
    CHECK_EQ(server.packed, 1);
    settle(&listener);
    CHECK_EQ(other.connected, 1);
    CHECK_EQ(server.notified, 0);
    cm_destroy(&other);
    OK("a server whose packing fails rejects");

    {
        static char big[CM_MAX_PRIV];
        CLIENT(third);
        cm_side_t long_winded = {.priv = big, .priv_length = cm.max_priv + 1};
        int before            = listener.requests;
        listener.answer       = CM_KEEP;
        CHECK_OK(cm_client(&third, &listener.addr));
        CM_WAIT(third.resolved == 1);
        CHECK_OK(cm_side_connect(&third));
        CM_WAIT(listener.requests == before + 1);
        CHECK_STATUS(cm_accept(&long_winded, listener.request[before]), UCS_ERR_BUFFER_TOO_SMALL);
        CM_WAIT(third.connected == 1);
        CHECK_EQ(third.connect_status, UCS_ERR_REJECTED);
        cm_destroy(&third);
    }
    uct_listener_destroy(listener.listener);
    OK("a server whose private data are too long rejects");
}

static void test_client_fails(void)
{
    cm_server_t listener = {.answer = CM_KEEP};
    CLIENT(packs);
    CLIENT(resolves);

    cm_listen(&listener, "127.0.0.1");
    packs.pack        = 1;
    packs.pack_answer = UCS_ERR_NO_MEMORY;
    CHECK_OK(cm_client(&packs, &listener.addr));
    CM_WAIT(packs.connected == 1);
    CHECK_EQ(packs.connect_status, UCS_ERR_NO_MEMORY);
    resolves.resolve_answer = UCS_ERR_NO_RESOURCE;
    CHECK_OK(cm_client(&resolves, &listener.addr));
    CM_WAIT(resolves.connected == 1);
    CHECK_EQ(resolves.connect_status, UCS_ERR_NO_RESOURCE);
    CHECK_STATUS(cm_side_connect(&resolves), UCS_ERR_NOT_CONNECTED);
    settle(&listener);
    CHECK_EQ(packs.connected, 1);
    CHECK_EQ(resolves.connected, 1);
    CHECK_EQ(listener.requests, 2);
    cm_destroy(&packs);
    cm_destroy(&resolves);
    uct_listener_destroy(listener.listener);
    OK("a client whose callback fails is told its status");
}

static void test_unreachable(void)
{
    cm_server_t listener = {.answer = CM_KEEP};
    struct sockaddr_storage closed, broadcast = cm_addr("255.255.255.255", 9);
    int pack;

    cm_listen(&listener, "127.0.0.1");
    closed = listener.addr;
    uct_listener_destroy(listener.listener);
    for (pack = 0; pack < 2; ++pack) {
        CLIENT(client);
        client.pack = pack;
        CHECK_OK(cm_client(&client, &closed));
        CM_WAIT(client.connected == 1);
        CHECK_EQ(client.connect_status, UCS_ERR_UNREACHABLE);
        CHECK_EQ(client.remote_mask, 0);
        if (!pack) {
            CHECK_EQ(client.resolved, 1);
            CHECK_EQ(client.resolve_status, UCS_ERR_UNREACHABLE);
        }
        CHECK_EQ(client.packed, 0);
        CHECK_STATUS(cm_side_connect(&client), UCS_ERR_NOT_CONNECTED);
        CHECK_STATUS(uct_ep_disconnect(client.ep, 0), UCS_ERR_NOT_CONNECTED);
        cm_destroy(&client);
    }
    {
        /* Whatever the kernel says of this address, it is told once, by the call or by the callback. */
        CLIENT(client);
        client.pack = 1;
        if (cm_client(&client, &broadcast) == UCS_OK) {
            CM_WAIT(client.connected == 1);
            CHECK(client.connect_status != UCS_OK);
            cm_destroy(&client);
        } else {
            CHECK_EQ(client.connected, 0);
        }
    }
    OK("nobody listens");
}

/* The server goes while the client waits for its answer. */
static void test_reset(void)
{
    cm_server_t listener = {.answer = CM_KEEP};
    CLIENT(client);
    uct_cm_h first = cm.cm, second = cm_open_one();
    struct sockaddr_storage at = cm_addr("127.0.0.1", 0);

    CHECK_OK(cm_listen_on(second, &listener, &at));
    CHECK_OK(cm_client(&client, &listener.addr));
    CM_WAIT(client.resolved == 1);
    CHECK_OK(cm_side_connect(&client));
    CM_WAIT(listener.requests == 1);
    /* A request is of its manager. */
    {
        SERVER(server);
        CHECK_STATUS(cm_accept(&server, listener.request[0]), UCS_ERR_INVALID_PARAM);
    }
    uct_listener_destroy(listener.listener);
    CHECK_EQ(client.connected, 0);
    uct_cm_close(second);
    CM_WAIT(client.connected == 1);
    CHECK_EQ(client.connect_status, UCS_ERR_CONNECTION_RESET);
    CHECK_EQ(client.disconnected, 0);
    CHECK(cm.cm == first);
    cm_destroy(&client);
    OK("the server goes without an answer");
}

static void test_stale_requests(void)
{
    cm_server_t listener = {.answer = CM_KEEP};
    CLIENT(client);
    SERVER(server);
    uct_conn_request_h request;

    cm_listen(&listener, "127.0.0.1");
    CHECK_STATUS(uct_listener_reject(listener.listener, NULL), UCS_ERR_INVALID_PARAM);
    CHECK_STATUS(uct_listener_reject(listener.listener, (void *)0x1234567890), UCS_ERR_INVALID_PARAM);
    CHECK_STATUS(cm_accept(&server, &listener), UCS_ERR_INVALID_PARAM);
    cm_connect_pair(&listener, &client, &server);
    request = listener.request[0];
    CHECK_STATUS(uct_listener_reject(listener.listener, request), UCS_ERR_INVALID_PARAM);
    {
        SERVER(again);
        CHECK_STATUS(cm_accept(&again, request), UCS_ERR_INVALID_PARAM);
    }
    CHECK_STATUS(cm_side_connect(&client), UCS_ERR_ALREADY_EXISTS);
    CHECK_STATUS(cm_side_connect(&server), UCS_ERR_UNSUPPORTED);
    CHECK_STATUS(uct_cm_client_ep_conn_notify(server.ep), UCS_ERR_UNSUPPORTED);
    /* Upstream's 1.13.1 crashes there. */
    CHECK_STATUS(uct_ep_am_bcopy(client.ep, 0, NULL, NULL, 0), UCS_ERR_UNSUPPORTED);
    CHECK_STATUS(UCS_PTR_STATUS(uct_ep_tag_rndv_zcopy(client.ep, 0, NULL, 0, NULL, 0, 0, NULL)), UCS_ERR_UNSUPPORTED);
    CHECK_OK(uct_cm_client_ep_conn_notify(client.ep));
    settle(&listener);
    CHECK_EQ(server.notified, 1);
    CHECK_EQ(server.disconnected, 0);
    cm_destroy(&client);
    cm_destroy(&server);
    uct_listener_destroy(listener.listener);
    OK("requests that are none, or were answered; calls at the wrong end or twice");
}

static void test_early(void)
{
    cm_server_t listener = {.answer = CM_KEEP};
    CLIENT(client);
    SERVER(server);

    cm_listen(&listener, "127.0.0.1");
    CHECK_OK(cm_client(&client, &listener.addr));
    CHECK_OK(cm_side_connect(&client));
    CHECK_STATUS(uct_cm_client_ep_conn_notify(client.ep), UCS_ERR_NOT_CONNECTED);
    CM_WAIT(listener.requests == 1);
    CHECK_OK(cm_accept(&server, listener.request[0]));
    CM_WAIT(client.connected == 1);
    CHECK_EQ(client.connect_status, UCS_OK);
    CHECK_EQ(client.resolved, 1);
    /* Too long first, then right: the endpoint is not spoilt. */
    {
        static char big[CM_MAX_PRIV];
        cm_side_t second = {.priv = big, .priv_length = cm.max_priv + 1};
        CHECK_OK(cm_client(&second, &listener.addr));
        CM_WAIT(second.resolved == 1);
        CHECK_STATUS(cm_side_connect(&second), UCS_ERR_BUFFER_TOO_SMALL);
        second.priv_length = 5;
        CHECK_OK(cm_side_connect(&second));
        CM_WAIT(listener.requests == 2);
        CHECK_EQ(listener.remote_length, 5);
        CHECK_OK(uct_listener_reject(listener.listener, listener.request[1]));
        CM_WAIT(second.connected == 1);
        cm_destroy(&second);
    }
    cm_destroy(&client);
    cm_destroy(&server);
    uct_listener_destroy(listener.listener);
    OK("private data before the callback, and after a refusal");
}

static void test_addresses(void)
{
    cm_server_t v4 = {.answer = CM_KEEP}, v6 = {.answer = CM_KEEP}, any = {.answer = CM_KEEP};
    struct sockaddr_storage from = cm_addr("127.0.0.5", 0), wrong = cm_addr("192.0.2.77", 0), at;
    struct sockaddr_storage loopback6 = cm_addr("::1", 0);
    struct sockaddr unix_like         = {.sa_family = AF_UNIX};
    uct_listener_params_t params      = {.field_mask      = UCT_LISTENER_PARAM_FIELD_CONN_REQUEST_CB,
                                         .conn_request_cb = cm_on_request};
    char text[INET6_ADDRSTRLEN];

    cm_listen(&v4, "127.0.0.1");
    {
        CLIENT(client);
        client.pack = 1;
        CHECK_OK(cm_client_from(&client, &v4.addr, &from));
        CM_WAIT(v4.requests == 1);
        inet_ntop(AF_INET, &((struct sockaddr_in *)&v4.client)->sin_addr, text, sizeof(text));
        CHECK_STR(text, "127.0.0.5");
        CHECK_STR(client.dev_name, "lo");
        CHECK_OK(uct_listener_reject(v4.listener, v4.request[0]));
        CM_WAIT(client.connected == 1);
        cm_destroy(&client);
        CHECK_STATUS(cm_client_from(&client, &v4.addr, &wrong), UCS_ERR_INVALID_ADDR);
        CHECK_STATUS(cm_client_from(&client, &v4.addr, &loopback6), UCS_ERR_INVALID_PARAM);
    }
    CHECK_STATUS(uct_listener_create(cm.cm, &unix_like, sizeof(unix_like), &params, &any.listener),
                 UCS_ERR_INVALID_PARAM);
    CHECK_STATUS(uct_listener_create(cm.cm, (void *)&from, 4, &params, &any.listener), UCS_ERR_INVALID_PARAM);
    CHECK_STATUS(uct_listener_create(cm.cm, NULL, 16, &params, &any.listener), UCS_ERR_INVALID_PARAM);
    OK("local addresses, addresses that are none");

    if (cm_listen_on(cm.cm, &v6, &loopback6) == UCS_OK) {
        CLIENT(client);
        SERVER(server);
        cm_connect_pair(&v6, &client, &server);
        CHECK_EQ(v6.client.ss_family, AF_INET6);
        CHECK_EQ(v6.client_length, sizeof(struct sockaddr_in6));
        CHECK_STR(v6.dev_name, "lo");
        CHECK_OK(uct_ep_disconnect(client.ep, 0));
        CM_WAIT(server.disconnected == 1);
        CHECK_OK(uct_ep_disconnect(server.ep, 0));
        CM_WAIT(client.disconnected == 1);
        cm_destroy(&client);
        cm_destroy(&server);
        uct_listener_destroy(v6.listener);

        /* The IPv6 "any" takes IPv4 clients too. */
        at = cm_addr("::", 0);
        CHECK_OK(cm_listen_on(cm.cm, &any, &at));
        {
            CLIENT(old);
            SERVER(other);
            any.addr = cm_addr("127.0.0.1", cm_port(&any.addr));
            cm_connect_pair(&any, &old, &other);
            CHECK_STR(any.dev_name, "lo");
            cm_destroy(&old);
            cm_destroy(&other);
        }
        uct_listener_destroy(any.listener);
    }
    uct_listener_destroy(v4.listener);
    OK("IPv6");
}

static void test_reuse(void)
{
    cm_server_t listener = {.answer = CM_KEEP}, next = {.answer = CM_KEEP};
    struct sockaddr_storage at = cm_addr("127.0.0.1", 0);
    uct_cm_h other;
    CLIENT(client);
    SERVER(server);

    setenv("UCX_CM_REUSEADDR", "y", 1);
    other = cm_open_one();
    unsetenv("UCX_CM_REUSEADDR");
    CHECK_OK(cm_listen_on(other, &listener, &at));
    CHECK_OK(cm_client(&client, &listener.addr));
    CM_WAIT(client.resolved == 1);
    CHECK_OK(cm_side_connect(&client));
    CM_WAIT(listener.requests == 1);
    server.manager = other;
    CHECK_OK(cm_accept(&server, listener.request[0]));
    CM_WAIT(client.connected == 1);
    CHECK_OK(uct_cm_client_ep_conn_notify(client.ep));
    CM_WAIT(server.notified == 1);
    uct_listener_destroy(listener.listener);
    /* The server ends first: its side of the connection lingers at the port. */
    CHECK_OK(uct_ep_disconnect(server.ep, 0));
    CM_WAIT(client.disconnected == 1);
    CHECK_OK(uct_ep_disconnect(client.ep, 0));
    CM_WAIT(server.disconnected == 1);
    cm_destroy(&server);
    cm_destroy(&client);
    CHECK_STATUS(cm_listen_on(cm.cm, &next, &listener.addr), UCS_ERR_BUSY);
    CHECK_OK(cm_listen_on(other, &next, &listener.addr));
    uct_listener_destroy(next.listener);
    uct_cm_close(other);
    OK("an address whose last connection lingers");
}

static void test_configuration(void)
{
    uct_cm_config_t *config;
    uct_cm_attr_t attr = {.field_mask = UCT_CM_ATTR_FIELD_MAX_CONN_PRIV};
    char value[64];
    uct_cm_h other;

    setenv("APP_UCX_TCP_CM_PRIV_DATA_LEN", "300", 1);
    CHECK_OK(uct_cm_config_read(cm.component, "APP", NULL, &config));
    CHECK_OK(uct_config_get(config, "PRIV_DATA_LEN", value, sizeof(value)));
    CHECK_STR(value, "300");
    CHECK_OK(uct_config_modify(config, "PRIV_DATA_LEN", "100"));
    CHECK_STATUS(uct_config_modify(config, "NO_SUCH_THING", "1"), UCS_ERR_NO_ELEM);
    CHECK_OK(uct_config_modify(config, "SNDBUF", "8k"));
    CHECK_OK(uct_config_modify(config, "RCVBUF", "8k"));
    CHECK_OK(uct_config_modify(config, "SYN_CNT", "3"));
    CHECK_OK(uct_config_modify(config, "USER_TIMEOUT", "20s"));
    CHECK_OK(uct_cm_open(cm.component, cm.worker, config, &other));
    CHECK_OK(uct_cm_query(other, &attr));
    CHECK_EQ(attr.max_conn_priv, 116);
    {
        /* The other manager takes fewer bytes than this client sends. */
        static char big[CM_MAX_PRIV];
        cm_server_t listener       = {.answer = CM_KEEP};
        struct sockaddr_storage at = cm_addr("127.0.0.1", 0);
        cm_side_t client           = {.priv = big, .priv_length = 117};
        CHECK_OK(cm_listen_on(other, &listener, &at));
        CHECK_OK(cm_client(&client, &listener.addr));
        CM_WAIT(client.resolved == 1);
        CHECK_OK(cm_side_connect(&client));
        CM_WAIT(client.connected == 1);
        CHECK_EQ(client.connect_status, UCS_ERR_REJECTED);
        CHECK_EQ(listener.requests, 0);
        cm_destroy(&client);
        uct_listener_destroy(listener.listener);
    }
    uct_cm_close(other);
    CHECK_OK(uct_config_modify(config, "PRIV_DATA_LEN", "1g"));
    CHECK_STATUS(uct_cm_open(cm.component, cm.worker, config, &other), UCS_ERR_INVALID_PARAM);
    uct_config_release(config);
    CHECK_STATUS(uct_cm_open(NULL, cm.worker, NULL, &other), UCS_ERR_INVALID_PARAM);
    CHECK_STATUS(uct_cm_query(NULL, &attr), UCS_ERR_INVALID_PARAM);
    uct_cm_close(NULL);
    uct_listener_destroy(NULL);
    OK("configuration; arguments that are missing");
}

static void test_component(void)
{
    uct_component_attr_t attr = {.field_mask = UCT_COMPONENT_ATTR_FIELD_FLAGS};

    CHECK_OK(uct_component_query(cm.component, &attr));
    CHECK(attr.flags & UCT_COMPONENT_FLAG_CM);
    CHECK_OK(uct_component_query(cm_find_component("self"), &attr));
    CHECK(!(attr.flags & UCT_COMPONENT_FLAG_CM));
    OK("the component says that it has a manager");
}

int main(void)
{
    int fds = open_descriptors();

    cm_start(UCS_ASYNC_MODE_THREAD_SPINLOCK);
    test_component();
    test_rejected();
    test_client_fails();
    test_unreachable();
    test_reset();
    test_stale_requests();
    test_early();
    test_addresses();
    test_reuse();
    test_configuration();
    cm_stop();
    CHECK_EQ(open_descriptors(), fds);
    OK("no descriptor is left over");
    return 0;
}
