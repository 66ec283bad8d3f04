/* Ranks that end one after the other: whoever has ended makes no progress when the next one closes its endpoints. */
#include "../mpi/mpi_check.h"

#include <unistd.h>

enum { LONGS = 30000, APART_US = 50000 };

int main(int argc, char **argv)
{
    static long in[LONGS], out[LONGS];
    MPI_Request request;
    int i, length;

    start(&argc, &argv, MPI_THREAD_SINGLE);
    for (i = 1; i < ranks; ++i) {
        for (length = 1; length <= LONGS; length *= 30) {
            int to = (rank + i) % ranks, from = (rank + ranks - i) % ranks;
            fill(out, length * sizeof(long), rank + length);
            MPI_Isend(out, length, MPI_LONG, to, length, MPI_COMM_WORLD, &request);
            MPI_Recv(in, length, MPI_LONG, from, length, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK_PATTERN(in, length * sizeof(long), from + length);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }
    part("messages");
    /* What a program does that computes last. */
    usleep(rank * APART_US);
    MPI_Finalize();
    return 0;
}
