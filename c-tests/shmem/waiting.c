/* Waiting for memory that others write (wait_until and test of every type and comparison), locks, and what barrier,
 * sync and quiet promise. */
#include "shmem_check.h"
#include "types.h"

#include <sched.h>

enum { ROUNDS = 100 };

/* The right neighbour writes each value, the left one waits until it is there: by wait_until and by test in turn.
 * (Open MPI's test gives UCX no turn, and puts by messages need one of both sides: so there is a get. A quiet gives
 * one only as long as something of ours is under way.) */
#define WAITING_OF(name, type) \
    static void waiting_of_##name(void) \
    { \
        static const struct { int how; int before, after, against; } some[] = { \
            {SHMEM_CMP_EQ, 0, 5, 5}, {SHMEM_CMP_NE, 5, 6, 5}, {SHMEM_CMP_GT, 6, 8, 7}, \
            {SHMEM_CMP_GE, 8, 9, 9}, {SHMEM_CMP_LT, 9, 3, 4}, {SHMEM_CMP_LE, 3, 2, 2} \
        }; \
        type *cell = symmetric(sizeof(type)); \
        size_t k; \
\
        for (k = 0; k < 2 * sizeof(some) / sizeof(some[0]); ++k) { \
            const int how = some[k / 2].how, after = some[k / 2].after; \
            const type against = some[k / 2].against; \
\
            *cell = some[k / 2].before; \
            CHECK(!shmem_##name##_test(cell, how, against)); \
            shmem_barrier_all(); \
            shmem_##name##_p(cell, (type)after, right); \
            if (k % 2) { \
                shmem_##name##_wait_until(cell, how, against); \
            } else { \
                while (!shmem_##name##_test(cell, how, against)) { \
                    shmem_##name##_g(cell, right); \
                    sched_yield(); \
                } \
            } \
            CHECK(*cell == (type)after); \
            shmem_barrier_all(); \
        } \
        shmem_free(cell); \
    }
WAITING_TYPES(WAITING_OF)

/* A token around the ring, by put and by atomic. */
static void token(void)
{
    long *cell = symmetric(sizeof(long)), i;

    for (i = 1; i <= ROUNDS; ++i) {
        if (rank > 0) {
            shmem_long_wait_until(cell, SHMEM_CMP_GE, i);
            CHECK_EQ(*cell, i);
        }
        if (i % 2) {
            shmem_long_atomic_set(cell, i, right);
        } else {
            shmem_long_p(cell, i, right);
        }
        if (rank == 0) {
            shmem_long_wait_until(cell, SHMEM_CMP_GE, i);
            CHECK_EQ(*cell, i);
        }
    }
    shmem_barrier_all();
    shmem_free(cell);
}

/* A lock keeps all others out: what is behind it is read, changed and written by plain gets and puts. */
static void locks(void)
{
    long *lock = symmetric(sizeof(long)), *other = symmetric(sizeof(long)), *balance = symmetric(2 * sizeof(long));
    long value, free_now;
    int i;

    for (i = 0; i < ROUNDS; ++i) {
        if (i % 3) {
            shmem_set_lock(lock);
        } else {
            while (shmem_test_lock(lock)) {
            }
        }
        value = shmem_long_g(&balance[0], ranks - 1);
        shmem_long_p(&balance[0], value + 1, ranks - 1);
        shmem_quiet();
        shmem_clear_lock(lock);
    }
    shmem_barrier_all();
    CHECK_EQ(shmem_long_g(&balance[0], ranks - 1), ROUNDS * ranks);
    shmem_barrier_all();
    /* One holds, all others see that. */
    if (rank == 0) {
        shmem_set_lock(other);
    }
    shmem_barrier_all();
    if (rank != 0) {
        CHECK(shmem_test_lock(other));
    }
    shmem_barrier_all();
    if (rank == 0) {
        shmem_clear_lock(other);
    }
    shmem_barrier_all();
    free_now = 0;
    while (!free_now) {
        free_now = !shmem_test_lock(other);
    }
    shmem_clear_lock(other);
    shmem_barrier_all();
    shmem_free(balance);
    shmem_free(other);
    shmem_free(lock);
}

/* Puts without waiting are over behind a quiet: another one learns of them by a put of somebody else. */
static void quiet(void)
{
    enum { LENGTH = 50000 };
    unsigned char *memory = symmetric(LENGTH), *own = room(LENGTH), *seen = room(LENGTH);
    long *flag = symmetric(sizeof(long));
    int i, third = (rank + 2) % ranks;

    for (i = 1; i <= 30; ++i) {
        fill(own, LENGTH, rank * 1000 + i);
        shmem_putmem_nbi(memory, own, LENGTH, right);
        shmem_quiet();
        /* The one after the next looks at what its left neighbour has got. */
        shmem_long_p(flag, i, third);
        shmem_long_wait_until(flag, SHMEM_CMP_EQ, i);
        shmem_getmem(seen, memory, LENGTH, left);
        CHECK_PATTERN(seen, LENGTH, ((rank + 2 * ranks - 2) % ranks) * 1000 + i);
        shmem_barrier_all();
    }
    shmem_free(flag);
    free(seen);
    free(own);
    shmem_free(memory);
}

/* Behind a barrier everything before it is there; behind a sync, everybody has come. */
static void barriers(void)
{
    static long barrier_words[SHMEM_BARRIER_SYNC_SIZE], sync_words[SHMEM_BARRIER_SYNC_SIZE];
    int *cells = symmetric(ranks * sizeof(int)), *count = symmetric(sizeof(int)), i, peer;

    for (i = 0; i < SHMEM_BARRIER_SYNC_SIZE; ++i) {
        barrier_words[i] = sync_words[i] = SHMEM_SYNC_VALUE;
    }
    shmem_barrier_all();
    for (i = 1; i <= ROUNDS; ++i) {
        for (peer = 0; peer < ranks; ++peer) {
            shmem_int_p(&cells[rank], i, peer);
        }
        if (i % 2) {
            shmem_barrier_all();
        } else {
            shmem_barrier(0, 0, ranks, barrier_words);
        }
        for (peer = 0; peer < ranks; ++peer) {
            CHECK_EQ(cells[peer], i);
        }
        shmem_int_atomic_inc(count, 0);
        shmem_quiet();
        if (i % 2) {
            shmem_sync_all();
        } else {
            shmem_sync(0, 0, ranks, sync_words);
        }
        CHECK(shmem_int_atomic_fetch(count, 0) >= i * ranks);
        shmem_barrier_all();
    }
    shmem_free(count);
    shmem_free(cells);
}

int main(void)
{
    start(SHMEM_THREAD_SINGLE);
#define CALL(name, type) waiting_of_##name();
    WAITING_TYPES(CALL)
#undef CALL
    part("wait and test");
    token();
    part("token");
    locks();
    part("locks");
    quiet();
    part("quiet");
    barriers();
    part("barriers");
    shmem_finalize();
    return 0;
}
