/* Connections with a shared secret, through a relay that reads, alters, cuts, replays and reflects the bytes. With
 * encryption no message is readable, and no byte of an altered stream is delivered; a replayed connection and
 * reflected messages are refused; a peer without the secret is disconnected. */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n */
/* timeout: 120 */
#define _GNU_SOURCE
#include <uct/api/uct.h>

#include "relay.h"
#include "secret.h"
#include "transport.h"

enum { ID = 6, MESSAGES = 60, SIZE = 3000, SEEDS = 40, OPENING = 65, CROWD = 300, STRANGERS = 128 };

static const char MARK[] = "what nobody else should read";

typedef struct {
    transport_t t;
    uct_ep_h ep;
    unsigned sent, received, failed;
    ucs_status_t failure;
} node_t;

static size_t fill_message(void *to, unsigned n)
{
    unsigned char *bytes = to;
    size_t i;

    memcpy(bytes, &n, sizeof(n));
    for (i = sizeof(n); i < SIZE; ++i) {
        bytes[i] = MARK[i % (sizeof(MARK) - 1)];
    }
    return SIZE;
}

static size_t pack(void *to, void *arg)
{
    return fill_message(to, *(unsigned *)arg);
}

/* Each message comes once, in order and as it was sent, or not at all. */
static ucs_status_t on_message(void *arg, void *data, size_t length, unsigned flags)
{
    unsigned char wanted[SIZE];
    node_t *node = arg;

    fill_message(wanted, node->received++);
    CHECK_EQ(length, SIZE);
    CHECK(!memcmp(data, wanted, SIZE));
    return UCS_OK;
}

static ucs_status_t on_failure(void *arg, uct_ep_h ep, ucs_status_t status)
{
    node_t *node = arg;

    CHECK(node->ep == ep);
    CHECK_EQ(node->failed++, 0);
    node->failure = status;
    return UCS_OK;
}

static void node_open(node_t *node)
{
    memset(node, 0, sizeof(*node));
    transport_open_handled(&node->t, "tcp", "lo", on_failure, node);
    CHECK_OK(uct_iface_set_am_handler(node->t.iface, ID, on_message, node, 0));
}

static void node_close(node_t *node)
{
    if (node->ep) {
        uct_ep_destroy(node->ep);
    }
    transport_close(&node->t);
}

/* The interface's address is a byte, its port, its number. */
static uint16_t node_port(node_t *node)
{
    unsigned char address[32];

    CHECK_EQ(node->t.attr.iface_addr_len, 11);
    CHECK_OK(uct_iface_get_address(node->t.iface, (uct_iface_addr_t *)address));
    return address[1] | address[2] << 8;
}

/* An endpoint to `other`, which is believed to listen at another port when that is not 0. */
static void node_connect(node_t *node, node_t *other, uint16_t port)
{
    unsigned char device[64], iface[32];
    uct_ep_params_t params;

    CHECK_OK(uct_iface_get_device_address(other->t.iface, (uct_device_addr_t *)device));
    CHECK_OK(uct_iface_get_address(other->t.iface, (uct_iface_addr_t *)iface));
    if (port) {
        iface[1] = port & 0xff;
        iface[2] = port >> 8;
    }
    memset(&params, 0, sizeof(params));
    params.field_mask = UCT_EP_PARAM_FIELD_IFACE | UCT_EP_PARAM_FIELD_DEV_ADDR | UCT_EP_PARAM_FIELD_IFACE_ADDR;
    params.iface = node->t.iface;
    params.dev_addr = (uct_device_addr_t *)device;
    params.iface_addr = (uct_iface_addr_t *)iface;
    CHECK_OK(uct_ep_create(&params, &node->ep));
}

static void node_step(node_t *node)
{
    uct_worker_progress(node->t.worker);
    if (node->ep && !node->failed && (node->sent < MESSAGES) &&
        (uct_ep_am_bcopy(node->ep, ID, pack, &node->sent, 0) >= 0)) {
        node->sent++;
    }
}

static void talk_step(node_t *one, node_t *other)
{
    node_step(one);
    node_step(other);
    relay_step();
    if (!other->ep && other->received > 0) {
        /* By the same connection. */
        node_connect(other, one, 0);
    }
}

/* Both send to each other through the relay until all has come or the first has failed. */
static void talk(node_t *one, node_t *other)
{
    double end = relay_now() + 20;

    node_connect(one, other, relay_start(FORWARD, node_port(other)));
    while (!one->failed && (one->received < MESSAGES || other->received < MESSAGES)) {
        talk_step(one, other);
        CHECK(relay_now() < end);
    }
}

