/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_MEMORY_MEMTYPE_CACHE_H
#define FERRUCX_UCS_MEMORY_MEMTYPE_CACHE_H

#include <ucs/datastruct/list.h>
#include <ucs/datastruct/pgtable.h>
#include <ucs/memory/memory_type.h>
#include <ucs/stats/stats_fwd.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/sys/topo/base/topo.h>
#include <ucs/type/spinlock.h>
#include <pthread.h>
#include <stdint.h>

BEGIN_C_DECLS

/** A range of memory whose type is known. */
struct ucs_memtype_cache_region;

typedef struct ucs_memory_info ucs_memory_info_t;
typedef struct ucs_memtype_cache ucs_memtype_cache_t;
typedef struct ucs_memtype_cache_region ucs_memtype_cache_region_t;

/** What is known of memory. */
struct ucs_memory_info {
    /** Type of the memory. */
    ucs_memory_type_t type;
    /** The device that it belongs to. */
    ucs_sys_device_t sys_dev;
    /** Start of the whole allocation. */
    void *base_address;
    /** Its bytes. */
    size_t alloc_length;
    /** UCS_MEM_FLAG_REGISTRABLE. `ucs_memtype_cache_lookup` does not set it. */
    uint8_t mem_flags;
};

/** The ranges of memory that is not the host's. */
struct ucs_memtype_cache {
    /** Held while the table is used. */
    ucs_spinlock_t lock;
    /** The ranges. */
    ucs_pgtable_t pgtable;
};

/** Nothing to do: the cache is made at its first use. */
void ucs_memtype_cache_global_init(void);

/** Forgets all ranges and frees the cache; its next use makes another. */
void ucs_memtype_cache_cleanup(void);

/**
 * What a client entered for a range. UCS_ERR_NO_ELEM when there is no entry for its first byte, UCS_ERR_UNSUPPORTED
 * where the cache is off. `mem_info->mem_flags` is left as it is: before 1.22 the structure ends in front of it.
 *
 *
 * @param[in] address Start.
 * @param[in] size Bytes.
 * @param[out] mem_info What is known; may be NULL where nothing is.
 * @return UCS_OK. UCS_ERR_NO_ELEM when nothing is known of the first byte. UCS_ERR_UNSUPPORTED
 *   where the cache is off.
 */
ucs_status_t ucs_memtype_cache_lookup(const void *address,
                                      size_t size,
                                      ucs_memory_info_t *mem_info);

/**
 * Enters the memory type, device and flags of a range.
 *
 * @param[in] address Start.
 * @param[in] size Bytes.
 * @param[in] mem_type Type.
 * @param[in] sys_dev Device.
 * @param[in] mem_flags Flags.
 */
void ucs_memtype_cache_update(const void *address,
                              size_t size,
                              ucs_memory_type_t mem_type,
                              ucs_sys_device_t sys_dev,
                              uint8_t mem_flags);

/**
 * Forgets what is known of a range.
 *
 * @param[in] address Start.
 * @param[in] size Bytes.
 */
void ucs_memtype_cache_remove(const void *address, size_t size);

/** The cache; NULL before its first use, and where it is switched off. */
extern ucs_memtype_cache_t *ucs_memtype_cache_global_instance;

/**
 * 1 when there is a cache and it holds nothing, else 0.
 *
 * @return 1 or 0.
 */
static UCS_F_ALWAYS_INLINE int ucs_memtype_cache_is_empty(void)
{
    const ucs_memtype_cache_t *cache = ucs_memtype_cache_global_instance;
    return (cache != NULL) && (ucs_pgtable_num_regions(&cache->pgtable) == 0);
}

/**
 * Says of memory that it is the host's.
 *
 * @param[out] mem_info What is known.
 */
static UCS_F_ALWAYS_INLINE void ucs_memory_info_set_host(ucs_memory_info_t *mem_info)
{
    ucs_memory_info_t host = {UCS_MEMORY_TYPE_HOST, UCS_SYS_DEVICE_ID_UNKNOWN, NULL, SIZE_MAX,
                              UCS_MEM_FLAG_REGISTRABLE};
    *mem_info = host;
}

END_C_DECLS

#endif
