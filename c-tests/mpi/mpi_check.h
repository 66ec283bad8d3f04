/* The start of the MPI programs, and what they have in common with others that run as ranks. */
#ifndef FERRUCX_MPI_CHECK_H
#define FERRUCX_MPI_CHECK_H

#include <mpi.h>

#include "../ranks.h"

/* Receives name their sender: for an MPI whose MPI_ANY_SOURCE does not work whatever the library below. */
static int named;

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
    named = (*argc > 1) && !strcmp((*argv)[1], "named");
}

/* The source to ask for where any will do and `source` is the one to come. */
static inline int anyone(int source)
{
    return named ? source : MPI_ANY_SOURCE;
}

static inline int next(void)
{
    return (rank + 1) % ranks;
}

static inline int previous(void)
{
    return (rank + ranks - 1) % ranks;
}

static inline void received(const MPI_Status *status, int source, int tag, size_t length)
{
    int count;

    MPI_Get_count(status, MPI_BYTE, &count);
    CHECK_EQ(status->MPI_SOURCE, source);
    CHECK_EQ(status->MPI_TAG, tag);
    CHECK_EQ(count, length);
}

#endif
