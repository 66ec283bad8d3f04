/* MPI_THREAD_MULTIPLE: four threads of each rank send, receive and reduce at the same time. */
#include "mpi_check.h"

#include <pthread.h>

enum { THREADS = 4, ROUNDS = 30 };

typedef struct {
    int index;
    MPI_Comm comm;
} thread_t;

static void *run(void *arg)
{
    static const size_t lengths[] = {0, 8, 100, 5000, 20000, 200000};
    thread_t *me = arg;
    int right = next(), left = previous(), round, count;
    char *out = room(200000), *in = room(200000);
    long mine, all;
    MPI_Request request;
    MPI_Status status;

    for (round = 0; round < ROUNDS; ++round) {
        size_t n = lengths[(round + me->index) % 6];

        fill(out, n, rank * 64 + me->index * 16 + round);
        memset(in, 0, n);
        if (round % 3) {
            MPI_Isend(out, n, MPI_BYTE, right, me->index, MPI_COMM_WORLD, &request);
        } else {
            MPI_Issend(out, n, MPI_BYTE, right, me->index, MPI_COMM_WORLD, &request);
        }
        MPI_Recv(in, 200000, MPI_BYTE, round % 2 ? left : anyone(left), me->index, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        CHECK_EQ(count, n);
        CHECK_EQ(status.MPI_SOURCE, left);
        CHECK_PATTERN(in, n, left * 64 + me->index * 16 + round);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        mine = rank + round;
        MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, me->comm);
        CHECK_EQ(all, (long)ranks * (ranks - 1) / 2 + (long)ranks * round);
    }
    free(out);
    free(in);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    thread_t data[THREADS];
    int i;

    start(&argc, &argv, MPI_THREAD_MULTIPLE);
    for (i = 0; i < THREADS; ++i) {
        data[i].index = i;
        MPI_Comm_dup(MPI_COMM_WORLD, &data[i].comm);
    }
    for (i = 0; i < THREADS; ++i) {
        CHECK_EQ(pthread_create(&threads[i], NULL, run, &data[i]), 0);
    }
    for (i = 0; i < THREADS; ++i) {
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
        MPI_Comm_free(&data[i].comm);
    }
    part("four threads each");
    MPI_Finalize();
    return 0;
}
