/* Contexts: streams of operations that are waited for apart, of every kind of option, several at once, made and
 * destroyed often. */
#include "shmem_check.h"

enum { CONTEXTS = 4, LENGTH = 20000, ROUNDS = 50 };

/* The forms that take a context, with one of these options. */
static void forms(long options)
{
    unsigned char *memory = symmetric(LENGTH), *own = room(LENGTH);
    long *cells = symmetric(16 * sizeof(long)), apart[4] = {5, 6, 7, 8};
    shmem_ctx_t context;

    CHECK_EQ(shmem_ctx_create(options, &context), 0);
    fill(own, LENGTH, rank);
    shmem_ctx_putmem(context, memory, own, LENGTH, right);
    shmem_ctx_fence(context);
    shmem_ctx_long_p(context, &cells[0], rank + 1, right);
    shmem_long_wait_until(&cells[0], SHMEM_CMP_EQ, left + 1);
    CHECK_PATTERN(memory, LENGTH, left);
    CHECK_EQ(shmem_ctx_long_g(context, &cells[0], right), rank + 1);
    memset(own, 0, LENGTH);
    shmem_ctx_getmem(context, own, memory, LENGTH, right);
    CHECK_PATTERN(own, LENGTH, rank);
    shmem_barrier_all();

    fill(own, LENGTH, rank + 50);
    shmem_ctx_putmem_nbi(context, memory, own, LENGTH, right);
    shmem_ctx_long_iput(context, &cells[4], apart, 2, 1, 4, right);
    shmem_ctx_quiet(context);
    shmem_barrier_all();
    CHECK_PATTERN(memory, LENGTH, left + 50);
    CHECK((cells[4] == 5) && (cells[5] == 0) && (cells[6] == 6) && (cells[8] == 7) && (cells[10] == 8));
    memset(own, 0, LENGTH);
    shmem_ctx_getmem_nbi(context, own, memory, LENGTH, right);
    shmem_ctx_long_iget(context, apart, &cells[4], 1, 2, 3, right);
    shmem_ctx_quiet(context);
    CHECK_PATTERN(own, LENGTH, rank + 50);
    CHECK((apart[0] == 5) && (apart[1] == 6) && (apart[2] == 7));
    shmem_barrier_all();

    cells[0] = 0;
    shmem_barrier_all();
    shmem_ctx_long_atomic_add(context, &cells[0], 3, right);
    CHECK_EQ(shmem_ctx_long_atomic_fetch_inc(context, &cells[0], right), 3);
    CHECK_EQ(shmem_ctx_long_atomic_fetch_add(context, &cells[0], 6, right), 4);
    CHECK_EQ(shmem_ctx_long_atomic_compare_swap(context, &cells[0], 10, 12, right), 10);
    CHECK_EQ(shmem_ctx_long_atomic_swap(context, &cells[0], 6, right), 12);
    shmem_ctx_long_atomic_xor(context, &cells[0], 3, right);
    shmem_ctx_long_atomic_or(context, &cells[0], 8, right);
    shmem_ctx_long_atomic_and(context, &cells[0], 12, right);
    shmem_ctx_quiet(context);
    CHECK_EQ(shmem_ctx_long_atomic_fetch(context, &cells[0], right), 12);
    shmem_barrier_all();
    shmem_ctx_destroy(context);
    shmem_free(cells);
    free(own);
    shmem_free(memory);
}

/* Each context has its own part of the neighbour's memory under way; they are waited for in another order. */
static void several(void)
{
    unsigned char *memory = symmetric(CONTEXTS * LENGTH), *own = room(CONTEXTS * LENGTH);
    shmem_ctx_t contexts[CONTEXTS];
    int i, k;

    for (i = 0; i < ROUNDS / 5; ++i) {
        for (k = 0; k < CONTEXTS; ++k) {
            CHECK_EQ(shmem_ctx_create((k % 2) ? SHMEM_CTX_PRIVATE : 0, &contexts[k]), 0);
            fill(own + k * LENGTH, LENGTH, rank + i + k);
        }
        for (k = 0; k < CONTEXTS; ++k) {
            shmem_ctx_putmem_nbi(contexts[k], memory + k * LENGTH, own + k * LENGTH, LENGTH, right);
        }
        for (k = CONTEXTS; k-- > 0;) {
            shmem_ctx_quiet(contexts[k]);
            memset(own + k * LENGTH, 0, LENGTH);
            shmem_ctx_getmem(contexts[k], own + k * LENGTH, memory + k * LENGTH, LENGTH, right);
            CHECK_PATTERN(own + k * LENGTH, LENGTH, rank + i + k);
        }
        shmem_barrier_all();
        for (k = 0; k < CONTEXTS; ++k) {
            CHECK_PATTERN(memory + k * LENGTH, LENGTH, left + i + k);
            shmem_ctx_destroy(contexts[k]);
        }
        shmem_barrier_all();
    }
    free(own);
    shmem_free(memory);
}

int main(void)
{
    start(SHMEM_THREAD_SINGLE);
    forms(0);
    forms(SHMEM_CTX_SERIALIZED);
    forms(SHMEM_CTX_PRIVATE);
    part("forms");
    several();
    part("several");
    shmem_finalize();
    return 0;
}
