/* Preloaded into clients: one that ends by a signal of its own says where it was, for those who have no core file. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FRAMES 32

static void tell(int number)
{
    void *frames[FRAMES];
    int count = backtrace(frames, FRAMES);
    Dl_info info;
    int i;

    dprintf(STDERR_FILENO, "signal %d (%s) in process %d\n", number, strsignal(number), getpid());
    for (i = 1; i < count; i++)
        if (dladdr(frames[i], &info) && info.dli_fname)
            dprintf(STDERR_FILENO, "frame %s+%#lx %s\n", info.dli_fname,
                    (unsigned long)((char *)frames[i] - (char *)info.dli_fbase), info.dli_sname ? info.dli_sname : "");
    /* The action is the default one again: the process ends when this returns. */
    raise(number);
}

__attribute__((constructor)) static void install(void)
{
    static const int fatal[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    struct sigaction action = {.sa_handler = tell, .sa_flags = SA_RESETHAND | SA_ONSTACK}, present;
    void *frame;
    unsigned i;

    /* The first call loads a library, which a handler must not. */
    backtrace(&frame, 1);
    for (i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++)
        if (sigaction(fatal[i], NULL, &present) == 0 && present.sa_handler == SIG_DFL)
            sigaction(fatal[i], &action, NULL);
}
