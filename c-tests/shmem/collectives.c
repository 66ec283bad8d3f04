/* Broadcast, collect, alltoall and all reductions, among all processes and among every other one, with results that
 * each process computes for itself. */
#include "shmem_check.h"

#include <complex.h>

enum { MOST = 5000, SYNC = SHMEM_COLLECT_SYNC_SIZE + SHMEM_BCAST_SYNC_SIZE + SHMEM_REDUCE_SYNC_SIZE +
       SHMEM_ALLTOALL_SYNC_SIZE + SHMEM_ALLTOALLS_SYNC_SIZE };

/* Two that take turns: a process may come to the next call before another one has left the last. */
static long sync_words[2][SYNC];
static int turn;

static long *words(void)
{
    return sync_words[turn++ % 2];
}

/* The processes that take part: all, or those with an even number. */
static int stride, members;

static int in_it(void)
{
    return rank % (1 << stride) == 0;
}

static int counts[] = {1, 2, 33, 1000, MOST};
enum { COUNTS = sizeof(counts) / sizeof(counts[0]) };

#define ITEM(owner, i) ((owner) * 1000003LL + (i) * 7LL + 1)

#define BROADCAST(bits) \
    static void broadcast##bits(void) \
    { \
        int##bits##_t *from = symmetric(MOST * (bits) / 8), *to = symmetric(MOST * (bits) / 8); \
        int k, i, root; \
\
        for (k = 0; k < COUNTS; ++k) { \
            for (root = 0; root < members; ++root) { \
                for (i = 0; i < counts[k]; ++i) { \
                    from[i] = (int##bits##_t)ITEM(rank, i + k); \
                    to[i]   = -1; \
                } \
                shmem_barrier_all(); \
                if (in_it()) { \
                    shmem_broadcast##bits(to, from, counts[k], root, 0, stride, members, words()); \
                } \
                shmem_barrier_all(); \
                for (i = 0; i < counts[k]; ++i) { \
                    /* The root's own target stays as it was. */ \
                    CHECK_EQ(to[i], (in_it() && (rank != root << stride)) ? \
                             (int##bits##_t)ITEM(root << stride, i + k) : -1); \
                } \
            } \
        } \
        shmem_free(to); \
        shmem_free(from); \
    }
BROADCAST(32)
BROADCAST(64)

/* Everybody brings another number of items, then everybody the same. */
#define COLLECT(bits) \
    static void collect##bits(void) \
    { \
        int##bits##_t *from = symmetric(MOST * (bits) / 8), *to = symmetric((size_t)ranks * MOST * (bits) / 8); \
        int k, i, peer, at; \
\
        for (k = 0; k < COUNTS; ++k) { \
            int own = counts[k] - (rank * 3) % counts[k]; \
\
            for (i = 0; i < counts[k]; ++i) { \
                from[i] = (int##bits##_t)ITEM(rank, i + k); \
            } \
            shmem_barrier_all(); \
            if (in_it()) { \
                shmem_collect##bits(to, from, own, 0, stride, members, words()); \
                for (peer = 0, at = 0; peer < members; ++peer) { \
                    int theirs = counts[k] - ((peer << stride) * 3) % counts[k]; \
\
                    for (i = 0; i < theirs; ++i, ++at) { \
                        CHECK_EQ(to[at], (int##bits##_t)ITEM(peer << stride, i + k)); \
                    } \
                } \
            } \
            shmem_barrier_all(); \
            if (in_it()) { \
                shmem_fcollect##bits(to, from, counts[k], 0, stride, members, words()); \
                for (i = 0; i < counts[k] * members; ++i) { \
                    CHECK_EQ(to[i], (int##bits##_t)ITEM((i / counts[k]) << stride, i % counts[k] + k)); \
                } \
            } \
            shmem_barrier_all(); \
        } \
        shmem_free(to); \
        shmem_free(from); \
    }
COLLECT(32)
COLLECT(64)

#define ALLTOALL(bits) \
    static void alltoall##bits(void) \
    { \
        size_t size = (size_t)ranks * MOST * 3 * (bits) / 8; \
        int##bits##_t *from = symmetric(size), *to = symmetric(size); \
        int k, i, peer; \
\
        for (k = 0; k < COUNTS; ++k) { \
            int n = counts[k]; \
\
            for (i = 0; i < n * members; ++i) { \
                from[i] = (int##bits##_t)ITEM(rank * ranks + i / n, i % n); \
            } \
            shmem_barrier_all(); \
            if (in_it()) { \
                shmem_alltoall##bits(to, from, n, 0, stride, members, words()); \
                for (i = 0; i < n * members; ++i) { \
                    peer = (i / n) << stride; \
                    CHECK_EQ(to[i], (int##bits##_t)ITEM(peer * ranks + (rank >> stride), i % n)); \
                } \
            } \
            shmem_barrier_all(); \
            memset(to, 0, size); \
            shmem_barrier_all(); \
            if (in_it()) { \
                /* Every third element is written, every second one is sent. */ \
                shmem_alltoalls##bits(to, from, 3, 1, n, 0, stride, members, words()); \
                for (i = 0; i < 3 * n * members; ++i) { \
                    peer = (i / 3 / n) << stride; \
                    CHECK_EQ(to[i], (i % 3) ? 0 : \
                             (int##bits##_t)ITEM(peer * ranks + (rank >> stride), i / 3 % n)); \
                } \
            } \
            shmem_barrier_all(); \
        } \
        shmem_free(to); \
        shmem_free(from); \
    }
ALLTOALL(32)
ALLTOALL(64)

/* What process `who` brings: small, so that sums and products are the same in any order, floating or not. */
#define BRINGS(who, i) (1 + ((who) + (i)) % 3)

#define REDUCE(name, type, operation, combine) \
    do { \
        type *from = symmetric(MOST * sizeof(type)), *to = symmetric(MOST * sizeof(type)); \
        type *work = symmetric((MOST / 2 + 1 + SHMEM_REDUCE_MIN_WRKDATA_SIZE) * sizeof(type)); \
        int k, i, peer; \
\
        for (k = 0; k < COUNTS; ++k) { \
            for (i = 0; i < counts[k]; ++i) { \
                from[i] = (type)BRINGS(rank, i + k); \
            } \
            shmem_barrier_all(); \
            if (in_it()) { \
                shmem_##name##_##operation##_to_all(to, from, counts[k], 0, stride, members, work, words()); \
                for (i = 0; i < counts[k]; ++i) { \
                    type a = (type)BRINGS(0, i + k), b; \
\
                    for (peer = 1; peer < members; ++peer) { \
                        b = (type)BRINGS(peer << stride, i + k); \
                        a = (combine); \
                    } \
                    if (to[i] != a) { \
                        FAIL("%s of %s, element %d of %d", #operation, #name, i, counts[k]); \
                    } \
                } \
            } \
            shmem_barrier_all(); \
        } \
        shmem_free(work); \
        shmem_free(to); \
        shmem_free(from); \
    } while (0)

#define ARITHMETIC(name, type) \
    REDUCE(name, type, sum, a + b); \
    REDUCE(name, type, prod, a * b)

#define ORDERED(name, type) \
    ARITHMETIC(name, type); \
    REDUCE(name, type, max, (a > b) ? a : b); \
    REDUCE(name, type, min, (a < b) ? a : b)

#define INTEGRAL(name, type) \
    ORDERED(name, type); \
    REDUCE(name, type, and, a & b); \
    REDUCE(name, type, or, a | b); \
    REDUCE(name, type, xor, a ^ b)

static void reductions(void)
{
    INTEGRAL(short, short);
    INTEGRAL(int, int);
    INTEGRAL(long, long);
    INTEGRAL(longlong, long long);
    ORDERED(float, float);
    ORDERED(double, double);
    ORDERED(longdouble, long double);
    ARITHMETIC(complexf, float complex);
    ARITHMETIC(complexd, double complex);
}

int main(void)
{
    int k;

    start(SHMEM_THREAD_SINGLE);
    for (k = 0; k < 2 * SYNC; ++k) {
        sync_words[k / SYNC][k % SYNC] = SHMEM_SYNC_VALUE;
    }
    shmem_barrier_all();
    for (stride = 0; stride < 2; ++stride) {
        members = (ranks + stride) >> stride;
        broadcast32();
        broadcast64();
        collect32();
        collect64();
        alltoall32();
        alltoall64();
        reductions();
        if (stride == 0) {
            part("among all");
        }
    }
    part("among some");
    shmem_finalize();
    return 0;
}
