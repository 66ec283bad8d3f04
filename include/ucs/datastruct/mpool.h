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

struct ucs_mpool_chunk {
    ucs_mpool_chunk_t *next;
    void *elems;
    unsigned int num_elems;
};

typedef ucs_status_t (*ucs_mpool_chunk_alloc_func_t)(ucs_mpool_t *mp,
                                                     size_t *size_p,
                                                     void **chunk_p);

typedef void (*ucs_mpool_chunk_release_func_t)(ucs_mpool_t *mp, void *chunk);

typedef void (*ucs_mpool_obj_init_func_t)(ucs_mpool_t *mp, void *obj, void *chunk);

typedef void (*ucs_mpool_obj_cleanup_func_t)(ucs_mpool_t *mp, void *obj);

typedef void (*ucs_mpool_obj_str_func_t)(ucs_mpool_t *mp,
                                         void *obj,
                                         ucs_string_buffer_t *strb);

struct ucs_mpool_ops {
    ucs_mpool_chunk_alloc_func_t chunk_alloc;
    ucs_mpool_chunk_release_func_t chunk_release;
    ucs_mpool_obj_init_func_t obj_init;
    ucs_mpool_obj_cleanup_func_t obj_cleanup;
    ucs_mpool_obj_str_func_t obj_str;
};

struct ucs_mpool_data {
    size_t elem_size;
    size_t alignment;
    size_t align_offset;
    double grow_factor;
    size_t max_chunk_size;
    unsigned int elems_per_chunk;
    unsigned int quota;
    int malloc_safe;
    ucs_mpool_elem_t *tail;
    ucs_mpool_chunk_t *chunks;
    const ucs_mpool_ops_t *ops;
    char *name;
};

struct ucs_mpool {
    ucs_mpool_elem_t *freelist;
    ucs_mpool_data_t *data;
};

union ucs_mpool_elem {
    ucs_mpool_elem_t *next;
    ucs_mpool_t *mpool;
};

struct ucs_mpool_params {
    size_t priv_size;
    size_t elem_size;
    size_t align_offset;
    size_t alignment;
    int malloc_safe;
    unsigned int elems_per_chunk;
    size_t max_chunk_size;
    unsigned int max_elems;
    double grow_factor;
    const ucs_mpool_ops_t *ops;
    const char *name;
};

END_C_DECLS

#endif