/* `encrypt`: neither side asks for it, the first, the second. */
static void watched(int encrypt)
{
    node_t one, other;
    size_t payload = MESSAGES * SIZE;

    secret_use("right", encrypt == 1);
    node_open(&one);
    secret_use("right", encrypt == 2);
    node_open(&other);
    talk(&one, &other);
    CHECK_EQ(one.failed, 0);
    CHECK(relay.count[UP] > payload && relay.count[UP] < payload + payload / 20 + 4096);
    CHECK_EQ(relay_saw(UP, MARK), !encrypt);
    CHECK_EQ(relay_saw(DOWN, MARK), !encrypt);
    node_close(&one);
    node_close(&other);
    relay_stop();
}

/* Both talk while the relay does something to them. */
static void talk_touched(node_t *one, node_t *other, size_t *touched, size_t value)
{
    double end = relay_now() + 20;
    uint16_t port;

    node_open(one);
    node_open(other);
    port = relay_start(FORWARD, node_port(other));
    *touched = value;
    relay.bit = 1 << number() % 8;
    node_connect(one, other, port);
    while (!one->failed && (one->received < MESSAGES || other->received < MESSAGES)) {
        talk_step(one, other);
        CHECK(relay_now() < end);
    }
}

static void talk_end(node_t *one, node_t *other)
{
    node_close(one);
    node_close(other);
    relay_stop();
}

static void altered(int way)
{
    node_t one, other;
    unsigned i;

    secret_use("right", 1);
    for (i = 0; i < SEEDS; ++i) {
        /* Behind the hand-shake, whose every bit the unit tests alter. */
        talk_touched(&one, &other, &relay.flip[way], 400 + number() % (MESSAGES * SIZE / 2));
        CHECK_EQ(one.failed, 1);
        CHECK((way == UP ? &other : &one)->received < MESSAGES);
        talk_end(&one, &other);
    }
}

static void cut_off(void)
{
    node_t one, other;
    unsigned i;

    secret_use("right", 1);
    for (i = 0; i < SEEDS; ++i) {
        talk_touched(&one, &other, &relay.cut, 400 + number() % (MESSAGES * SIZE / 2));
        CHECK_EQ(one.failed, 1);
        CHECK_EQ(one.failure, UCS_ERR_CONNECTION_RESET);
        CHECK(other.received < MESSAGES);
        talk_end(&one, &other);
    }
    /* Before a connection stands another attempt follows. */
    for (i = 1; i < 200; i += 7) {
        talk_touched(&one, &other, &relay.cut, i);
        CHECK_EQ(one.failed, 0);
        talk_end(&one, &other);
    }
}

/* Sends bytes to a node's port; gives what it says until it closes. */
static size_t say(node_t *node, const unsigned char *bytes, size_t length, unsigned char *answer, size_t room)
{
    double end = relay_now() + 3;
    size_t got = 0;
    ssize_t n = -1;
    int fd = relay_dial(node_port(node));

    CHECK(send(fd, bytes, length, MSG_NOSIGNAL) > 0);
    do {
        uct_worker_progress(node->t.worker);
        n = recv(fd, answer + got, room - got, 0);
        got += n > 0 ? n : 0;
        CHECK(relay_now() < end);
    } while (n > 0 || (n < 0 && errno == EAGAIN));
    close(fd);
    return got;
}

/* What was recorded upwards, sent once more, brings the answer of a hand-shake and nothing else. */
static void repeated(int encrypt)
{
    static unsigned char record[RELAY_LOG];
    unsigned char answer[256];
    node_t one, other;
    size_t length;
    unsigned before, i;

    secret_use("right", encrypt);
    node_open(&one);
    node_open(&other);
    talk(&one, &other);
    length = relay.count[UP];
    memcpy(record, relay.log[UP], length);
    before = other.received;
    for (i = 0; i < 20; ++i) {
        size_t got = say(&other, record, length, answer, sizeof(answer));

        /* A close with unread bytes may take the answer back. */
        CHECK(got == 0 || got == 57);
        CHECK(got == 0 || memcmp(answer, relay.log[DOWN], got));
    }
    CHECK_EQ(other.received, before);
    CHECK_EQ(other.failed + one.failed, 0);
    /* The connection of the two stands. */
    one.sent = one.received = other.sent = other.received = 0;
    while (one.received < MESSAGES || other.received < MESSAGES) {
        talk_step(&one, &other);
    }
    talk_end(&one, &other);
}

/* Waits for the end of a connection that cannot stand. */
static void must_fail(node_t *one, node_t *other, ucs_status_t status)
{
    double start = relay_now();

    while (!one->failed) {
        node_step(one);
        node_step(other);
        if (relay.listener >= 0) {
            relay_step();
        }
        CHECK(relay_now() - start < 3);
    }
    CHECK_EQ(one->failure, status);
    CHECK_EQ(other->received, 0);
}

