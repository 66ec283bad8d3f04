#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

/* Only an instrumented build of a client could check an address; these headers never do. */
#define UCS_ASAN_ADDRESS_IS_VALID(_ptr, _size)

@ITEMS@

END_C_DECLS
