/* Client and server of UCP in two processes at the address of an RDMA device, RDMA_IP. The argument is the case:
 *   killed    the server is killed: its client's endpoint fails
 *   other     the server has no RDMA transport: its client comes by the next connection manager
 *   nobody    nobody listens: no connection manager reaches the server
 *   silent    the server's host has no RDMA device, so that nobody answers to rdmacm for a minute: its client comes by the next
 *             connection manager within seconds. The device rxe1 goes, and veth1 becomes the server's
 *   busy      the server makes no progress until its client has asked by both managers: it is asked to accept once
 *   removed   the kernel removes the device, fake0: endpoints of both sides fail, and nobody listens any more */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <sched.h>
#include <stdlib.h>
#define LISTENER_IP inet_addr(getenv("RDMA_IP"))
#include <ucp/api/ucp.h>

#include "listener.h"

static const ucp_request_param_t plain;
static side_t side;
static ucp_conn_request_h request;
static int asked_for, is_busy;

static void on_request(ucp_conn_request_h asked, void *arg)
{
    request = asked;
    ++asked_for;
}

/* Listens, answers one client's message, and goes on until it is told to end. */
static void serve(const pair_t *pair)
{
    struct sockaddr_storage at;
    failure_t failure;
    ucp_listener_h listener;
    ucp_ep_h ep;
    char byte = 0;

    side_open(&side, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    listener = listen_at(&side, AF_INET, on_request, &at);
    pair_send(pair, &at, sizeof(at));
    if (is_busy) {
        sleep(4);
    }
    DRIVE_UNTIL(&side, &side, request != NULL);
    ep = accept_client(&side, request, &failure);
    CHECK_OK(side_wait(&side, &side, ucp_tag_recv_nbx(side.worker, &byte, 1, 5, -1, &plain)));
    CHECK_EQ(byte, 'a');
    byte = 'b';
    CHECK_OK(side_wait(&side, &side, ucp_tag_send_nbx(ep, &byte, 1, 6, &plain)));
    DRIVE_UNTIL(&side, &side, (failure.calls > 0) || pair_ready(pair));
    CHECK_EQ(asked_for, 1);
    CHECK_OK(side_disconnect(&side, &side, ep, UCP_EP_CLOSE_FLAG_FORCE));
    ucp_listener_destroy(listener);
    side_close(&side);
}

/* The server's process gets a network of its own, whose one interface is the far end of the client's. */
static void move_server(const pair_t *pair)
{
    char command[100] = "ip link set lo up && ip addr add 192.168.77.9/24 dev veth1 && ip link set veth1 up";

    if (pair_is_child(pair)) {
        CHECK_EQ(unshare(CLONE_NEWNET), 0);
        pair_barrier(pair);
        pair_barrier(pair);
        CHECK_EQ(system(command), 0);
        CHECK_EQ(setenv("RDMA_IP", "192.168.77.9", 1), 0);
        return;
    }
    pair_barrier(pair);
    sprintf(command, "rdma link delete rxe1 && ip link set veth1 netns %d", pair->child);
    CHECK_EQ(system(command), 0);
    pair_barrier(pair);
}

static void exchange(ucp_ep_h ep)
{
    char byte = 'a';

    CHECK_OK(side_wait(&side, &side, ucp_tag_send_nbx(ep, &byte, 1, 5, &plain)));
    CHECK_OK(side_wait(&side, &side, ucp_tag_recv_nbx(side.worker, &byte, 1, 6, -1, &plain)));
    CHECK_EQ(byte, 'b');
}

/* Both sides in this process. What is left of the device goes when the process ends. */
static void device_removed(void)
{
    enum { CLIENTS = 3 };
    static side_t server;
    failure_t failures[2 * CLIENTS], late;
    ucp_ep_h eps[2 * CLIENTS], ep;
    struct sockaddr_storage at;
    ucp_listener_h listener;
    char byte = 0;
    int i;

    side_open(&server, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    side_open(&side, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    listener = listen_at(&server, AF_INET, on_request, &at);
    for (i = 0; i < CLIENTS; ++i) {
        request = NULL;
        eps[i] = connect_client(&side, &at, 0, &failures[i]);
        DRIVE_UNTIL(&side, &server, request != NULL);
        eps[CLIENTS + i] = accept_client(&server, request, &failures[CLIENTS + i]);
        CHECK_OK(side_wait(&side, &server, ucp_tag_send_nbx(eps[i], "a", 1, 5, &plain)));
        CHECK_OK(side_wait(&side, &server, ucp_tag_recv_nbx(server.worker, &byte, 1, 5, -1, &plain)));
        CHECK_EQ(byte, 'a');
    }
    /* It waits for this process to end. */
    CHECK_EQ(system("rdma link delete fake0 &"), 0);
    for (i = 0; i < 2 * CLIENTS; ++i) {
        DRIVE_UNTIL(&side, &server, failures[i].calls > 0);
        CHECK_EQ(failures[i].calls, 1);
        CHECK_STATUS(failures[i].status, UCS_ERR_CONNECTION_RESET);
    }
    request = NULL;
    ep = connect_client(&side, &at, 0, &late);
    DRIVE_UNTIL(&side, &server, late.calls > 0);
    CHECK_STATUS(late.status, UCS_ERR_UNREACHABLE);
    CHECK(request == NULL);
    CHECK_OK(side_disconnect(&side, &server, ep, UCP_EP_CLOSE_FLAG_FORCE));
    for (i = 0; i < 2 * CLIENTS; ++i) {
        CHECK_OK(side_disconnect(&side, &server, eps[i], UCP_EP_CLOSE_FLAG_FORCE));
        CHECK_EQ(failures[i].calls, 1);
    }
    ucp_listener_destroy(listener);
    side_close(&side);
    side_close(&server);
    OK("removed");
}

int main(int argc, char **argv)
{
    struct sockaddr_storage at;
    failure_t failure;
    ucp_ep_h ep;
    pair_t pair;
    const char *what = argv[argc - 1];
    double start;
    int is_silent;

    if (!strcmp(what, "removed")) {
        device_removed();
        return 0;
    }
    if (!strcmp(what, "nobody")) {
        at = loopback(AF_INET, 1);
        side_open(&side, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
        ep = connect_client(&side, &at, 0, &failure);
        DRIVE_UNTIL(&side, &side, failure.calls > 0);
        CHECK_STATUS(failure.status, UCS_ERR_UNREACHABLE);
        CHECK_OK(side_disconnect(&side, &side, ep, UCP_EP_CLOSE_FLAG_FORCE));
        CHECK_EQ(failure.calls, 1);
        side_close(&side);
        OK("nobody listens");
        return 0;
    }
    is_silent = !strcmp(what, "silent");
    is_busy = !strcmp(what, "busy");
    CHECK(!strcmp(what, "killed") || !strcmp(what, "other") || is_silent || is_busy);
    pair = pair_start();
    if (is_silent) {
        move_server(&pair);
    }
    if (pair_is_child(&pair)) {
        if (!strcmp(what, "other") || is_silent) {
            setenv("UCX_TLS", "tcp", 1);
        }
        serve(&pair);
        /* With the network would go the interface, and with it its peer, which the device is on. */
        CHECK(!is_silent || !system("ip link set veth1 netns 1"));
        pair_finish(&pair);
    }
    pair_recv(&pair, &at, sizeof(at));
    side_open(&side, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    start = now();
    ep = connect_client(&side, &at, 0, &failure);
    exchange(ep);
    CHECK_EQ(failure.calls, 0);
    /* The kernel's minute. */
    CHECK(!is_silent || (now() - start < 20));
    if (!strcmp(what, "killed")) {
        CHECK_EQ(kill(pair.child, SIGKILL), 0);
        DRIVE_UNTIL(&side, &side, failure.calls > 0);
        CHECK((failure.status == UCS_ERR_CONNECTION_RESET) || (failure.status == UCS_ERR_ENDPOINT_TIMEOUT));
        CHECK_OK(side_disconnect(&side, &side, ep, UCP_EP_CLOSE_FLAG_FORCE));
        CHECK_EQ(waitpid(pair.child, NULL, 0), pair.child);
    } else {
        CHECK_OK(side_disconnect(&side, &side, ep, 0));
        pair_finish(&pair);
    }
    CHECK(failure.calls <= 1);
    side_close(&side);
    OK("%s", what);
    return 0;
}
