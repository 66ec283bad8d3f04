#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

@ITEMS@

/** Names of policies of memory on nodes: default, bind, preferred; NULL after the last. */
extern const char *ucs_numa_policy_names[];

END_C_DECLS