static void turned_back(void)
{
    node_t one, other, third;

    secret_use("right", 1);
    node_open(&one);
    node_open(&other);
    node_connect(&one, &other, relay_start(MIRROR, 0));
    must_fail(&one, &other, UCS_ERR_UNREACHABLE);
    talk_end(&one, &other);
    /* To another who has the secret, and is not who is meant. */
    node_open(&one);
    node_open(&other);
    node_open(&third);
    node_connect(&one, &other, relay_start(FORWARD, node_port(&third)));
    must_fail(&one, &third, UCS_ERR_UNREACHABLE);
    node_close(&third);
    talk_end(&one, &other);
}

static void different(const char *mine, const char *theirs)
{
    node_t one, other;

    relay.listener = -1;
    secret_use(mine, 0);
    node_open(&one);
    secret_use(theirs, 0);
    node_open(&other);
    node_connect(&one, &other, 0);
    must_fail(&one, &other, UCS_ERR_UNREACHABLE);
    node_close(&one);
    node_close(&other);
}

/* Beginnings that are no opening, and openings that are none; nobody is answered but by a refusal. */
static void garbage(void)
{
    static const unsigned char opening[8] = {0x4b, 0, 0, 0, 57, 0, 0, 0}, hello[8] = {0x40, 0, 0, 0, 128, 0, 0, 0};
    unsigned char bytes[400], answer[64];
    node_t other;
    size_t i, got;
    int n;

    secret_use("right", 0);
    node_open(&other);
    for (n = 0; n < 500; ++n) {
        for (i = 0; i < sizeof(bytes); ++i) {
            bytes[i] = number();
        }
        if (n % 3) {
            memcpy(bytes, n % 3 == 1 ? opening : hello, 8);
            memcpy(bytes + 8, "fxtc\3\0\0\0", 8);
        }
        got = say(&other, bytes, n % 3 == 1 ? 65 : n % 3 == 2 ? 136 : sizeof(bytes), answer, sizeof(answer));
        CHECK(got == 0 || (got == 9 && answer[0] == 0x43));
        CHECK(n % 3 == 0 || got == 9);
    }
    node_close(&other);
}

/* More openings that somebody recorded than strangers are kept: an honest peer comes in all the same. */
static void crowded(void)
{
    unsigned char opening[OPENING], byte[64];
    int fds[CROWD], open = 0;
    node_t one, other;
    double end;
    unsigned i;

    secret_use("right", 0);
    node_open(&one);
    node_open(&other);
    talk(&one, &other);
    memcpy(opening, relay.log[UP], OPENING);
    talk_end(&one, &other);
    node_open(&one);
    node_open(&other);
    for (i = 0; i < CROWD; ++i) {
        fds[i] = relay_dial(node_port(&other));
        CHECK_EQ(send(fds[i], opening, OPENING, MSG_NOSIGNAL), OPENING);
        node_step(&other);
    }
    relay.listener = -1;
    node_connect(&one, &other, 0);
    end = relay_now() + 20;
    while (other.received < MESSAGES) {
        node_step(&one);
        node_step(&other);
        CHECK(relay_now() < end);
    }
    for (i = 0; i < CROWD; ++i) {
        errno = 0;
        while (recv(fds[i], byte, sizeof(byte), 0) > 0) {
        }
        open += errno == EAGAIN;
        close(fds[i]);
    }
    CHECK(open <= STRANGERS);
    node_close(&one);
    node_close(&other);
}

int main(void)
{
    static const char *const names[] = {"right", "wrong"};
    int before;

    secret_write("right", "0123456789abcdef0123456789abcdef\n", 0600);
    secret_write("wrong", "0123456789abcdef0123456789abcdeF\n", 0400);
    watched(0);
    OK("with proof alone messages pass in the clear");
    before = open_descriptors();
    watched(1);
    watched(2);
    OK("encrypted when either side asks for it");
    altered(UP);
    altered(DOWN);
    OK("no altered byte is delivered, either way");
    cut_off();
    OK("a stream that is cut off is a lost connection");
    repeated(0);
    repeated(1);
    OK("a recorded connection leads nowhere");
    turned_back();
    OK("turned back to its sender, or to another");
    different("right", "wrong");
    different("right", NULL);
    different(NULL, "right");
    OK("who has another secret or none is told at once");
    garbage();
    OK("what is no proof is turned down");
    crowded();
    OK("a crowd of recorded openings");
    CHECK_EQ(open_descriptors(), before);
    secret_forget(names, 2);
    return 0;
}
