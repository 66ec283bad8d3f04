/* The peer is killed: each endpoint's error handler is called once, from progress; outstanding operations and requests
 * that wait for room complete with an error; every later call returns the error, and other connections of the
 * interface continue. */
/* headers: ours 1.22.0 */
/* timeout: 60 */
#include <uct/api/uct.h>

#include <signal.h>

#include "transport.h"

enum { ID = 5, ENDPOINTS = 20, ROUNDS = 10, BIG = 60000, SENDS = 200, WAITERS = 8 };

typedef struct {
    char device[64], iface[64];
} address_t;

static uct_ep_h eps[ENDPOINTS];
static unsigned told[ENDPOINTS], told_all;
static int in_progress_call;

static ucs_status_t on_failure(void *arg, uct_ep_h ep, ucs_status_t status)
{
    CHECK(in_progress_call);
    CHECK_EQ(status, UCS_ERR_CONNECTION_RESET);
    for (int i = 0; i < ENDPOINTS; ++i) {
        if (eps[i] == ep) {
            CHECK_EQ(told[i]++, 0);
            told_all++;
            if (i % 2) { /* the handler may destroy the endpoint */
                uct_ep_destroy(ep);
                eps[i] = NULL;
            }
            return UCS_OK;
        }
    }
    FAIL("an unknown endpoint failed");
}

static void step(transport_t *t)
{
    in_progress_call = 1;
    uct_worker_progress(t->worker);
    in_progress_call = 0;
}

static uct_ep_h connect_to(transport_t *t, address_t *peer)
{
    uct_ep_params_t params;
    uct_ep_h ep;

    memset(&params, 0, sizeof(params));
    params.field_mask = UCT_EP_PARAM_FIELD_IFACE | UCT_EP_PARAM_FIELD_DEV_ADDR | UCT_EP_PARAM_FIELD_IFACE_ADDR;
    params.iface = t->iface;
    params.dev_addr = (uct_device_addr_t *)peer->device;
    params.iface_addr = (uct_iface_addr_t *)peer->iface;
    CHECK_OK(uct_ep_create(&params, &ep));
    return ep;
}

typedef struct {
    uct_completion_t base;
    ucs_status_t status;
    unsigned calls;
} send_t;

static void on_sent(uct_completion_t *self)
{
    send_t *send = (send_t *)self;
    send->calls++;
    send->status = self->status;
}

typedef struct {
    uct_pending_req_t base;
    uct_ep_h ep;
    unsigned calls;
    ucs_status_t status;
} waiter_t;

static ucs_status_t on_room(uct_pending_req_t *self)
{
    waiter_t *waiter = (waiter_t *)self;

    waiter->status = uct_ep_am_short(waiter->ep, ID, 0, NULL, 0);
    if (waiter->status == UCS_ERR_NO_RESOURCE) {
        return UCS_ERR_NO_RESOURCE;
    }
    waiter->calls++;
    return UCS_OK;
}

static ucs_status_t ignore(void *arg, void *data, size_t length, unsigned flags)
{
    return UCS_OK;
}

/* The one that is killed: takes the connection, then stops reading. */
static void victim(const pair_t *pair)
{
    address_t mine;
    transport_t t;
    char byte;

    memset(&mine, 0, sizeof(mine));
    transport_open(&t, "tcp", "lo", 0);
    CHECK_OK(uct_iface_get_device_address(t.iface, (uct_device_addr_t *)mine.device));
    CHECK_OK(uct_iface_get_address(t.iface, (uct_iface_addr_t *)mine.iface));
    CHECK_OK(uct_iface_set_am_handler(t.iface, ID, ignore, NULL, 0));
    pair_send(pair, &mine, sizeof(mine));
    while (!pair_ready(pair)) {
        uct_worker_progress(t.worker);
    }
    pair_recv(pair, &byte, 1);
    pair_send(pair, &byte, 1);
    for (;;) {
        pause();
    }
}

