#include <ucs/sys/compiler_def.h>
#include <ucp/api/ucp_def.h>

BEGIN_C_DECLS

@ITEMS@

END_C_DECLS
