/* Two processes connect to each other at the same moment, to the interface and to the endpoint. Whichever
 * attempt wins, every message arrives once and in order, and one socket serves the pair, however many
 * endpoints there are. */
/* timeout: 60 */
#include <uct/api/uct.h>

#include <dirent.h>

#include "transport.h"

enum { ID = 3, ROUNDS = 40, MESSAGES = 120, ENDPOINTS = 50, LONG = 30000 };

typedef struct {
    uint64_t next;
    unsigned in_flight;
} state_t;

/* Open sockets of this process. */
static int sockets(void)
{
    DIR *dir = opendir("/proc/self/fd");
    struct dirent *entry;
    char link[64];
    int count = 0;

    CHECK(dir != NULL);
    while ((entry = readdir(dir))) {
        ssize_t n = readlinkat(dirfd(dir), entry->d_name, link, sizeof(link) - 1);
        link[n < 0 ? 0 : n] = 0;
        count += !strncmp(link, "socket:", 7);
    }
    closedir(dir);
    return count;
}

static ucs_status_t on_message(void *arg, void *data, size_t length, unsigned flags)
{
    state_t *state = arg;
    uint64_t sequence;

    CHECK(length >= sizeof(sequence));
    memcpy(&sequence, data, sizeof(sequence));
    CHECK_EQ(sequence, state->next);
    for (size_t at = sizeof(sequence); at < length; ++at) {
        CHECK_EQ(((unsigned char *)data)[at], (unsigned char)(sequence + at));
    }
    state->next++;
    return UCS_OK;
}

typedef struct {
    uct_completion_t base;
    state_t *state;
    unsigned char *buffer;
} send_t;

static void on_sent(uct_completion_t *self)
{
    send_t *send = (send_t *)self;

    CHECK_EQ(self->status, UCS_OK);
    send->state->in_flight--;
    free(send->buffer);
    free(send);
}

static void send_one(transport_t *t, uct_ep_h ep, state_t *state, uint64_t sequence)
{
    send_t *send = malloc(sizeof(*send));
    size_t length = sequence % 3 ? sequence : LONG;
    ucs_status_t status;
    uct_iov_t iov;

    memset(send, 0, sizeof(*send));
    send->base.func = on_sent;
    send->base.count = 1;
    send->state = state;
    send->buffer = malloc(length + 1);
    for (size_t at = 0; at < length; ++at) {
        send->buffer[at] = (unsigned char)(sequence + sizeof(sequence) + at);
    }
    memset(&iov, 0, sizeof(iov));
    iov.buffer = send->buffer;
    iov.length = length;
    iov.count = 1;
    for (;;) {
        if (sequence % 2) {
            status = uct_ep_am_short(ep, ID, sequence, send->buffer, length > 4000 ? 4000 : length);
        } else {
            status = uct_ep_am_zcopy(ep, ID, &sequence, sizeof(sequence), &iov, 1, 0, &send->base);
        }
        if (status == UCS_INPROGRESS) {
            state->in_flight++;
            return;
        }
        if (status == UCS_OK) {
            free(send->buffer);
            free(send);
            return;
        }
        CHECK_EQ(status, UCS_ERR_NO_RESOURCE);
        uct_worker_progress(t->worker);
    }
}

static uct_ep_h connect_to(transport_t *t, const pair_t *pair, int to_ep)
{
    struct {
        char device[64], iface[64], ep[64];
    } mine, theirs;
    uct_ep_params_t params;
    uct_ep_h ep;

    memset(&mine, 0, sizeof(mine));
    memset(&params, 0, sizeof(params));
    params.field_mask = UCT_EP_PARAM_FIELD_IFACE;
    params.iface = t->iface;
    CHECK_OK(uct_iface_get_device_address(t->iface, (uct_device_addr_t *)mine.device));
    CHECK_OK(uct_iface_get_address(t->iface, (uct_iface_addr_t *)mine.iface));
    if (to_ep) {
        CHECK_OK(uct_ep_create(&params, &ep));
        CHECK_STATUS(uct_ep_am_short(ep, ID, 0, NULL, 0), UCS_ERR_NOT_CONNECTED);
        CHECK_OK(uct_ep_get_address(ep, (uct_ep_addr_t *)mine.ep));
    }
    pair_exchange(pair, &mine, &theirs, sizeof(mine));
    if (to_ep) {
        CHECK_OK(uct_ep_connect_to_ep(ep, (uct_device_addr_t *)theirs.device, (uct_ep_addr_t *)theirs.ep));
        return ep;
    }
    CHECK(uct_iface_is_reachable(t->iface, (uct_device_addr_t *)theirs.device, (uct_iface_addr_t *)theirs.iface));
    params.field_mask |= UCT_EP_PARAM_FIELD_DEV_ADDR | UCT_EP_PARAM_FIELD_IFACE_ADDR;
    params.dev_addr = (uct_device_addr_t *)theirs.device;
    params.iface_addr = (uct_iface_addr_t *)theirs.iface;
    CHECK_OK(uct_ep_create(&params, &ep));
    return ep;
}

static void flush(const transport_t *t)
{
    while (uct_iface_flush(t->iface, 0, NULL) != UCS_OK) {
        uct_worker_progress(t->worker);
    }
}

static void round_of(const pair_t *pair, int round)
{
    uct_ep_h eps[ENDPOINTS];
    state_t state = {0};
    transport_t t;
    int before, i;

    transport_open(&t, "tcp", "lo", 0);
    CHECK_OK(uct_iface_set_am_handler(t.iface, ID, on_message, &state, 0));
    before = sockets();
    eps[0] = connect_to(&t, pair, round % 2);
    for (i = 0; i < MESSAGES / 2; ++i) {
        send_one(&t, eps[0], &state, i);
    }
    /* What is not out needs progress, and connecting waits for the other side without any. */
    PROGRESS_UNTIL(&t, state.next == MESSAGES / 2 && state.in_flight == 0);
    flush(&t);
    for (i = 1; i < ENDPOINTS; ++i) {
        eps[i] = connect_to(&t, pair, round / 2 % 2);
    }
    for (i = MESSAGES / 2; i < MESSAGES; ++i) {
        send_one(&t, eps[i % ENDPOINTS], &state, i);
        uct_worker_progress(t.worker);
    }
    PROGRESS_UNTIL(&t, state.next == MESSAGES && state.in_flight == 0);
    transport_meet(&t, pair);
    CHECK_EQ(sockets(), before + 1);
    flush(&t);
    for (i = 0; i < ENDPOINTS; ++i) {
        uct_ep_destroy(eps[i]);
    }
    transport_meet(&t, pair);
    transport_close(&t);
}

int main(void)
{
    pair_t pair = pair_start();
    int round;

    for (round = 0; round < ROUNDS; ++round) {
        round_of(&pair, round);
    }
    pair_finish(&pair);
    OK("simultaneous connections: once, in order, one socket");
    return 0;
}
