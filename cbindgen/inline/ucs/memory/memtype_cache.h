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

@ITEMS@

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
