/* Ranks that send, receive, reduce and write into each other's memory, and leave at once: no barrier before the
 * end, so that one may be gone while the others are still busy with what it sent. */
#include "mpi_check.h"

enum { LONGS = 40000, ROUNDS = 3 };

int main(int argc, char **argv)
{
    static const int lengths[] = {1, 500, LONGS};
    long *out, *in, *memory, one = 1, before, sum;
    int round, i, n;
    MPI_Request request;
    MPI_Win window;

    start(&argc, &argv, MPI_THREAD_SINGLE);
    out = room(LONGS * sizeof(long));
    in = room(LONGS * sizeof(long));
    MPI_Win_allocate((LONGS + 1) * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    memset(memory, 0, (LONGS + 1) * sizeof(long));
    MPI_Barrier(MPI_COMM_WORLD);
    for (round = 0; round < ROUNDS; ++round) {
        n = lengths[round];
        for (i = 0; i < n; ++i) {
            out[i] = rank * 1000000L + i + round;
        }
        MPI_Isend(out, n, MPI_LONG, next(), round, MPI_COMM_WORLD, &request);
        MPI_Recv(in, n, MPI_LONG, previous(), round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQ(in[n - 1], previous() * 1000000L + n - 1 + round);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Allreduce(&one, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        CHECK_EQ(sum, ranks);
        MPI_Win_lock(MPI_LOCK_SHARED, next(), 0, window);
        MPI_Put(out, n, MPI_LONG, next(), 0, n, MPI_LONG, window);
        MPI_Win_unlock(next(), window);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, LONGS, MPI_SUM, window);
        MPI_Win_unlock(0, window);
        CHECK((before >= 0) && (before < ROUNDS * ranks));
    }
    MPI_Win_free(&window);
    /* The last words of each, which nobody answers. */
    fill(out, LONGS * sizeof(long), rank);
    MPI_Isend(out, rank % 2 ? LONGS : 4, MPI_LONG, next(), 9, MPI_COMM_WORLD, &request);
    n = previous() % 2 ? LONGS : 4;
    MPI_Recv(in, n, MPI_LONG, previous(), 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_PATTERN(in, n * sizeof(long), previous());
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    printf("ok rank %d\n", rank);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
