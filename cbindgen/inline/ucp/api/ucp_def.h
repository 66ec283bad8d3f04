#include <ucs/config/types.h>
#include <ucs/memory/memory_type.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

BEGIN_C_DECLS

/** No remote address. */
#define UCP_REMOTE_ADDR_INVALID UINT64_MAX
/** No remote key. */
#define UCP_RKEY_INVALID NULL

@ITEMS@

END_C_DECLS
