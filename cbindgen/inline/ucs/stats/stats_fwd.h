#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

@ITEMS@

/** Names of the forms in which statistics are written; NULL after the last. */
extern const char *ucs_stats_formats_names[];

END_C_DECLS
