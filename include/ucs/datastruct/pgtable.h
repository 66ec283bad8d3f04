/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_DATASTRUCT_PGTABLE_H
#define FERRUCX_UCS_DATASTRUCT_PGTABLE_H

#include <ucs/config/types.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>
#include <limits.h>
#include <stdint.h>

BEGIN_C_DECLS

/* A table of address ranges that do not overlap: a tree with 4 bits of the address at each step. */

/** Low bits of an address that have to be zero. */
#define UCS_PGT_ADDR_SHIFT 4
#define UCS_PGT_ADDR_ALIGN (1ul << UCS_PGT_ADDR_SHIFT)
/** Bits of an address, and the highest one. */
#define UCS_PGT_ADDR_ORDER (CHAR_BIT * sizeof(ucs_pgt_addr_t))
#define UCS_PGT_ADDR_MAX   (~(ucs_pgt_addr_t)0)

/** Bits of the address that one directory takes. */
#define UCS_PGT_ENTRY_SHIFT     4
#define UCS_PGT_ENTRIES_PER_DIR (1ul << UCS_PGT_ENTRY_SHIFT)
#define UCS_PGT_ENTRY_MASK      (UCS_PGT_ENTRIES_PER_DIR - 1)

/* The low bits of an entry say what its address points to; neither is set in an empty one. */
#define UCS_PGT_ENTRY_FLAG_REGION UCS_BIT(0)
#define UCS_PGT_ENTRY_FLAG_DIR    UCS_BIT(1)
#define UCS_PGT_ENTRY_FLAGS_MASK  (UCS_PGT_ENTRY_FLAG_DIR | UCS_PGT_ENTRY_FLAG_REGION)
#define UCS_PGT_ENTRY_PTR_MASK    (~UCS_PGT_ENTRY_FLAGS_MASK)
#define UCS_PGT_ENTRY_MIN_ALIGN   (1 + UCS_PGT_ENTRY_FLAGS_MASK)
/** For variables whose address stands in an entry. */
#define UCS_PGT_ENTRY_V_ALIGNED \
    UCS_V_ALIGNED((sizeof(long) < UCS_PGT_ENTRY_MIN_ALIGN) ? UCS_PGT_ENTRY_MIN_ALIGN : sizeof(long))

/** Format of a region for printf, and its arguments. */
#define UCS_PGT_REGION_FMT          "%p [0x%lx..0x%lx]"
#define UCS_PGT_REGION_ARG(_region) (_region), (_region)->start, (_region)->end

typedef struct ucs_pgt_entry ucs_pgt_entry_t;
typedef struct ucs_pgt_dir ucs_pgt_dir_t;
typedef struct ucs_pgtable ucs_pgtable_t;
typedef struct ucs_pgt_region ucs_pgt_region_t;

/** An address. */
typedef unsigned long ucs_pgt_addr_t;

/** A way down the tree: an address and the two flags of its kind. */
struct ucs_pgt_entry {
    /** Pointer to a region or a directory, and bits that tell which. */
    ucs_pgt_addr_t value;
};

/** A node of the tree. */
struct ucs_pgt_dir {
    /** The entries. */
    ucs_pgt_entry_t entries[16];
    /** How many of them are not empty. */
    unsigned int count;
};

/**
 * Allocates a directory; NULL without memory.
 *
 * @param[in] pgtable The table.
 * @return The directory, or NULL.
 */
typedef ucs_pgt_dir_t *(*ucs_pgt_dir_alloc_callback_t)(const ucs_pgtable_t *pgtable);

/**
 * Frees a directory.
 *
 * @param[in] pgtable The table.
 * @param[in] pgdir The directory.
 */
typedef void (*ucs_pgt_dir_release_callback_t)(const ucs_pgtable_t *pgtable,
                                               ucs_pgt_dir_t *pgdir);

/** A table. It covers the addresses whose bits under `mask` are `base`. */
struct ucs_pgtable {
    /** The topmost entry. */
    ucs_pgt_entry_t root;
    /** Bits that all addresses have in common. */
    ucs_pgt_addr_t base;
    /** Which bits these are. */
    ucs_pgt_addr_t mask;
    /** Bits of an address below the root. */
    unsigned int shift;
    /** Regions in the table. */
    unsigned int num_regions;
    /** Allocates a directory. */
    ucs_pgt_dir_alloc_callback_t pgd_alloc_cb;
    /** Frees a directory. */
    ucs_pgt_dir_release_callback_t pgd_release_cb;
};

