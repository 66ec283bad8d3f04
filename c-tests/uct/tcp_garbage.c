/* A peer sends a valid hello and then frames with random kinds, lengths and contents, whole and cut, puts to any
 * address included: nothing outside our buffers is read or written, its connection ends at the first invalid frame,
 * and another connection of the same interface continues. The library itself signs the hello. TORTURE_COUNT sets the
 * number of connections. */
/* timeout: 120 */
#include <uct/api/uct.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include "torture.h"
#include "transport.h"

enum { ID = 4, HELLO = 136, WELCOME = 28 };

static unsigned received;
/* The longest message that the greeting announced. */
static uint32_t limit;

static ucs_status_t on_honest(void *arg, void *data, size_t length, unsigned flags)
{
    received++;
    return UCS_OK;
}

static ucs_status_t on_other(void *arg, void *data, size_t length, unsigned flags)
{
    volatile unsigned char sum = 0;

    CHECK(length <= limit);
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

static uint16_t port_of_address(const unsigned char *address)
{
    return address[1] | address[2] << 8;
}

static int dial(uint16_t port)
{
    struct sockaddr_in to;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

    memset(&to, 0, sizeof(to));
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0);
    CHECK(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) == 0);
    return fd;
}

/* The greeting of a new interface to the one with this address: it is told a port of ours as that one's. */
static void signed_hello(const unsigned char *address, unsigned char *hello)
{
    struct sockaddr_in at;
    socklen_t length = sizeof(at);
    unsigned char device[64], told[64];
    uct_ep_params_t params;
    transport_t other;
    uct_ep_h ep;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), fd, got = 0;

    memset(&at, 0, sizeof(at));
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(listener >= 0 && bind(listener, (struct sockaddr *)&at, sizeof(at)) == 0 && listen(listener, 1) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&at, &length) == 0);

    transport_open(&other, "tcp", "lo", 0);
    CHECK_OK(uct_iface_get_device_address(other.iface, (uct_device_addr_t *)device));
    memcpy(told, address, other.attr.iface_addr_len);
    told[1] = ntohs(at.sin_port) & 0xff;
    told[2] = ntohs(at.sin_port) >> 8;
    memset(&params, 0, sizeof(params));
    params.field_mask = UCT_EP_PARAM_FIELD_IFACE | UCT_EP_PARAM_FIELD_DEV_ADDR | UCT_EP_PARAM_FIELD_IFACE_ADDR;
    params.iface = other.iface;
    params.dev_addr = (uct_device_addr_t *)device;
    params.iface_addr = (uct_iface_addr_t *)told;
    CHECK_OK(uct_ep_create(&params, &ep));
    fd = accept(listener, NULL, NULL);
    CHECK(fd >= 0);
    while (got < HELLO) {
        ssize_t n = recv(fd, hello + got, HELLO - got, MSG_DONTWAIT);
        CHECK(n != 0);
        got += n > 0 ? (int)n : 0;
        uct_worker_progress(other.worker);
    }
    uct_ep_destroy(ep);
    transport_close(&other);
    close(fd);
    close(listener);
}

/* Connects and greets as a new interface. */
static int greet(transport_t *t)
{
    unsigned char address[64], hello[HELLO], welcome[WELCOME];
    int fd, got = 0;

    CHECK_OK(uct_iface_get_address(t->iface, (uct_iface_addr_t *)address));
    CHECK_EQ(address[0], 0x10);
    signed_hello(address, hello);
    fd = dial(port_of_address(address));
    CHECK_EQ(send(fd, hello, HELLO, MSG_NOSIGNAL), HELLO);
    while (got < WELCOME) {
        ssize_t n = recv(fd, welcome + got, WELCOME - got, MSG_DONTWAIT);
        CHECK(n != 0);
        got += n > 0 ? (int)n : 0;
        uct_worker_progress(t->worker);
    }
    CHECK_EQ(welcome[0], 0x41);
    memcpy(&limit, hello + 32, 4);
    CHECK(limit < 1 << 20);
    return fd;
}

/* One frame: mostly possible headers, now and then anything. */
static size_t frame(unsigned char *out)
{
    static const struct {
        unsigned char kind;
        uint32_t length;
    } kinds[] = {{0x40, 128}, {0x41, 20}, {0x42, 0}, {0x43, 1}, {0x44, 0}, {0x45, 0},
                 {0x46, 8},  {0x47, 8},  {0x48, 24}, {0x49, 8}, {0x4a, 8}, {0x4b, 4}};
    uint32_t length;
    size_t at;

    memset(out, 0, 8);
    if (number() % 4) { /* a message, sometimes one byte too long */
        out[0] = number() % 33;
        length = number() % 8 ? number() % 300 : limit - 2 + number() % 4;
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
    unsigned char *bytes;
    transport_t t;
    uct_ep_h ep;
    uint64_t i, rounds = torture_count(600), frame_count = 0;
    int id;

    torture_seed(1);
    bytes = malloc(64 << 20);
    CHECK(bytes != NULL);
    transport_open(&t, "tcp", "lo", 0);
    for (id = 0; id < 32; ++id) {
        CHECK_OK(uct_iface_set_am_handler(t.iface, id, on_other, NULL, 0));
    }
    ep = transport_connect(&t, NULL);
    exchange(&t, ep);

    for (i = 0; i < rounds; ++i) {
        int fd = greet(&t), frames = number() % 40, round;
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
    free(bytes);
    OK("frames of any kind: nothing touched, others go on");
    FIGURE("%" PRIu64 " connections, %" PRIu64 " frames", rounds, frame_count);
    return 0;
}
