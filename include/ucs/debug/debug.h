/* Written from the Rust sources by `make headers`: change those, not this file. */
#ifndef FERRUCX_UCS_DEBUG_DEBUG_H
#define FERRUCX_UCS_DEBUG_DEBUG_H

#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

/* Only an instrumented build of a client could check an address; these headers never do. */
#define UCS_ASAN_ADDRESS_IS_VALID(_ptr, _size)

END_C_DECLS

#endif
