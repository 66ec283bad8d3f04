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

@ITEMS@

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
