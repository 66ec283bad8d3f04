/* Preloaded into ranks that wait by calling progress in a loop: one that finds nothing to do sleeps for a moment, so that the
 * others get the core. One that only yields gets no core again for long while other programs compute. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*progress)(void *);
    struct timespec moment = {.tv_nsec = 1000};
    unsigned done;

    if (!progress)
        progress = (unsigned (*)(void *))dlsym(RTLD_NEXT, "ucp_worker_progress");
    done = progress(worker);
    if (!done)
        nanosleep(&moment, NULL);
    return done;
}
