#include <ucp/api/ucp_def.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>
#include <sys/types.h>

BEGIN_C_DECLS

@ITEMS@

END_C_DECLS
