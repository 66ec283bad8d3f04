/* A payload whose bytes depend on position and seed, and its check after reception. Needs CHECK_EQ, of check.h or of
 * the program's own. */
#ifndef FERRUCX_BYTES_H
#define FERRUCX_BYTES_H

#include <stddef.h>
#include <stdint.h>

/* The byte at `i` of message `seed`. */
static inline unsigned char pattern(size_t i, uint64_t seed)
{
    return (unsigned char)((i * 131 + i / 251) ^ (seed * 29));
}

static inline void fill(void *buffer, size_t length, uint64_t seed)
{
    size_t i;

    for (i = 0; i < length; ++i) {
        ((unsigned char *)buffer)[i] = pattern(i, seed);
    }
}

static inline size_t wrong_at(const void *buffer, size_t length, uint64_t seed)
{
    size_t i;

    for (i = 0; (i < length) && (((const unsigned char *)buffer)[i] == pattern(i, seed)); ++i) {
    }
    return i;
}

#define CHECK_PATTERN(buffer, length, seed) CHECK_EQ(wrong_at(buffer, length, seed), length)

#endif
