/* A relay between two ends of a connection on the loopback interface. It reads, alters, cuts and reflects the bytes
 * that pass. One connection at a time; the test calls relay_step(). Define _GNU_SOURCE. */
#ifndef FERRUCX_RELAY_H
#define FERRUCX_RELAY_H

#include "check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <time.h>

enum { RELAY_LOG = 1 << 20, RELAY_CHUNK = 4096 };
/* From the side that connects, and to it. */
enum { UP, DOWN, WAYS };

typedef enum { FORWARD, MIRROR } relay_mode_t;

typedef struct {
    int listener, client, server, target, mode;
    size_t count[WAYS];    /* bytes that passed */
    size_t flip[WAYS];     /* this one is altered */
    size_t cut;            /* after so many upwards both sides see the end */
    unsigned char bit;
    unsigned char log[WAYS][RELAY_LOG];
    unsigned char held[WAYS][RELAY_CHUNK];
    size_t held_length[WAYS];
} relay_t;

static relay_t relay;

static inline double relay_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static inline int relay_dial(uint16_t port)
{
    struct sockaddr_in to;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    memset(&to, 0, sizeof(to));
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons(port);
    CHECK(fd >= 0);
    CHECK_EQ(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    CHECK_EQ(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
    return fd;
}

static inline uint16_t relay_start(relay_mode_t mode, uint16_t target)
{
    struct sockaddr_in at;
    socklen_t length = sizeof(at);

    memset(&relay, 0, sizeof(relay));
    relay.mode = mode;
    relay.target = target;
    relay.client = relay.server = -1;
    relay.flip[UP] = relay.flip[DOWN] = relay.cut = SIZE_MAX;
    relay.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    memset(&at, 0, sizeof(at));
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK_EQ(bind(relay.listener, (struct sockaddr *)&at, sizeof(at)), 0);
    CHECK_EQ(listen(relay.listener, 8), 0);
    CHECK_EQ(getsockname(relay.listener, (struct sockaddr *)&at, &length), 0);
    return ntohs(at.sin_port);
}

static inline void relay_hang_up(void)
{
    if (relay.client >= 0) {
        close(relay.client);
    }
    if (relay.server >= 0) {
        close(relay.server);
    }
    relay.client = relay.server = -1;
    memset(relay.held_length, 0, sizeof(relay.held_length));
}

static inline void relay_stop(void)
{
    relay_hang_up();
    close(relay.listener);
}

/* Passes what is there on, within bounds; the end of either side is that of both. */
static inline void relay_pass(int way, int from, int to)
{
    size_t *held = &relay.held_length[way], i;
    unsigned char *bytes = relay.held[way];
    ssize_t n;

    if (*held == 0) {
        n = recv(from, bytes, RELAY_CHUNK, 0);
        if (n == 0 || (n < 0 && errno != EAGAIN)) {
            relay_hang_up();
            return;
        }
        for (i = 0; (ssize_t)i < n; ++i) {
            if (relay.count[way] < RELAY_LOG) {
                relay.log[way][relay.count[way]] = bytes[i];
            }
            if (relay.count[way]++ == relay.flip[way]) {
                bytes[i] ^= relay.bit;
            }
            if ((way == UP) && (relay.count[UP] == relay.cut)) {
                CHECK(send(to, bytes, i + 1, MSG_NOSIGNAL) >= 0);
                relay_hang_up();
                return;
            }
        }
        *held = n > 0 ? n : 0;
    }
    if (*held > 0) {
        n = send(to, bytes, *held, MSG_NOSIGNAL);
        if (n < 0 && errno != EAGAIN) {
            relay_hang_up();
        } else if (n > 0) {
            memmove(bytes, bytes + n, *held - n);
            *held -= n;
        }
    }
}

static inline void relay_step(void)
{
    if (relay.client < 0) {
        relay.client = accept4(relay.listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (relay.client >= 0 && relay.mode == FORWARD) {
            relay.server = relay_dial(relay.target);
        }
        return;
    }
    if (relay.mode == MIRROR) {
        relay_pass(UP, relay.client, relay.client);
        return;
    }
    relay_pass(UP, relay.client, relay.server);
    if (relay.client >= 0) {
        relay_pass(DOWN, relay.server, relay.client);
    }
}

static inline int relay_saw(int way, const char *text)
{
    size_t length = relay.count[way] < RELAY_LOG ? relay.count[way] : RELAY_LOG;

    return memmem(relay.log[way], length, text, strlen(text)) != NULL;
}

#endif
