/* Atomic and, or, xor that return what was there. (UCX 1.13's shared memory gets these wrong, so they are apart.) */
#include "cell.h"
#include "types.h"

enum { ROUNDS = 300 };

#define BITWISE_OF(name, type) \
    static void bitwise_of_##name(void) \
    { \
        type mask = (type)0xf0f0f0f0f0f0f0e6; \
        CELL(type); \
        RETURNS(type, shmem_##name##_atomic_fetch_and(cell, mask, right), BEGAN(type)); \
        LEFT_IS(type, start & mask); \
        RETURNS(type, shmem_##name##_atomic_fetch_or(cell, mask, right), BEGAN(type)); \
        LEFT_IS(type, start | mask); \
        RETURNS(type, shmem_##name##_atomic_fetch_xor(cell, mask, right), BEGAN(type)); \
        LEFT_IS(type, start ^ mask); \
        shmem_free(memory); \
    }
BITWISE_TYPES(BITWISE_OF)

/* Each process owns a bit of everybody's word. */
static void bits_of_a_word(void)
{
    uint32_t *word = symmetric(sizeof(uint32_t)), own = (uint32_t)1 << rank;
    int i, peer;

    for (i = 0; i < ROUNDS; ++i) {
        peer = (i + rank) % ranks;
        CHECK_EQ(shmem_uint32_atomic_fetch_or(word, own, peer) & own, 0);
        CHECK_EQ(shmem_uint32_atomic_fetch_and(word, ~own, peer) & own, own);
    }
    shmem_barrier_all();
    CHECK_EQ(*word, 0);
    shmem_free(word);
}

int main(void)
{
    start(SHMEM_THREAD_SINGLE);
#define CALL(name, type) bitwise_of_##name();
    BITWISE_TYPES(CALL)
#undef CALL
    part("every type");
    bits_of_a_word();
    part("bits of a word");
    shmem_finalize();
    return 0;
}
