/* A peer that greets properly and then sends frames with random kinds, lengths and contents, whole and cut, puts to any
 * address included: nothing outside our buffers is read or written, its connection ends at the first impossible
 * frame, and the honest connection of the same interface goes on. The greeting is the byte format of version 1.
 * TORTURE_COUNT sets how many connections. */
/* timeout: 120 */
#include <uct/api/uct.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include "torture.h"
#include "transport.h"

enum { ID = 4, LIMIT = 4096, HELLO = 48, WELCOME = 28 };

static unsigned received;

static ucs_status_t on_honest(void *arg, void *data, size_t length, unsigned flags)
{
    received++;
    return UCS_OK;
}

static ucs_status_t on_other(void *arg, void *data, size_t length, unsigned flags)
{
    volatile unsigned char sum = 0;

    CHECK(length <= LIMIT);
    for (size_t at = 0; at < length; ++at) {
        sum += ((unsigned char *)data)[at];
    }
    return UCS_OK;
}

/* A message of the honest connection arrives. */
static void exchange(transport_t *t, uct_ep_h ep)
{
    CHECK_OK(uct_iface_set_am_handler(t->iface, ID, on_honest, NULL, 0));
    received = 0;
    CHECK_OK(transport_send(t, ep, ID, 1));
    PROGRESS_UNTIL(t, received >= 1);
    CHECK_OK(uct_iface_set_am_handler(t->iface, ID, on_other, NULL, 0));
}

static void put(unsigned char **at, const void *data, size_t length)
{
    memcpy(*at, data, length);
    *at += length;
}

/* Connects and greets as an interface with id `from`. */
static int greet(transport_t *t, uint64_t from, uint64_t attempt)
{
    static const unsigned char head[] = {0x40, 0, 0, 0, 40, 0, 0, 0, 'f', 'x', 't', 'c', 1, 0, 0, 0};
    unsigned char address[64], hello[HELLO], welcome[WELCOME], *at = hello;
    uint32_t limit = LIMIT, zero = 0;
    struct sockaddr_in to;
    int fd, got = 0, one = 1;

    CHECK_OK(uct_iface_get_address(t->iface, (uct_iface_addr_t *)address));
    CHECK_EQ(address[0], 0x10);
    put(&at, head, sizeof(head));
    put(&at, &from, 8);
    put(&at, address + 3, 8);
    put(&at, &attempt, 8);
    put(&at, &limit, 4);
    put(&at, &zero, 4);

    memset(&to, 0, sizeof(to));
    to.sin_family = AF_INET;
    to.sin_port = htons(address[1] | address[2] << 8);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0);
    CHECK(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) == 0);
    CHECK_EQ(send(fd, hello, HELLO, MSG_NOSIGNAL), HELLO);
    while (got < WELCOME) {
        ssize_t n = recv(fd, welcome + got, WELCOME - got, MSG_DONTWAIT);
        CHECK(n != 0);
        got += n > 0 ? (int)n : 0;
        uct_worker_progress(t->worker);
    }
    CHECK_EQ(welcome[0], 0x41);
    return fd;
}

/* One frame: mostly possible headers, now and then anything. */
static size_t frame(unsigned char *out)
{
    static const struct {
        unsigned char kind;
        uint32_t length;
    } kinds[] = {{0x40, 40}, {0x41, 20}, {0x42, 0}, {0x43, 1}, {0x44, 0}, {0x45, 0},
                 {0x46, 8},  {0x47, 8},  {0x48, 24}, {0x49, 8}, {0x4a, 8}, {0x4b, 4}};
    uint32_t length;
    size_t at;

    memset(out, 0, 8);
    if (number() % 4) { /* a message, sometimes one byte too long */
        out[0] = number() % 33;
        length = number() % 8 ? number() % 300 : LIMIT - 2 + number() % 4;
    } else {
        unsigned which = number() % (sizeof(kinds) / sizeof(kinds[0]));
        out[0] = kinds[which].kind;
        length = kinds[which].length + (number() % 16 == 0);
    }
    memcpy(out + 4, &length, 4);
    if (number() % 32 == 0) {
        out[number() % 8] = (unsigned char)number();
    }
    for (at = 8; at < 8 + length; ++at) {
        out[at] = (unsigned char)number();
    }
    if (out[0] == 0x48 && number() % 2) { /* a put of few bytes to where something is */
        uint64_t where = (uintptr_t)&received, few = number() % 100;
        memcpy(out + 16, &where, 8);
        memcpy(out + 24, &few, 8);
    }
    return 8 + length;
}

int main(void)
{
    static unsigned char bytes[64 * (LIMIT + 64)];
    transport_t t;
    uct_ep_h ep;
    uint64_t i, rounds = torture_count(600), frame_count = 0;
    int id;

    torture_seed(1);
    transport_open(&t, "tcp", "lo", 0);
    for (id = 0; id < 32; ++id) {
        CHECK_OK(uct_iface_set_am_handler(t.iface, id, on_other, NULL, 0));
    }
    ep = transport_connect(&t, NULL);
    exchange(&t, ep);

    for (i = 0; i < rounds; ++i) {
        int fd = greet(&t, 1 + number() % 5, i + 1), frames = number() % 40, round;
        size_t length = 0, sent = 0;

        frame_count += frames;
        while (--frames >= 0) {
            length += frame(bytes + length);
        }
        length -= number() % 2 && length > 10 ? number() % 10 : 0;
        for (round = 0; round < 100 && sent < length; ++round) {
            size_t part = number() % 3 ? length - sent : 1 + number() % (length - sent);
            ssize_t n = send(fd, bytes + sent, part, MSG_NOSIGNAL | MSG_DONTWAIT);
            if (n < 0 && errno != EAGAIN) {
                break; /* it was found out already */
            }
            sent += n > 0 ? n : 0;
            uct_worker_progress(t.worker);
        }
        for (round = 0; round < 20; ++round) {
            uct_worker_progress(t.worker);
        }
        close(fd);
        if (i % 16 == 0) {
            exchange(&t, ep);
        }
    }
    uct_ep_destroy(ep);
    transport_close(&t);
    OK("frames of any kind: nothing touched, others go on");
    FIGURE("%" PRIu64 " connections, %" PRIu64 " frames", rounds, frame_count);
    return 0;
}
