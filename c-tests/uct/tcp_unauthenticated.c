/* Connections to the port that are no peers: garbage, partial and oversized hellos, silence, hellos for another
 * interface. Each is disconnected, except for a few silent ones; other traffic continues; descriptors are freed. */
/* timeout: 120 */
#include <uct/api/uct.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>

#include "transport.h"

enum { ID = 4, ROUNDS = 400, SILENT = 200, FEW = 32 };

static unsigned received;

static ucs_status_t on_message(void *arg, void *data, size_t length, unsigned flags)
{
    CHECK_EQ(length, sizeof(uint64_t));
    received++;
    return UCS_OK;
}

/* The port that this process listens on, from the kernel's table of sockets. */
static int listening_port(void)
{
    char line[512];
    unsigned long inode;
    unsigned port, state;
    char path[64], link[64], want[64];
    FILE *table = fopen("/proc/net/tcp", "r");
    int fd, found = 0;

    CHECK(table != NULL);
    CHECK(fgets(line, sizeof(line), table));
    while (!found && fgets(line, sizeof(line), table)) {
        if (sscanf(line, " %*d: %*x:%x %*x:%*x %x %*x:%*x %*x:%*x %*x %*u %*u %lu", &port, &state, &inode) != 3 ||
            state != 10) {
            continue;
        }
        snprintf(want, sizeof(want), "socket:[%lu]", inode);
        for (fd = 3; fd < 64 && !found; ++fd) {
            snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
            ssize_t n = readlink(path, link, sizeof(link) - 1);
            link[n < 0 ? 0 : n] = 0;
            found = !strcmp(link, want) ? (int)port : 0;
        }
    }
    fclose(table);
    CHECK(found);
    return found;
}

static int call(int port)
{
    struct sockaddr_in to;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    memset(&to, 0, sizeof(to));
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0);
    return fd;
}

/* What a stranger says in round `i`; its length. */
static size_t speech(int i, unsigned char *bytes)
{
    static const unsigned char hello[] = {0x40, 0, 0, 0, 128, 0, 0, 0, 'f', 'x', 't', 'c', 2, 0, 0, 0};
    size_t length = 1 + number() % 500, at;

    for (at = 0; at < 600; ++at) {
        bytes[at] = (unsigned char)number();
    }
    if (i % 4 == 1) { /* begins well, goes on badly or is cut off */
        memcpy(bytes, hello, sizeof(hello));
        length = 1 + number() % 180;
    } else if (i % 4 == 2) { /* a message of four gigabytes before any greeting */
        memset(bytes, 0xff, 8);
        memset(bytes, 0, 4);
    } else if (i % 4 == 3) { /* another version */
        memcpy(bytes, hello, sizeof(hello));
        bytes[12] = 3 + number() % 100;
        length = 136;
    }
    return length;
}

static void exchange(transport_t *t, uct_ep_h ep)
{
    static unsigned sent;
    ucs_status_t status;

    do {
        status = uct_ep_am_short(ep, ID, sent, NULL, 0);
        uct_worker_progress(t->worker);
    } while (status == UCS_ERR_NO_RESOURCE);
    CHECK_OK(status);
    ++sent;
    PROGRESS_UNTIL(t, received == sent);
}

static int closed_by_peer(int fd)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    char sink[64];

    while (poll(&poll_fd, 1, 0) == 1) {
        if (recv(fd, sink, sizeof(sink), 0) <= 0) {
            return 1;
        }
    }
    return 0;
}

int main(void)
{
    static int fds[ROUNDS + SILENT];
    unsigned char bytes[600];
    int before, count = 0, i, port, closed;
    transport_t t;
    uct_ep_h ep;

    transport_open(&t, "tcp", "lo", 0);
    CHECK_OK(uct_iface_set_am_handler(t.iface, ID, on_message, NULL, 0));
    port = listening_port();
    ep = transport_connect(&t, NULL);
    exchange(&t, ep);
    before = open_descriptors();

    for (i = 0; i < ROUNDS; ++i) {
        size_t length = speech(i, bytes);
        int fd = call(port);
        CHECK(send(fd, bytes, length, MSG_NOSIGNAL) >= 0);
        if (i % 8 == 0) {
            close(fd);
        } else {
            fds[count++] = fd;
        }
        exchange(&t, ep);
    }
    for (i = 0; i < SILENT; ++i) {
        fds[count++] = call(port);
        exchange(&t, ep);
    }
    /* The strangers that are still known are fewer than those that said nothing. */
    CHECK(open_descriptors() < before + count + SILENT);
    do {
        exchange(&t, ep);
        closed = 0;
        for (i = 0; i < count; ++i) {
            closed += closed_by_peer(fds[i]);
        }
    } while (closed < count - FEW);
    while (count > 0) {
        close(fds[--count]);
    }
    do {
        exchange(&t, ep);
    } while (open_descriptors() > before);
    uct_ep_destroy(ep);
    transport_close(&t);
    OK("strangers are dropped, others go on");
    return 0;
}
