/* Collective operations of an MPI: microseconds of one, the mean of all ranks, "NAME BYTES FIGURE" a line. How many are
 * done is decided by how long the first ones take, since with more ranks than processors one can take a thousand times as long. */
#define _GNU_SOURCE
#include "clock.h"

#include <mpi.h>

enum { FIRST = 3, LONGEST = 262144 };

static const double BUDGET_US = 250e3;
static int ranks;
static char *out, *in;

static void allreduce(int bytes)
{
    MPI_Allreduce(out, in, bytes / sizeof(double), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void alltoall(int bytes)
{
    MPI_Alltoall(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, MPI_COMM_WORLD);
}

static void bcast(int bytes)
{
    MPI_Bcast(out, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
}

/* Microseconds of one of `count`. */
static double of_one(void (*operation)(int), int bytes, int count)
{
    double start;
    int i;

    MPI_Barrier(MPI_COMM_WORLD);
    start = now_us();
    for (i = 0; i < count; ++i) {
        operation(bytes);
    }
    return (now_us() - start) / count;
}

static void measure(const char *name, void (*operation)(int), int bytes)
{
    double each = of_one(operation, bytes, FIRST), all;
    int rank, count;

    MPI_Allreduce(&each, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    count = all > BUDGET_US / FIRST ? FIRST : (int)(BUDGET_US / all);
    each = of_one(operation, bytes, count);
    MPI_Reduce(&each, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        printf("%s %d %.3f\n", name, bytes, all / ranks);
    }
}

/* Written, since a copy of pages that never were reads the one page of zeros. */
static char *buffer(void)
{
    size_t bytes = (size_t)ranks * LONGEST;

    return memset(malloc(bytes), 1, bytes);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {8, 4096, LONGEST};
    size_t i;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    out = buffer();
    in = buffer();
    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
        measure("allreduce", allreduce, sizes[i]);
        measure("alltoall", alltoall, sizes[i]);
        measure("bcast", bcast, sizes[i]);
    }
    MPI_Finalize();
    return 0;
}
