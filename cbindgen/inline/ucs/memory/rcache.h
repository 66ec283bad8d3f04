#include <ucs/config/parser.h>
#include <ucs/datastruct/list.h>
#include <ucs/datastruct/mpool.h>
#include <ucs/datastruct/pgtable.h>
#include <ucs/datastruct/queue_types.h>
#include <ucs/stats/stats_fwd.h>
#include <ucs/time/time_def.h>
#include <stdint.h>
#include <sys/mman.h>

BEGIN_C_DECLS

/** Format of access rights for printf, and its arguments. */
#define UCS_RCACHE_PROT_FMT        "%c%c"
#define UCS_RCACHE_PROT_ARG(_prot) ((PROT_READ & (_prot)) ? 'r' : '-'), ((PROT_WRITE & (_prot)) ? 'w' : '-')

/** The smallest alignment of a region. */
#define UCS_RCACHE_MIN_ALIGNMENT UCS_PGT_ADDR_ALIGN

typedef struct ucs_rcache_region ucs_rcache_region_t;

@ITEMS@

/** One registered range of memory. The client's own part follows it. */
struct ucs_rcache_region {
    /** The range, in the table of all. */
    ucs_pgt_region_t super;
    /** Its place among those that nobody uses. */
    ucs_list_link_t lru_list;
    /** The library's. */
    ucs_list_link_t tmp_list;
    /** Whom to call when it is gone. */
    ucs_list_link_t comp_list;
    /** Alignment that the client asked for. */
    size_t alignment;
    /** Users, and 1 for the table. */
    volatile uint32_t refcount;
    /** What the registration answered. */
    ucs_status_t status;
    /** Rights: PROT_READ, PROT_WRITE. */
    uint8_t prot;
    /** UCS_RCACHE_REGION_FLAG_REGISTERED and the others. */
    uint8_t flags;
    /** UCS_RCACHE_LRU_FLAG_IN_LRU. */
    uint8_t lru_flags;
    /** What belongs to the cache. */
    union {
        /** The library's. */
        uint64_t priv;
        /** Page frames, where they are checked. */
        unsigned long *pfn;
    };
};

/**
 * A registration that has a range, for one more user, who gives it back by `ucs_rcache_region_put`.
 *
 * @param[in,out] rcache The cache.
 * @param[in] address Start of the range.
 * @param[in] length Bytes of the range.
 * @param[in] alignment The registration begins and ends at multiples of it: a power of two.
 * @param[in] prot Rights: PROT_READ, PROT_WRITE.
 * @param[in] arg For `mem_reg` and `merge`.
 * @param[out] region_p The registration.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM: there is no such range; or what `mem_reg` answers.
 */
ucs_status_t ucs_rcache_get(ucs_rcache_t *rcache, void *address, size_t length, size_t alignment, int prot, void *arg,
                            ucs_rcache_region_t **region_p);

/** The options of a cache, as a table for `ucs_rcache_config_t`. */
extern ucs_config_field_t ucs_config_rcache_table[];

END_C_DECLS
