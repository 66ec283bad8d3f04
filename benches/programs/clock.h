/* What the programs of the benchmarks share: a clock, a processor for each process, medians. */
#ifndef FERRUCX_BENCH_CLOCK_H
#define FERRUCX_BENCH_CLOCK_H

#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static inline double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}

/* Keeps the thread on one processor. */
static inline void pin_to(int cpu)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof(one), &one);
}

/* Keeps the thread on the n-th of the processors that BENCH_CORES lists, or else that it may use. They are counted round. */
static inline void pin(int n)
{
    const char *list = getenv("BENCH_CORES"), *at;
    cpu_set_t may;
    int cpu, count;

    if (list) {
        for (count = 1, at = list; *at; ++at) {
            count += *at == ',';
        }
        for (n %= count, at = list; n > 0; --n) {
            at = strchr(at, ',') + 1;
        }
        pin_to(atoi(at));
        return;
    }
    sched_getaffinity(0, sizeof(may), &may);
    count = CPU_COUNT(&may);
    for (cpu = 0, n %= count; n >= 0; ++cpu) {
        if (CPU_ISSET(cpu, &may) && n-- == 0) {
            pin_to(cpu);
        }
    }
}

static inline int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static inline double median(double *values, int count)
{
    qsort(values, count, sizeof(*values), by_size);
    return values[count / 2];
}

#endif
