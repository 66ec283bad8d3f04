/* The start of the OpenSHMEM programs, and what they have in common with others that run as ranks. */
#ifndef FERRUCX_SHMEM_CHECK_H
#define FERRUCX_SHMEM_CHECK_H

#include <shmem.h>
#include <shmemx.h>

#include "../ranks.h"

static void everybody_stops(void)
{
    shmem_global_exit(1);
}

static void everybody_meets(void)
{
    shmem_barrier_all();
}

static inline void start(void)
{
    shmem_init();
    rank  = shmem_my_pe();
    ranks = shmem_n_pes();
    tell_libraries();
}

/* Symmetric memory, all zeros. */
static inline void *symmetric(size_t length)
{
    void *memory = shmem_calloc(1, length);

    CHECK(memory != NULL);
    return memory;
}

#endif
