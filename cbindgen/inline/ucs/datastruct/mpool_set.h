#include <ucs/datastruct/mpool.h>
#include <stdint.h>

BEGIN_C_DECLS

/** Largest element of a set, in bytes. */
#define UCS_MPOOL_SET_MAX_SIZE UCS_BIT(30)

@ITEMS@

END_C_DECLS
