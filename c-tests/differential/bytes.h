/* Numbers that follow from a seed, bytes that follow from a key, and a hash of bytes. All processes of a
 * program draw the same numbers in the same order, so they agree on the plan without talking. */
#ifndef FERRUCX_DIFFERENTIAL_BYTES_H
#define FERRUCX_DIFFERENTIAL_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

typedef struct {
    uint64_t state;
} numbers_t;

static inline uint64_t draw(numbers_t *numbers)
{
    return mix(numbers->state += 0x9e3779b97f4a7c15ull);
}

/* 0 ... limit - 1. */
static inline unsigned below(numbers_t *numbers, unsigned limit)
{
    return (unsigned)((draw(numbers) >> 32) % limit);
}

static inline int percent(numbers_t *numbers, unsigned share)
{
    return below(numbers, 100) < share;
}

/* The bytes of `key`, from the first. */
static inline void bytes_fill(unsigned char *to, size_t length, uint64_t key)
{
    uint64_t word, at = mix(key);
    size_t i;

    for (i = 0; i + 8 <= length; i += 8) {
        word = (at += 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
        memcpy(to + i, &word, 8);
    }
    word = mix(at);
    memcpy(to + i, &word, length - i);
}

/* Also tells apart parts that follow each other: `hash` is that of what came before, 0 at first. */
static inline uint64_t bytes_hash(uint64_t hash, const void *data, size_t length)
{
    const unsigned char *bytes = data;
    uint64_t word;
    size_t i;

    for (i = 0; i + 8 <= length; i += 8) {
        memcpy(&word, bytes + i, 8);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
        hash ^= hash >> 29;
    }
    for (; i < length; ++i) {
        hash = (hash ^ bytes[i]) * 0xbf58476d1ce4e5b9ull;
        hash ^= hash >> 29;
    }
    return hash ^ length;
}

#endif
