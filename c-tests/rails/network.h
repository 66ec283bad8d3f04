/* Network namespaces: the two processes of a test stand in one each. */
#ifndef FERRUCX_NETWORK_H
#define FERRUCX_NETWORK_H

#include "check.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

/* The calling process is in the network namespace of this file from now on. */
static inline void enter_network(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    CHECK(fd >= 0);
    CHECK_EQ(setns(fd, CLONE_NEWNET), 0);
    close(fd);
}

#endif