static void round_of(transport_t *t, uct_ep_h self)
{
    static char payload[BIG];
    unsigned open = 0, failed = 0;
    waiter_t waiters[WAITERS];
    send_t sends[SENDS], flush;
    pair_t pair = pair_start();
    ucs_status_t status;
    address_t peer;
    uct_iov_t iov;
    char byte = 0;
    int i, wait;

    if (pair_is_child(&pair)) {
        victim(&pair);
    }
    pair_recv(&pair, &peer, sizeof(peer));
    memset(told, 0, sizeof(told));
    told_all = 0;
    for (i = 0; i < ENDPOINTS; ++i) {
        eps[i] = connect_to(t, &peer);
    }
    CHECK_OK(transport_send(t, eps[0], ID, 1));
    while (uct_ep_flush(eps[0], UCT_FLUSH_FLAG_REMOTE, NULL) != UCS_OK) {
        step(t);
    }
    pair_send(&pair, &byte, 1);
    pair_recv(&pair, &byte, 1);

    /* More than the kernel takes, from endpoints that are destroyed late. */
    memset(&iov, 0, sizeof(iov));
    iov.buffer = payload;
    iov.length = sizeof(payload);
    iov.count = 1;
    for (i = 0; i < SENDS; ++i) {
        memset(&sends[i], 0, sizeof(sends[i]));
        sends[i].base.func = on_sent;
        sends[i].base.count = 1;
        status = uct_ep_am_zcopy(eps[i % ENDPOINTS & ~1], ID, NULL, 0, &iov, 1, 0, &sends[i].base);
        if (status == UCS_ERR_NO_RESOURCE) {
            break;
        }
        CHECK(status == UCS_OK || status == UCS_INPROGRESS);
        sends[i].status = status;
        open += status == UCS_INPROGRESS;
    }
    CHECK(open > 0 && i < SENDS);
    memset(&flush, 0, sizeof(flush));
    flush.base.func = on_sent;
    flush.base.count = 1;
    CHECK_STATUS(uct_ep_flush(eps[0], 0, &flush.base), UCS_INPROGRESS);
    for (wait = 0; wait < WAITERS; ++wait) {
        memset(&waiters[wait], 0, sizeof(waiters[wait]));
        waiters[wait].base.func = on_room;
        waiters[wait].ep = eps[wait * 2];
        CHECK_OK(uct_ep_pending_add(eps[wait * 2], &waiters[wait].base, 0));
    }

    CHECK(kill(pair.child, SIGKILL) == 0);
    while (told_all < ENDPOINTS) {
        step(t);
    }
    while (--i >= 0) {
        failed += sends[i].calls && sends[i].status == UCS_ERR_CONNECTION_RESET;
        CHECK(sends[i].calls <= 1);
    }
    CHECK(failed > 0);
    CHECK(flush.calls == 1 && flush.status == UCS_ERR_CONNECTION_RESET);
    for (wait = 0; wait < WAITERS; ++wait) {
        CHECK(waiters[wait].calls == 1 && waiters[wait].status == UCS_ERR_CONNECTION_RESET);
    }
    for (i = 0; i < ENDPOINTS; i += 2) {
        CHECK_STATUS(uct_ep_am_short(eps[i], ID, 1, NULL, 0), UCS_ERR_CONNECTION_RESET);
        CHECK_STATUS(uct_ep_am_zcopy(eps[i], ID, NULL, 0, &iov, 1, 0, NULL), UCS_ERR_CONNECTION_RESET);
        CHECK_STATUS(uct_ep_flush(eps[i], 0, NULL), UCS_ERR_CONNECTION_RESET);
        CHECK_STATUS(uct_ep_check(eps[i], 0, NULL), UCS_ERR_CONNECTION_RESET);
        CHECK_STATUS(uct_ep_pending_add(eps[i], &waiters[0].base, 0), UCS_ERR_CONNECTION_RESET);
        uct_ep_destroy(eps[i]);
    }
    CHECK_OK(transport_send(t, self, ID, 2));
    close(pair.fd);
    waitpid(pair.child, NULL, 0);
}

static ucs_status_t count(void *arg, void *data, size_t length, unsigned flags)
{
    ++*(unsigned *)arg;
    return UCS_OK;
}

int main(void)
{
    unsigned received = 0;
    address_t mine;
    transport_t t;
    uct_ep_h self;
    int round;

    transport_open_handled(&t, "tcp", "lo", on_failure, NULL);
    CHECK_OK(uct_iface_get_device_address(t.iface, (uct_device_addr_t *)mine.device));
    CHECK_OK(uct_iface_get_address(t.iface, (uct_iface_addr_t *)mine.iface));
    CHECK_OK(uct_iface_set_am_handler(t.iface, ID, count, &received, 0));
    self = connect_to(&t, &mine);
    for (round = 0; round < ROUNDS; ++round) {
        round_of(&t, self);
    }
    while (received < ROUNDS) {
        step(&t);
    }
    uct_ep_destroy(self);
    transport_close(&t);
    OK("a killed peer: errors once, everything completed");
    return 0;
}
