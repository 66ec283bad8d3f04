/* Written from the Rust sources by `make headers`: change those, not this file. */
#ifndef FERRUCX_UCS_DATASTRUCT_MPOOL_H
#define FERRUCX_UCS_DATASTRUCT_MPOOL_H

#include <ucs/datastruct/string_buffer.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>
#include <stddef.h>

BEGIN_C_DECLS

typedef struct ucs_mpool_chunk ucs_mpool_chunk_t;
typedef struct ucs_mpool_ops ucs_mpool_ops_t;
typedef struct ucs_mpool_data ucs_mpool_data_t;
typedef struct ucs_mpool ucs_mpool_t;

typedef union ucs_mpool_elem ucs_mpool_elem_t;

typedef struct ucs_mpool_params ucs_mpool_params_t;

/** Objects that were allocated together. */
struct ucs_mpool_chunk {
    /** The next chunk. */
    ucs_mpool_chunk_t *next;
    /** The first object. */
    void *elems;
    /** Number of objects. */
    unsigned int num_elems;
};

/** Allocates a chunk of at least `*size_p` bytes, and tells how large it is. */
typedef ucs_status_t (*ucs_mpool_chunk_alloc_func_t)(ucs_mpool_t *mp,
                                                     size_t *size_p,
                                                     void **chunk_p);

/** Frees a chunk. */
typedef void (*ucs_mpool_chunk_release_func_t)(ucs_mpool_t *mp, void *chunk);

/** Prepares a new object. */
typedef void (*ucs_mpool_obj_init_func_t)(ucs_mpool_t *mp, void *obj, void *chunk);

/** Undoes that. */
typedef void (*ucs_mpool_obj_cleanup_func_t)(ucs_mpool_t *mp, void *obj);

/** Describes an object. */
typedef void (*ucs_mpool_obj_str_func_t)(ucs_mpool_t *mp,
                                         void *obj,
                                         ucs_string_buffer_t *strb);

/** Functions of a pool. */
struct ucs_mpool_ops {
    /** Allocates a chunk. */
    ucs_mpool_chunk_alloc_func_t chunk_alloc;
    /** Frees a chunk. */
    ucs_mpool_chunk_release_func_t chunk_release;
    /** Prepares a new object; may be NULL. */
    ucs_mpool_obj_init_func_t obj_init;
    /** Undoes that; may be NULL. */
    ucs_mpool_obj_cleanup_func_t obj_cleanup;
    /** Describes an object; may be NULL. */
    ucs_mpool_obj_str_func_t obj_str;
};

/** What a pool seldom needs. */
struct ucs_mpool_data {
    /** Bytes of an object, with its header. */
    size_t elem_size;
    /** Alignment of objects, bytes. */
    size_t alignment;
    /** Where in an object that counts from, bytes. */
    size_t align_offset;
    /** How much larger each chunk is than the one before. */
    double grow_factor;
    /** Largest chunk, bytes. */
    size_t max_chunk_size;
    /** Objects of a chunk. */
    unsigned int elems_per_chunk;
    /** Objects that may still be allocated. */
    unsigned int quota;
    /** Nonzero: never use malloc(). */
    int malloc_safe;
    /** Last free object. */
    ucs_mpool_elem_t *tail;
    /** All chunks. */
    ucs_mpool_chunk_t *chunks;
    /** Functions of the pool. */
    const ucs_mpool_ops_t *ops;
    /** Name for messages. */
    char *name;
};

/** A pool of objects of one size. */
struct ucs_mpool {
    /** Free objects. */
    ucs_mpool_elem_t *freelist;
    /** The rest. */
    ucs_mpool_data_t *data;
};

/** A free object of a pool. */
union ucs_mpool_elem {
    /** The next free one. */
    ucs_mpool_elem_t *next;
    /** The pool, while it is in use. */
    ucs_mpool_t *mpool;
};

/** How a pool is made. */
struct ucs_mpool_params {
    /** Bytes of the caller behind the pool. */
    size_t priv_size;
    /** Bytes of an object. */
    size_t elem_size;
    /** Where in an object that counts from, bytes. */
    size_t align_offset;
    /** Alignment of objects, bytes. */
    size_t alignment;
    /** Nonzero: never use malloc(). */
    int malloc_safe;
    /** Objects of a chunk. */
    unsigned int elems_per_chunk;
    /** Largest chunk, bytes. */
    size_t max_chunk_size;
    /** Most objects. */
    unsigned int max_elems;
    /** How much larger each chunk is than the one before. */
    double grow_factor;
    /** Functions of the pool. */
    const ucs_mpool_ops_t *ops;
    /** Name for messages. */
    const char *name;
};

END_C_DECLS

#endif
