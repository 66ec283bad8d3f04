/* Every atomic of every type but those of fetch_bitwise.c: what it returns and leaves and that it touches nothing beside; and that many at once by
 * all processes lose nothing. */
#include "cell.h"
#include "types.h"

enum { ROUNDS = 300 };

#define ANY_OF(name, type) \
    static void any_of_##name(void) \
    { \
        CELL(type); \
        RETURNS(type, shmem_##name##_atomic_fetch(cell, right), BEGAN(type)); \
        LEFT_IS(type, start); \
        shmem_##name##_atomic_set(cell, (type)(rank + 7), right); \
        LEFT_IS(type, left + 7); \
        RETURNS(type, shmem_##name##_atomic_swap(cell, (type)(rank + 9), right), BEGAN(type)); \
        LEFT_IS(type, left + 9); \
        shmem_free(memory); \
    }
ADDING_TYPES(ANY_OF)
FLOATING_TYPES(ANY_OF)

#define ADDING_OF(name, type) \
    static void adding_of_##name(void) \
    { \
        CELL(type); \
        shmem_##name##_atomic_add(cell, (type)(rank - 50), right); \
        LEFT_IS(type, start + left - 50); \
        shmem_##name##_atomic_inc(cell, right); \
        LEFT_IS(type, start + 1); \
        RETURNS(type, shmem_##name##_atomic_fetch_add(cell, (type)-200, right), BEGAN(type)); \
        LEFT_IS(type, start - 200); \
        RETURNS(type, shmem_##name##_atomic_fetch_inc(cell, right), BEGAN(type)); \
        LEFT_IS(type, start + 1); \
        shmem_free(memory); \
    }
ADDING_TYPES(ADDING_OF)

#define COMPARING_OF(name, type) \
    static void comparing_of_##name(void) \
    { \
        CELL(type); \
        RETURNS(type, shmem_##name##_atomic_compare_swap(cell, BEGAN(type), (type)77, right), BEGAN(type)); \
        LEFT_IS(type, 77); \
        RETURNS(type, shmem_##name##_atomic_compare_swap(cell, BEGAN(type) + 1, (type)77, right), BEGAN(type)); \
        LEFT_IS(type, start); \
        shmem_free(memory); \
    }
COMPARING_TYPES(COMPARING_OF)

#define BITWISE_OF(name, type) \
    static void bitwise_of_##name(void) \
    { \
        type mask = (type)0xf0f0f0f0f0f0f0e6; \
        CELL(type); \
        shmem_##name##_atomic_and(cell, mask, right); \
        LEFT_IS(type, start & mask); \
        shmem_##name##_atomic_or(cell, mask, right); \
        LEFT_IS(type, start | mask); \
        shmem_##name##_atomic_xor(cell, mask, right); \
        LEFT_IS(type, start ^ mask); \
        shmem_free(memory); \
    }
BITWISE_TYPES(BITWISE_OF)

/* All add to all, one of them its own, with and without an answer: nothing is lost, and each old value is seen once. */
#define CONTENDED_OF(name, type) \
    static void contended_of_##name(void) \
    { \
        type *counter = symmetric(sizeof(type)), *ticket = symmetric(sizeof(type)); \
        type *seen = symmetric(ROUNDS * ranks * sizeof(type)), old; \
        int i, peer, total = ROUNDS * ranks; \
\
        for (i = 0; i < ROUNDS; ++i) { \
            for (peer = 0; peer < ranks; ++peer) { \
                shmem_##name##_atomic_add(counter, (type)(rank + 1), (peer + rank) % ranks); \
            } \
            old = shmem_##name##_atomic_fetch_inc(ticket, ranks - 1); \
            CHECK(old < (type)total); \
            CHECK_EQ(shmem_##name##_atomic_fetch_add(&seen[old], 1, 0), 0); \
        } \
        shmem_barrier_all(); \
        CHECK_EQ(*counter, ROUNDS * ranks * (ranks + 1) / 2); \
        for (i = 0; (rank == 0) && (i < total); ++i) { \
            CHECK_EQ(seen[i], 1); \
        } \
        shmem_free(seen); \
        shmem_free(ticket); \
        shmem_free(counter); \
    }
CONTENDED_OF(int, int)
CONTENDED_OF(long, long)

/* Swaps keep what they carry: what was put in, and the zero that was there, is what comes out and what stays. */
static void swaps_lose_nothing(void)
{
    unsigned long *cell = symmetric(sizeof(long)), *sum = symmetric(sizeof(long)), took = 0, gave = 0;
    int i;

    for (i = 0; i < ROUNDS; ++i) {
        gave += rank * ROUNDS + i + 1;
        took += shmem_ulong_atomic_swap(cell, rank * ROUNDS + i + 1, 0);
    }
    shmem_ulong_atomic_add(sum, gave - took, 0);
    shmem_barrier_all();
    if (rank == 0) {
        CHECK_EQ(*sum, *cell);
    }
    shmem_barrier_all();
    shmem_free(sum);
    shmem_free(cell);
}

/* compare-and-swap in a loop is a counter too, and xor by all in turn ends where it began. */
static void loops(void)
{
    unsigned long *cell = symmetric(sizeof(long)), old, next;
    uint64_t *bits = symmetric(sizeof(uint64_t));
    int i;

    for (i = 0; i < ROUNDS; ++i) {
        for (old = 0; (next = shmem_ulong_atomic_compare_swap(cell, old, old + 1, 0)) != old; old = next) {
        }
        shmem_uint64_atomic_xor(bits, (uint64_t)0x0101010101010101 << (rank % 8), i % ranks);
    }
    shmem_barrier_all();
    if (rank == 0) {
        CHECK_EQ(*cell, ROUNDS * ranks);
    }
    for (i = 0; i < ROUNDS; ++i) {
        shmem_uint64_atomic_xor(bits, (uint64_t)0x0101010101010101 << (rank % 8), i % ranks);
    }
    shmem_barrier_all();
    CHECK_EQ(*bits, 0);
    shmem_free(bits);
    shmem_free(cell);
}

int main(void)
{
    start(SHMEM_THREAD_SINGLE);
#define CALL(name, type) any_of_##name();
    ADDING_TYPES(CALL)
    FLOATING_TYPES(CALL)
#undef CALL
    part("fetch, set, swap");
#define CALL(name, type) adding_of_##name();
    ADDING_TYPES(CALL)
#undef CALL
    part("add, inc");
#define CALL(name, type) comparing_of_##name();
    COMPARING_TYPES(CALL)
#undef CALL
    part("compare and swap");
#define CALL(name, type) bitwise_of_##name();
    BITWISE_TYPES(CALL)
#undef CALL
    part("and, or, xor");
    contended_of_int();
    contended_of_long();
    part("contended counters");
    swaps_lose_nothing();
    part("swaps");
    loops();
    part("loops");
    shmem_finalize();
    return 0;
}
