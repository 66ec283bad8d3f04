/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_DATASTRUCT_STRIDED_ALLOC_H
#define FERRUCX_UCS_DATASTRUCT_STRIDED_ALLOC_H

#include <ucs/datastruct/queue_types.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/sys/math.h>
#include <ucs/type/status.h>
#include <stddef.h>

BEGIN_C_DECLS

/** Bytes from one part of an object to the next. */
#define UCS_STRIDED_ALLOC_STRIDE (UCS_KBYTE * 128)
/** Part `_wanted_idx` of an object whose part `_stride_idx` is at `_elem`. */
#define ucs_strided_elem_get(_elem, _stride_idx, _wanted_idx) \
    UCS_PTR_BYTE_OFFSET(_elem, ((ptrdiff_t)(_wanted_idx) - (ptrdiff_t)(_stride_idx)) * \
                                       (ptrdiff_t)UCS_STRIDED_ALLOC_STRIDE)

/** A free object. */
struct ucs_strided_alloc_elem;

typedef struct ucs_strided_alloc_elem ucs_strided_alloc_elem_t;
typedef struct ucs_strided_alloc ucs_strided_alloc_t;

/** An allocator of objects in parts, which lie at a fixed distance from each other. */
struct ucs_strided_alloc {
    /** Free objects. */
    ucs_strided_alloc_elem_t *freelist;
    /** Memory that was allocated. */
    ucs_queue_head_t chunks;
    /** Bytes of a part. */
    size_t elem_size;
    /** Parts of an object. */
    unsigned int stride_count;
    /** Objects in use. */
    unsigned int inuse_count;
};

/**
 * Makes an allocator of objects of `stride_count` parts with `elem_size` bytes each.
 *
 * @param[in,out] sa The allocator.
 * @param[in] elem_size Bytes of a part.
 * @param[in] stride_count Parts of an object.
 */
void ucs_strided_alloc_init(ucs_strided_alloc_t *sa,
                            size_t elem_size,
                            unsigned int stride_count);

/**
 * Ends an allocator and frees its memory.
 *
 * @param[in,out] sa The allocator.
 */
void ucs_strided_alloc_cleanup(ucs_strided_alloc_t *sa);

/**
 * Takes an object: the address of its first part, or NULL.
 *
 * @param[in,out] sa The allocator.
 * @param[in] alloc_name Name for statistics of memory.
 * @return Address of the first part, or NULL.
 */
void *ucs_strided_alloc_get(ucs_strided_alloc_t *sa, const char *alloc_name);

/**
 * Gives an object back.
 *
 * @param[in,out] sa The allocator.
 * @param[in] base Address of the first part.
 */
void ucs_strided_alloc_put(ucs_strided_alloc_t *sa, void *base);

/**
 * Objects in use.
 *
 * @param[in,out] sa The allocator.
 * @return Their number.
 */
unsigned int ucs_strided_alloc_inuse_count(ucs_strided_alloc_t *sa);

END_C_DECLS

#endif
