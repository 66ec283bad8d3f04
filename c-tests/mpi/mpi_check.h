/* The start of the MPI programs, and what they have in common with others that run as ranks. */
#ifndef FERRUCX_MPI_CHECK_H
#define FERRUCX_MPI_CHECK_H

#include <mpi.h>

#include "../ranks.h"

static void everybody_stops(void)
{
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void everybody_meets(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static inline void start(int *argc, char ***argv, int threads)
{
    int provided;

    MPI_Init_thread(argc, argv, threads, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    CHECK(provided >= threads);
    tell_libraries();
}

#endif
