/* One-sided communication, what windows.c leaves: all modes of locks and fences, operations with requests, every
 * atomic operation, several widths, derived datatypes. */
#include "mpi_check.h"

enum { LONGS = 50000, COUNTER = LONGS - 8 };

static MPI_Win window;
static long *memory;

static long value(int owner, int i)
{
    return owner * 10000019L + i * 3L;
}

/* Zeros, when nobody looks at what was there any more. */
static void clear(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
    memset(memory, 0, LONGS * sizeof(long));
    MPI_Win_unlock(rank, window);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void look(const long *at, int count, int owner, int seed)
{
    int i;

    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
    for (i = 0; i < count; ++i) {
        CHECK_EQ(at[i], value(owner, i + seed));
    }
    MPI_Win_unlock(rank, window);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void locks(void)
{
    static const int counts[] = {1, 100, 20000};
    long *mine = room(LONGS * sizeof(long)), *back = room(LONGS * sizeof(long));
    int how, k, i;

    for (how = 0; how < 4; ++how) {
        for (k = 0; k < 3; ++k) {
            int n = counts[k];

            clear();
            for (i = 0; i < n; ++i) {
                mine[i] = value(rank, i + how);
            }
            memset(back, 0, n * sizeof(long));
            /* Not MPI_MODE_NOCHECK for one rank: MPICH lets the lock go that it did not take. */
            if (how < 2) {
                MPI_Win_lock(how % 2 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, next(), 0, window);
            } else {
                MPI_Win_lock_all(how % 2 ? MPI_MODE_NOCHECK : 0, window);
            }
            MPI_Put(mine, n, MPI_LONG, next(), 0, n, MPI_LONG, window);
            if (k % 2) {
                MPI_Win_flush_local(next(), window);
                memset(mine, 0x11, n * sizeof(long));
                MPI_Win_flush(next(), window);
            } else if (how < 2) {
                MPI_Win_flush(next(), window);
            } else {
                MPI_Win_flush_local_all(window);
                memset(mine, 0x11, n * sizeof(long));
                MPI_Win_flush_all(window);
            }
            MPI_Get(back, n, MPI_LONG, next(), 0, n, MPI_LONG, window);
            if (how < 2) {
                MPI_Win_unlock(next(), window);
            } else {
                MPI_Win_unlock_all(window);
            }
            for (i = 0; i < n; ++i) {
                CHECK_EQ(back[i], value(rank, i + how));
            }
            look(memory, n, previous(), how);
        }
    }
    free(mine);
    free(back);
    part("locks");
}

static void fences(void)
{
    static const int before[] = {0, MPI_MODE_NOPRECEDE, MPI_MODE_NOPRECEDE | MPI_MODE_NOSTORE};
    static const int after[] = {0, MPI_MODE_NOSUCCEED, MPI_MODE_NOSUCCEED | MPI_MODE_NOPUT | MPI_MODE_NOSTORE};
    long mine[64], back[64];
    int k, i;

    for (k = 0; k < 9; ++k) {
        MPI_Win_fence(before[k % 3], window);
        for (i = 0; i < 64; ++i) {
            mine[i] = value(rank, i + k);
        }
        MPI_Put(mine, 64, MPI_LONG, next(), 64, 64, MPI_LONG, window);
        MPI_Win_fence(k / 3 ? MPI_MODE_NOSTORE : 0, window);
        for (i = 0; i < 64; ++i) {
            CHECK_EQ(memory[64 + i], value(previous(), i + k));
        }
        MPI_Get(back, 64, MPI_LONG, next(), 64, 64, MPI_LONG, window);
        MPI_Win_fence(after[k / 3], window);
        for (i = 0; i < 64; ++i) {
            CHECK_EQ(back[i], value(rank, i + k));
        }
    }
    part("fences");
}

/* Who posted may look whether all have completed. */
static void looked_for(void)
{
    int left = previous(), right = next(), flag, i;
    MPI_Group world, origin, target;
    long mine;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &left, &origin);
    MPI_Group_incl(world, 1, &right, &target);
    for (i = 0; i < 6; ++i) {
        mine = value(rank, i);
        MPI_Win_post(origin, i % 2 ? MPI_MODE_NOSTORE : 0, window);
        MPI_Win_start(target, 0, window);
        MPI_Put(&mine, 1, MPI_LONG, right, 7, 1, MPI_LONG, window);
        MPI_Win_complete(window);
        do {
            MPI_Win_test(window, &flag);
        } while (!flag);
        CHECK_EQ(memory[7], value(left, i));
    }
    MPI_Group_free(&origin);
    MPI_Group_free(&target);
    MPI_Group_free(&world);
    MPI_Barrier(MPI_COMM_WORLD);
    part("post and test");
}

static void requests(void)
{
    enum { N = 5000 };
    long *mine = room(N * sizeof(long)), *back = room(N * sizeof(long)), one[4] = {1, 2, 3, 4}, old[4];
    MPI_Request request;
    int i;

    clear();
    for (i = 0; i < N; ++i) {
        mine[i] = value(rank, i + 1);
    }
    MPI_Win_lock_all(0, window);
    MPI_Rput(mine, N, MPI_LONG, next(), 0, N, MPI_LONG, window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_flush(next(), window);
    MPI_Rget(back, N, MPI_LONG, next(), 0, N, MPI_LONG, window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (i = 0; i < N; ++i) {
        CHECK_EQ(back[i], value(rank, i + 1));
    }
    for (i = 0; i < 10; ++i) {
        MPI_Raccumulate(one, 4, MPI_LONG, 0, COUNTER, 4, MPI_LONG, MPI_SUM, window, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Win_flush(0, window);
        MPI_Rget_accumulate(one, 4, MPI_LONG, old, 4, MPI_LONG, 0, COUNTER, 4, MPI_LONG, MPI_SUM, window, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK((old[0] >= 2 * i + 1) && (old[0] < 20 * ranks));
        CHECK_EQ(old[3] % 4, 0);
    }
    MPI_Win_unlock_all(window);
    look(memory, N, previous(), 1);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    MPI_Get(old, 4, MPI_LONG, 0, COUNTER, 4, MPI_LONG, window);
    MPI_Win_unlock(0, window);
    for (i = 0; i < 4; ++i) {
        CHECK_EQ(old[i], (i + 1L) * 20 * ranks);
    }
    free(mine);
    free(back);
    part("requests");
}

/* Each atomic operation by all ranks on one word, with a result that the order does not change. */
static void operations(void)
{
    long number = rank + 1, bit = 1L << rank, bits = (1L << ranks) - 1, got, old[3], result[6];
    double half = 0.5, sum;
    int small, before, expected, i;

    clear();
    MPI_Win_lock_all(0, window);
    MPI_Fetch_and_op(&number, &old[0], MPI_LONG, 0, 0, MPI_MAX, window);
    MPI_Fetch_and_op(&bit, &old[1], MPI_LONG, 0, 1, MPI_BOR, window);
    MPI_Fetch_and_op(&bit, &old[2], MPI_LONG, 0, 2, MPI_BXOR, window);
    MPI_Accumulate(&number, 1, MPI_LONG, 0, 3, 1, MPI_LONG, MPI_SUM, window);
    MPI_Accumulate(&half, 1, MPI_DOUBLE, 0, 4, 1, MPI_DOUBLE, MPI_SUM, window);
    MPI_Win_flush(0, window);
    /* 32 bits, by swaps that are tried again. */
    for (i = 0; i < 6; ++i) {
        expected = 0;
        for (;;) {
            small = expected + 1;
            MPI_Compare_and_swap(&small, &expected, &before, MPI_INT, 0, 5, window);
            MPI_Win_flush(0, window);
            if (before == expected) {
                break;
            }
            expected = before;
        }
    }
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    MPI_Get(result, 6, MPI_LONG, 0, 0, 6, MPI_LONG, window);
    MPI_Win_unlock(0, window);
    CHECK_EQ(result[0], ranks);
    CHECK_EQ(result[1], bits);
    CHECK_EQ(result[2], bits);
    CHECK_EQ(result[3], ranks * (ranks + 1L) / 2);
    memcpy(&sum, &result[4], sizeof(sum));
    CHECK_EQ((long)(sum * 10), 5L * ranks);
    CHECK_EQ(result[5], 6 * ranks);
    /* Replaced: what was there goes to exactly one. */
    clear();
    MPI_Win_lock_all(0, window);
    MPI_Fetch_and_op(&number, &old[0], MPI_LONG, 0, 0, MPI_REPLACE, window);
    MPI_Win_flush(0, window);
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    MPI_Get(&got, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window);
    MPI_Win_unlock(0, window);
    got = rank == 0 ? got + old[0] : old[0];
    MPI_Allreduce(MPI_IN_PLACE, &got, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(got, ranks * (ranks + 1L) / 2);
    part("operations");
}

/* Every third word there from every second word here. */
static void datatypes(void)
{
    enum { N = 4000 };
    long *mine = room(2 * N * sizeof(long)), *back = room(N * sizeof(long));
    MPI_Datatype second, third;
    int i;

    MPI_Type_vector(N, 1, 2, MPI_LONG, &second);
    MPI_Type_vector(N, 1, 3, MPI_LONG, &third);
    MPI_Type_commit(&second);
    MPI_Type_commit(&third);
    clear();
    for (i = 0; i < 2 * N; ++i) {
        mine[i] = i % 2 ? -1 : value(rank, i / 2);
    }
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next(), 0, window);
    MPI_Put(mine, 1, second, next(), 0, 1, third, window);
    MPI_Win_flush(next(), window);
    MPI_Get(back, N, MPI_LONG, next(), 0, 1, third, window);
    MPI_Accumulate(mine, 1, second, next(), 1, 1, third, MPI_SUM, window);
    MPI_Win_unlock(next(), window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
    for (i = 0; i < N; ++i) {
        CHECK_EQ(back[i], value(rank, i));
        CHECK_EQ(memory[3 * i], value(previous(), i));
        CHECK_EQ(memory[3 * i + 1], value(previous(), i));
        CHECK_EQ(memory[3 * i + 2], 0);
    }
    MPI_Win_unlock(rank, window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Type_free(&second);
    MPI_Type_free(&third);
    free(mine);
    free(back);
    part("datatypes");
}

int main(int argc, char **argv)
{
    start(&argc, &argv, MPI_THREAD_SINGLE);
    MPI_Win_allocate(LONGS * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    locks();
    fences();
    looked_for();
    requests();
    operations();
    datatypes();
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
