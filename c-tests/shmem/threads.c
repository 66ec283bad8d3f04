/* Several threads at once, each with a context of its own. (Not a private one: Open MPI 4.1 progresses the contexts of all
 * threads in each of them, and has made the private ones for one thread only.) */
#include "shmem_check.h"

#include <pthread.h>

enum { THREADS = 3, LENGTH = 20000, ROUNDS = 50 };

static unsigned char *thread_memory;
static long *thread_counter;

static void *thread_main(void *number)
{
    int k = (int)(intptr_t)number, i;
    unsigned char *own = room(LENGTH), *target = thread_memory + k * LENGTH;
    shmem_ctx_t context;

    CHECK_EQ(shmem_ctx_create(0, &context), 0);
    for (i = 0; i < ROUNDS; ++i) {
        fill(own, LENGTH, rank * 100 + k + i);
        shmem_ctx_putmem(context, target, own, LENGTH, right);
        shmem_ctx_quiet(context);
        memset(own, 0, LENGTH);
        shmem_ctx_getmem(context, own, target, LENGTH, right);
        CHECK_PATTERN(own, LENGTH, rank * 100 + k + i);
        shmem_ctx_long_atomic_inc(context, thread_counter, i % ranks);
    }
    shmem_ctx_quiet(context);
    shmem_ctx_destroy(context);
    free(own);
    return NULL;
}

static void threads(void)
{
    pthread_t others[THREADS];
    int k, i, expected;

    thread_memory  = symmetric(THREADS * LENGTH);
    thread_counter = symmetric(sizeof(long));
    for (k = 0; k < THREADS; ++k) {
        CHECK_EQ(pthread_create(&others[k], NULL, thread_main, (void*)(intptr_t)k), 0);
    }
    for (k = 0; k < THREADS; ++k) {
        pthread_join(others[k], NULL);
    }
    shmem_barrier_all();
    for (i = 0, expected = 0; i < ROUNDS; ++i) {
        expected += (i % ranks == rank) ? THREADS * ranks : 0;
    }
    CHECK_EQ(*thread_counter, expected);
    for (k = 0; k < THREADS; ++k) {
        CHECK_PATTERN(thread_memory + k * LENGTH, LENGTH, left * 100 + k + ROUNDS - 1);
    }
    shmem_barrier_all();
    shmem_free(thread_counter);
    shmem_free(thread_memory);
}

int main(void)
{
    CHECK_EQ(start(SHMEM_THREAD_MULTIPLE), SHMEM_THREAD_MULTIPLE);
    threads();
    part("threads");
    shmem_finalize();
    return 0;
}
