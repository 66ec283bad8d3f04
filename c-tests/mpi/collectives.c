/* Collective operations against what each must give, blocking and not, of all ranks and of parts of them. */
#include "mpi_check.h"

static const int counts[] = {1, 3, 100, 5000, 100000};
enum { COUNTS = sizeof(counts) / sizeof(counts[0]), LONGEST = 100000 };

/* What rank `r` has at `i`. */
static long value(int r, int i)
{
    return r * 1000003L + i * 7L + 1;
}

static long sum(int members, int i)
{
    return members * (members - 1L) / 2 * 1000003L + members * (i * 7L + 1);
}

static void all_of(MPI_Comm comm, int count)
{
    int me, members, r, i;
    long *mine, *all;

    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &members);
    mine = room(count * sizeof(long) * members);
    all = room(count * sizeof(long) * members);
    for (r = 0; r < members; ++r) {
        for (i = 0; i < count; ++i) {
            all[i] = me == r ? value(r, i) : -1;
        }
        MPI_Bcast(all, count, MPI_LONG, r, comm);
        for (i = 0; i < count; ++i) {
            CHECK_EQ(all[i], value(r, i));
        }
    }
    for (i = 0; i < count; ++i) {
        mine[i] = value(me, i);
    }
    MPI_Allreduce(mine, all, count, MPI_LONG, MPI_SUM, comm);
    for (i = 0; i < count; ++i) {
        CHECK_EQ(all[i], sum(members, i));
    }
    MPI_Reduce(mine, all, count, MPI_LONG, MPI_MAX, members - 1, comm);
    for (i = 0; (i < count) && (me == members - 1); ++i) {
        CHECK_EQ(all[i], value(members - 1, i));
    }
    MPI_Scan(mine, all, count, MPI_LONG, MPI_SUM, comm);
    for (i = 0; i < count; ++i) {
        CHECK_EQ(all[i], sum(me + 1, i));
    }
    MPI_Allgather(mine, count, MPI_LONG, all, count, MPI_LONG, comm);
    for (r = 0; r < members; ++r) {
        for (i = 0; i < count; ++i) {
            CHECK_EQ(all[r * count + i], value(r, i));
        }
    }
    memset(mine, 0, count * sizeof(long));
    MPI_Scatter(all, count, MPI_LONG, mine, count, MPI_LONG, 0, comm);
    for (i = 0; i < count; ++i) {
        CHECK_EQ(mine[i], value(me, i));
    }
    MPI_Gather(mine, count, MPI_LONG, all, count, MPI_LONG, members / 2, comm);
    for (r = 0; (r < members) && (me == members / 2); ++r) {
        CHECK_EQ(all[r * count + count - 1], value(r, count - 1));
    }
    for (r = 0; r < members; ++r) {
        for (i = 0; i < count; ++i) {
            mine[r * count + i] = value(me * 64 + r, i);
        }
    }
    MPI_Alltoall(mine, count, MPI_LONG, all, count, MPI_LONG, comm);
    for (r = 0; r < members; ++r) {
        for (i = 0; i < count; ++i) {
            CHECK_EQ(all[r * count + i], value(r * 64 + me, i));
        }
    }
    MPI_Reduce_scatter_block(mine, all, count, MPI_LONG, MPI_SUM, comm);
    for (i = 0; i < count; ++i) {
        long expected = 0;

        for (r = 0; r < members; ++r) {
            expected += value(r * 64 + me, i);
        }
        CHECK_EQ(all[i], expected);
    }
    free(mine);
    free(all);
}

/* Parts of different lengths: rank r has r + 1 times `unit`. */
static void uneven(int unit)
{
    int *lengths = malloc(ranks * sizeof(int)), *at = malloc(ranks * sizeof(int)), r, i, total = 0;
    long *mine, *all;

    for (r = 0; r < ranks; ++r) {
        lengths[r] = (r + 1) * unit;
        at[r] = total;
        total += lengths[r];
    }
    mine = room(total * sizeof(long));
    all = room(total * sizeof(long));
    for (i = 0; i < lengths[rank]; ++i) {
        mine[i] = value(rank, i);
    }
    MPI_Allgatherv(mine, lengths[rank], MPI_LONG, all, lengths, at, MPI_LONG, MPI_COMM_WORLD);
    for (r = 0; r < ranks; ++r) {
        for (i = 0; i < lengths[r]; ++i) {
            CHECK_EQ(all[at[r] + i], value(r, i));
        }
    }
    memset(mine, 0, total * sizeof(long));
    MPI_Scatterv(all, lengths, at, MPI_LONG, mine, lengths[rank], MPI_LONG, ranks - 1, MPI_COMM_WORLD);
    for (i = 0; i < lengths[rank]; ++i) {
        CHECK_EQ(mine[i], value(rank, i));
    }
    free(mine);
    free(all);
    free(lengths);
    free(at);
}

/* Many at once, ended in another order than they were begun. */
static void not_blocking(void)
{
    enum { AT_ONCE = 16, COUNT = 2000 };
    static long mine[AT_ONCE][COUNT], all[AT_ONCE][COUNT];
    MPI_Request requests[AT_ONCE], barrier;
    int k, i;

    for (k = 0; k < AT_ONCE; ++k) {
        for (i = 0; i < COUNT; ++i) {
            mine[k][i] = value(rank, i + k);
        }
        if (k % 2) {
            MPI_Iallreduce(mine[k], all[k], COUNT, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &requests[k]);
        } else {
            MPI_Ibcast(mine[k], COUNT, MPI_LONG, k % ranks, MPI_COMM_WORLD, &requests[k]);
        }
    }
    MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
    for (k = AT_ONCE - 1; k >= 0; --k) {
        MPI_Wait(&requests[k], MPI_STATUS_IGNORE);
        for (i = 0; i < COUNT; ++i) {
            CHECK_EQ(k % 2 ? all[k][i] : mine[k][i], k % 2 ? sum(ranks, i + k) : value(k % ranks, i + k));
        }
    }
    MPI_Wait(&barrier, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Comm half, again;
    int i;

    start(&argc, &argv, MPI_THREAD_SINGLE);
    for (i = 0; i < COUNTS; ++i) {
        all_of(MPI_COMM_WORLD, counts[i]);
    }
    part("all ranks");
    uneven(1);
    uneven(30000);
    part("uneven parts");
    not_blocking();
    part("many at once");
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Comm_dup(half, &again);
    for (i = 0; i < COUNTS; ++i) {
        all_of(again, counts[i]);
    }
    MPI_Comm_free(&again);
    MPI_Comm_free(&half);
    part("halves");
    for (i = 0; i < 200; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    part("barriers");
    MPI_Finalize();
    return 0;
}
