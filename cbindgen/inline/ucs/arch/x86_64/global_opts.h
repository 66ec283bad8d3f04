#include <ucs/sys/compiler_def.h>
#include <stddef.h>

BEGIN_C_DECLS

/** Every option decided by the library. */
#define UCS_ARCH_GLOBAL_OPTS_INITALIZER \
    {UCS_MEMUNITS_AUTO, UCS_MEMUNITS_AUTO, UCS_MEMUNITS_AUTO, UCS_MEMUNITS_AUTO}

@ITEMS@

END_C_DECLS
