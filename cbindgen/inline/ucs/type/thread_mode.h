#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

@ITEMS@

/** Names of the thread modes, by value; NULL after the last. */
extern const char *ucs_thread_mode_names[];

END_C_DECLS
