/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_DATASTRUCT_MPOOL_H
#define FERRUCX_UCS_DATASTRUCT_MPOOL_H

#include <ucs/datastruct/string_buffer.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>
#include <stddef.h>

BEGIN_C_DECLS

typedef union ucs_mpool_elem ucs_mpool_elem_t;

typedef struct ucs_mpool_chunk ucs_mpool_chunk_t;
typedef struct ucs_mpool_data ucs_mpool_data_t;
typedef struct ucs_mpool ucs_mpool_t;
typedef struct ucs_mpool_ops ucs_mpool_ops_t;
typedef struct ucs_mpool_params ucs_mpool_params_t;

/** What stands before an object. */
union ucs_mpool_elem {
    /** While it is free: the next free one. */
    ucs_mpool_elem_t *next;
    /** While it is in use: its pool. */
    ucs_mpool_t *mpool;
};

/** Memory of several objects. */
struct ucs_mpool_chunk {
    /** The chunk that was made before it. */
    ucs_mpool_chunk_t *next;
    /** The first object, with what stands before it. */
    void *elems;
    /** Objects of the chunk. */
    unsigned int num_elems;
};

/** The part of a pool that taking an object does not need. */
struct ucs_mpool_data {
    /** Bytes of an object with what stands before it. */
    size_t elem_size;
    /** Alignment of the objects, bytes. */
    size_t alignment;
    /** Where in an object the alignment counts, with what stands before it. */
    size_t align_offset;
    /** Each chunk has so many times the objects of the one before. */
    double grow_factor;
    /** Bytes that no chunk exceeds. */
    size_t max_chunk_size;
    /** Objects of the next chunk. */
    unsigned int elems_per_chunk;
    /** Objects that may still be made. */
    unsigned int quota;
    /** Nonzero to call malloc at no time but at the start. */
    int malloc_safe;
    /** The last free object, where objects are taken in the order of their return. */
    ucs_mpool_elem_t *tail;
    /** The newest chunk. */
    ucs_mpool_chunk_t *chunks;
    /** Functions. */
    const ucs_mpool_ops_t *ops;
    /** Name for messages. */
    char *name;
};

/** A pool of objects of one size. */
struct ucs_mpool {
    /** Free objects. */
    ucs_mpool_elem_t *freelist;
    /** The rest of the pool. */
    ucs_mpool_data_t *data;
};

/**
 * Allocates at least `*size_p` bytes, and says how many they are.
 *
 * @param[in,out] mp The pool.
 * @param[in,out] size_p Bytes wanted; then bytes there are.
 * @param[out] chunk_p The memory.
 * @return UCS_OK or UCS_ERR_NO_MEMORY.
 */
typedef ucs_status_t (*ucs_mpool_chunk_alloc_func_t)(ucs_mpool_t *mp,
                                                     size_t *size_p,
                                                     void **chunk_p);

/**
 * Frees such memory.
 *
 * @param[in,out] mp The pool.
 * @param[in] chunk The memory.
 */
typedef void (*ucs_mpool_chunk_release_func_t)(ucs_mpool_t *mp, void *chunk);

/**
 * Prepares a new object, once; `chunk` is what the allocation answered.
 *
 * @param[in,out] mp The pool.
 * @param[in] obj The object.
 * @param[in] chunk Memory that it is in.
 */
typedef void (*ucs_mpool_obj_init_func_t)(ucs_mpool_t *mp, void *obj, void *chunk);

/**
 * Called with an object before its memory is freed.
 *
 * @param[in,out] mp The pool.
 * @param[in] obj The object.
 */
typedef void (*ucs_mpool_obj_cleanup_func_t)(ucs_mpool_t *mp, void *obj);

/**
 * Appends a description of an object.
 *
 * @param[in,out] mp The pool.
 * @param[in] obj The object.
 * @param[in,out] strb Gets the text behind what it holds.
 */
typedef void (*ucs_mpool_obj_str_func_t)(ucs_mpool_t *mp,
                                         void *obj,
                                         ucs_string_buffer_t *strb);

/** What the owner of a pool does itself. All but the first two may be NULL. */
struct ucs_mpool_ops {
    /** Allocates a chunk. */
    ucs_mpool_chunk_alloc_func_t chunk_alloc;
    /** Frees a chunk. */
    ucs_mpool_chunk_release_func_t chunk_release;
    /** Prepares an object. */
    ucs_mpool_obj_init_func_t obj_init;
    /** Ends an object. */
    ucs_mpool_obj_cleanup_func_t obj_cleanup;
    /** Describes an object, for the message on one that was not returned. */
    ucs_mpool_obj_str_func_t obj_str;
};

