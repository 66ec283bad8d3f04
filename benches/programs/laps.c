/* What it costs to write lines that another processor has read: messages of BYTES between two processes, each way
 * through shared memory of so many KiB, one message after the other, from its beginning again at its end. Copied in by
 * one process and out by the other. Prints nanoseconds one way for each memory, the least of five runs.
 *
 *     gcc -O2 -o laps benches/programs/laps.c && ./laps 8192 32 128 512 1024 2048 4096 8192 */
#define _GNU_SOURCE
#include "clock.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>

enum { MESSAGES = 20000, REPEATS = 5, PAGE = 4096, APART = 1088 };

/* One direction: the number of the last message in front, behind it the memory that messages go through. */
struct way {
    _Atomic uint64_t *last;
    char *memory;
};

static struct way open_way(size_t bytes)
{
    char *base = mmap(NULL, PAGE + bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

    if (base == MAP_FAILED) {
        exit(1);
    }
    return (struct way){(_Atomic uint64_t *)base, base + PAGE};
}

/* All messages of a process, which sends first or answers. */
static void run(struct way out, struct way in, int sends_first, size_t len, size_t bytes, uint64_t first)
{
    char *mine = aligned_alloc(PAGE, (len + PAGE) / PAGE * PAGE), *got = aligned_alloc(PAGE, (len + PAGE) / PAGE * PAGE);
    size_t step = (len + APART) / 64 * 64, at = 0;
    uint64_t n;
    int turn;

    memset(mine, 1, len);
    for (n = first; n < first + MESSAGES; ++n, at = at + 2 * step > bytes ? 0 : at + step) {
        for (turn = 0; turn < 2; ++turn) {
            if (turn != sends_first) {
                memcpy(out.memory + at, mine, len);
                atomic_store_explicit(out.last, n, memory_order_release);
            } else {
                while (atomic_load_explicit(in.last, memory_order_acquire) != n) {
                }
                memcpy(got, in.memory + at, len);
            }
        }
    }
    free(mine);
    free(got);
}

static double measure(size_t len, size_t bytes)
{
    struct way there = open_way(bytes), back = open_way(bytes);
    double least = 1e30, begin, each;
    cpu_set_t all;
    pid_t child;
    int i;

    sched_getaffinity(0, sizeof(all), &all);
    child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    }
    pin(child == 0);
    for (i = 0; i < REPEATS; ++i) {
        begin = now_us();
        run(child ? there : back, child ? back : there, child != 0, len, bytes, 1 + (uint64_t)i * MESSAGES);
        each = (now_us() - begin) * 1e3 / MESSAGES / 2;
        least = each < least ? each : least;
    }
    if (child == 0) {
        _exit(0);
    }
    waitpid(child, NULL, 0);
    sched_setaffinity(0, sizeof(all), &all);
    munmap(there.last, PAGE + bytes);
    munmap(back.last, PAGE + bytes);
    return least;
}

int main(int count, char **words)
{
    size_t len = count > 1 ? strtoul(words[1], NULL, 0) : 0, bytes;
    int i;

    for (i = 2; len && i < count; ++i) {
        bytes = strtoul(words[i], NULL, 0) << 10;
        if (bytes >= len + APART) {
            printf("%s KiB: %.0f ns\n", words[i], measure(len, bytes));
        }
    }
    return len == 0;
}
