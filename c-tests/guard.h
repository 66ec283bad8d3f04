/* Memory that ends at a page without access: an access to the byte behind it ends the process, which prints the name
 * of the structure that was overrun. For structures that grew: an older program allocates their old size. */
#ifndef FERRUCX_GUARD_H
#define FERRUCX_GUARD_H

#include "check.h"

#include <signal.h>
#include <sys/mman.h>

enum { GUARD_MAX = 64 };

static const char *guard_step = "nothing";
static char *guard_pages[GUARD_MAX];
static unsigned guard_count;

static inline void guard_died(int signo, siginfo_t *info, void *context)
{
    const char *text = ": crashed elsewhere than behind a structure\n";
    ssize_t written;
    unsigned i;

    for (i = 0; i < guard_count; ++i) {
        if (((char *)info->si_addr >= guard_pages[i]) && ((char *)info->si_addr < guard_pages[i] + 4096)) {
            text = ": memory behind the old size was touched\n";
        }
    }
    written = write(2, guard_step, strlen(guard_step));
    written += write(2, text, strlen(text));
    _exit((written > 0) ? 1 : signo);
}

/* Call after the library is up: the message wins over a library's own handler. */
static inline void guard_watch(void)
{
    struct sigaction action;

    memset(&action, 0, sizeof(action));
    action.sa_sigaction = guard_died;
    action.sa_flags = SA_SIGINFO;
    CHECK(sigaction(SIGSEGV, &action, NULL) == 0);
    CHECK(sigaction(SIGBUS, &action, NULL) == 0);
}

/* `size` bytes of value `fill` right before the guard page; `size` is a multiple of 8. Lives until exit. */
static inline void *guard_alloc(const char *step, size_t size, int fill)
{
    size_t page = sysconf(_SC_PAGESIZE);
    char *base = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    guard_step = step;
    CHECK(base != MAP_FAILED);
    CHECK((size % 8 == 0) && (size <= page));
    CHECK(guard_count < GUARD_MAX);
    guard_pages[guard_count++] = base + page;
    CHECK(mprotect(base + page, page, PROT_NONE) == 0);
    memset(base, fill, page);
    return base + page - size;
}

#endif