/** How a pool is made; `ucs_mpool_params_reset` gives defaults. */
struct ucs_mpool_params {
    /** Bytes that the owner has for itself, see `ucs_mpool_priv`. */
    size_t priv_size;
    /** Bytes of an object. */
    size_t elem_size;
    /** The byte of an object that is aligned. */
    size_t align_offset;
    /** Its alignment, a power of two. */
    size_t alignment;
    /** Nonzero when a pool is used in handlers of memory events: it never calls malloc then. */
    int malloc_safe;
    /** Objects of the first chunk. */
    unsigned int elems_per_chunk;
    /** Bytes that no chunk exceeds. */
    size_t max_chunk_size;
    /** Most objects; UINT_MAX for no limit. */
    unsigned int max_elems;
    /** Each chunk has so many times the objects of the one before. */
    double grow_factor;
    /** Functions. */
    const ucs_mpool_ops_t *ops;
    /** What it is called in messages. */
    const char *name;
};

/**
 * Fills parameters with defaults.
 *
 * @param[out] params The parameters.
 */
void ucs_mpool_params_reset(ucs_mpool_params_t *params);

/**
 * Ends a pool; with `leak_check`, tells of objects that were not given back.
 *
 * @param[in,out] mp The pool.
 * @param[in] leak_check Nonzero: objects that were not given back are logged.
 */
void ucs_mpool_cleanup(ucs_mpool_t *mp, int leak_check);

/**
 * The pool's name.
 *
 * @param[in,out] mp The pool.
 * @return Text that lives as long as the pool.
 */
const char *ucs_mpool_name(ucs_mpool_t *mp);

/**
 * The owner's `priv_size` bytes.
 *
 * @param[in,out] mp The pool.
 * @return Start of these bytes.
 */
void *ucs_mpool_priv(ucs_mpool_t *mp);

/**
 * 1 when nothing can be taken any more, else 0.
 *
 * @param[in,out] mp The pool.
 * @return 1 or 0.
 */
int ucs_mpool_is_empty(ucs_mpool_t *mp);

/**
 * Takes an object; NULL when there is none and none can be made.
 *
 * @param[in,out] mp The pool.
 * @return The object, or NULL.
 */
void *ucs_mpool_get(ucs_mpool_t *mp);

/**
 * Gives an object back to its pool.
 *
 * @param[in] obj The object; not to be used afterwards.
 */
void ucs_mpool_put(void *obj);

/**
 * Makes up to `num_elems` objects.
 *
 * @param[in,out] mp The pool.
 * @param[in] num_elems Number of objects.
 */
void ucs_mpool_grow(ucs_mpool_t *mp, unsigned int num_elems);

/**
 * Takes an object from a pool that has no free one.
 *
 * @param[in,out] mp The pool.
 * @return The object, or NULL.
 */
void *ucs_mpool_get_grow(ucs_mpool_t *mp);

/**
 * Objects that a chunk of `chunk_size` bytes at `chunk` has room for.
 *
 * @param[in,out] mp The pool.
 * @param[in] chunk The chunk.
 * @param[in] chunk_size Its bytes.
 * @return Their number.
 */
unsigned int ucs_mpool_num_elems_per_chunk(ucs_mpool_t *mp,
                                           ucs_mpool_chunk_t *chunk,
                                           size_t chunk_size);

/**
 * Allocates a chunk from the heap.
 *
 * @param[in,out] mp The pool.
 * @param[in,out] size_p Bytes wanted; then bytes there are.
 * @param[out] chunk_p The memory.
 * @return UCS_OK or UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucs_mpool_chunk_malloc(ucs_mpool_t *mp, size_t *size_p, void **chunk_p);

/**
 * Frees such a chunk.
 *
 * @param[in,out] mp The pool.
 * @param[in] chunk The memory.
 */
void ucs_mpool_chunk_free(ucs_mpool_t *mp, void *chunk);

/**
 * Maps pages for a chunk.
 *
 * @param[in,out] mp The pool.
 * @param[in,out] size_p Bytes wanted; then bytes there are.
 * @param[out] chunk_p The memory.
 * @return UCS_OK or UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucs_mpool_chunk_mmap(ucs_mpool_t *mp, size_t *size_p, void **chunk_p);

/**
 * Unmaps such a chunk.
 *
 * @param[in,out] mp The pool.
 * @param[in] chunk The memory.
 */
void ucs_mpool_chunk_munmap(ucs_mpool_t *mp, void *chunk);

/**
 * Allocates a chunk of huge pages, or from the heap where there are none.
 *
 * @param[in,out] mp The pool.
 * @param[in,out] size_p Bytes wanted; then bytes there are.
 * @param[out] chunk_p The memory.
 * @return UCS_OK or UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucs_mpool_hugetlb_malloc(ucs_mpool_t *mp, size_t *size_p, void **chunk_p);

/**
 * Frees such a chunk.
 *
 * @param[in,out] mp The pool.
 * @param[in] chunk The memory.
 */
void ucs_mpool_hugetlb_free(ucs_mpool_t *mp, void *chunk);

/**
 * Makes a pool. UCS_ERR_INVALID_PARAM for sizes that are not possible.
 *
 * @param[in] params Sizes and functions; read during the call only.
 * @param[out] mp The pool.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM for sizes that are not possible; UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucs_mpool_init(const ucs_mpool_params_t *params, ucs_mpool_t *mp);

END_C_DECLS

#endif