/** A range of addresses, a part of an object of the client. */
struct ucs_pgt_region {
    /** Its first byte. */
    ucs_pgt_addr_t start;
    /** The byte behind its last. */
    ucs_pgt_addr_t end;
};

/**
 * Is handed a region; must not change the table.
 *
 * @param[in] pgtable The table.
 * @param[in] region The region.
 * @param[in] arg As it was given with the callback.
 */
typedef void (*ucs_pgt_search_callback_t)(const ucs_pgtable_t *pgtable,
                                          ucs_pgt_region_t *region,
                                          void *arg);

/**
 * Makes an empty table.
 *
 * @param[out] pgtable The table.
 * @param[in] alloc_cb Allocates a directory.
 * @param[in] release_cb Frees a directory.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM; UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucs_pgtable_init(ucs_pgtable_t *pgtable,
                              ucs_pgt_dir_alloc_callback_t alloc_cb,
                              ucs_pgt_dir_release_callback_t release_cb);

/**
 * Ends a table; its regions stay the owner's.
 *
 * @param[in,out] pgtable The table.
 */
void ucs_pgtable_cleanup(ucs_pgtable_t *pgtable);

/**
 * Enters a region. UCS_ERR_INVALID_PARAM when it is empty or not aligned, UCS_ERR_ALREADY_EXISTS when it overlaps
 * another, UCS_ERR_NO_MEMORY.
 *
 * @param[in,out] pgtable The table.
 * @param[in] region The region; it stays the owner's and lives while it is in the table.
 * @return UCS_OK. UCS_ERR_INVALID_PARAM when it is empty or not aligned. UCS_ERR_ALREADY_EXISTS
 *   when it overlaps another. UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucs_pgtable_insert(ucs_pgtable_t *pgtable,
                                ucs_pgt_region_t *region);

/**
 * Takes a region out. UCS_ERR_NO_ELEM when it is not in the table.
 *
 * @param[in,out] pgtable The table.
 * @param[in] region The region.
 * @return UCS_OK; UCS_ERR_NO_ELEM when it is not in the table.
 */
ucs_status_t ucs_pgtable_remove(ucs_pgtable_t *pgtable, ucs_pgt_region_t *region);

/**
 * The region that has an address, or NULL.
 *
 * @param[in] pgtable The table.
 * @param[in] address The address.
 * @return The region, or NULL.
 */
ucs_pgt_region_t *ucs_pgtable_lookup(const ucs_pgtable_t *pgtable,
                                     ucs_pgt_addr_t address);

/**
 * Hands each region that has an address in `from..to`, both included, to a function.
 *
 * @param[in] pgtable The table.
 * @param[in] from First address.
 * @param[in] to Last address.
 * @param[in] cb The function.
 * @param[in] arg Its last argument.
 */
void ucs_pgtable_search_range(const ucs_pgtable_t *pgtable,
                              ucs_pgt_addr_t from,
                              ucs_pgt_addr_t to,
                              ucs_pgt_search_callback_t cb,
                              void *arg);

/**
 * Takes all regions out, then hands each to a function.
 *
 * @param[in,out] pgtable The table.
 * @param[in] cb The function.
 * @param[in] arg Its last argument.
 */
void ucs_pgtable_purge(ucs_pgtable_t *pgtable, ucs_pgt_search_callback_t cb, void *arg);

/**
 * Logs a table: one line, and one for each region.
 *
 * @param[in] pgtable The table.
 * @param[in] log_level Level of the lines.
 */
void ucs_pgtable_dump(const ucs_pgtable_t *pgtable, ucs_log_level_t log_level);

/**
 * Number of regions.
 *
 * @param[in] pgtable The table.
 * @return Their number.
 */
static inline unsigned ucs_pgtable_num_regions(const ucs_pgtable_t *pgtable)
{
    return pgtable->num_regions;
}

END_C_DECLS

#endif
