#include <ucs/arch/global_opts.h>
#include <ucs/config/types.h>
#include <ucs/stats/stats_fwd.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/sys/topo/base/topo.h>
#include <ucs/type/status.h>
#include <stddef.h>
#include <stdio.h>

BEGIN_C_DECLS

/** Name of the option that warns of unknown variables. */
#define UCS_GLOBAL_OPTS_WARN_UNUSED_CONFIG "WARN_UNUSED_ENV_VARS"

@ITEMS@

/**
 * Options of the library, for clients that read the log level. The members up to `warn_unused_env_vars` are
 * filled; later ones moved from release to release and are not.
 */
extern ucs_global_opts_t ucs_global_opts;

END_C_DECLS
