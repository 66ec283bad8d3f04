#include <ucs/sys/compiler_def.h>
#include <stddef.h>

BEGIN_C_DECLS

#define UCS_ARCH_GLOBAL_OPTS_INITALIZER {}

/** This processor has no options. */
typedef struct ucs_arch_global_opts {
    /** Not used. */
    char dummy;
} ucs_arch_global_opts_t;

END_C_DECLS
