/* Preloaded into ucx_perftest: TCP_NODELAY on the connection by which its two processes agree, and on no other. Without it each
 * test waits twice for an acknowledgement that the kernel delays by 40 ms, which the many short tests of benches/sizes would spend
 * most of their time on. NODELAY_PORT is the port of that connection. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>

typedef int named(int, struct sockaddr *, socklen_t *);

static void set(int fd, named *name)
{
    const char *wanted = getenv("NODELAY_PORT");
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof(address);
    const int on = 1;

    /* IPv4 and IPv6 have the port at the same place. */
    if (wanted && name(fd, (struct sockaddr *)&address, &length) == 0 &&
        (address.ss_family == AF_INET || address.ss_family == AF_INET6) &&
        ntohs(((struct sockaddr_in *)&address)->sin_port) == atoi(wanted)) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    }
}

int connect(int fd, const struct sockaddr *address, socklen_t length)
{
    int (*next)(int, const struct sockaddr *, socklen_t) = dlsym(RTLD_NEXT, "connect");
    int result = next(fd, address, length);

    if (result == 0) {
        set(fd, getpeername);
    }
    return result;
}

int accept(int fd, struct sockaddr *address, socklen_t *length)
{
    int (*next)(int, struct sockaddr *, socklen_t *) = dlsym(RTLD_NEXT, "accept");
    int result = next(fd, address, length);

    if (result >= 0) {
        set(result, getsockname);
    }
    return result;
}
