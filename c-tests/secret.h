/* Files with shared secrets for a test, and the variables that name them. */
#ifndef FERRUCX_SECRET_H
#define FERRUCX_SECRET_H

#include "check.h"

#include <fcntl.h>
#include <sys/stat.h>

static char secret_folder[] = "/tmp/ferrucx-secret-XXXXXX";

static inline const char *secret_path(const char *name)
{
    static char path[4][128];
    static int next;
    char *p = path[next++ % 4];

    snprintf(p, sizeof(path[0]), "%s/%s", secret_folder, name);
    return p;
}

/* A file of that content and mode in a new folder of the test's own. */
static inline void secret_write(const char *name, const char *content, mode_t mode)
{
    int fd;

    if (strstr(secret_folder, "XXXXXX")) {
        CHECK(mkdtemp(secret_folder) != NULL);
    }
    fd = open(secret_path(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(fd >= 0);
    CHECK_EQ(write(fd, content, strlen(content)), (ssize_t)strlen(content));
    CHECK_EQ(fchmod(fd, mode), 0);
    CHECK_EQ(close(fd), 0);
}

/* What is opened from now on has this secret (NULL: none), and asks for encryption or not. */
static inline void secret_use(const char *name, int encrypt)
{
    CHECK_EQ(setenv("UCX_TCP_AUTH_FILE", name ? secret_path(name) : "", 1), 0);
    CHECK_EQ(setenv("UCX_TCP_ENCRYPT", encrypt ? "y" : "n", 1), 0);
}

static inline void secret_forget(const char *const *names, size_t count)
{
    size_t i;

    for (i = 0; i < count; ++i) {
        CHECK_EQ(unlink(secret_path(names[i])), 0);
    }
    CHECK_EQ(rmdir(secret_folder), 0);
}

#endif
