/* Ping-pong between two ranks of an MPI: half a round trip in microseconds, "latency BYTES FIGURE" a line, the
 * median of several rounds; and bandwidth of a window of messages, "bandwidth BYTES MB_PER_SECOND". */
#define _GNU_SOURCE
#include "clock.h"

#include <mpi.h>

enum { REPEATS = 7, WINDOW = 32 };

static void ping_pong(int rank, char *out, char *in, int length, int rounds)
{
    double each[REPEATS];
    int k, i;

    for (k = -1; k < REPEATS; ++k) {
        double start;

        MPI_Barrier(MPI_COMM_WORLD);
        start = now_us();
        for (i = 0; i < rounds; ++i) {
            if (rank == 0) {
                MPI_Send(out, length, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
            }
            MPI_Recv(in, length, MPI_CHAR, !rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (rank == 1) {
                MPI_Send(out, length, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
            }
        }
        if (k >= 0) {
            each[k] = (now_us() - start) / rounds / 2;
        }
    }
    if (rank == 0) {
        printf("latency %d %.3f\n", length, median(each, REPEATS));
    }
}

static void stream(int rank, char *out, char *in, int length, int windows)
{
    MPI_Request requests[WINDOW];
    double each[REPEATS];
    int k, i, w;
    char token = 0;

    for (k = -1; k < REPEATS; ++k) {
        double start;

        MPI_Barrier(MPI_COMM_WORLD);
        start = now_us();
        for (i = 0; i < windows; ++i) {
            for (w = 0; w < WINDOW; ++w) {
                if (rank == 0) {
                    MPI_Isend(out, length, MPI_CHAR, 1, 2, MPI_COMM_WORLD, &requests[w]);
                } else {
                    MPI_Irecv(in, length, MPI_CHAR, 0, 2, MPI_COMM_WORLD, &requests[w]);
                }
            }
            MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
        }
        if (rank == 0) {
            MPI_Recv(&token, 1, MPI_CHAR, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Send(&token, 1, MPI_CHAR, 0, 3, MPI_COMM_WORLD);
        }
        if (k >= 0) {
            each[k] = (double)length * WINDOW * windows / (now_us() - start);
        }
    }
    if (rank == 0) {
        printf("bandwidth %d %.1f\n", length, median(each, REPEATS));
    }
}

int main(int argc, char **argv)
{
    static const struct {
        int length, rounds, windows;
    } sizes[] = {{8, 2000, 0}, {8192, 1000, 40}, {65536, 400, 10}, {1 << 20, 60, 2}};
    char *out = aligned_alloc(4096, 1 << 20), *in = aligned_alloc(4096, 1 << 20);
    size_t i;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pin(rank);
    memset(out, 1, 1 << 20);
    memset(in, 2, 1 << 20);
    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
        ping_pong(rank, out, in, sizes[i].length, sizes[i].rounds);
        if (sizes[i].windows) {
            stream(rank, out, in, sizes[i].length, sizes[i].windows);
        }
    }
    MPI_Finalize();
    return 0;
}
