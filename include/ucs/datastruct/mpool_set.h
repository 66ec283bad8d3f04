/* Written from the Rust sources by `make headers`: change those, not this file. */
#ifndef FERRUCX_UCS_DATASTRUCT_MPOOL_SET_H
#define FERRUCX_UCS_DATASTRUCT_MPOOL_SET_H

#include <ucs/datastruct/mpool.h>
#include <stdint.h>

BEGIN_C_DECLS

/** Largest element of a set, in bytes. */
#define UCS_MPOOL_SET_MAX_SIZE UCS_BIT(30)

/** Sizes that a set can have. */
#define UCS_MPOOL_SET_SIZE 32

typedef struct ucs_mpool_set ucs_mpool_set_t;

/** Pools for objects of different sizes, each a power of two; the largest may be any number. */
struct ucs_mpool_set {
    /** Bit `i` is set where there is a pool of `1 << i` bytes; the highest one for a largest size between. */
    uint32_t bitmap;
    /** The smallest pool for objects of up to `1 << i` bytes. */
    ucs_mpool_t *map[32];
    /** The pools, and the owner's bytes. */
    void *data;
};

END_C_DECLS

#endif
