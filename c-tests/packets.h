/* Counts the system calls of this process that send: the library's `send` and `sendmsg` are found here first. Who includes
 * this defines _GNU_SOURCE before. */
#ifndef PACKETS_H
#define PACKETS_H

#include <dlfcn.h>
#include <sys/socket.h>

static int packets;

ssize_t send(int fd, const void *bytes, size_t length, int flags)
{
    static ssize_t (*next)(int, const void*, size_t, int);
    ssize_t sent;

    if (next == NULL) {
        *(void**)&next = dlsym(RTLD_NEXT, "send");
    }
    sent = next(fd, bytes, length, flags);
    packets += sent > 0;
    return sent;
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    static ssize_t (*next)(int, const struct msghdr*, int);
    ssize_t sent;

    if (next == NULL) {
        *(void**)&next = dlsym(RTLD_NEXT, "sendmsg");
    }
    sent = next(fd, message, flags);
    packets += sent > 0;
    return sent;
}

#endif
