/* A dynamic window whose regions come and go, near each other. */
#include "mpi_check.h"

static long value(int owner, int i)
{
    return owner * 10000019L + i * 3L;
}

int main(int argc, char **argv)
{
    enum { REGIONS = 8, N = 2000 };
    long *regions[REGIONS], mine[N], back[N], one = 1, zero = 0, old;
    MPI_Aint here[REGIONS], there[REGIONS];
    MPI_Win win;
    int round, r, i;

    start(&argc, &argv, MPI_THREAD_SINGLE);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (round = 0; round < 3; ++round) {
        for (r = 0; r < REGIONS; ++r) {
            regions[r] = room(N * sizeof(long));
            memset(regions[r], 0, N * sizeof(long));
            MPI_Win_attach(win, regions[r], N * sizeof(long));
            MPI_Get_address(regions[r], &here[r]);
        }
        MPI_Sendrecv(here, REGIONS, MPI_AINT, previous(), 1, there, REGIONS, MPI_AINT, next(), 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        for (r = 0; r < REGIONS; ++r) {
            for (i = 0; i < N; ++i) {
                mine[i] = value(rank, i + r);
            }
            MPI_Win_lock(r % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, next(), 0, win);
            MPI_Put(mine, N - 2, MPI_LONG, next(), there[r], N - 2, MPI_LONG, win);
            MPI_Win_flush(next(), win);
            MPI_Get(back, N - 2, MPI_LONG, next(), there[r], N - 2, MPI_LONG, win);
            MPI_Fetch_and_op(&one, &old, MPI_LONG, next(), there[r] + (N - 2) * sizeof(long), MPI_SUM, win);
            MPI_Win_flush(next(), win);
            CHECK_EQ(old, 0);
            MPI_Compare_and_swap(&one, &zero, &old, MPI_LONG, next(), there[r] + (N - 1) * sizeof(long), win);
            MPI_Win_flush(next(), win);
            CHECK_EQ(old, 0);
            MPI_Accumulate(mine, 10, MPI_LONG, next(), there[r], 10, MPI_LONG, MPI_SUM, win);
            MPI_Win_unlock(next(), win);
            for (i = 0; i < N - 2; ++i) {
                CHECK_EQ(back[i], mine[i]);
            }
        }
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock_all(0, win);
        MPI_Win_sync(win);
        for (r = 0; r < REGIONS; ++r) {
            for (i = 0; i < N - 2; ++i) {
                CHECK_EQ(regions[r][i], value(previous(), i + r) * (i < 10 ? 2 : 1));
            }
            CHECK_EQ(regions[r][N - 2], 1);
            CHECK_EQ(regions[r][N - 1], 1);
        }
        MPI_Win_unlock_all(win);
        MPI_Barrier(MPI_COMM_WORLD);
        for (r = 0; r < REGIONS; ++r) {
            MPI_Win_detach(win, regions[r]);
            free(regions[r]);
        }
    }
    part("regions");
    MPI_Win_free(&win);
    part("freed");
    MPI_Finalize();
    return 0;
}
