/* One-sided communication: windows allocated, created and dynamic; put, get, accumulate, fetch-and-op,
 * compare-and-swap; all ways to synchronise; contended counters and locks. */
#include "mpi_check.h"

enum { LONGS = 200000, ROUNDS = 200 };

static long value(int owner, int i)
{
    return owner * 10000019L + i * 3L;
}

/* Put to the right, get from the left, between fences. */
static void put_and_get(MPI_Win window, long *memory)
{
    static const int counts[] = {1, 2, 16, 1000, 10000, 90000};
    int right = next(), left = previous(), k, i;
    long *mine = room(LONGS * sizeof(long));

    for (k = 0; k < 6; ++k) {
        int n = counts[k];

        for (i = 0; i < n; ++i) {
            mine[i] = value(rank, i + k);
            memory[LONGS / 2 + i] = value(rank + 100, i + k);
        }
        MPI_Win_fence(0, window);
        MPI_Put(mine, n, MPI_LONG, right, 0, n, MPI_LONG, window);
        MPI_Win_fence(0, window);
        for (i = 0; i < n; ++i) {
            CHECK_EQ(memory[i], value(left, i + k));
        }
        memset(mine, 0, n * sizeof(long));
        MPI_Get(mine, n, MPI_LONG, left, LONGS / 2, n, MPI_LONG, window);
        MPI_Win_fence(0, window);
        for (i = 0; i < n; ++i) {
            CHECK_EQ(mine[i], value(left + 100, i + k));
        }
    }
    free(mine);
}

/* Everybody adds to rank 0's counter: each value is seen once. */
static void counters(MPI_Win window, long *memory)
{
    long *seen = room(ROUNDS * sizeof(long)), *all = room(ROUNDS * ranks * sizeof(long)), one = 1, old;
    char *once = calloc(ROUNDS, ranks);
    int i;

    memset(memory, 0, 64);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
    MPI_Win_sync(window);
    for (i = 0; i < ROUNDS; ++i) {
        MPI_Fetch_and_op(&one, &seen[i], MPI_LONG, 0, 0, MPI_SUM, window);
        MPI_Win_flush(0, window);
    }
    MPI_Win_unlock_all(window);
    MPI_Gather(seen, ROUNDS, MPI_LONG, all, ROUNDS, MPI_LONG, 0, MPI_COMM_WORLD);
    for (i = 0; (rank == 0) && (i < ROUNDS * ranks); ++i) {
        CHECK((all[i] >= 0) && (all[i] < ROUNDS * ranks));
        CHECK(!once[all[i]]);
        once[all[i]] = 1;
    }
    /* The same by compare-and-swap. */
    MPI_Win_lock_all(0, window);
    for (i = 0; i < ROUNDS / 4; ++i) {
        long expected = 0, wanted;

        for (;;) {
            wanted = expected + 1;
            MPI_Compare_and_swap(&wanted, &expected, &old, MPI_LONG, ranks - 1, 1, window);
            MPI_Win_flush(ranks - 1, window);
            if (old == expected) {
                break;
            }
            expected = old;
        }
    }
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
    if (rank == 0) {
        CHECK_EQ(memory[0], ROUNDS * ranks);
    }
    if (rank == ranks - 1) {
        CHECK_EQ(memory[1], ROUNDS / 4 * ranks);
    }
    MPI_Win_unlock(rank, window);
    free(seen);
    free(all);
    free(once);
}

static void accumulate(MPI_Win window, long *memory)
{
    enum { N = 3000 };
    long mine[N], before;
    int target, i;

    for (i = 0; i < N; ++i) {
        mine[i] = rank + 1 + i;
        memory[i] = i;
    }
    memory[N] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
    MPI_Win_sync(window);
    for (target = 0; target < ranks; ++target) {
        MPI_Accumulate(mine, N, MPI_LONG, target, 0, N, MPI_LONG, MPI_SUM, window);
    }
    MPI_Win_flush_all(window);
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
    MPI_Win_sync(window);
    for (i = 0; i < N; ++i) {
        CHECK_EQ(memory[i], i + ranks * (ranks + 1L) / 2 + (long)ranks * i);
    }
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    /* Under an exclusive lock a read and a write are one step. */
    for (i = 0; i < 20; ++i) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        MPI_Get(&before, 1, MPI_LONG, 0, N, 1, MPI_LONG, window);
        MPI_Win_flush(0, window);
        before += 1;
        MPI_Put(&before, 1, MPI_LONG, 0, N, 1, MPI_LONG, window);
        MPI_Win_unlock(0, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    MPI_Get(&before, 1, MPI_LONG, 0, N, 1, MPI_LONG, window);
    MPI_Win_unlock(0, window);
    CHECK_EQ(before, 20 * ranks);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Only neighbours synchronise. */
static void post_and_start(MPI_Win window, long *memory)
{
    int right = next(), left = previous(), i;
    MPI_Group world, origin, target;
    long mine[4];

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &left, &origin);
    MPI_Group_incl(world, 1, &right, &target);
    for (i = 0; i < 20; ++i) {
        mine[0] = value(rank, i);
        MPI_Win_post(origin, 0, window);
        MPI_Win_start(target, 0, window);
        MPI_Put(mine, 1, MPI_LONG, right, 5, 1, MPI_LONG, window);
        MPI_Win_complete(window);
        MPI_Win_wait(window);
        CHECK_EQ(memory[5], value(left, i));
    }
    MPI_Group_free(&origin);
    MPI_Group_free(&target);
    MPI_Group_free(&world);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void dynamic(void)
{
    int right = next(), left = previous();
    long *memory = room(1000 * sizeof(long)), mine[1000];
    MPI_Aint here, there;
    MPI_Win window;
    int i;

    for (i = 0; i < 1000; ++i) {
        mine[i] = value(rank, i);
    }
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_attach(window, memory, 1000 * sizeof(long));
    MPI_Get_address(memory, &here);
    MPI_Sendrecv(&here, 1, MPI_AINT, left, 1, &there, 1, MPI_AINT, right, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_lock_all(0, window);
    MPI_Put(mine, 1000, MPI_LONG, right, there, 1000, MPI_LONG, window);
    MPI_Win_flush(right, window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(window);
    for (i = 0; i < 1000; ++i) {
        CHECK_EQ(memory[i], value(left, i));
    }
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_detach(window, memory);
    MPI_Win_free(&window);
    free(memory);
}

int main(int argc, char **argv)
{
    long *memory;
    MPI_Win window;

    start(&argc, &argv, MPI_THREAD_SINGLE);
    MPI_Win_allocate(LONGS * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    put_and_get(window, memory);
    part("allocated: put and get");
    counters(window, memory);
    part("allocated: counters");
    accumulate(window, memory);
    part("allocated: accumulate and locks");
    post_and_start(window, memory);
    part("allocated: post and start");
    MPI_Win_free(&window);

    memory = room(LONGS * sizeof(long));
    MPI_Win_create(memory, LONGS * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    put_and_get(window, memory);
    part("created: put and get");
    counters(window, memory);
    part("created: counters");
    accumulate(window, memory);
    part("created: accumulate and locks");
    MPI_Win_free(&window);
    free(memory);

    dynamic();
    part("dynamic");
    MPI_Finalize();
    return 0;
}
