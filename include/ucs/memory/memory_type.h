/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_MEMORY_MEMORY_TYPE_H
#define FERRUCX_UCS_MEMORY_MEMORY_TYPE_H

#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

/** Kinds of memory. */
enum ucs_memory_type {
    /** Of the host. */
    UCS_MEMORY_TYPE_HOST = 0,
    /** Of an NVIDIA device. */
    UCS_MEMORY_TYPE_CUDA = 1,
    /** Shared by host and NVIDIA device. */
    UCS_MEMORY_TYPE_CUDA_MANAGED = 2,
    /** Of an AMD device. */
    UCS_MEMORY_TYPE_ROCM = 3,
    /** Shared by host and AMD device. */
    UCS_MEMORY_TYPE_ROCM_MANAGED = 4,
    /** Of a network device. */
    UCS_MEMORY_TYPE_RDMA = 5,
    /** Of the host, for Intel devices. */
    UCS_MEMORY_TYPE_ZE_HOST = 6,
    /** Of an Intel device. */
    UCS_MEMORY_TYPE_ZE_DEVICE = 7,
    /** Shared by host and Intel device. */
    UCS_MEMORY_TYPE_ZE_MANAGED = 8,
    /** Of a Gaudi device. */
    UCS_MEMORY_TYPE_GAUDI = 9,
    /** Number of types. */
    UCS_MEMORY_TYPE_LAST = 10,
    /** To be found out. Its value differs by release: each release's own is understood. */
    UCS_MEMORY_TYPE_UNKNOWN = 10,
};

typedef enum ucs_memory_type ucs_memory_type_t;

/** Properties of memory. */
enum ucs_mem_flags {
    /** Memory domains can register it. */
    UCS_MEM_FLAG_REGISTRABLE = UCS_BIT(0),
};

typedef enum ucs_mem_flags ucs_mem_flags_t;

/** Bitmap of the types that a processor can read and write in place. */
#define UCS_MEMORY_TYPES_CPU_ACCESSIBLE \
    (UCS_BIT(UCS_MEMORY_TYPE_HOST) | UCS_BIT(UCS_MEMORY_TYPE_ROCM_MANAGED) | \
     UCS_BIT(UCS_MEMORY_TYPE_ZE_HOST) | UCS_BIT(UCS_MEMORY_TYPE_ZE_MANAGED))

/** Walks all known types. */
#define ucs_memory_type_for_each(_type) \
    for ((_type) = UCS_MEMORY_TYPE_HOST; (_type) != UCS_MEMORY_TYPE_LAST; ++(_type))

/** Names of the types, by value; NULL after the last. */
extern const char *ucs_memory_type_names[];
/** A line on each type, by value. */
extern const char *ucs_memory_type_descs[];

END_C_DECLS

#endif
