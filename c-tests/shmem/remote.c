/* Put and get of every type in every form: single elements, arrays, strided, by element size, without waiting; into
 * the heap and into static memory, to the neighbour and to itself, up to 4 MiB; and what fence and quiet promise. */
#include "shmem_check.h"
#include "types.h"

enum { ELEMENTS = 300, BYTES = 4 << 20, MANY = 1000 };

static long cell_of_static, array_of_static[ELEMENTS];

#define VALUE(type, owner, i) ((type)((owner) * 37 + (i) * 3 + 1))

/* Whether `n` elements are those of `owner`, `stride` apart, and nothing is between them. */
#define HOLDS(type, memory, owner, n, stride) \
    do { \
        for (int holds = 0; holds < (n) * (stride); ++holds) { \
            type expected = (holds % (stride)) ? (type)0 : VALUE(type, owner, holds / (stride)); \
            if ((memory)[holds] != expected) { \
                FAIL("%s: element %d of %d is not that of %d", #type, holds, n, owner); \
            } \
        } \
    } while (0)

#define CLEAR(memory) memset(memory, 0, 2 * ELEMENTS * sizeof(*(memory)))

#define ROUND_OF(name, type) \
    static void round_of_##name(void) \
    { \
        type *memory = symmetric(2 * ELEMENTS * sizeof(type)), *own = room(2 * ELEMENTS * sizeof(type)), one; \
        int i; \
\
        for (i = 0; i < ELEMENTS; ++i) { \
            own[i] = VALUE(type, rank, i); \
        } \
        shmem_##name##_p(&memory[0], own[0], right); \
        shmem_barrier_all(); \
        HOLDS(type, memory, left, 1, 1); \
        one = shmem_##name##_g(&memory[0], right); \
        HOLDS(type, &one, rank, 1, 1); \
        shmem_barrier_all(); \
\
        shmem_##name##_put(memory, own, ELEMENTS, right); \
        shmem_barrier_all(); \
        HOLDS(type, memory, left, ELEMENTS, 1); \
        CLEAR(own); \
        shmem_##name##_get(own, memory, ELEMENTS, right); \
        HOLDS(type, own, rank, ELEMENTS, 1); \
        shmem_barrier_all(); \
\
        CLEAR(memory); \
        shmem_barrier_all(); \
        shmem_##name##_iput(memory, own, 2, 1, ELEMENTS, right); \
        shmem_barrier_all(); \
        HOLDS(type, memory, left, ELEMENTS, 2); \
        CLEAR(own); \
        shmem_##name##_iget(own, memory, 1, 2, ELEMENTS, right); \
        HOLDS(type, own, rank, ELEMENTS, 1); \
        shmem_barrier_all(); \
\
        CLEAR(memory); \
        shmem_barrier_all(); \
        shmem_##name##_put_nbi(memory, own, ELEMENTS, right); \
        shmem_quiet(); \
        shmem_barrier_all(); \
        HOLDS(type, memory, left, ELEMENTS, 1); \
        CLEAR(own); \
        shmem_##name##_get_nbi(own, memory, ELEMENTS, right); \
        shmem_quiet(); \
        HOLDS(type, own, rank, ELEMENTS, 1); \
        shmem_barrier_all(); \
        shmem_free(memory); \
        free(own); \
    }
EVERY_TYPE(ROUND_OF)

static void every_type(void)
{
#define CALL(name, type) round_of_##name();
    EVERY_TYPE(CALL)
#undef CALL
}

#define SIZED(bits) \
    do { \
        size_t size = (bits) / 8, n = 1001, i; \
\
        fill(own, n * size, rank + (bits)); \
        shmem_put##bits(memory, own, n, right); \
        shmem_barrier_all(); \
        CHECK_PATTERN(memory, n * size, left + (bits)); \
        memset(own, 0, n * size); \
        shmem_get##bits(own, memory, n, right); \
        CHECK_PATTERN(own, n * size, rank + (bits)); \
        shmem_barrier_all(); \
        shmem_put##bits##_nbi(memory, own, n - 1, left); \
        shmem_barrier_all(); \
        CHECK_PATTERN(memory, (n - 1) * size, right + (bits)); \
        memset(own, 0, n * size); \
        shmem_get##bits##_nbi(own, memory, n - 1, left); \
        shmem_quiet(); \
        CHECK_PATTERN(own, (n - 1) * size, rank + (bits)); \
        shmem_barrier_all(); \
        memset(memory, 0, 3 * n * size); \
        shmem_barrier_all(); \
        shmem_iput##bits(memory, own, 3, 1, n - 1, right); \
        shmem_barrier_all(); \
        for (i = 0; i < n - 1; ++i) { \
            memcpy(other + i * size, memory + 3 * i * size, size); \
        } \
        CHECK_PATTERN(other, (n - 1) * size, left + (bits)); \
        shmem_barrier_all(); \
        shmem_iget##bits(other, memory, 2, 3, n - 1, right); \
        for (i = 0; i < n - 1; ++i) { \
            memmove(other + i * size, other + 2 * i * size, size); \
        } \
        CHECK_PATTERN(other, (n - 1) * size, rank + (bits)); \
        shmem_barrier_all(); \
    } while (0)

static void every_size(unsigned char *memory, unsigned char *own, unsigned char *other)
{
    SIZED(8);
    SIZED(16);
    SIZED(32);
    SIZED(64);
    SIZED(128);
}

/* Any length at any place, to every process and to itself. */
static void lengths(unsigned char *memory, unsigned char *own, unsigned char *other)
{
    static const size_t some[] = {0, 1, 7, 8, 63, 64, 65, 255, 1023, 4096, 8191, 65535, 65537, 1000003, BYTES - 64};
    size_t k;
    int peer;

    for (k = 0; k < sizeof(some) / sizeof(some[0]); ++k) {
        for (peer = 0; peer < ranks; ++peer) {
            int target = (rank + peer) % ranks, origin = (rank + ranks - peer) % ranks;
            size_t at = (k + peer) % 64;

            memset(memory, 0xaa, some[k] + 128);
            fill(own, some[k], rank * 100 + k);
            shmem_barrier_all();
            shmem_putmem(memory + at, own, some[k], target);
            shmem_barrier_all();
            CHECK_PATTERN(memory + at, some[k], origin * 100 + k);
            CHECK((at == 0) || (memory[at - 1] == 0xaa));
            CHECK_EQ(memory[at + some[k]], 0xaa);
            memset(other, 0x55, some[k] + 1);
            shmem_getmem(other, memory + at, some[k], target);
            CHECK_PATTERN(other, some[k], rank * 100 + k);
            CHECK_EQ(other[some[k]], 0x55);
            shmem_barrier_all();
        }
    }
}

/* Static variables are as remote as the heap. */
static void static_memory(void)
{
    long own[ELEMENTS], other[ELEMENTS];
    int i;

    for (i = 0; i < ELEMENTS; ++i) {
        own[i] = VALUE(long, rank, i);
    }
    CHECK(shmem_addr_accessible(&cell_of_static, right));
    shmem_long_p(&cell_of_static, rank + 1, right);
    shmem_long_put(array_of_static, own, ELEMENTS, right);
    shmem_barrier_all();
    CHECK_EQ(cell_of_static, left + 1);
    HOLDS(long, array_of_static, left, ELEMENTS, 1);
    CHECK_EQ(shmem_long_g(&cell_of_static, right), rank + 1);
    shmem_long_get(other, array_of_static, ELEMENTS, right);
    HOLDS(long, other, rank, ELEMENTS, 1);
    shmem_barrier_all();
    CHECK_EQ(shmem_long_atomic_fetch_inc(&cell_of_static, right), rank + 1);
    CHECK_EQ(shmem_long_g(&cell_of_static, right), rank + 2);
}

/* What is put behind a fence is not seen before what was put ahead of it. */
static void fence_orders(void)
{
    static const size_t some[] = {8, 200, 5000, 100000};
    size_t k;
    int i;
    unsigned char *own = room(100000), *memory = symmetric(100000);
    long *flag = symmetric(sizeof(long)), *answer = symmetric(sizeof(long)), round = 0;

    for (k = 0; k < 4; ++k) {
        for (i = 0; i < 50; ++i) {
            fill(own, some[k], ++round + rank);
            shmem_putmem(memory, own, some[k], right);
            shmem_fence();
            shmem_long_p(flag, round, right);
            shmem_long_wait_until(flag, SHMEM_CMP_EQ, round);
            CHECK_PATTERN(memory, some[k], round + left);
            shmem_long_p(answer, round, left);
            shmem_long_wait_until(answer, SHMEM_CMP_EQ, round);
        }
    }
    shmem_barrier_all();
    shmem_free(answer);
    shmem_free(flag);
    shmem_free(memory);
    free(own);
}

/* A thousand at once, of all lengths, to all. */
static void many_at_once(unsigned char *memory, unsigned char *own)
{
    size_t share = BYTES / ranks, length, at;
    int peer, i, round;

    for (round = 0; round < 3; ++round) {
        for (peer = 0; peer < ranks; ++peer) {
            fill(own + peer * share, share, rank * ranks + peer + round);
        }
        for (i = 0, at = 0; (i < MANY) && (at < share); ++i, at += length) {
            length = (i % 7 == 0) ? 9000 : 1 + (i * 37) % 700;
            length = (length > share - at) ? share - at : length;
            for (peer = 0; peer < ranks; ++peer) {
                shmem_putmem_nbi(memory + rank * share + at, own + peer * share + at, length, peer);
            }
        }
        shmem_quiet();
        shmem_barrier_all();
        for (peer = 0; peer < ranks; ++peer) {
            CHECK_PATTERN(memory + peer * share, at, peer * ranks + rank + round);
        }
        memset(own, 0, BYTES);
        shmem_barrier_all();
        for (i = 0; i < MANY; ++i) {
            size_t from = (size_t)i * at / MANY, to = (size_t)(i + 1) * at / MANY;

            for (peer = 0; peer < ranks; ++peer) {
                shmem_getmem_nbi(own + peer * share + from, memory + rank * share + from, to - from, peer);
            }
        }
        shmem_quiet();
        for (peer = 0; peer < ranks; ++peer) {
            CHECK_PATTERN(own + peer * share, at, rank * ranks + peer + round);
        }
        shmem_barrier_all();
    }
}

/* Memory that one process maps of another's, where the transport can. */
static void pointers(unsigned char *memory)
{
    unsigned char *mapped = shmem_ptr(memory, right);

    CHECK(shmem_ptr(memory, rank) == memory);
    memset(memory, 0, 100);
    shmem_barrier_all();
    if (mapped != NULL) {
        fill(mapped, 100, rank);
        shmem_quiet();
    } else {
        unsigned char own[100];

        fill(own, 100, rank);
        shmem_putmem(memory, own, 100, right);
    }
    shmem_barrier_all();
    CHECK_PATTERN(memory, 100, left);
}

/* The heap gives, moves and takes back. */
static void heap(void)
{
    unsigned char *aligned = shmem_align(4096, 10000), *other = symmetric(100), *grown;

    CHECK((aligned != NULL) && ((uintptr_t)aligned % 4096 == 0));
    fill(aligned, 10000, rank);
    grown = shmem_realloc(aligned, 3000000);
    CHECK(grown != NULL);
    CHECK_PATTERN(grown, 10000, rank);
    shmem_barrier_all();
    shmem_uchar_p(grown + 2999999, rank + 1, right);
    shmem_barrier_all();
    CHECK_EQ(grown[2999999], left + 1);
    shmem_free(grown);
    shmem_free(other);
}

int main(void)
{
    unsigned char *memory, *own, *other;

    start(SHMEM_THREAD_SINGLE);
    right  = (rank + 1) % ranks;
    left   = (rank + ranks - 1) % ranks;
    memory = symmetric(BYTES + 128);
    own    = room(BYTES);
    other  = room(BYTES);
    every_type();
    part("every type");
    every_size(memory, own, other);
    part("every size");
    lengths(memory, own, other);
    part("lengths");
    static_memory();
    part("static memory");
    fence_orders();
    part("fence");
    many_at_once(memory, own);
    part("many at once");
    pointers(memory);
    part("pointers");
    heap();
    part("heap");
    free(other);
    free(own);
    shmem_free(memory);
    shmem_finalize();
    return 0;
}
