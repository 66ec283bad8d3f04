/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_MEMORY_RCACHE_H
#define FERRUCX_UCS_MEMORY_RCACHE_H

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

/** The range is registered. */
#define UCS_RCACHE_REGION_FLAG_REGISTERED UCS_BIT(0)

/** The region is in the table. */
#define UCS_RCACHE_REGION_FLAG_PGTABLE UCS_BIT(1)

/** The registration may fail, and is not to log that. */
#define UCS_RCACHE_MEM_REG_HIDE_ERRORS UCS_BIT(0)

/** Page frames are not compared. */
#define UCS_RCACHE_FLAG_NO_PFN_CHECK UCS_BIT(0)

/** The child of a fork begins with an empty cache. */
#define UCS_RCACHE_FLAG_PURGE_ON_FORK UCS_BIT(1)

/** An event takes its effect before the call that causes it goes on. */
#define UCS_RCACHE_FLAG_SYNC_EVENTS UCS_BIT(2)

/** The list of unused regions needs a lock of its own. */
#define UCS_RCACHE_FLAG_NEED_LRU_LOCK UCS_BIT(3)

/** The region is in the list of unused ones. */
#define UCS_RCACHE_LRU_FLAG_IN_LRU UCS_BIT(0)

/** A registration cache. */
struct ucs_rcache;

typedef struct ucs_rcache ucs_rcache_t;
typedef struct ucs_rcache_ops ucs_rcache_ops_t;
typedef struct ucs_rcache_params ucs_rcache_params_t;
typedef struct ucs_rcache_config ucs_rcache_config_t;

/** What the owner of a cache does itself. */
struct ucs_rcache_ops {
    /** Registers the range of a region; `arg` is that of `ucs_rcache_get`. */
    ucs_status_t (*mem_reg)(void *context,
                            ucs_rcache_t *rcache,
                            void *arg,
                            ucs_rcache_region_t *region,
                            uint16_t flags);
    /** Ends a registration. */
    void (*mem_dereg)(void *context, ucs_rcache_t *rcache, ucs_rcache_region_t *region);
    /** Told of each region that a new one takes in; NULL where nothing is to be done. */
    void (*merge)(void *context,
                  ucs_rcache_t *rcache,
                  void *arg,
                  ucs_rcache_region_t *region);
    /** Writes the owner's part of a region as text; NULL where there is none. */
    void (*dump_region)(void *context,
                        ucs_rcache_t *rcache,
                        ucs_rcache_region_t *region,
                        char *buf,
                        size_t max);
};

/** How a cache is made. */
struct ucs_rcache_params {
    /** Bytes of a region with the owner's part. */
    size_t region_struct_size;
    /** Events that invalidate ranges: UCM_EVENT_VM_UNMAPPED, UCM_EVENT_MEM_TYPE_FREE. */
    int ucm_events;
    /** Priority of their handler. */
    int ucm_event_priority;
    /** Functions. */
    const ucs_rcache_ops_t *ops;
    /** Handed to the functions above. */
    void *context;
    /** UCS_RCACHE_FLAG_NO_PFN_CHECK and the others. */
    int flags;
    /** Most regions. */
    unsigned long max_regions;
    /** Most bytes of all regions. */
    size_t max_size;
    /** Bytes of invalidated regions that wait for their end, until they are ended at once. */
    size_t max_unreleased;
};

/**
 * Told that an invalidated region is gone; must not use the cache.
 *
 * @param[in] arg As it was given with the callback.
 */
typedef void (*ucs_rcache_invalidate_comp_func_t)(void *arg);

/** What a user chooses of it. */
struct ucs_rcache_config {
    /** Priority of the handler of memory events. */
    unsigned int event_prio;
    /** Time of a lookup, as an estimate. */
    ucs_time_t overhead;
    /** Most regions. */
    unsigned long max_regions;
    /** Most bytes of all regions. */
    size_t max_size;
    /** Bytes of invalidated regions that may wait for their end. */
    size_t max_unreleased;
    /** Nonzero to begin with an empty cache after a fork. */
    int purge_on_fork;
};

/**
 * A cache of registrations. UCS_ERR_INVALID_PARAM where a region is smaller than `ucs_rcache_region_t`.
 *
 *
 * @param[in] params Functions and limits; read during the call only.
 * @param[in] name Name for messages, NUL-terminated.
 * @param[in] stats_parent Not used.
 * @param[out] rcache_p The cache.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM where a region is smaller than `ucs_rcache_region_t`.
 */
ucs_status_t ucs_rcache_create(const ucs_rcache_params_t *params,
                               const char *name,
                               ucs_stats_node_t *stats_parent,
                               ucs_rcache_t **rcache_p);

/**
 * Ends a cache and its registrations.
 *
 * @param[in,out] rcache The cache.
 */
void ucs_rcache_destroy(ucs_rcache_t *rcache);

/**
 * Counts one user more of a registration.
 *
 * @param[in,out] rcache The cache.
 * @param[in,out] region The registration.
 */
void ucs_rcache_region_hold(ucs_rcache_t *rcache, ucs_rcache_region_t *region);

/**
 * Gives a registration back.
 *
 * @param[in,out] rcache The cache.
 * @param[in,out] region The registration.
 */
void ucs_rcache_region_put(ucs_rcache_t *rcache, ucs_rcache_region_t *region);

/**
 * Takes a registration out of the cache, so that nobody gets it any more. The caller still gives it back; `cb` is
 * called when it has ended.
 *
 * @param[in,out] rcache The cache.
 * @param[in,out] region The registration.
 * @param[in] cb Called when it has ended.
 * @param[in] arg Its argument.
 */
void ucs_rcache_region_invalidate(ucs_rcache_t *rcache,
                                  ucs_rcache_region_t *region,
                                  ucs_rcache_invalidate_comp_func_t cb,
                                  void *arg);

/**
 * Fills parameters with defaults: no events, no limits.
 *
 * @param[out] rcache_params The parameters.
 */
void ucs_rcache_set_default_params(ucs_rcache_params_t *rcache_params);

/**
 * Fills parameters with what a user chose, and defaults for the rest.
 *
 * @param[out] rcache_params The parameters.
 * @param[in] rcache_config What the user chose.
 */
void ucs_rcache_set_params(ucs_rcache_params_t *rcache_params,
                           const ucs_rcache_config_t *rcache_config);

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

#endif
