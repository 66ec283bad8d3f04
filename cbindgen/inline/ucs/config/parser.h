#include <ucs/config/types.h>
#include <ucs/datastruct/list.h>
#include <ucs/datastruct/string_buffer.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>
#include <stddef.h>
#include <stdio.h>

BEGIN_C_DECLS

/** What every environment variable of the library starts with. */
#define UCS_DEFAULT_ENV_PREFIX "UCX_"

@ITEMS@

/** All registered tables, for printing. */
extern ucs_list_link_t ucs_config_global_list;

END_C_DECLS
