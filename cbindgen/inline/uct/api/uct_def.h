#include <ucs/config/types.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

BEGIN_C_DECLS

/** Number of active message ids. */
#define UCT_AM_ID_MAX UCS_BIT(UCT_AM_ID_BITS)
/** No memory handle. */
#define UCT_MEM_HANDLE_NULL NULL
/** No remote key. */
#define UCT_INVALID_RKEY UINTPTR_MAX
/** How the inline functions of this interface are declared. */
#define UCT_INLINE_API static UCS_F_ALWAYS_INLINE

@ITEMS@

END_C_DECLS
