#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

@ITEMS@

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
