/* The start of the OpenSHMEM programs, and what they have in common with others that run as ranks. */
#ifndef FERRUCX_SHMEM_CHECK_H
#define FERRUCX_SHMEM_CHECK_H

#include <shmem.h>
#include <shmemx.h>

#include "../ranks.h"

/* The neighbours. */
static int right, left;

static void everybody_stops(void)
{
    shmem_global_exit(1);
}

static void everybody_meets(void)
{
    shmem_barrier_all();
}

/* Returns what the library gives of the threads that are asked for. */
static inline int start(int threads)
{
    int provided;

    shmem_init_thread(threads, &provided);
    rank  = shmem_my_pe();
    ranks = shmem_n_pes();
    right = (rank + 1) % ranks;
    left  = (rank + ranks - 1) % ranks;
    tell_libraries();
    return provided;
}

/* Symmetric memory, all zeros for everybody who writes to it. (Open MPI's shmem_calloc clears behind its barrier.) */
static inline void *symmetric(size_t length)
{
    void *memory = shmem_malloc(length);

    CHECK(memory != NULL);
    memset(memory, 0, length);
    shmem_barrier_all();
    return memory;
}

#endif
