/* Count and seed of a program of tests/torture: TORTURE_COUNT and TORTURE_SEED, or the program's defaults. The last
 * line that the program prints is the figure it reached. */
#ifndef FERRUCX_TORTURE_H
#define FERRUCX_TORTURE_H

#include "check.h"

#include <time.h>

static inline uint64_t torture_word(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return (text && *text) ? strtoull(text, NULL, 0) : otherwise;
}

static inline uint64_t torture_count(uint64_t otherwise)
{
    return torture_word("TORTURE_COUNT", otherwise);
}

/* Starts both generators, number() and rand(), from the seed; gives it. */
static inline uint64_t torture_seed(uint64_t otherwise)
{
    uint64_t seed = torture_word("TORTURE_SEED", otherwise);

    number_state = (seed + 1) * 0x9e3779b97f4a7c15ull;
    srand((unsigned)seed);
    return seed;
}

/* Upstream's library takes what ours refuses: then only crashes and hangs count. */
static inline int on_upstream(void)
{
    return getenv("TORTURE_UPSTREAM") != NULL;
}

#define FIGURE(...) \
    do { \
        printf("figure: "); \
        printf(__VA_ARGS__); \
        putchar('\n'); \
        fflush(stdout); \
    } while (0)

/* Kilobytes of this process that are in memory and its own. */
static inline long resident_kb(void)
{
    long resident = 0, shared = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    CHECK(file != NULL);
    CHECK(fscanf(file, "%*s %ld %ld", &resident, &shared) == 2);
    fclose(file);
    return (resident - shared) * (sysconf(_SC_PAGESIZE) / 1024);
}

static inline double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static inline int by_time(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Sorts `times` and gives the one that 99 of 100 do not exceed. */
static inline double p99(double *times, size_t count)
{
    qsort(times, count, sizeof(*times), by_time);
    return count ? times[(count * 99 + 99) / 100 - 1] : 0;
}

#endif
