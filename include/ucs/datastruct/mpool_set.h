/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
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

/**
 * Makes pools for objects of `sizes`, powers of two, and of `max_mp_entry_size`. Each object has `priv_elem_size` bytes
 * more.
 *
 * @param[out] mp_set The set.
 * @param[in] sizes Bytes of the objects of each pool.
 * @param[in] sizes_count Number of pools.
 * @param[in] max_mp_entry_size Bytes of the largest objects.
 * @param[in] priv_size Bytes of the owner.
 * @param[in] priv_elem_size Bytes that each object has more.
 * @param[in] align_offset Bytes of an object before what is aligned.
 * @param[in] alignment Alignment, a power of two.
 * @param[in] elems_per_chunk Objects allocated at once.
 * @param[in] max_elems Most objects of a pool.
 * @param[in] ops Functions of the pools.
 * @param[in] name Name for messages, NUL-terminated.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM; UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucs_mpool_set_init(ucs_mpool_set_t *mp_set,
                                size_t *sizes,
                                unsigned int sizes_count,
                                size_t max_mp_entry_size,
                                size_t priv_size,
                                size_t priv_elem_size,
                                size_t align_offset,
                                size_t alignment,
                                unsigned int elems_per_chunk,
                                unsigned int max_elems,
                                ucs_mpool_ops_t *ops,
                                const char *name);

/**
 * Ends a set; with `leak_check`, tells of objects that were not given back.
 *
 * @param[in,out] mp_set The set.
 * @param[in] leak_check Nonzero: objects that were not given back are logged.
 */
void ucs_mpool_set_cleanup(ucs_mpool_set_t *mp_set, int leak_check);

/**
 * The owner's `priv_size` bytes.
 *
 * @param[in,out] mp_set The set.
 * @return Start of these bytes.
 */
void *ucs_mpool_set_priv(ucs_mpool_set_t *mp_set);

/**
 * The set's name.
 *
 * @param[in,out] mp_set The set.
 * @return Text that lives as long as the pool.
 */
const char *ucs_mpool_set_name(ucs_mpool_set_t *mp_set);

END_C_DECLS

#endif
