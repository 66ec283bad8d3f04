/* Two processes for a test: the parent forks before any UCX object exists, and the two talk over a
 * socket pair to exchange addresses and to wait for each other. Only the parent prints. */
#ifndef FERRUCX_PAIR_H
#define FERRUCX_PAIR_H

#include "check.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

typedef struct {
    int fd;
    pid_t child; /* 0 in the child itself */
} pair_t;

static inline pair_t pair_start(void)
{
    pair_t pair;
    int fds[2];

    fflush(NULL);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
    pair.child = fork();
    CHECK(pair.child >= 0);
    if (pair.child == 0) {
        /* A parent that fails takes the child along, which would else keep its pipes open. */
        CHECK_EQ(prctl(PR_SET_PDEATHSIG, SIGKILL), 0);
    }
    pair.fd = fds[pair.child == 0];
    close(fds[pair.child != 0]);
    return pair;
}

static inline int pair_is_child(const pair_t *pair)
{
    return pair->child == 0;
}

static inline void pair_send(const pair_t *pair, const void *data, size_t length)
{
    ssize_t sent = send(pair->fd, data, length, MSG_NOSIGNAL);
    CHECK_EQ(sent, length);
}

static inline void pair_recv(const pair_t *pair, void *data, size_t length)
{
    ssize_t got;

    do {
        got = recv(pair->fd, data, length, MSG_WAITALL);
    } while ((got < 0) && (errno == EINTR));
    CHECK_EQ(got, length);
}

/* A blob that the other side sends, with its length; freed by the caller. */
static inline void *pair_recv_blob(const pair_t *pair)
{
    size_t length;
    void *blob;

    pair_recv(pair, &length, sizeof(length));
    blob = malloc(length);
    CHECK(blob != NULL);
    pair_recv(pair, blob, length);
    return blob;
}

static inline void pair_send_blob(const pair_t *pair, const void *blob, size_t length)
{
    pair_send(pair, &length, sizeof(length));
    pair_send(pair, blob, length);
}

/* Both sides give a blob of the same length and get the other's. */
static inline void pair_exchange(const pair_t *pair, const void *mine, void *theirs, size_t length)
{
    pair_send(pair, mine, length);
    pair_recv(pair, theirs, length);
}

static inline void pair_barrier(const pair_t *pair)
{
    char mine = 0, theirs;
    pair_exchange(pair, &mine, &theirs, 1);
}

/* Whether the other side has sent something: lets a test progress its worker while it waits. */
static inline int pair_ready(const pair_t *pair)
{
    char byte;
    return recv(pair->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0;
}

/* Runs `body` with `arg` in a process of its own, whose namespaces, users and limits are gone with it; gives its wait status. */
static inline int pair_apart(void (*body)(const void *), const void *arg)
{
    pid_t pid;
    int status;

    fflush(NULL);
    pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        body(arg);
        fflush(NULL);
        _exit(0);
    }
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    return status;
}

/* The child ends here; the parent waits for it and checks its exit status. */
static inline void pair_finish(const pair_t *pair)
{
    int status;

    close(pair->fd);
    if (pair_is_child(pair)) {
        fflush(NULL);
        exit(0);
    }
    CHECK(waitpid(pair->child, &status, 0) == pair->child);
    if (!WIFEXITED(status) || WEXITSTATUS(status)) {
        FAIL("the child process ended with wait status 0x%x", status);
    }
}

#endif
