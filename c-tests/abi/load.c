/* Loading the library changes nothing in the process: no thread, no signal handler, no descriptor, no
 * variable of the environment. */
/* valgrind: no, it has threads, handlers and descriptors of its own */
#include <ucp/api/ucp.h>

#include <dirent.h>
#include <errno.h>
#include <signal.h>

#include "check.h"

static int entries(const char *path)
{
    DIR *folder = opendir(path);
    int count = 0;

    CHECK(folder != NULL);
    while (readdir(folder)) {
        ++count;
    }
    closedir(folder);
    return count;
}

int main(void)
{
    struct sigaction action;
    unsigned major, minor, release;
    int number;

    for (number = 1; number < NSIG; ++number) {
        if (sigaction(number, NULL, &action) < 0) {
            CHECK_EQ(errno, EINVAL);
            continue;
        }
        if (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN) {
            FAIL("signal %d has a handler", number);
        }
    }
    OK("no signal handler");
    CHECK_EQ(entries("/proc/self/task"), 3); /* with . and .. */
    OK("no thread");
    CHECK_EQ(entries("/proc/self/fd"), 6); /* and the folder itself */
    OK("no descriptor");

    ucp_get_version(&major, &minor, &release);
    CHECK_EQ(major, 1);
    CHECK(minor >= 22);
    OK("version");
    return 0;
}
