/* Connection manager: a peer that sends nothing, garbage, half a message, or opens many connections to a listener's
 * port costs little, is disconnected, and is logged once per kind; real clients continue. */
/* env: UCX_LOG_LEVEL=diag UCX_TCP_CM_FAILURE=diag */
/* timeout: 60 */
#define _GNU_SOURCE
#include "cm.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>

enum { MANY = 1000, KEPT = 256 };

static cm_server_t listener;
static int log_fd;

static int dial(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK(fd >= 0);
    CHECK(connect(fd, (struct sockaddr *)&listener.addr, sizeof(struct sockaddr_in)) == 0);
    return fd;
}

static int ended(int fd, int timeout_ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    char waste[256];

    if (poll(&p, 1, timeout_ms) != 1) {
        return 0;
    }
    return recv(fd, waste, sizeof(waste), MSG_DONTWAIT) <= 0;
}

/* How many log lines hold `text`. */
static int logged(const char *text)
{
    static char all[1 << 16];
    ssize_t length = pread(log_fd, all, sizeof(all) - 1, 0);
    int count      = 0;
    char *at;

    CHECK(length >= 0);
    all[length] = 0;
    for (at = all; (at = strstr(at, text)) != NULL; ++at) {
        ++count;
    }
    return count;
}

static void honest_client(void)
{
    cm_side_t client = {.priv = "hi", .priv_length = 3, .pack = 1}, server = {.priv = "ho", .priv_length = 3};

    listener.requests = 0;
    cm_connect_pair(&listener, &client, &server);
    cm_destroy(&client);
    cm_destroy(&server);
}

/* Sends, and waits to be dropped at once. */
static void test_bad(const char *what, const void *bytes, size_t length, const char *text)
{
    int i;

    for (i = 0; i < 3; ++i) {
        int fd = dial();
        CHECK(send(fd, bytes, length, MSG_NOSIGNAL) == (ssize_t)length);
        CM_WAIT(ended(fd, 0));
        close(fd);
    }
    CHECK_EQ(logged(text), 1);
    honest_client();
    OK("%s", what);
}

/* Sends, and leaves. */
static void test_half(void)
{
    int i;

    for (i = 0; i < 3; ++i) {
        int fd = dial();
        CHECK(send(fd, "\5\0\0\0\0\0", 6, MSG_NOSIGNAL) == 6);
        close(fd);
    }
    CM_WAIT(logged("half a message") == 1);
    honest_client();
    CHECK_EQ(logged("half a message"), 1);
    OK("half a message");
}

/* A valid message, byte by byte and in any cut, reaches the server. */
static void test_cuts(void)
{
    static const char message[] = "\5\0\0\0\0\0\0\0\0fxcm\2\1\0howdy";
    size_t cut;

    for (cut = 1; cut < 21; ++cut) {
        int fd = dial();
        listener.requests = 0;
        CHECK(send(fd, message, cut, MSG_NOSIGNAL) == (ssize_t)cut);
        honest_client();
        listener.requests = 0;
        CHECK(send(fd, message + cut, 21 - cut, MSG_NOSIGNAL) == (ssize_t)(21 - cut));
        CM_WAIT(listener.requests == 1);
        CHECK_EQ(listener.remote_length, 5);
        CHECK(!memcmp(listener.remote, "howdy", 5));
        CHECK_OK(uct_listener_reject(listener.listener, listener.request[0]));
        CM_WAIT(ended(fd, 0));
        close(fd);
    }
    OK("a message in fragments");
}

static void test_flood(void)
{
    static int fds[MANY];
    int i, before = open_descriptors(), open_now;
    struct timespec begun, now;

    for (i = 0; i < MANY; ++i) {
        fds[i] = dial();
    }
    /* All were accepted when a client that came after them was. */
    honest_client();
    open_now = open_descriptors() - before - MANY;
    if (open_now > KEPT) {
        FAIL("%d descriptors are held for %d silent connections", open_now, MANY);
    }
    CHECK_EQ(logged("say nothing"), 1);
    OK("of many silent connections few are kept, and clients get through");

    clock_gettime(CLOCK_MONOTONIC, &begun);
    for (i = 0; i < MANY; ++i) {
        CM_WAIT(ended(fds[i], 0));
        close(fds[i]);
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
    CHECK(now.tv_sec - begun.tv_sec < 20);
    CM_WAIT(open_descriptors() == before);
    CHECK_EQ(logged("sent nothing"), 1);
    honest_client();
    OK("silent connections are dropped after a while");
}

#ifdef CM_DESCRIPTORS
/* No descriptor is left: the listener waits, without spinning, and goes on when there is one. */
static void test_descriptors(void)
{
    struct rlimit limit, small;
    cm_side_t client = {.priv = "hi", .priv_length = 3, .pack = 1};
    int fd;

    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    listener.requests = 0;
    /* The client's own socket takes the last one. */
    fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    small          = limit;
    small.rlim_cur = fd + 1;
    CHECK(setrlimit(RLIMIT_NOFILE, &small) == 0);
    close(fd);
    CHECK_OK(cm_client(&client, &listener.addr));
    CM_WAIT(logged("clients cannot be accepted") == 1);
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    CM_WAIT(listener.requests == 1);
    CHECK_OK(uct_listener_reject(listener.listener, listener.request[0]));
    CM_WAIT(client.connected == 1);
    cm_destroy(&client);
    OK("descriptors run out and come back");
}
#endif

int main(void)
{
    static char noise[5000];
    char name[64];
    unsigned seed = 1;
    struct rlimit limit;
    size_t i;

    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    if (limit.rlim_cur < 4096) {
        limit.rlim_cur = (limit.rlim_max < 4096) ? limit.rlim_max : 4096;
        CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    }
    log_fd = memfd_create("log", MFD_CLOEXEC);
    CHECK(log_fd >= 0);
    snprintf(name, sizeof(name), "/proc/self/fd/%d", log_fd);
    setenv("UCX_LOG_FILE", name, 1);
    for (i = 0; i < sizeof(noise); ++i) {
        seed     = seed * 1103515245 + 12345;
        noise[i] = (char)(seed >> 16);
    }
    cm_start(UCS_ASYNC_MODE_THREAD_SPINLOCK);
    cm_listen(&listener, "127.0.0.1");
    honest_client();
#ifdef CM_DESCRIPTORS
    test_descriptors();
#endif
    test_bad("garbage", noise, sizeof(noise), "no message of a client");
    test_bad("text", "GET / HTTP/1.0\r\n\r\n", 18, "no message of a client");
    test_bad("another version", "\0\0\0\0\0\0\0\0\0fxcm\3\1\0", 16, "speaks version 3");
    test_bad("too many bytes", "\377\377\377\177\0\0\0\0\0fxcm\2\1\0", 16, "private data, more than");
    test_bad("no such kind", "\0\0\0\0\0\0\0\0\0fxcm\2\11\0", 16, "no message of a client");
    test_bad("upstream's client", "\106\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16, "runs upstream UCX");
    test_half();
    test_cuts();
    test_flood();
    uct_listener_destroy(listener.listener);
    cm_stop();
    return 0;
}
