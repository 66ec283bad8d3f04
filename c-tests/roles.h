/* Processes of a test that play a part and end with it. */
#ifndef FERRUCX_ROLES_H
#define FERRUCX_ROLES_H

#include "check.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* A child that runs `role`, which does not return, and is killed when its parent ends. Before any UCX object of the
 * parent. */
static inline pid_t role_start(void (*role)(void))
{
    pid_t pid;

    fflush(NULL);
    pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        role();
        _exit(1);
    }
    return pid;
}

#endif
